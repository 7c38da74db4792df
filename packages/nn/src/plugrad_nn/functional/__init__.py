"""Layers as functions: `import plugrad_nn.functional as F`. PyTorch's names, plugrad's `axis`."""

from .activation import *
from .attention import *
from .conv import *
from .distance import *
from .dropout import *
from .embedding import *
from .linear import *
from .loss import *
from .norm import *
from .pad import *
from .pool import *
from .recurrent import *
from .resize import *
