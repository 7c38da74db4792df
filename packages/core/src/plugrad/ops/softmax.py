"""Softmax: numbers of a row as shares of one."""

from __future__ import annotations

from ..apply import unary
from ..op import Op
from .axes import one_axis
from .exponential import exp
from .numbers import INF, number
from .select import where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = ["log_softmax", "softmax", "softmin"]


class Softmax(Op):
    """z = eˣ / Σ eˣ along one axis, computed with x - max x; NaN in a row of nothing but -∞

    ∂L/∂x = z (g - Σ g z), 0 in such a row
    """

    axis: int
    floats = True

    def forward(self, xp, x):
        if 0 in x.shape:
            return x
        e = xp.exp(x - _peak(xp, x, self.axis))
        return e / _mass(xp, e, self.axis)

    def dx(self, g, z):
        p = where(z == z, z, 0)
        return p * (g - (g * p).sum(axis=self.axis, keepdims=True))


class LogSoftmax(Op):
    """z = x - log Σ eˣ along one axis, computed with x - max x; NaN in a row of nothing but -∞

    ∂L/∂x = g - e^z Σ g, 0 in such a row
    """

    axis: int
    floats = True

    def forward(self, xp, x):
        if 0 in x.shape:
            return x
        y = x - _peak(xp, x, self.axis)
        return y - xp.log(_mass(xp, xp.exp(y), self.axis))

    def dx(self, g, z):
        return where(z == z, g - exp(z) * g.sum(axis=self.axis, keepdims=True), 0)


def _peak(xp, x, axis):
    """The largest of each row, but 0 where that is -∞."""
    m = xp.max(x, axis=axis, keepdims=True)
    return xp.where(m == -INF, number(xp, 0, m), m)


def _mass(xp, e, axis):
    """The sum of each row, but NaN where that is 0."""
    s = xp.sum(e, axis=axis, keepdims=True)
    return xp.where(s == 0, number(xp, float("nan"), s), s)


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """eˣ / Σ eˣ along `axis`; a row of nothing but -∞ gives NaN, and 0 in the gradient"""
    return unary(Softmax(one_axis("softmax", axis, len(x.data.shape))), x)  # type: ignore[no-any-return]


def softmin(x: Tensor, axis: int = -1) -> Tensor:
    """e⁻ˣ / Σ e⁻ˣ along `axis`"""
    floats = x if x.dtype.is_floating_point else x.astype("float32")  # -x of unsigned integers wraps
    return unary(Softmax(one_axis("softmin", axis, len(x.data.shape))), -floats)  # type: ignore[no-any-return]


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """x - log Σ eˣ along `axis`; a row of nothing but -∞ gives NaN, and 0 in the gradient"""
    return unary(LogSoftmax(one_axis("log_softmax", axis, len(x.data.shape))), x)  # type: ignore[no-any-return]
