"""Adam and its relatives: rules with moving means of the gradient and of its square."""

from __future__ import annotations

from typing import Any

from plugrad import Op

from .steps import decayed

__all__ = ["AMSGrad", "Adam", "Adamax", "Moments", "NAdam", "RAdam"]


class Moments(Op):
    """What they share: the moving means m of d = g + λ p, and v of d²."""

    beta1: float
    beta2: float
    eps: float
    weight_decay: float

    def moments(self, p: Any, g: Any, m: Any, v: Any) -> tuple[Any, Any, Any]:
        """d, m ← β₁ m + (1 - β₁) d, v ← β₂ v + (1 - β₂) d²"""
        d = decayed(p, g, self.weight_decay)
        return d, m + (1 - self.beta1) * (d - m), self.beta2 * v + (1 - self.beta2) * d * d


class Adam(Moments):
    """m ← β₁ m + (1 - β₁) d    v ← β₂ v + (1 - β₂) d²    p ← κ p - α m / (√v / c + ε)        d = g + λ p

    α = η / (1 - β₁ᵗ) and c = √(1 - β₂ᵗ) make up for moments that start at 0.
    """

    def forward(self, xp: Any, p: Any, g: Any, m: Any, v: Any, alpha: Any, c: Any, kappa: Any) -> Any:
        _, m, v = self.moments(p, g, m, v)
        return kappa * p - alpha * m / (xp.sqrt(v) / c + self.eps), m, v


class AMSGrad(Moments):
    """As Adam, but with the largest v so far:    u ← max(u, v)    p ← κ p - α m / (√u / c + ε)"""

    def forward(self, xp: Any, p: Any, g: Any, m: Any, v: Any, u: Any, alpha: Any, c: Any, kappa: Any) -> Any:
        _, m, v = self.moments(p, g, m, v)
        u = xp.maximum(u, v)
        return kappa * p - alpha * m / (xp.sqrt(u) / c + self.eps), m, v, u


class NAdam(Moments):
    """m, v as for Adam        p ← κ p - (α d + β m) / (√v / c + ε)"""

    def forward(self, xp: Any, p: Any, g: Any, m: Any, v: Any, alpha: Any, beta: Any, c: Any, kappa: Any) -> Any:
        d, m, v = self.moments(p, g, m, v)
        return kappa * p - (alpha * d + beta * m) / (xp.sqrt(v) / c + self.eps), m, v


class RAdam(Moments):
    """m, v as for Adam        p ← κ p - α m / (√v + ε) once v is known well enough (`rectified`), κ p - α m before"""

    rectified: bool

    def forward(self, xp: Any, p: Any, g: Any, m: Any, v: Any, alpha: Any, kappa: Any) -> Any:
        _, m, v = self.moments(p, g, m, v)
        u = m / (xp.sqrt(v) + self.eps) if self.rectified else m
        return kappa * p - alpha * u, m, v


class Adamax(Op):
    """m ← β₁ m + (1 - β₁) d        u ← max(β₂ u, |d| + ε)        p ← p - α m / u        d = g + λ p"""

    beta1: float
    beta2: float
    eps: float
    weight_decay: float

    def forward(self, xp: Any, p: Any, g: Any, m: Any, u: Any, alpha: Any) -> Any:
        d = decayed(p, g, self.weight_decay)
        m = m + (1 - self.beta1) * (d - m)
        u = xp.maximum(self.beta2 * u, xp.abs(d) + self.eps)
        return p - alpha * m / u, m, u
