"""Positions, as integer tensors: of what is not zero, and of everything."""

from __future__ import annotations

from ..apply import apply
from ..errors import ShapeError
from ..op import Op
from .numbers import prod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..backend import Device
    from ..tensor import Tensor

__all__ = ["nonzero"]


class Nonzero(Op):
    """z[k][j] = position along axis k of the j-th number of x that is not 0, last axis fastest; no gradient"""

    def forward(self, xp, x):
        return tuple(xp.nonzero(x))


class Positions(Op):
    """z = 0, 1, 2, ... in this shape, last axis fastest; no gradient"""

    shape: tuple[int, ...]
    device: Device

    def forward(self, xp):
        return xp.reshape(xp.arange(prod(self.shape), dtype=xp.int64), self.shape)


_nonzero = Nonzero()


def nonzero(x: Tensor) -> tuple[Tensor, ...]:
    """Where `x` is not 0 (true): positions, one tensor for each axis, last axis fastest."""
    if not x.ndim:
        raise ShapeError("nonzero: a 0-d tensor has no positions; use x.reshape(1)")
    return apply(_nonzero, x)  # type: ignore[no-any-return]
