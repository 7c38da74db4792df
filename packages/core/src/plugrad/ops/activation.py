"""Smooth activations, with PyTorch's names and defaults."""

from __future__ import annotations

from ..apply import unary
from ..errors import ShapeError
from ..op import Op
from .axes import one_axis
from .exponential import exp, sigmoid, softplus
from .extreme import clip
from .numbers import number
from .rounding import abs
from .special import erfc
from .trigonometric import tanh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = ["gelu", "glu", "mish", "silu", "softsign"]

FLAT, FLAT_TANH, FLAT_EXP = 40.0, 30.0, 800.0  # beyond these Φ(x), σ(2u) and σ(x) are 0 or 1 in every dtype
FLAT_SIGN = 1e30  # from here on x / (1 + |x|) is 1, with no ∞ / ∞
HALF_ROOT = 0.7071067811865476  # √½
DENSITY = 0.3989422804014327  # 1 / √(2π)
SLOPE, CUBIC = 0.7978845608028654, 0.044715  # √(2/π), and the published fit of the tanh form


class Gelu(Op):
    """z = x Φ(x), Φ(x) = erfc(-x/√2) / 2 the normal distribution

    ∂L/∂x = g (Φ(x) + x φ(x)), φ(x) = e^(-x²/2) / √(2π)
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        x = xp.maximum(x, number(xp, -FLAT, x))
        return x * xp.erfc(x * -HALF_ROOT) * 0.5

    def dx(self, g, x):
        x = clip(x, -FLAT, FLAT)
        return g * (0.5 * erfc(x * -HALF_ROOT) + x * exp(-0.5 * (x * x)) * DENSITY)


class GeluTanh(Op):
    """z = x σ(2u), u = √(2/π) (x + 0.044715 x³): x (1 + tanh u) / 2

    ∂L/∂x = g (s + x s (1 - s) 2u'), s = σ(2u)
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        x = xp.maximum(x, number(xp, -FLAT_TANH, x))
        return x * xp.sigmoid(x * (1 + CUBIC * (x * x)) * (2 * SLOPE))

    def dx(self, g, x):
        x = clip(x, -FLAT_TANH, FLAT_TANH)
        s = sigmoid(x * (1 + CUBIC * (x * x)) * (2 * SLOPE))
        return g * (s + x * s * (1 - s) * (1 + 3 * CUBIC * (x * x)) * (2 * SLOPE))


class Silu(Op):
    """z = x σ(x)

    ∂L/∂x = g s (1 + x (1 - s)), s = σ(x)
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        x = xp.maximum(x, number(xp, -FLAT_EXP, x))
        return x * xp.sigmoid(x)

    def dx(self, g, x):
        x = clip(x, -FLAT_EXP, FLAT_EXP)
        s = sigmoid(x)
        return g * s * (1 + x * (1 - s))


class Mish(Op):
    """z = x t, t = tanh(log(1 + eˣ))

    ∂L/∂x = g (t + x (1 - t²) σ(x))
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        x = xp.maximum(x, number(xp, -FLAT_EXP, x))
        return x * xp.tanh(xp.softplus(x))

    def dx(self, g, x):
        x = clip(x, -FLAT_EXP, FLAT_EXP)
        t = tanh(softplus(x))
        return g * (t + x * (1 - t * t) * sigmoid(x))


class Softsign(Op):
    """z = x / (1 + |x|)

    ∂L/∂x = g / (1 + |x|)²
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        c = xp.minimum(xp.maximum(x, number(xp, -FLAT_SIGN, x)), number(xp, FLAT_SIGN, x))
        return c / (1 + xp.abs(c))

    def dx(self, g, x):
        d = 1 + abs(x)
        return g / d / d


_gelu, _gelu_tanh, _silu, _mish, _softsign = Gelu(), GeluTanh(), Silu(), Mish(), Softsign()


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """x Φ(x), Φ the normal distribution; approximate="tanh": x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2"""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate is 'none' or 'tanh', not {approximate!r}")
    return unary(_gelu if approximate == "none" else _gelu_tanh, x)  # type: ignore[no-any-return]


def silu(x: Tensor) -> Tensor:
    """x σ(x), also called swish"""
    return unary(_silu, x)  # type: ignore[no-any-return]


def mish(x: Tensor) -> Tensor:
    """x tanh(log(1 + eˣ))"""
    return unary(_mish, x)  # type: ignore[no-any-return]


def softsign(x: Tensor) -> Tensor:
    """x / (1 + |x|)"""
    return unary(_softsign, x)  # type: ignore[no-any-return]


def glu(x: Tensor, axis: int = -1) -> Tensor:
    """a σ(b), where a and b are the halves of `x` along `axis`"""
    i = one_axis("glu", axis, x.ndim)
    n = x.shape[i]
    if n % 2:
        raise ShapeError(f"glu: axis {axis} of shape {x.shape} has {n} entries; an even number splits into halves")
    before = (slice(None),) * i
    return x[(*before, slice(0, n // 2))] * sigmoid(x[(*before, slice(n // 2, n))])
