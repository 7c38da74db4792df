"""Rounding, signs, and division with remainder: steps, whose gradient is 0."""

from __future__ import annotations

from ..apply import binary, unary
from ..op import Op
from .numbers import kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tensor import Tensor

__all__ = [
    "abs", "absolute", "ceil", "copysign", "floor", "floor_divide", "remainder", "rfloor_divide", "round",
    "rremainder", "sign", "trunc",
]  # fmt: skip


class Abs(Op):
    """z = |x|

    ∂L/∂x = g sign x: 0 at 0
    """

    elementwise = scales = True

    def forward(self, xp, x):
        return x if kind(xp, x) == "bool" else xp.abs(x)

    def dx(self, g, x):
        return g * sign(x)


class Step:
    """What is flat between its jumps: the gradient is 0."""

    elementwise = True

    def dx(self, g):
        return g.new_zeros(g.shape)


class Sign(Step, Op):
    """z = -1, 0 or 1: the sign of x, NaN of NaN

    ∂L/∂x = 0
    """

    def forward(self, xp, x):
        return x if kind(xp, x) == "bool" else xp.sign(x)


class Floor(Step, Op):
    """z = ⌊x⌋, the largest whole number below

    ∂L/∂x = 0
    """

    def forward(self, xp, x):
        return xp.floor(x) if kind(xp, x) == "float" else x


class Ceil(Step, Op):
    """z = ⌈x⌉, the smallest whole number above

    ∂L/∂x = 0
    """

    def forward(self, xp, x):
        return xp.ceil(x) if kind(xp, x) == "float" else x


class Round(Step, Op):
    """z = the nearest whole number; halves go to the even one

    ∂L/∂x = 0
    """

    def forward(self, xp, x):
        return xp.round(x) if kind(xp, x) == "float" else x


class Trunc(Step, Op):
    """z = the nearest whole number towards 0

    ∂L/∂x = 0
    """

    def forward(self, xp, x):
        return xp.trunc(x) if kind(xp, x) == "float" else x


class FloorDivide(Op):
    """z = ⌊x / y⌋

    ∂L/∂x = 0        ∂L/∂y = 0
    """

    elementwise = True

    def forward(self, xp, x, y):
        return xp.floor_divide(*_divisible(self, xp, x, y))

    def dx(self, g):
        return g.new_zeros(g.shape)

    def dy(self, g):
        return g.new_zeros(g.shape)


class Remainder(Op):
    """z = x - y ⌊x / y⌋, with the sign of y

    ∂L/∂x = g        ∂L/∂y = -g ⌊x / y⌋
    """

    elementwise = singular = True

    def forward(self, xp, x, y):
        return xp.remainder(*_divisible(self, xp, x, y))

    def dx(self, g):
        return g

    def dy(self, g, x, y):
        return -g * floor_divide(x, y)


class Copysign(Op):
    """z = |x| with the sign of y

    ∂L/∂x = g sign x sign y        ∂L/∂y = 0
    """

    elementwise = scales = floats = True

    def forward(self, xp, x, y):
        return xp.copysign(x, y)

    def dx(self, g, z, x):
        return g * sign(x) * sign(z)

    def dy(self, g):
        return g.new_zeros(g.shape)


def _divisible(op, xp, x, y):
    """`x` and `y` (bools as int64); integers are not divided by 0, which some libraries answer with 0."""
    t = kind(xp, y)
    if t == "bool":
        x, y = xp.astype(x, xp.int64), xp.astype(y, xp.int64)
    if t != "float" and bool(xp.any(y == 0)):
        raise ZeroDivisionError(f"{op.name}: integers divided by 0; mask the zeros, or cast: x.astype('float32')")
    return x, y


_abs, _sign, _floor, _ceil, _round, _trunc = Abs(), Sign(), Floor(), Ceil(), Round(), Trunc()
_floor_divide, _remainder, _copysign = FloorDivide(), Remainder(), Copysign()


def abs(x: Tensor) -> Tensor:
    """|x|"""
    return unary(_abs, x)  # type: ignore[no-any-return]


def sign(x: Tensor) -> Tensor:
    """-1, 0 or 1"""
    return unary(_sign, x)  # type: ignore[no-any-return]


def floor(x: Tensor) -> Tensor:
    """⌊x⌋"""
    return unary(_floor, x)  # type: ignore[no-any-return]


def ceil(x: Tensor) -> Tensor:
    """⌈x⌉"""
    return unary(_ceil, x)  # type: ignore[no-any-return]


def round(x: Tensor) -> Tensor:
    """The nearest whole number; halves go to the even one"""
    return unary(_round, x)  # type: ignore[no-any-return]


def trunc(x: Tensor) -> Tensor:
    """The nearest whole number towards 0"""
    return unary(_trunc, x)  # type: ignore[no-any-return]


def floor_divide(x: Any, y: Any) -> Tensor:
    """⌊x / y⌋, as Python's `//`; integers divided by 0 raise ZeroDivisionError"""
    return binary(_floor_divide, x, y)  # type: ignore[no-any-return]


def rfloor_divide(x: Any, y: Any) -> Tensor:
    """⌊y / x⌋: `number // tensor`"""
    return binary(_floor_divide, y, x)  # type: ignore[no-any-return]


def remainder(x: Any, y: Any) -> Tensor:
    """x - y ⌊x / y⌋, as Python's `%`; integers divided by 0 raise ZeroDivisionError"""
    return binary(_remainder, x, y)  # type: ignore[no-any-return]


def rremainder(x: Any, y: Any) -> Tensor:
    """y - x ⌊y / x⌋: `number % tensor`"""
    return binary(_remainder, y, x)  # type: ignore[no-any-return]


def copysign(x: Any, y: Any) -> Tensor:
    """|x| with the sign of y"""
    return binary(_copysign, x, y)  # type: ignore[no-any-return]


absolute = abs
