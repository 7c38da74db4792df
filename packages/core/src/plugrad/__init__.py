"""plugrad: a deep-learning library of small plugin packages."""

from __future__ import annotations

from .tensor import Tensor  # first, so that the function `tensor` below takes the name of its module  # isort: skip

from . import dtypes, ops
from .backend import Backend, Device, Unavailable
from .context import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .creation import *  # noqa: F403
from .grad import backward, grad
from .kernel import Kernel, kernels
from .op import Op
from .ops import *  # noqa: F403


def __getattr__(name):
    if name == "device":
        from .plugins import device
        return device
    raise AttributeError(name)
