"""Rules that divide the gradient by the size that it usually has."""

from __future__ import annotations

from typing import Any

from plugrad import Op

from .steps import decayed, number

__all__ = ["Adadelta", "Adagrad", "Centered", "RMSprop"]


class RMSprop(Op):
    """v ← α v + (1 - α) d²        p ← p - η u,  u = d / (√v + ε),  d = g + λ p

    With a momentum μ the step is η b, b ← μ b + u. The inputs are p, g, v, b with momentum, η.
    """

    alpha: float
    eps: float
    weight_decay: float
    momentum: float

    def forward(self, xp: Any, p: Any, g: Any, v: Any, *more: Any) -> Any:
        d = decayed(p, g, self.weight_decay)
        v = self.alpha * v + (1 - self.alpha) * d * d
        u, *b = _rolling(self.momentum, d / (xp.sqrt(v) + self.eps), more)
        return p - more[-1] * u, v, *b


class Centered(RMSprop):
    """As RMSprop with v - a² in place of v:    a ← α a + (1 - α) d        a comes, and goes, after v"""

    def forward(self, xp: Any, p: Any, g: Any, v: Any, *more: Any) -> Any:
        a, *more = more  # type: ignore[assignment]
        d = decayed(p, g, self.weight_decay)
        v = self.alpha * v + (1 - self.alpha) * d * d
        a = a + (1 - self.alpha) * (d - a)
        w = xp.maximum(v - a * a, number(xp, 0, v))
        u, *b = _rolling(self.momentum, d / (xp.sqrt(w) + self.eps), more)
        return p - more[-1] * u, v, a, *b


def _rolling(mu: float, u: Any, more: Any) -> list[Any]:
    """b ← μ b + u, twice: as the step and as the state; u alone without momentum"""
    return [mu * more[0] + u] * 2 if mu else [u]


class Adagrad(Op):
    """s ← s + d²        p ← p - η d / (√s + ε)        d = g + λ p"""

    eps: float
    weight_decay: float

    def forward(self, xp: Any, p: Any, g: Any, s: Any, eta: Any) -> Any:
        d = decayed(p, g, self.weight_decay)
        s = s + d * d
        return p - eta * d / (xp.sqrt(s) + self.eps), s


class Adadelta(Op):
    """v ← ρ v + (1 - ρ) d²    δ = d √(u + ε) / √(v + ε)    u ← ρ u + (1 - ρ) δ²    p ← p - η δ        d = g + λ p"""

    rho: float
    eps: float
    weight_decay: float

    def forward(self, xp: Any, p: Any, g: Any, v: Any, u: Any, eta: Any) -> Any:
        d = decayed(p, g, self.weight_decay)
        v = self.rho * v + (1 - self.rho) * d * d
        delta = xp.sqrt(u + self.eps) / xp.sqrt(v + self.eps) * d
        return p - eta * delta, v, self.rho * u + (1 - self.rho) * delta * delta
