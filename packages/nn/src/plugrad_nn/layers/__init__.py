"""The layers, one file for each kind."""

from .activation import *  # noqa: F403
from .dropout import *  # noqa: F403
from .linear import *  # noqa: F403
from .loss import *  # noqa: F403
from .norm import *  # noqa: F403
