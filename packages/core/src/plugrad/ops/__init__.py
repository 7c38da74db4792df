"""The catalogue: one file per kind of op, one class per op, functions of the same name on tensors."""

from .activation import *  # noqa: F403
from .arithmetic import *  # noqa: F403
from .assign import *  # noqa: F403
from .compare import *  # noqa: F403
from .contract import *  # noqa: F403
from .convert import *  # noqa: F403
from .creation import *  # noqa: F403
from .distinct import *  # noqa: F403
from .exponential import *  # noqa: F403
from .extreme import *  # noqa: F403
from .index import *  # noqa: F403
from .join import *  # noqa: F403
from .linear import *  # noqa: F403
from .nonzero import *  # noqa: F403
from .order import *  # noqa: F403
from .power import *  # noqa: F403
from .random import *  # noqa: F403
from .rectifier import *  # noqa: F403
from .reduce import *  # noqa: F403
from .rounding import *  # noqa: F403
from .scan import *  # noqa: F403
from .scatter import *  # noqa: F403
from .select import *  # noqa: F403
from .shape import *  # noqa: F403
from .slices import *  # noqa: F403
from .softmax import *  # noqa: F403
from .special import *  # noqa: F403
from .statistics import *  # noqa: F403
from .tile import *  # noqa: F403
from .trigonometric import *  # noqa: F403
from .windows import *  # noqa: F403


def __getattr__(name):  # TEMPORARY while the catalogue is being written
    if name.startswith("__"):
        raise AttributeError(name)
    def missing(*a, **k):
        raise NotImplementedError(name)
    return missing
