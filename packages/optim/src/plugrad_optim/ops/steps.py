"""Rules that follow the gradient, or its sign, with a step of their own length."""

from __future__ import annotations

from typing import Any

from plugrad import Op

__all__ = ["Averaged", "Descend", "Lion", "Momentum", "Rprop", "decayed", "number"]


def number(xp: Any, value: float, x: Any) -> Any:
    """The plain number `value` as a 0-d array of the dtype of `x`."""
    return xp.asarray(value, dtype=x.dtype)


def decayed(p: Any, g: Any, weight_decay: float) -> Any:
    """d = g + λ p, the gradient of the loss and of the penalty ½ λ p²"""
    return g + weight_decay * p if weight_decay else g


class Descend(Op):
    """p ← p - η d,  d = g + λ p"""

    weight_decay: float

    def forward(self, xp: Any, p: Any, g: Any, eta: Any) -> Any:
        return p - eta * decayed(p, g, self.weight_decay)


class Momentum(Op):
    """b ← μ b + (1 - τ) d,  d = g + λ p        p ← p - η b, with Nesterov's look-ahead p - η (d + μ b)"""

    momentum: float
    dampening: float
    nesterov: bool
    weight_decay: float

    def forward(self, xp: Any, p: Any, g: Any, b: Any, eta: Any) -> Any:
        d = decayed(p, g, self.weight_decay)
        b = self.momentum * b + (1 - self.dampening) * d
        return p - eta * (d + self.momentum * b if self.nesterov else b), b


class Averaged(Op):
    """p ← (1 - λ₁ η) p - η d,  d = g + λ p        a ← a + μ (p - a)"""

    lambd: float
    weight_decay: float

    def forward(self, xp: Any, p: Any, g: Any, a: Any, eta: Any, mu: Any) -> Any:
        d = decayed(p, g, self.weight_decay)
        p = (1 - self.lambd * eta) * p - eta * d
        return p, a + mu * (p - a)


class Lion(Op):
    """p ← κ p - η sign(β₁ m + (1 - β₁) g)        m ← β₂ m + (1 - β₂) g"""

    beta1: float
    beta2: float

    def forward(self, xp: Any, p: Any, g: Any, m: Any, eta: Any, kappa: Any) -> Any:
        u = xp.sign(self.beta1 * m + (1 - self.beta1) * g)
        return kappa * p - eta * u, self.beta2 * m + (1 - self.beta2) * g


class Rprop(Op):
    """s ← s η₊ where g keeps its sign, s η₋ where it has turned (there g ← 0), within bounds        p ← p - s sign g

    h is the g of the step before.
    """

    etas: tuple[float, float]
    bounds: tuple[float, float]

    def forward(self, xp: Any, p: Any, g: Any, h: Any, s: Any) -> Any:
        (minus, plus), (low, high) = self.etas, self.bounds
        kept, turned = g * h > 0, g * h < 0
        s = xp.where(kept, s * plus, xp.where(turned, s * minus, s))
        s = xp.minimum(xp.maximum(s, number(xp, low, s)), number(xp, high, s))
        g = xp.where(turned, number(xp, 0, g), g)
        return p - s * xp.sign(g), g, s
