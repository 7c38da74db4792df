"""Exponentials and logarithms, and what is built of them: stable far out."""

from __future__ import annotations

from ..apply import binary, unary
from ..op import Op
from .compare import isinf
from .numbers import INF, LN2, LN10, number
from .select import where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tensor import Tensor

__all__ = [
    "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "log_sigmoid", "logaddexp", "logsigmoid", "sigmoid",
    "softplus", "xlogy",
]  # fmt: skip


class Exp(Op):
    """z = eˣ

    ∂L/∂x = g z
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.exp(x)

    def dx(self, g, z):
        return g * z


class Exp2(Op):
    """z = 2ˣ

    ∂L/∂x = g z log 2
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.exp2(x)

    def dx(self, g, z):
        return g * z * LN2


class Expm1(Op):
    """z = eˣ - 1, exact near 0

    ∂L/∂x = g eˣ
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.expm1(x)

    def dx(self, g, x):
        return g * exp(x)


class Log(Op):
    """z = log x

    ∂L/∂x = g / x
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.log(x)

    def dx(self, g, x):
        return g / x


class Log2(Op):
    """z = log₂ x

    ∂L/∂x = g / (x log 2)
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.log2(x)

    def dx(self, g, x):
        return g / (x * LN2)


class Log10(Op):
    """z = log₁₀ x

    ∂L/∂x = g / (x log 10)
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.log10(x)

    def dx(self, g, x):
        return g / (x * LN10)


class Log1p(Op):
    """z = log(1 + x), exact near 0

    ∂L/∂x = g / (1 + x)
    """

    elementwise = singular = floats = True

    def forward(self, xp, x):
        return xp.log1p(x)

    def dx(self, g, x):
        return g / (1 + x)


class Logaddexp(Op):
    """z = log(eˣ + eʸ)

    ∂L/∂x = g σ(x - y), 0 for x = -∞        ∂L/∂y alike        g / 2 each where both are ∞
    """

    elementwise = scales = selects = floats = True

    def forward(self, xp, x, y):
        return xp.logaddexp(x, y)

    def dx(self, g, x, y):
        return where(x == -INF, 0, g * sigmoid(_gap(x, y)))

    def dy(self, g, x, y):
        return where(y == -INF, 0, g * sigmoid(_gap(y, x)))


class Sigmoid(Op):
    """z = σ(x) = 1 / (1 + e⁻ˣ), computed with e^-|x|

    ∂L/∂x = g z (1 - z)
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        return xp.sigmoid(x)

    def dx(self, g, z):
        return g * z * (1 - z)


class LogSigmoid(Op):
    """z = log σ(x) = min(x, 0) - log(1 + e^-|x|)

    ∂L/∂x = g σ(-x)
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        return xp.minimum(x, number(xp, 0, x)) - xp.log1p(xp.exp(-xp.abs(x)))

    def dx(self, g, x):
        return g * sigmoid(-x)


class Softplus(Op):
    """z = log(1 + e^βx) / β, computed as max(x, 0) + log(1 + e^-|βx|) / β; x where βx exceeds the threshold

    ∂L/∂x = g σ(βx), g beyond the threshold
    """

    beta: float
    threshold: float
    elementwise = scales = floats = True

    def forward(self, xp, x):
        t = x * self.beta
        return xp.where(t > self.threshold, x, xp.softplus(t) / self.beta)

    def dx(self, g, x):
        t = x * self.beta
        return where(t > self.threshold, g, g * sigmoid(t))


class Xlogy(Op):
    """z = x log y, 0 where x = 0 (whatever y, unless it is NaN)

    ∂L/∂x = g log y, 0 where x = 0 and y ≤ 0        ∂L/∂y = g x / y, 0 where x = 0
    """

    elementwise = singular = floats = True

    def forward(self, xp, x, y):
        return x * xp.log(xp.where((x == 0) & ~xp.isnan(y), number(xp, 1, y), y))

    def dx(self, g, x, y):
        return g * log(where((x == 0) & (y <= 0), 1, y))

    def dy(self, g, x, y):
        return g * (x / where((x == 0) & (y == 0), INF, y))


def _gap(x, y):
    """x - y, but 0 between equal infinities."""
    return where((x == y) & isinf(x), 0, x - y)


_exp, _exp2, _expm1, _log, _log2, _log10, _log1p = Exp(), Exp2(), Expm1(), Log(), Log2(), Log10(), Log1p()
_logaddexp, _sigmoid, _logsigmoid, _xlogy = Logaddexp(), Sigmoid(), LogSigmoid(), Xlogy()


def exp(x: Tensor) -> Tensor:
    """eˣ"""
    return unary(_exp, x)  # type: ignore[no-any-return]


def exp2(x: Tensor) -> Tensor:
    """2ˣ"""
    return unary(_exp2, x)  # type: ignore[no-any-return]


def expm1(x: Tensor) -> Tensor:
    """eˣ - 1, exact near 0"""
    return unary(_expm1, x)  # type: ignore[no-any-return]


def log(x: Tensor) -> Tensor:
    """log x, to base e; -∞ at 0, NaN below"""
    return unary(_log, x)  # type: ignore[no-any-return]


def log2(x: Tensor) -> Tensor:
    """log x to base 2"""
    return unary(_log2, x)  # type: ignore[no-any-return]


def log10(x: Tensor) -> Tensor:
    """log x to base 10"""
    return unary(_log10, x)  # type: ignore[no-any-return]


def log1p(x: Tensor) -> Tensor:
    """log(1 + x), exact near 0"""
    return unary(_log1p, x)  # type: ignore[no-any-return]


def logaddexp(x: Any, y: Any) -> Tensor:
    """log(eˣ + eʸ) without overflow; -∞ where both are"""
    return binary(_logaddexp, x, y)  # type: ignore[no-any-return]


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + e⁻ˣ)"""
    return unary(_sigmoid, x)  # type: ignore[no-any-return]


def logsigmoid(x: Tensor) -> Tensor:
    """log(1 / (1 + e⁻ˣ)): x far below 0, -e⁻ˣ far above"""
    return unary(_logsigmoid, x)  # type: ignore[no-any-return]


def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + e^βx) / β, and x itself where βx > threshold"""
    return unary(Softplus(float(beta), float(threshold)), x)  # type: ignore[no-any-return]


def xlogy(x: Any, y: Any) -> Tensor:
    """x log y, with 0 log 0 = 0"""
    return binary(_xlogy, x, y)  # type: ignore[no-any-return]


log_sigmoid = logsigmoid
