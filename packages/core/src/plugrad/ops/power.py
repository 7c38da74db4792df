"""Powers and roots."""

from __future__ import annotations

from ..apply import binary, unary
from ..errors import DTypeError
from ..node import Value
from ..op import Op
from .exponential import log
from .numbers import INF, kind
from .select import where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tensor import Tensor

__all__ = ["hypot", "pow", "rpow", "rsqrt", "sqrt", "square"]


class Square(Op):
    """z = x²

    ∂L/∂x = 2 g x
    """

    elementwise = scales = True

    def forward(self, xp, x):
        return x * x

    def dx(self, g, x):
        return 2 * g * x


class Sqrt(Op):
    """z = √x

    ∂L/∂x = g / 2z
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.sqrt(x)

    def dx(self, g, z):
        return g / (2 * z)


class Rsqrt(Op):
    """z = 1 / √x

    ∂L/∂x = -g z³ / 2
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return 1 / xp.sqrt(x)

    def dx(self, g, z):
        return -0.5 * g * z * z * z


class Power(Op):
    """z = xⁿ for a plain number n

    ∂L/∂x = g n xⁿ⁻¹, 0 for n = 0
    """

    n: float
    elementwise = singular = True

    def forward(self, xp, x):
        return x**self.n

    def dx(self, g, x):
        n = self.n
        return g * n * x ** (n - 1) if n else g.new_zeros(g.shape)


class Pow(Op):
    """z = xʸ

    ∂L/∂x = g y xʸ⁻¹, 0 for y = 0        ∂L/∂y = g z log x, 0 where x = 0 and y ≥ 0
    """

    elementwise = singular = numbers = True

    def forward(self, xp, x, y):
        if kind(xp, x) == "int" and bool(xp.any(y < 0)):
            raise DTypeError("pow: integers to negative powers are no integers; cast first: x.astype('float32')")
        return xp.pow(x, y)

    def dx(self, g, x, y):
        return g * y * x ** where((x == 0) & (y == 0), 0, y - 1)

    def dy(self, g, z, x, y):
        return g * z * log(where((x == 0) & (y >= 0), 1, x))


class Hypot(Op):
    """z = √(x² + y²), without overflow

    ∂L/∂x = g x / z        ∂L/∂y = g y / z        0 where z = 0, to every order
    """

    elementwise = scales = floats = True

    def forward(self, xp, x, y):
        return xp.hypot(x, y)

    def dx(self, g, z, x):
        return g * (x / where(z == 0, INF, z))

    def dy(self, g, z, y):
        return g * (y / where(z == 0, INF, z))


class Slope(Op):
    """z = 1 / √s(1 - x²), s = ±1, by the factors 1 - x and 1 + x; without the root where not `root`

    ∂L/∂x = s g x z³, 2 s g x z² without the root: infinite at ±1, where the factors' own slopes would make 0 · ∞
    """

    sign: int
    root: bool
    elementwise = singular = floats = True

    def forward(self, xp, x):
        a, b = self.sign - self.sign * x, 1 + x
        return 1 / (xp.sqrt(a) * xp.sqrt(b) if self.root else a * b)

    def dx(self, g, x, z):
        return g * self.sign * x * (z * z * z if self.root else 2 * z * z)


_square, _sqrt, _rsqrt, _pow, _hypot = Square(), Sqrt(), Rsqrt(), Pow(), Hypot()


def square(x: Tensor) -> Tensor:
    """x²"""
    return unary(_square, x)  # type: ignore[no-any-return]


def sqrt(x: Tensor) -> Tensor:
    """√x; NaN for x < 0"""
    return unary(_sqrt, x)  # type: ignore[no-any-return]


def rsqrt(x: Tensor) -> Tensor:
    """1 / √x"""
    return unary(_rsqrt, x)  # type: ignore[no-any-return]


def pow(x: Any, y: Any) -> Tensor:
    """xʸ; integers to negative powers raise, a negative base to a power that is no integer gives NaN"""
    if type(y) in (int, float) and isinstance(x, Value) and x.device.backend.dtype_of(x.data).kind == "float":
        return unary(Power(y), x)  # type: ignore[no-any-return]
    return binary(_pow, x, y)  # type: ignore[no-any-return]


def rpow(x: Any, y: Any) -> Tensor:
    """yˣ: `number ** tensor`"""
    return binary(_pow, y, x)  # type: ignore[no-any-return]


def slope(x: Any, sign: int, root: bool = True) -> Tensor:
    """1 / √±(1 - x²), or without the root: the slopes of the inverse circular and hyperbolic functions"""
    return unary(Slope(sign, root), x)  # type: ignore[no-any-return]


def hypot(x: Any, y: Any) -> Tensor:
    """√(x² + y²)"""
    return binary(_hypot, x, y)  # type: ignore[no-any-return]
