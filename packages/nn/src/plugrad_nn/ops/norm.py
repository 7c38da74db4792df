"""Normalisation by the statistics of the values themselves."""

from __future__ import annotations

from plugrad import Op


class LayerNorm(Op):
    """z = x̂ · w + b        x̂ = (x - μ) / σ        μ, σ² = mean and variance over `axes`, σ = √(σ² + ε)

    ∂L/∂x = (h - mean(h) - x̂ · mean(h · x̂)) / σ,  h = g · w        ∂L/∂w = g · x̂        ∂L/∂b = g
    """

    axes: tuple[int, ...]
    eps: float

    def forward(self, xp, x, w, b):
        d = x - self._mean(xp, x)
        d = d - self._mean(xp, d)  # what rounding left of the mean: a constant row gives exactly b
        return d / xp.sqrt(self._mean(xp, d * d) + self.eps) * w + b

    def dx(self, g, x, w):
        s, h = self._standard(x)
        u = g * w
        return (u - self._mean_of(u) - h * self._mean_of(u * h)) / s

    def dw(self, g, x):
        return g * self._standard(x)[1]

    def db(self, g):
        return g

    def _mean(self, xp, x):
        n = 1
        for i in self.axes:
            n *= x.shape[i]
        return xp.sum(x, axis=self.axes, keepdims=True) / n

    def _mean_of(self, x):
        return x.mean(axis=self.axes, keepdims=True)

    def _standard(self, x):
        """σ and x̂, as tensors."""
        d = x - self._mean_of(x)
        s = ((d * d).mean(axis=self.axes, keepdims=True) + self.eps).sqrt()
        return s, d / s
