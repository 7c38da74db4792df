"""Layers as functions: `import plugrad_nn.functional as F`. PyTorch's names, plugrad's `axis`."""

from .activation import *
from .attention import *
from .conv import *
from .ctc import *
from .distance import *
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
from .resize import *
