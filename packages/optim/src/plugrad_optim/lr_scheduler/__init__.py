"""PyTorch's schedules: each sets an optimizer's rates by a function of the step from `schedules`."""

from .compose import *
from .cycle import *
from .decay import *
from .plateau import *
from .scheduler import *
