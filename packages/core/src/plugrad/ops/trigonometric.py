"""Circular and hyperbolic functions and their inverses, in radians."""

from __future__ import annotations

from ..apply import binary, unary
from ..op import Op
from .power import hypot, slope
from .select import where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tensor import Tensor

__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "sin", "sinh", "tan", "tanh",
]  # fmt: skip


class Sin(Op):
    """z = sin x

    ∂L/∂x = g cos x
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        return xp.sin(x)

    def dx(self, g, x):
        return g * cos(x)


class Cos(Op):
    """z = cos x

    ∂L/∂x = -g sin x
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        return xp.cos(x)

    def dx(self, g, x):
        return -g * sin(x)


class Tan(Op):
    """z = tan x

    ∂L/∂x = g (1 + z²)
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        return xp.tan(x)

    def dx(self, g, z):
        return g * (1 + z * z)


class Asin(Op):
    """z = arcsin x

    ∂L/∂x = g / √(1 - x²)
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.asin(x)

    def dx(self, g, x):
        return g * slope(x, 1)


class Acos(Op):
    """z = arccos x

    ∂L/∂x = -g / √(1 - x²)
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.acos(x)

    def dx(self, g, x):
        return -g * slope(x, 1)


class Atan(Op):
    """z = arctan x

    ∂L/∂x = g / (1 + x²)
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        return xp.atan(x)

    def dx(self, g, x):
        return g / (1 + x * x)


class Atan2(Op):
    """z = the angle of the point (x, y), from -π to π

    ∂L/∂y = g x / r²        ∂L/∂x = -g y / r²        r² = x² + y²; 0 at the origin
    """

    elementwise = singular = floats = True

    def forward(self, xp, y, x):
        return xp.atan2(y, x)

    def dy(self, g, y, x):
        r = _radius(x, y)
        return g * (x / r / r)

    def dx(self, g, y, x):
        r = _radius(x, y)
        return -g * (y / r / r)


class Sinh(Op):
    """z = sinh x

    ∂L/∂x = g cosh x
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.sinh(x)

    def dx(self, g, x):
        return g * cosh(x)


class Cosh(Op):
    """z = cosh x

    ∂L/∂x = g sinh x
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.cosh(x)

    def dx(self, g, x):
        return g * sinh(x)


class Tanh(Op):
    """z = tanh x

    ∂L/∂x = g (1 - z²)
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        return xp.tanh(x)

    def dx(self, g, z):
        return g * (1 - z * z)


class Asinh(Op):
    """z = arsinh x

    ∂L/∂x = g / √(1 + x²)
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        return xp.asinh(x)

    def dx(self, g, x):
        return g / hypot(x, 1)


class Acosh(Op):
    """z = arcosh x

    ∂L/∂x = g / √(x² - 1)
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.acosh(x)

    def dx(self, g, x):
        return g * slope(x, -1)


class Atanh(Op):
    """z = artanh x

    ∂L/∂x = g / (1 - x²)
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.atanh(x)

    def dx(self, g, x):
        return g * slope(x, 1, root=False)


def _radius(x, y):
    """√(x² + y²), but 1 at the origin."""
    r = hypot(x, y)
    return where(r == 0, 1, r)


_sin, _cos, _tan, _asin, _acos, _atan, _atan2 = Sin(), Cos(), Tan(), Asin(), Acos(), Atan(), Atan2()
_sinh, _cosh, _tanh, _asinh, _acosh, _atanh = Sinh(), Cosh(), Tanh(), Asinh(), Acosh(), Atanh()


def sin(x: Tensor) -> Tensor:
    """sin x"""
    return unary(_sin, x)  # type: ignore[no-any-return]


def cos(x: Tensor) -> Tensor:
    """cos x"""
    return unary(_cos, x)  # type: ignore[no-any-return]


def tan(x: Tensor) -> Tensor:
    """tan x"""
    return unary(_tan, x)  # type: ignore[no-any-return]


def asin(x: Tensor) -> Tensor:
    """The angle from -π/2 to π/2 whose sine is x"""
    return unary(_asin, x)  # type: ignore[no-any-return]


def acos(x: Tensor) -> Tensor:
    """The angle from 0 to π whose cosine is x"""
    return unary(_acos, x)  # type: ignore[no-any-return]


def atan(x: Tensor) -> Tensor:
    """The angle from -π/2 to π/2 whose tangent is x"""
    return unary(_atan, x)  # type: ignore[no-any-return]


def atan2(y: Any, x: Any) -> Tensor:
    """The angle of the point (x, y), from -π to π; the gradient at the origin is 0"""
    return binary(_atan2, y, x)  # type: ignore[no-any-return]


def sinh(x: Tensor) -> Tensor:
    """(eˣ - e⁻ˣ) / 2"""
    return unary(_sinh, x)  # type: ignore[no-any-return]


def cosh(x: Tensor) -> Tensor:
    """(eˣ + e⁻ˣ) / 2"""
    return unary(_cosh, x)  # type: ignore[no-any-return]


def tanh(x: Tensor) -> Tensor:
    """sinh x / cosh x"""
    return unary(_tanh, x)  # type: ignore[no-any-return]


def asinh(x: Tensor) -> Tensor:
    """The number whose hyperbolic sine is x"""
    return unary(_asinh, x)  # type: ignore[no-any-return]


def acosh(x: Tensor) -> Tensor:
    """The number from 0 whose hyperbolic cosine is x"""
    return unary(_acosh, x)  # type: ignore[no-any-return]


def atanh(x: Tensor) -> Tensor:
    """The number whose hyperbolic tangent is x"""
    return unary(_atanh, x)  # type: ignore[no-any-return]
