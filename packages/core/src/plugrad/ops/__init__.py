"""The catalogue: one file per kind of op, one class per op, functions of the same name on tensors."""

from .activation import *  # noqa: F403
from .arithmetic import *  # noqa: F403
from .compare import *  # noqa: F403
from .convert import *  # noqa: F403
from .exponential import *  # noqa: F403
from .index import *  # noqa: F403
from .join import *  # noqa: F403
from .linear import *  # noqa: F403
from .order import *  # noqa: F403
from .reduce import *  # noqa: F403
from .scan import *  # noqa: F403
from .select import *  # noqa: F403
from .shape import *  # noqa: F403
from .special import *  # noqa: F403
from .trigonometric import *  # noqa: F403


def __getattr__(name):  # TEMPORARY while the catalogue is being written
    if name.startswith("__"):
        raise AttributeError(name)
    def missing(*a, **k):
        raise NotImplementedError(name)
    return missing
