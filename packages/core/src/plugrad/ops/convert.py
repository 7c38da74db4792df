"""The same numbers in another dtype, on another device, in another tensor."""

from __future__ import annotations

from ..apply import apply, unary
from ..dtypes import BY_NAME
from ..dtypes import dtype as as_dtype
from ..node import Value
from ..op import Op
from ..rules import casting
from .creation import ones, place, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..backend import Device
    from ..dtypes import DType
    from ..tensor import Tensor

__all__ = ["astype", "caster", "clone", "cpu", "new_ones", "new_zeros", "to", "to_device", "transfer"]


class Transfer(Op):
    """z = x on another device

    ∂L/∂x = g on the device of x
    """

    source: Device
    target: Device  # type: ignore[misc]
    storage = True

    def forward(self, xp, x):
        xp, t = self.target.xp, self.source.backend.dtype_of(x)
        z = self.target.backend.asarray(self.source.backend.to_host(x), xp.dtype(t), self.target.index)
        return xp.reshape(z, tuple(x.shape))  # nested lists lose the sizes behind a 0

    def dx(self, g):
        return g.to(self.source)


class Clone(Op):
    """z = x, a value of its own

    ∂L/∂x = g
    """

    storage = True

    def forward(self, xp, x):
        return xp.backend.asarray(x, x.dtype, xp.index)

    def dx(self, g):
        return g


_clone = Clone()


def astype(x: Tensor, dtype: DType | str | type) -> Tensor:
    """`x` in another dtype; itself where it has that one already."""
    to, have = as_dtype(dtype), x.dtype
    return x if to is have else apply(casting(to, have), x)


def caster(dtype: str) -> Callable[[Tensor], Tensor]:
    """The function that casts to one dtype: `x.float()`, `x.long()`."""

    def cast(x: Tensor) -> Tensor:
        return astype(x, dtype)

    cast.__doc__ = f"`x.astype({dtype!r})`"
    return cast


def transfer(x: Tensor, device: Device) -> Tensor:
    """`x` on another device; itself where it is there already."""
    return x if x.device is device else apply(Transfer(x.device, device), x)


def clone(x: Tensor) -> Tensor:
    """A tensor of its own with the value of `x`; gradients flow through."""
    return unary(_clone, x)  # type: ignore[no-any-return]


def to(x: Tensor, *where: Any, device: Any = None, dtype: Any = None) -> Tensor:
    """`x` on another device, in another dtype, or both: `x.to("cuda")`, `x.to("cpu", "float16")`, `x.to(other)`."""
    for spec in where:
        if isinstance(spec, Value):
            device, dtype = spec.device, spec.dtype  # type: ignore[attr-defined]
        elif isinstance(spec, type) or str(spec).rpartition(".")[2] in BY_NAME:
            dtype = spec
        elif spec is not None:
            device = spec
    cast = x if dtype is None else astype(x, dtype)
    return cast if device is None else transfer(cast, place(device))


def to_device(x: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """`x` on another device: the array API's spelling of `to`."""
    return to(x, device=device)


def cpu(x: Tensor) -> Tensor:
    """`x` on the best CPU backend that is installed."""
    return to(x, device="cpu")


def new_zeros(x: Tensor, *shape: Any, dtype: Any = None) -> Tensor:
    """Zeros of another shape, on the device and in the dtype of `x`."""
    return zeros(*shape, dtype=dtype or x.dtype, device=x.device)


def new_ones(x: Tensor, *shape: Any, dtype: Any = None) -> Tensor:
    """Ones of another shape, on the device and in the dtype of `x`."""
    return ones(*shape, dtype=dtype or x.dtype, device=x.device)
