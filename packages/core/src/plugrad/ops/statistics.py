"""Reductions with a shape of their own: spread, length, and sums of exponentials."""

from __future__ import annotations

from ..apply import unary
from ..op import Op
from .along import axes_for, count, filled_axes, ones, opened, ratio, shut
from .compare import isinf
from .numbers import INF as inf
from .numbers import NAN as nan
from .reduce import mean, shared, sum
from .select import mend, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tensor import Tensor
    from .axes import Axis

__all__ = ["logsumexp", "norm", "std", "std_mean", "var", "var_mean"]


class Var(Op):
    """z = Σ (x - x̄)² / (n - c) over `axis`, n numbers, c = `correction`

    ∂L/∂x = g · 2 (x - x̄) / (n - c)
    """

    axis: tuple[int, ...]
    keepdims: bool
    correction: float
    floats = True

    def forward(self, xp, x):
        d = deviation(xp, x, self.axis)
        return ratio(xp, xp.sum(d * d, axis=self.axis, keepdims=self.keepdims), freedom(self, x))

    def dx(self, g, x):
        g, f = opened(self, g, x.shape), freedom(self, x)
        return mend(g, g * (centred(x, self.axis) * (2 / f if f > 0 else nan)))


class Std(Op):
    """z = √(Σ (x - x̄)² / (n - c)) over `axis`, n numbers, c = `correction`

    ∂L/∂x = g · (x - x̄) / ((n - c) z), 0 where z is 0
    """

    axis: tuple[int, ...]
    keepdims: bool
    correction: float
    floats = True

    def forward(self, xp, x):
        s = length(xp, deviation(xp, x, self.axis), self, 2.0)
        f = freedom(self, x)
        return ratio(xp, s, f**0.5 if f > 0 else 0)

    def dx(self, g, x, z):
        g, z, f = opened(self, g, x.shape), opened(self, z, x.shape), freedom(self, x)
        return mend(g, g * (centred(x, self.axis) / (where(z == 0, inf, z) * (f if f > 0 else nan))))


class Norm(Op):
    """z = (Σ |x|ᵖ)^(1/p) over `axis`, p = `ord`, finite and not 0

    ∂L/∂x = g · sign x · (|x| / z)ᵖ⁻¹, 0 where x or z is 0; for p = 2 that is g · x / z
    """

    axis: tuple[int, ...]
    keepdims: bool
    ord: float
    floats = True

    def forward(self, xp, x):
        return length(xp, x, self, self.ord)

    def dx(self, g, x, z):
        g, z, p = opened(self, g, x.shape), opened(self, z, x.shape), self.ord
        if p == 2:
            return mend(g, g * (x / where(z == 0, inf, z)))
        a = where(x == 0, 1, x.abs())  # sign x is 0 there
        return mend(g, g * (x.sign() * (a / (where(z == 0, 1, z) if p > 0 else z)) ** (p - 1)))


class EdgeNorm(Op):
    """z = the largest |x| over `axis`, or the smallest: the norms of order ∞ and -∞

    ∂L/∂x = g · sign x, shared equally among the |x| that equal z, 0 elsewhere
    """

    axis: tuple[int, ...]
    keepdims: bool
    largest: bool
    floats = True

    def forward(self, xp, x):
        return (xp.max if self.largest else xp.min)(xp.abs(x), axis=self.axis, keepdims=self.keepdims)

    def dx(self, g, x, z):
        share = shared(self, g, x.abs(), z)
        return mend(share, share * x.sign())


class ZeroNorm(Op):
    """z = how many x over `axis` are not 0: the norm of order 0; `shape` is that of x

    ∂L/∂x = 0
    """

    axis: tuple[int, ...]
    keepdims: bool
    shape: tuple[int, ...]
    floats = True

    def forward(self, xp, x):
        return xp.sum(xp.astype(x != 0, x.dtype), axis=self.axis, keepdims=self.keepdims)

    def dx(self, g):
        return g.new_zeros(self.shape)


class LogSumExp(Op):
    """z = log Σ eˣ over `axis`; -∞ where all x are -∞

    ∂L/∂x = g · eˣ⁻ᶻ; where z is -∞ that is 0, where z is ∞ the x that are ∞ share g
    """

    axis: tuple[int, ...]
    keepdims: bool
    floats = True

    def forward(self, xp, x):
        m = peak(xp, x, self.axis, nothing=-inf)
        finite, zero = xp.isfinite(m), xp.zeros(m.shape, dtype=m.dtype)
        s = xp.sum(xp.exp(xp.minimum(x - xp.where(finite, m, zero), zero)), axis=self.axis, keepdims=True)
        return shut(xp, xp.where(finite, xp.log(xp.where(finite, s, zero + 1)) + m, m), self)

    def dx(self, g, x, z):
        g, z = opened(self, g, x.shape), opened(self, z.detach(), x.shape)
        e = where(isinf(z), where(x == inf, x.new_zeros(()), -inf), x - z).exp()
        s = sum(e, self.axis, keepdims=True)  # 1, but for rounding, ties at ∞, and rows of -∞
        return mend(g, g * (e / where(s == 0, 1, s)))


def freedom(op: Any, x: Any) -> float:
    """n - c: how many numbers are free once c of them are used up."""
    return count(x.shape, op.axis) - op.correction  # type: ignore[no-any-return]


def deviation(xp: Any, x: Any, axis: tuple[int, ...]) -> Any:
    """The array x - x̄. Taking the first number off beforehand makes it exact for a large mean, and 0 for equal x."""
    d = x - x[_first(x, axis)]
    return d - xp.sum(d, axis=axis, keepdims=True) / (count(x.shape, axis) or 1)


def centred(x: Any, axis: tuple[int, ...]) -> Any:
    """`deviation` of a tensor; what is taken off beforehand may count as constant."""
    d = x - x.detach()[_first(x, axis)]
    return d - mean(d, axis, keepdims=True)


def _first(x: Any, axis: tuple[int, ...]) -> tuple[Any, ...]:
    return (*[slice(0, min(n, 1)) if i in axis else slice(None) for i, n in enumerate(x.shape)], ...)


def length(xp: Any, x: Any, op: Any, p: float) -> Any:
    """(Σ |x|ᵖ)^(1/p), with |x| measured in units of the largest (smallest for p < 0): squares do not overflow."""
    a = xp.abs(x)
    m = peak(xp, a, op.axis, nothing=0.0) if p > 0 else xp.min(a, axis=op.axis, keepdims=True)
    one = xp.full(m.shape, 1.0, dtype=m.dtype)
    u = a / xp.where(xp.isfinite(m) & (m > 0), m, one)
    u = u if p > 0 else xp.where(u == 0, one, u)  # m is 0 there, and so is the result
    s = xp.sum(u * u if p == 2 else u if p == 1 else u**p, axis=op.axis, keepdims=True)
    return shut(xp, m * (xp.sqrt(s) if p == 2 else s if p == 1 else s ** (1 / p)), op)


def peak(xp: Any, x: Any, axis: tuple[int, ...], nothing: float) -> Any:
    """The largest x over `axis`, which stays as 1; `nothing` where there is none."""
    if count(x.shape, axis):
        return xp.max(x, axis=axis, keepdims=True)
    return xp.full(ones(x.shape, axis), nothing, dtype=x.dtype)


def var(x: Tensor, axis: Axis = None, correction: float = 1, keepdims: bool = False) -> Tensor:
    """Σ (x - x̄)² / (n - correction) over `axis` (all axes by default); `correction=0` for a whole population."""
    return unary(Var(axes_for("var", x, axis), keepdims, correction), x)  # type: ignore[no-any-return]


def std(x: Tensor, axis: Axis = None, correction: float = 1, keepdims: bool = False) -> Tensor:
    """√var; where all x are equal, it and its gradient are 0."""
    return unary(Std(axes_for("std", x, axis), keepdims, correction), x)  # type: ignore[no-any-return]


def var_mean(x: Tensor, axis: Axis = None, correction: float = 1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """(var, mean)"""
    return var(x, axis, correction, keepdims), mean(x, axis, keepdims)


def std_mean(x: Tensor, axis: Axis = None, correction: float = 1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """(std, mean)"""
    return std(x, axis, correction, keepdims), mean(x, axis, keepdims)


def norm(x: Tensor, ord: float = 2, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """(Σ |x|ᵖ)^(1/p) over `axis` (all axes by default), p = `ord`: the length of x as a vector.

    p = ±∞ gives the largest or smallest |x|, p = 0 how many x are not 0. Where the norm is 0, so is its gradient.
    """
    p = float(ord)
    if p == 0:
        return unary(ZeroNorm(axes_for("norm", x, axis), keepdims, x.shape), x)  # type: ignore[no-any-return]
    if p in (inf, -inf):
        return unary(EdgeNorm(filled_axes("norm", x, axis), keepdims, p > 0), x)  # type: ignore[no-any-return]
    axes = (axes_for if p > 0 else filled_axes)("norm", x, axis)
    return unary(Norm(axes, keepdims, p), x)  # type: ignore[no-any-return]


def logsumexp(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """log Σ eˣ over `axis` (all axes by default), without overflow; -∞ of nothing."""
    return unary(LogSumExp(axes_for("logsumexp", x, axis), keepdims), x)  # type: ignore[no-any-return]
