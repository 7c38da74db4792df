"""Arithmetic, rounding and kinks: numbers in, one number out, shapes broadcast."""

from __future__ import annotations

from ..apply import binary, unary
from ..op import Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tensor import Tensor

__all__ = [
    "add", "divide", "multiply", "negative", "radd", "rdivide", "rmultiply", "rsubtract", "subtract",
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

    elementwise = True

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


class Neg(Op):
    """z = -x

    ∂L/∂x = -g
    """

    elementwise = True

    def forward(self, xp, x):
        return -x

    def dx(self, g):
        return -g


_add, _sub, _mul, _div, _neg = Add(), Sub(), Mul(), Div(), Neg()


def add(x: Any, y: Any) -> Tensor:
    """x + y"""
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
    """x · y"""
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


def negative(x: Tensor) -> Tensor:
    """-x"""
    return unary(_neg, x)  # type: ignore[no-any-return]
