"""Selection: a mask says which."""

from __future__ import annotations

from ..apply import apply, binary, unary
from ..errors import DTypeError, ShapeError
from ..op import Op
from .compare import isfinite, isnan
from .numbers import STEPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tensor import Tensor

__all__ = ["masked_fill", "mend", "nan_to_num", "where"]


class Where(Op):
    """z = x where cond, else y

    ∂L/∂x = g where cond, else 0        ∂L/∂y = 0 where cond, else g
    """

    loose = ("cond",)
    elementwise = selects = storage = True

    def forward(self, xp, cond, x, y):
        if cond.dtype != xp.dtypes["bool"]:
            raise DTypeError(f"where: the condition is {xp.backend.dtype_of(cond)}, not bool; write cond != 0")
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
        return xp.where((u == 0) & xp.isnan(x), xp.asarray(0, dtype=x.dtype), x)

    def dx(self, g, u, x):
        return where((u == 0) & isnan(x), 0, g)


class NanToNum(Op):
    """z = x, with plain numbers for NaN, ∞ and -∞ (None: the largest of the dtype)

    ∂L/∂x = g where x is finite, else 0
    """

    nan: float
    posinf: float | None
    neginf: float | None
    elementwise = selects = storage = True

    def forward(self, xp, x):
        most = STEPS[xp.backend.dtype_of(x).name][2]
        high, low = (most if v is None else v for v in (self.posinf, None if self.neginf is None else -self.neginf))
        nan, high, low, zero = (xp.asarray(v, dtype=x.dtype) for v in (self.nan, high, -low, 0))
        return xp.where(xp.isnan(x), nan, xp.where(xp.isfinite(x), x, xp.where(x > zero, high, low)))

    def dx(self, g, x):
        return where(isfinite(x), g, 0)


_where, _mend = Where(), Mend()


def where(cond: Tensor, x: Any = None, y: Any = None) -> Any:
    """x where cond, else y; shapes broadcast. `where(cond)` alone: the positions, as `nonzero(cond)`"""
    if x is None and y is None:
        from .nonzero import nonzero

        return nonzero(cond)
    return apply(_where, cond, x, y)


def masked_fill(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """`value` (a number, or a tensor of shape ()) where the mask holds, else `x`; shape and dtype stay those of `x`"""
    z = apply(_where, mask, value, x)
    if z.shape != x.shape:
        raise ShapeError(f"masked_fill: mask {mask.shape} makes {z.shape} of shape {x.shape}; expand the tensor first")
    if z.dtype is not x.dtype:
        raise DTypeError(f"masked_fill: {value!r} does not fit {x.dtype}; cast the tensor first: x.astype('{z.dtype}')")
    return z  # type: ignore[no-any-return]


def nan_to_num(x: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """`x` with plain numbers in place of NaN, ∞ and -∞; None stands for the largest and smallest finite number"""
    if x.dtype.kind != "float":
        return x.clone()
    settings = (None if v is None else float(v) for v in (nan, posinf, neginf))
    return unary(NanToNum(*settings), x)  # type: ignore[no-any-return]


def mend(u: Tensor, x: Tensor) -> Tensor:
    """`x`, but 0 where it is NaN and `u` is 0; the way back calls it (see grad.gradients)"""
    return binary(_mend, u, x)  # type: ignore[no-any-return]
