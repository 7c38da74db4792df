"""The same numbers in another dtype, on another device, in another tensor."""

from __future__ import annotations

from ..apply import apply, unary
from ..dtypes import dtype as as_dtype
from ..op import Op
from ..rules import casting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..backend import Device
    from ..dtypes import DType
    from ..tensor import Tensor

__all__ = ["astype", "clone", "transfer"]


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


def transfer(x: Tensor, device: Device) -> Tensor:
    """`x` on another device; itself where it is there already."""
    return x if x.device is device else apply(Transfer(x.device, device), x)


def clone(x: Tensor) -> Tensor:
    """A tensor of its own with the value of `x`; gradients flow through."""
    return unary(_clone, x)  # type: ignore[no-any-return]
