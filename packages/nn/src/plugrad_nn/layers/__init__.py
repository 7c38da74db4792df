"""The layers, one file for each kind."""

from .activation import *
from .attention import *
from .cache import *
from .cell import *
from .conv import *
from .dropout import *
from .embedding import *
from .linear import *
from .loss import *
from .margin import *
from .norm import *
from .pad import *
from .pool import *
from .position import *
from .recurrent import *
from .regression import *
from .reshape import *
from .resize import *
from .transformer import *
