"""Optimizers that divide by the size that the gradient usually has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plugrad as pg

from . import ops
from .groups import not_below
from .ruled import Ruled, tick

if TYPE_CHECKING:
    from plugrad import Tensor

    from .groups import Group
    from .optimizer import Params, State
    from .ruled import Rule

__all__ = ["Adadelta", "Adagrad", "RMSprop"]


class RMSprop(Ruled):
    """v ← α v + (1 - α) d²        p ← p - η d / (√v + ε)        d = g + λ p        Tieleman & Hinton 2012, lecture 6.5

    `centered` takes v - a² in place of v, with a the moving mean of d (Graves 2013): an estimate of its variance. With
    a momentum μ the step is η b, b ← μ b + d / (√v + ε). `maximize` goes uphill.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum,
            "centered": centered, "maximize": maximize,
        })  # fmt: skip

    def rule(self, p: Tensor, state: State, group: Group) -> Rule:
        tick(state)
        kind, names = (
            (ops.Centered, ("square_avg", "grad_avg")) if group["centered"] else (ops.RMSprop, ("square_avg",))
        )
        op = kind(group["alpha"], group["eps"], group["weight_decay"], float(group["momentum"]))
        return op, (*names, *["momentum_buffer"] * (op.momentum > 0)), (float(group["lr"]),)


class Adagrad(Ruled):
    """s ← s + d²        p ← p - ηₜ d / (√s + ε)        Duchi, Hazan & Singer 2011

    d = g + λ p, ηₜ = η / (1 + (t - 1) γ) with lr η, lr_decay γ, weight_decay λ; s starts at initial_accumulator_value.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "maximize": maximize,
        })  # fmt: skip

    def start(self, name: str, p: Tensor, group: Group) -> Tensor:
        return pg.full_like(p, group["initial_accumulator_value"])

    def rule(self, p: Tensor, state: State, group: Group) -> Rule:
        eta = group["lr"] / (1 + (tick(state) - 1) * group["lr_decay"])
        return ops.Adagrad(group["eps"], group["weight_decay"]), ("sum",), (eta,)


class Adadelta(Ruled):
    """v ← ρ v + (1 - ρ) d²    δ = d √(u + ε) / √(v + ε)    u ← ρ u + (1 - ρ) δ²    p ← p - η δ        Zeiler 2012

    d = g + λ p with weight_decay λ. The paper's η is 1. `maximize` goes uphill.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
        })  # fmt: skip

    def check(self, group: Group) -> None:
        super().check(group)
        not_below("Adadelta", "rho", group["rho"])
        if group["rho"] > 1:
            raise ValueError(f"Adadelta: rho is {group['rho']}; it cannot be above 1")

    def rule(self, p: Tensor, state: State, group: Group) -> Rule:
        tick(state)
        op = ops.Adadelta(group["rho"], group["eps"], group["weight_decay"])
        return op, ("square_avg", "acc_delta"), (float(group["lr"]),)
