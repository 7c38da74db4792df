"""Stochastic gradient descent, and the mean of its path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .groups import not_below
from .ops import Averaged, Descend, Momentum
from .ruled import Ruled, tick

if TYPE_CHECKING:
    from plugrad import Tensor

    from .groups import Group
    from .optimizer import Params, State
    from .ruled import Rule

__all__ = ["ASGD", "SGD"]


class SGD(Ruled):
    """d = g + λ p        b ← μ b + (1 - τ) d        p ← p - η b        Robbins & Monro 1951; Polyak 1964

    lr η, momentum μ, dampening τ, weight_decay λ. The first b is d itself, not dampened. With `nesterov` the step is
    η (d + μ b) (Sutskever et al. 2013); without momentum it is η d. `maximize` goes uphill.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize,
        })  # fmt: skip

    def check(self, group: Group) -> None:
        super().check(group)
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"]):
            raise ValueError(
                f"SGD: nesterov wants a momentum above 0 and no dampening, these are {group['momentum']} and "
                f"{group['dampening']}"
            )

    def rule(self, p: Tensor, state: State, group: Group) -> Rule:
        decay, mu, numbers = float(group["weight_decay"]), float(group["momentum"]), (float(group["lr"]),)
        if not mu:
            return Descend(decay), (), numbers
        tau = float(group["dampening"]) if "momentum_buffer" in state else 0.0
        return Momentum(mu, tau, bool(group["nesterov"]), decay), ("momentum_buffer",), numbers


class ASGD(Ruled):
    """p ← (1 - λ₁ ηₜ) p - ηₜ d        a ← a + μₜ (p - a)        d = g + λ p        Polyak & Juditsky 1992

    a, in `state[p]["ax"]`, is the mean of p over all steps after t₀. ηₜ₊₁ = η / (1 + λ₁ η t)^α with lr η, lambd λ₁,
    alpha α; μₜ₊₁ = 1 / max(1, t - t₀); weight_decay λ.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "maximize": maximize,
        })  # fmt: skip

    def check(self, group: Group) -> None:
        super().check(group)
        not_below("ASGD", "lambd", group["lambd"])

    def rule(self, p: Tensor, state: State, group: Group) -> Rule:
        t, lr, lambd = tick(state), float(group["lr"]), float(group["lambd"])
        numbers = state.get("eta", lr), state.get("mu", 1.0)
        state["eta"] = lr / (1 + lambd * lr * t) ** group["alpha"]
        state["mu"] = 1 / max(1, t - group["t0"])
        return Averaged(lambd, float(group["weight_decay"])), ("ax",), numbers
