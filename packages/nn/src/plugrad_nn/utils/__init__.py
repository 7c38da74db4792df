"""What is done to whole models: gradients clipped, weights reparametrised, sequences packed."""

from . import rnn as rnn
from .clip import *
from .spectral import *
from .vector import *
from .weight import *
