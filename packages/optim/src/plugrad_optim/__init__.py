"""Optimizers for plugrad, each with its paper's formula: `from plugrad import optim`."""

from . import lr_scheduler as lr_scheduler
from . import ops as ops
from . import schedules as schedules
from . import swa_utils as swa_utils
from .accumulate import *
from .adam import *
from .grad_scaler import *
from .lbfgs import *
from .master import *
from .matrices import *
from .optimizer import *
from .rmsprop import *
from .ruled import *
from .sgd import *
from .signs import *
