"""The larger, the smaller, and what lies between."""

from __future__ import annotations

from ..apply import binary, unary
from ..dtypes import limits
from ..errors import DTypeError
from ..op import Op
from .numbers import INF, number
from .select import where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..dtypes import DType
    from ..tensor import Tensor

__all__ = ["clamp", "clip", "maximum", "minimum"]


class Maximum(Op):
    """z = the larger of x and y; NaN where one of them is

    ∂L/∂x = g where x > y, g / 2 where x = y, else 0        ∂L/∂y alike
    """

    elementwise = selects = True

    def forward(self, xp, x, y):
        return xp.maximum(x, y)

    def dx(self, g, x, y):
        return where(x < y, 0, where(x == y, g / 2, g))

    def dy(self, g, x, y):
        return where(y < x, 0, where(x == y, g / 2, g))


class Minimum(Op):
    """z = the smaller of x and y; NaN where one of them is

    ∂L/∂x = g where x < y, g / 2 where x = y, else 0        ∂L/∂y alike
    """

    elementwise = selects = True

    def forward(self, xp, x, y):
        return xp.minimum(x, y)

    def dx(self, g, x, y):
        return where(x > y, 0, where(x == y, g / 2, g))

    def dy(self, g, x, y):
        return where(y > x, 0, where(x == y, g / 2, g))


class Clip(Op):
    """z = x between two plain numbers: low where x < low, high where x > high

    ∂L/∂x = g where low ≤ x ≤ high, else 0
    """

    low: float
    high: float
    elementwise = selects = True

    def forward(self, xp, x):
        z = x if self.low is None else xp.maximum(x, number(xp, self.low, x))
        return z if self.high is None else xp.minimum(z, number(xp, self.high, x))

    def dx(self, g, x):
        g = g if self.low is None else where(x >= self.low, g, 0)
        return g if self.high is None else where(x <= self.high, g, 0)


class ClipLow(Op):
    """z = x where x ≥ low, else low

    ∂L/∂x = g where x ≥ low, else 0        ∂L/∂low = g where x < low, else 0
    """

    elementwise = selects = True

    def forward(self, xp, x, low):
        return xp.maximum(x, low)

    def dx(self, g, x, low):
        return where(x >= low, g, 0)

    def dlow(self, g, x, low):
        return where(x < low, g, 0)


class ClipHigh(Op):
    """z = x where x ≤ high, else high

    ∂L/∂x = g where x ≤ high, else 0        ∂L/∂high = g where x > high, else 0
    """

    elementwise = selects = True

    def forward(self, xp, x, high):
        return xp.minimum(x, high)

    def dx(self, g, x, high):
        return where(x <= high, g, 0)

    def dhigh(self, g, x, high):
        return where(x > high, g, 0)


def _bounds(t: DType, low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """The bounds that a dtype can feel: None for those beyond its range."""
    lowest, highest = limits(t) if t.kind in ("int", "uint") else (-INF, INF)
    if (low is not None and low > highest) or (high is not None and high < lowest):
        raise DTypeError(f"clip: {low} to {high} is outside {t}; cast the tensor first")
    return None if low is None or low <= lowest else low, None if high is None or high >= highest else high


_maximum, _minimum, _low, _high = Maximum(), Minimum(), ClipLow(), ClipHigh()
PLAIN = (int, float, type(None))


def maximum(x: Any, y: Any) -> Tensor:
    """The larger of x and y; equal ones share the gradient"""
    return binary(_maximum, x, y)  # type: ignore[no-any-return]


def minimum(x: Any, y: Any) -> Tensor:
    """The smaller of x and y; equal ones share the gradient"""
    return binary(_minimum, x, y)  # type: ignore[no-any-return]


def clip(x: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """`x`, but at least `min` and at most `max`: numbers, tensors that broadcast, or None for no bound

    Where `min` exceeds `max` the result is `max`. At a bound the gradient goes to `x`.
    """
    if type(min) in PLAIN and type(max) in PLAIN:
        if float in (type(min), type(max)) and x.dtype.kind != "float":
            x = x.astype("float32")
        return unary(Clip(*_bounds(x.dtype, min, max)), x)  # type: ignore[no-any-return]
    z = x if min is None else binary(_low, x, min)
    return z if max is None else binary(_high, z, max)


clamp = clip
