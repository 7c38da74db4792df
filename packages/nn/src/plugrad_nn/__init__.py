"""Layers, losses and starting values for plugrad: `from plugrad import nn`."""

from . import functional as functional
from . import init as init
from . import ops as ops
from . import utils as utils
from .containers import *
from .errors import StateDictError as StateDictError
from .layers import *
from .module import Module as Module
from .parameter import Parameter as Parameter
from .summary import *
