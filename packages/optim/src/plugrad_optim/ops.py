"""The update rules: one op for each, so that a backend may fuse it. They run under no_grad and carry no gradient."""

from __future__ import annotations

from typing import Any

from plugrad import Op


class Descend(Op):
    """p ← p - η d,  d = g + λ p        η: the learning rate"""

    weight_decay: float

    def forward(self, xp: Any, p: Any, g: Any, eta: Any) -> Any:
        return p - eta * _decayed(p, g, self.weight_decay)


class Momentum(Op):
    """b ← μ b + (1 - τ) d,  d = g + λ p        p ← p - η b, with Nesterov's look-ahead p - η (d + μ b)"""

    momentum: float
    dampening: float
    nesterov: bool
    weight_decay: float

    def forward(self, xp: Any, p: Any, g: Any, b: Any, eta: Any) -> Any:
        d = _decayed(p, g, self.weight_decay)
        b = self.momentum * b + (1 - self.dampening) * d
        return p - eta * (d + self.momentum * b if self.nesterov else b), b


class Moments(Op):
    """What Adam and its relatives share: the moving means of d = g + λ p and of d²."""

    beta1: float
    beta2: float
    eps: float
    weight_decay: float

    def moments(self, p: Any, g: Any, m: Any, v: Any) -> tuple[Any, Any]:
        d = _decayed(p, g, self.weight_decay)
        return m + (1 - self.beta1) * (d - m), self.beta2 * v + (1 - self.beta2) * d * d


class Adam(Moments):
    """m ← β₁ m + (1 - β₁) d    v ← β₂ v + (1 - β₂) d²    p ← κ p - α m / (√v / c + ε)        d = g + λ p

    α = η / (1 - β₁ᵗ) and c = √(1 - β₂ᵗ) make up for moments that start at 0; κ = 1 but for AdamW, where it is 1 - η λ
    """

    def forward(self, xp: Any, p: Any, g: Any, m: Any, v: Any, alpha: Any, c: Any, kappa: Any) -> Any:
        m, v = self.moments(p, g, m, v)
        return kappa * p - alpha * m / (xp.sqrt(v) / c + self.eps), m, v


class AMSGrad(Moments):
    """As Adam, but with the largest v so far:    u ← max(u, v)    p ← κ p - α m / (√u / c + ε)"""

    def forward(self, xp: Any, p: Any, g: Any, m: Any, v: Any, u: Any, alpha: Any, c: Any, kappa: Any) -> Any:
        m, v = self.moments(p, g, m, v)
        u = xp.maximum(u, v)
        return kappa * p - alpha * m / (xp.sqrt(u) / c + self.eps), m, v, u


def _decayed(p: Any, g: Any, weight_decay: float) -> Any:
    return g + weight_decay * p if weight_decay else g
