"""Rules that see a parameter as a matrix."""

from __future__ import annotations

from math import prod
from typing import Any

from plugrad import Op

from .steps import number

__all__ = ["Adafactor", "Factored", "Muon"]


class Adafactor(Op):
    """v ← v + β (g² - v)    u = g / √max(v, ε₁²)    p ← κ p - ρ max(ε₂, ‖p‖) u / max(1, ‖u‖ / d)

    ‖x‖ = √(mean of x²)
    """

    eps1: float
    eps2: float
    d: float

    def forward(self, xp: Any, p: Any, g: Any, v: Any, beta: Any, rho: Any, kappa: Any) -> Any:
        v = v + beta * (g * g - v)
        return self.stepped(xp, p, g, v, rho, kappa), v

    def stepped(self, xp: Any, p: Any, g: Any, v: Any, rho: Any, kappa: Any) -> Any:
        u = g / xp.sqrt(xp.maximum(v, number(xp, self.eps1**2, v)))
        alpha = rho * xp.maximum(_size(xp, p), number(xp, self.eps2, p))
        return kappa * p - alpha / xp.maximum(_size(xp, u) / self.d, number(xp, 1, u)) * u


class Factored(Adafactor):
    """As Adafactor with v = r c / mean(r):    r ← r + β (mean of g² over columns - r)    c ← the same over rows"""

    def forward(self, xp: Any, p: Any, g: Any, r: Any, c: Any, *nu: Any) -> Any:
        beta, *others = nu
        r, c = (x + beta * (_mean(xp, g * g, axis) - x) for x, axis in ((r, -1), (c, -2)))
        v = r * c / xp.maximum(_mean(xp, r, -2), number(xp, self.eps1, r))
        return self.stepped(xp, p, g, v, *others), r, c


def _size(xp: Any, x: Any) -> Any:
    return xp.sqrt(xp.sum(x * x) / max(prod(x.shape), 1))


def _mean(xp: Any, x: Any, axis: int) -> Any:
    return xp.sum(x, axis=axis, keepdims=True) / max(x.shape[axis], 1)


class Muon(Op):
    """b ← b + (1 - μ) (g - b)    p ← κ p - η O(b), with Nesterov's look-ahead κ p - η O(g + μ (b - g))

    O(x) is x with singular values near 1: from x / max(‖x‖, ε), `steps` times x ← a x + (b A + c A²) x with A = x xᵀ.
    """

    momentum: float
    nesterov: bool
    coefficients: tuple[float, float, float]
    eps: float
    steps: int

    def forward(self, xp: Any, p: Any, g: Any, b: Any, eta: Any, kappa: Any) -> Any:
        b = b + (1 - self.momentum) * (g - b)
        x = g + self.momentum * (b - g) if self.nesterov else b
        return kappa * p - eta * _orthogonal(xp, x, self.coefficients, self.eps, self.steps), b


def _orthogonal(xp: Any, x: Any, coefficients: tuple[float, float, float], eps: float, steps: int) -> Any:
    """O(x), of the flat side: A is as small as can be."""
    if x.shape[0] > x.shape[1]:
        return xp.permute_dims(_orthogonal(xp, xp.permute_dims(x, (1, 0)), coefficients, eps, steps), (1, 0))
    a, b, c = coefficients
    x = x / xp.maximum(xp.sqrt(xp.sum(x * x)), number(xp, eps, x))
    for _ in range(steps):
        gram = xp.matmul(x, xp.permute_dims(x, (1, 0)))
        x = a * x + xp.matmul(b * gram + c * xp.matmul(gram, gram), x)
    return x
