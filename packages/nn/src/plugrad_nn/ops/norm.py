"""Normalisation: numbers less their mean, in units of their spread."""

from __future__ import annotations

from math import prod

from plugrad import Op
from plugrad.ops.statistics import centred

__all__ = ["BatchNorm", "LayerNorm", "RMSNorm", "Rescale"]


class _Norm(Op):
    """What the norms share: integers are cast first."""

    floats = True


class LayerNorm(_Norm):
    """z = x̂ · w + b        x̂ = (x - μ) / σ        μ, v = mean and variance over `axes`, σ = √(v + ε)

    ∂L/∂x = (h - mean(h) - x̂ · mean(h · x̂)) / σ,  h = g · w        ∂L/∂w = g · x̂        ∂L/∂b = g
    """

    axes: tuple[int, ...]
    eps: float

    def forward(self, xp, x, w, b):
        d, _, v = _moments(xp, x, self.axes)
        return d / xp.sqrt(v + self.eps) * w + b

    def dx(self, g, x, w):
        (u, s), h = _standard(self, x), g * w
        return (h - _mean_of(h, self.axes) - u * _mean_of(h * u, self.axes)) / s

    def dw(self, g, x):
        return g * _standard(self, x)[0]

    def db(self, g):
        return g


class BatchNorm(_Norm):
    """z = x̂ · w + b, μ, v        x̂ = (x - μ) / σ        μ, v = mean and variance over `axes`, σ = √(v + ε)

    ∂L/∂x = (h + g_μ σ/n - mean(h) + x̂ · (2 g_v σ²/n - mean(h · x̂))) / σ,  h = g_z · w, n numbers for each μ
    ∂L/∂w = g_z · x̂        ∂L/∂b = g_z
    """

    axes: tuple[int, ...]
    eps: float

    def forward(self, xp, x, w, b):
        d, m, v = _moments(xp, x, self.axes)
        return d / xp.sqrt(v + self.eps) * w + b, m, v

    def dx(self, g, x, w):
        (u, s), h, n = _standard(self, x), g[0] * w, _count(x, self.axes)
        shift, slope = g[1] * s / n - _mean_of(h, self.axes), 2 / n * g[2] * (s * s) - _mean_of(h * u, self.axes)
        return (h + shift + u * slope) / s

    def dw(self, g, x):
        return g[0] * _standard(self, x)[0]

    def db(self, g):
        return g[0]


class Rescale(_Norm):
    """z = (x - m) / √(v + ε) · w + b: normalised by a mean m and a variance v that are known already

    ∂L/∂x = g w / √(v + ε)        ∂L/∂m = -g w / √(v + ε)        ∂L/∂v = -g w (x - m) / 2 (v + ε)^(3/2)
    ∂L/∂w = g (x - m) / √(v + ε)        ∂L/∂b = g
    """

    eps: float

    def forward(self, xp, x, m, v, w, b):
        return (x - m) * (w / xp.sqrt(v + self.eps)) + b

    def dx(self, g, v, w):
        return g * (w / (v + self.eps).sqrt())

    def dm(self, g, v, w):
        return -g * (w / (v + self.eps).sqrt())

    def dv(self, g, x, m, v, w):
        return g * (x - m) * (w * (v + self.eps) ** -1.5 * -0.5)

    def dw(self, g, x, m, v):
        return g * ((x - m) / (v + self.eps).sqrt())

    def db(self, g):
        return g


class RMSNorm(_Norm):
    """z = x̂ · w        x̂ = x / r        r = √(mean(x²) + ε), the mean over `axes`

    ∂L/∂x = (h - x̂ · mean(h · x̂)) / r,  h = g · w        ∂L/∂w = g · x̂
    """

    name = "rms_norm"
    axes: tuple[int, ...]
    eps: float

    def forward(self, xp, x, w):
        return x / xp.sqrt(_mean(xp, x * x, self.axes) + self.eps) * w

    def dx(self, g, x, w):
        r, h = _root(self, x), g * w
        u = x / r
        return (h - u * _mean_of(h * u, self.axes)) / r

    def dw(self, g, x):
        return g * (x / _root(self, x))


def _count(x, axes):
    return prod([x.shape[i] for i in axes]) or 1


def _mean(xp, x, axes):
    return xp.sum(x, axis=axes, keepdims=True) / _count(x, axes)


def _moments(xp, x, axes):
    """x - μ, μ and v. The first number is taken off beforehand: a large mean costs no digits, equal numbers give 0."""
    empty = 0 in [x.shape[i] for i in axes]
    at = tuple([slice(0, 1) if i in axes else slice(None) for i in range(len(x.shape))])
    first = xp.zeros((), dtype=x.dtype) if empty else x[at]
    d = x - first
    m = _mean(xp, d, axes)
    d = d - m
    return d, first + m, _mean(xp, d * d, axes)


def _mean_of(x, axes):
    return x.sum(axis=axes, keepdims=True) / _count(x, axes)


def _standard(op, x):
    """x̂ and σ, as tensors."""
    d = centred(x, op.axes)
    s = (_mean_of(d * d, op.axes) + op.eps).sqrt()
    return d / s, s


def _root(op, x):
    """r, as a tensor."""
    return (_mean_of(x * x, op.axes) + op.eps).sqrt()
