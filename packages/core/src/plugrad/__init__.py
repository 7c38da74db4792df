"""plugrad: a small deep-learning core. Tensors, operations, the way back through them; all else is a plugin.

`import plugrad as pg` imports no array library and no plugin. Tensors: `pg.tensor`, `pg.zeros`, ...; functions carry
the names of the array API standard; `pg.nn`, `pg.optim`, `pg.data` and whatever is installed come in when first used.
"""

# ruff: noqa: E402
from __future__ import annotations

import gc as _gc

_collecting = _gc.isenabled()
_gc.disable()  # the functions and classes that come now are no garbage; looking for some costs 0.9 ms
try:
    from .tensor import Tensor as Tensor  # first: the function `tensor` takes over the name of its module
finally:
    if _collecting:
        _gc.enable()

from . import dtypes as dtypes
from . import errors as errors
from . import ops as ops
from .apply import apply as apply
from .backend import Backend as Backend
from .backend import Device as Device
from .backend import Unavailable as Unavailable
from .context import enable_grad as enable_grad
from .context import is_grad_enabled as is_grad_enabled
from .context import no_grad as no_grad
from .context import set_grad_enabled as set_grad_enabled
from .dtypes import *
from .grad import backward as backward
from .grad import grad as grad
from .op import Op as Op
from .ops import *

TYPE_CHECKING = False  # importing typing would cost more than all of the above
if TYPE_CHECKING:  # what mypy and pyright see of the names that come in when first used
    import plugrad_data
    import plugrad_io
    import plugrad_nn
    import plugrad_optim

    from . import array_api as array_api
    from . import linalg as linalg
    from . import plugins as plugins
    from . import testing as testing
    from .kernel import Kernel as Kernel
    from .kernel import kernels as kernels
    from .ops.contract import einsum as einsum
    from .ops.contract import tensordot as tensordot
    from .ops.generator import *
    from .ops.info import __array_namespace_info__ as __array_namespace_info__
    from .ops.info import can_cast as can_cast
    from .ops.info import finfo as finfo
    from .ops.info import iinfo as iinfo
    from .ops.info import isdtype as isdtype
    from .ops.info import result_type as result_type
    from .ops.random import *
    from .plugins import device as device
    from .plugins import devices as devices
    from .testing.gradcheck import gradcheck as gradcheck
    from .testing.gradcheck import gradgradcheck as gradgradcheck
    from .tools.checkpoint import checkpoint as checkpoint
    from .tools.functional import hessian as hessian
    from .tools.functional import hvp as hvp
    from .tools.functional import jacobian as jacobian
    from .tools.functional import jvp as jvp
    from .tools.functional import vjp as vjp
    from .tools.introspect import explain as explain
    from .tools.picture import graph as graph
    from .tools.record import compile as compile
    from .tools.watch import Watcher as Watcher
    from .tools.watch import live_tensors as live_tensors
    from .tools.watch import nan_tracer as nan_tracer
    from .tools.watch import profiler as profiler

    data = plugrad_data
    io = plugrad_io
    nn = plugrad_nn
    optim = plugrad_optim
    __version__: str

_LAZY = {  # module → names that come in when first used
    "kernel": "Kernel kernels",
    "ops.contract": "einsum tensordot",
    "ops.generator": "Generator default_generator get_rng_state manual_seed set_rng_state",
    "ops.random": "bernoulli multinomial normal rand rand_like randint randn randn_like randperm uniform",
    "ops.info": "__array_namespace_info__ can_cast finfo iinfo isdtype result_type",
    "tools.checkpoint": "checkpoint",
    "tools.functional": "hessian hvp jacobian jvp vjp",
    "tools.introspect": "explain",
    "tools.picture": "graph",
    "plugins": "device devices",
    "tools.record": "compile",
    "testing": "gradcheck gradgradcheck",
    "tools.watch": "Watcher live_tensors nan_tracer profiler",
}
_HOME = {name: module for module, names in _LAZY.items() for name in names.split()}
_MODULES = {"array_api", "linalg", "plugins", "testing"}

bool = dtypes.bool_
e, inf, nan, newaxis, pi = 2.718281828459045, float("inf"), float("nan"), None, 3.141592653589793


def __getattr__(name: str) -> object:
    """Names that come in when first used: parts of core that few need, and the extensions."""
    if name == "__version__":
        from importlib.metadata import version

        return version("plugrad")
    from importlib import import_module

    if name in _HOME:
        found = getattr(import_module(f".{_HOME[name]}", __name__), name)
    elif name in _MODULES:
        found = import_module(f".{name}", __name__)
    elif name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    else:
        found = _extension(name)
    globals()[name] = found
    return found


def _extension(name: str) -> object:
    """The module of an installed extension, or an error that says which extra brings it."""
    from .plugins import EXTENSIONS, EXTRAS, namespace, scan

    if name in scan(EXTENSIONS):
        return namespace(name)
    if name not in EXTRAS:
        raise AttributeError(
            f"module {__name__!r} has no attribute {name!r}, and no extension of that name is installed"
        )
    message = f"plugrad.{name} is not installed; pip install 'plugrad[{EXTRAS[name]}]'"
    import sys

    if sys._getframe(2).f_code.co_name == "_handle_fromlist":  # `from plugrad import nn` hides an AttributeError's text
        raise ImportError(message, name=f"{__name__}.{name}")
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
