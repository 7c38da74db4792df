"""The linear map with its bias."""

from __future__ import annotations

from math import prod

from plugrad import Op

__all__ = ["Linear"]


class Linear(Op):
    """Z = X Wᵀ + b        X: (..., n)   W: (m, n)   b: (m,)   Z: (..., m)

    ∂L/∂X = G W            ∂L/∂W = Gᵀ X, summed over ...        ∂L/∂b = G, summed over ...
    """

    def forward(self, xp, x, w, b):
        return xp.matmul(x, xp.permute_dims(w, (1, 0))) + b

    def dx(self, g, w):
        return g @ w

    def dw(self, g, x):
        return _rows(g).mT @ _rows(x)

    def db(self, g):
        return g

    def misfit(self, *shapes):
        x, w, b = shapes
        if len(w) != 2 or not x or x[-1] != w[1]:
            return f"the last axis of the input has {x[-1] if x else 'no'} entries, the weight takes {w[-1]}"
        return f"the weight gives {w[0]} entries, the bias has shape {b}"


def _rows(x):
    """(..., n) as (rows, n)."""
    return x.reshape(prod(x.shape[:-1]), x.shape[-1])
