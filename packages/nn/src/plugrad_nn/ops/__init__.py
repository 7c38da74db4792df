"""The ops of nn: those worth a kernel of their own."""

from .activation import *
from .attention import *
from .conv import *
from .embedding import *
from .linear import *
from .loss import *
from .norm import *
from .pool import *
from .recurrent import *
from .resize import *
