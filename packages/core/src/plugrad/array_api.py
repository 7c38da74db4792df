"""plugrad by the letter of the array API standard 2024.12: the namespace that `x.__array_namespace__()` gives.

The functions are those of `pg`, save the few whose arguments PyTorch and the standard have differently; they follow the
standard here. Complex dtypes and the extension `fft` are left out, and `__array_namespace_info__()` says so.
"""

from __future__ import annotations

from . import dtypes, ops
from . import linalg as linalg
from .ops import *  # noqa: F403
from .ops import creation
from .ops.contract import *  # noqa: F403
from .ops.creation import *  # noqa: F403
from .ops.info import *  # noqa: F403

TYPE_CHECKING = False
if TYPE_CHECKING:
    import builtins
    from collections.abc import Sequence

    from .ops.creation import Shape, What, Where
    from .tensor import Tensor

    Axis = int | Sequence[int] | None

bool, float32, float64 = dtypes.bool_, dtypes.float32, dtypes.float64
int8, int16, int32, int64 = dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64
uint8, uint16, uint32, uint64 = dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64


def astype(x: Tensor, dtype: What, /, *, copy: builtins.bool = True, device: Where = None) -> Tensor:  # type: ignore[no-redef]
    """`x` in another dtype, and on another device; with `copy=False` perhaps `x` itself"""
    made = x.to(device, dtype)
    return x.clone() if copy and made is x else made


def real(x: Tensor, /) -> Tensor:
    """`x`: every tensor is real"""
    return x.clone()


def conj(x: Tensor, /) -> Tensor:
    """`x`: every tensor is real"""
    return x.clone()


def imag(x: Tensor, /) -> Tensor:
    """zeros: every tensor is real"""
    return creation.zeros_like(x)


def zeros(shape: Shape, *, dtype: What = None, device: Where = None) -> Tensor:  # type: ignore[no-redef]
    """Shape `shape`, every entry 0"""
    return creation.zeros(shape, dtype=dtype, device=device)


def ones(shape: Shape, *, dtype: What = None, device: Where = None) -> Tensor:  # type: ignore[no-redef]
    """Shape `shape`, every entry 1"""
    return creation.ones(shape, dtype=dtype, device=device)


def empty(shape: Shape, *, dtype: What = None, device: Where = None) -> Tensor:  # type: ignore[no-redef]
    """Shape `shape`, entries to be overwritten"""
    return creation.empty(shape, dtype=dtype, device=device)


def full(shape: Shape, fill_value: float, *, dtype: What = None, device: Where = None) -> Tensor:  # type: ignore[no-redef]
    """Shape `shape`, every entry `fill_value`"""
    return creation.full(shape, fill_value=fill_value, dtype=dtype, device=device)


def std(x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: builtins.bool = False) -> Tensor:  # type: ignore[no-redef]
    """√(Σ (x - mean)² / (n - correction)); `pg.std` has correction 1, as PyTorch"""
    return ops.std(x, axis=axis, correction=correction, keepdims=keepdims)


def var(x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: builtins.bool = False) -> Tensor:  # type: ignore[no-redef]
    """Σ (x - mean)² / (n - correction); `pg.var` has correction 1, as PyTorch"""
    return ops.var(x, axis=axis, correction=correction, keepdims=keepdims)
