"""Where the numbers are not zero, as integer tensors."""

from __future__ import annotations

from ..apply import apply
from ..errors import ShapeError
from ..op import Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = ["nonzero"]


class Nonzero(Op):
    """z[k][j] = position along axis k of the j-th number of x that is not 0, last axis fastest; no gradient"""

    def forward(self, xp, x):
        return tuple(xp.nonzero(x))


_nonzero = Nonzero()


def nonzero(x: Tensor) -> tuple[Tensor, ...]:
    """Where `x` is not 0 (true): positions, one tensor for each axis, last axis fastest."""
    if not x.ndim:
        raise ShapeError("nonzero: a 0-d tensor has no positions; use x.reshape(1)")
    return apply(_nonzero, x)  # type: ignore[no-any-return]
