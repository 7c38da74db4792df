"""Normalisation by the statistics of the values themselves."""

from __future__ import annotations

from math import prod

from plugrad import Op

__all__ = ["LayerNorm"]


class LayerNorm(Op):
    """z = x̂ · w + b        x̂ = (x - μ) / σ        μ, σ² = mean and variance over `axes`, σ = √(σ² + ε)

    ∂L/∂x = (h - mean(h) - x̂ · mean(h · x̂)) / σ,  h = g · w        ∂L/∂w = g · x̂        ∂L/∂b = g
    """

    axes: tuple[int, ...]
    eps: float

    def forward(self, xp, x, w, b):
        d = x - _mean(xp, x, self.axes)
        d = d - _mean(xp, d, self.axes)  # what rounding left of the mean: a constant row gives exactly b
        return d / xp.sqrt(_mean(xp, d * d, self.axes) + self.eps) * w + b

    def dx(self, g, x, w):
        (s, h), u = _standard(self, x), g * w
        return (u - _mean_of(u, self.axes) - h * _mean_of(u * h, self.axes)) / s

    def dw(self, g, x):
        return g * _standard(self, x)[1]

    def db(self, g):
        return g


def _mean(xp, x, axes):
    return xp.sum(x, axis=axes, keepdims=True) / (prod([x.shape[i] for i in axes]) or 1)


def _mean_of(x, axes):
    return x.mean(axis=axes, keepdims=True)


def _standard(op, x):
    """σ and x̂, as tensors."""
    d = x - _mean_of(x, op.axes)
    s = (_mean_of(d * d, op.axes) + op.eps).sqrt()
    return s, d / s
