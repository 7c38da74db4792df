"""Arithmetic: numbers in, one number out, shapes broadcast."""

from __future__ import annotations

from ..apply import apply, binary, unary
from ..op import Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tensor import Tensor

__all__ = [
    "add", "div", "divide", "lerp", "mul", "multiply", "neg", "negative", "positive", "radd", "rdivide", "reciprocal",
    "rmultiply", "rsubtract", "sub", "subtract",
]  # fmt: skip


class Add(Op):
    """z = x + y

    ∂L/∂x = g        ∂L/∂y = g
    """

    elementwise = True

    def forward(self, xp, x, y):
        return x + y

    def dx(self, g):
        return g

    def dy(self, g):
        return g


class Sub(Op):
    """z = x - y

    ∂L/∂x = g        ∂L/∂y = -g
    """

    elementwise = numbers = True

    def forward(self, xp, x, y):
        return x - y

    def dx(self, g):
        return g

    def dy(self, g):
        return -g


class Mul(Op):
    """z = x · y

    ∂L/∂x = g · y    ∂L/∂y = g · x
    """

    elementwise = scales = True

    def forward(self, xp, x, y):
        return x * y

    def dx(self, g, y):
        return g * y

    def dy(self, g, x):
        return g * x


class Div(Op):
    """z = x / y

    ∂L/∂x = g / y    ∂L/∂y = -g · z / y
    """

    elementwise = singular = floats = True

    def forward(self, xp, x, y):
        return x / y

    def dx(self, g, y):
        return g / y

    def dy(self, g, z, y):
        return -g * z / y


class Reciprocal(Op):
    """z = 1 / x

    ∂L/∂x = -g · z²
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return 1 / x

    def dx(self, g, z):
        return -g * z * z


class Neg(Op):
    """z = -x

    ∂L/∂x = -g
    """

    elementwise = numbers = True

    def forward(self, xp, x):
        return -x

    def dx(self, g):
        return -g


class Positive(Op):
    """z = x, a value of its own

    ∂L/∂x = g
    """

    elementwise = storage = True

    def forward(self, xp, x):
        return x

    def dx(self, g):
        return g


class Lerp(Op):
    """z = x + t (y - x): x at t = 0, y at t = 1, both exactly

    ∂L/∂x = g (1 - t)        ∂L/∂y = g t        ∂L/∂t = g (y - x)
    """

    elementwise = scales = floats = True

    def forward(self, xp, x, y, t):
        d = y - x
        return xp.where(t < 0.5, x + t * d, y - (1 - t) * d)

    def dx(self, g, t):
        return g * (1 - t)

    def dy(self, g, t):
        return g * t

    def dt(self, g, x, y):
        return g * (y - x)


_add, _sub, _mul, _div, _neg = Add(), Sub(), Mul(), Div(), Neg()
_positive, _reciprocal, _lerp = Positive(), Reciprocal(), Lerp()


def add(x: Any, y: Any) -> Tensor:
    """x + y; of bools: or"""
    return binary(_add, x, y)  # type: ignore[no-any-return]


def radd(x: Any, y: Any) -> Tensor:
    """y + x: `number + tensor`"""
    return binary(_add, y, x)  # type: ignore[no-any-return]


def subtract(x: Any, y: Any) -> Tensor:
    """x - y"""
    return binary(_sub, x, y)  # type: ignore[no-any-return]


def rsubtract(x: Any, y: Any) -> Tensor:
    """y - x: `number - tensor`"""
    return binary(_sub, y, x)  # type: ignore[no-any-return]


def multiply(x: Any, y: Any) -> Tensor:
    """x · y; of bools: and"""
    return binary(_mul, x, y)  # type: ignore[no-any-return]


def rmultiply(x: Any, y: Any) -> Tensor:
    """y · x: `number * tensor`"""
    return binary(_mul, y, x)  # type: ignore[no-any-return]


def divide(x: Any, y: Any) -> Tensor:
    """x / y; integers give float32"""
    return binary(_div, x, y)  # type: ignore[no-any-return]


def rdivide(x: Any, y: Any) -> Tensor:
    """y / x: `number / tensor`"""
    return binary(_div, y, x)  # type: ignore[no-any-return]


def reciprocal(x: Tensor) -> Tensor:
    """1 / x; integers give float32"""
    return unary(_reciprocal, x)  # type: ignore[no-any-return]


def negative(x: Tensor) -> Tensor:
    """-x"""
    return unary(_neg, x)  # type: ignore[no-any-return]


def positive(x: Tensor) -> Tensor:
    """+x: the same value in a tensor of its own"""
    return unary(_positive, x)  # type: ignore[no-any-return]


def lerp(x: Any, y: Any, t: Any) -> Tensor:
    """x + t (y - x): from `x` at t = 0 to `y` at t = 1"""
    return apply(_lerp, x, y, t)  # type: ignore[no-any-return]


sub, mul, div, neg = subtract, multiply, divide, negative
