"""Selection: a mask says which."""

from __future__ import annotations

from ..apply import apply, binary
from ..op import Op
from .compare import isnan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tensor import Tensor

__all__ = ["mend", "where"]


class Where(Op):
    """z = x where cond, else y

    ∂L/∂x = g where cond, else 0        ∂L/∂y = 0 where cond, else g
    """

    loose = ("cond",)
    elementwise = selects = storage = True

    def forward(self, xp, cond, x, y):
        return xp.where(cond, x, y)

    def dx(self, g, cond):
        return where(cond, g, 0)

    def dy(self, g, cond):
        return where(cond, 0, g)


class Mend(Op):
    """z = x, but 0 where x is NaN and u is 0: zero times infinity is zero where nothing came in

    ∂L/∂x = g, but 0 in these places
    """

    elementwise = selects = True

    def forward(self, xp, u, x):
        return xp.where((u == 0) & xp.isnan(x), xp.zeros_like(x), x)

    def dx(self, g, u, x):
        return where((u == 0) & isnan(x), 0, g)


_where, _mend = Where(), Mend()


def where(cond: Tensor, x: Any, y: Any) -> Tensor:
    """x where cond, else y; shapes broadcast"""
    return apply(_where, cond, x, y)  # type: ignore[no-any-return]


def mend(u: Tensor, x: Tensor) -> Tensor:
    """`x`, but 0 where it is NaN and `u` is 0; the way back calls it (see grad.gradients)"""
    return binary(_mend, u, x)  # type: ignore[no-any-return]
