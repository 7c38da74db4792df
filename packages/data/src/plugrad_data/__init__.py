"""Data sets, samplers, transforms and the DataLoader of plugrad: `from plugrad import data`."""

from . import transforms as transforms
from .collate import *
from .dataset import *
from .idx import *
from .loader import *
from .registry import *
from .sampler import *
from .sets import *
from .sources import *
from .tokens import *
