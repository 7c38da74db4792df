"""The ops of nn: those worth a kernel of their own."""

from .activation import *
from .attention import *
from .check import *
from .conv import *
from .ctc import *
from .embedding import *
from .linear import *
from .loss import *
from .margin import *
from .norm import *
from .pool import *
from .recurrent import *
from .regression import *
from .resize import *
