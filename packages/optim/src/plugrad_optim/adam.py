"""Adam and AdamW, and their relatives with another first or second moment."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from . import ops
from .ruled import Ruled, apart, tick

if TYPE_CHECKING:
    from plugrad import Tensor

    from .groups import Group
    from .optimizer import Params, State
    from .ruled import Rule

__all__ = ["Adam", "AdamW", "Adamax", "NAdam", "RAdam"]

MOMENTS = ("exp_avg", "exp_avg_sq")


class Adam(Ruled):
    """m ← β₁ m + (1 - β₁) d    v ← β₂ v + (1 - β₂) d²    p ← p - η m̂ / (√v̂ + ε)        Kingma & Ba 2014

    d = g + λ p (weight_decay λ, as a penalty in the loss would give); m̂ = m / (1 - β₁ᵗ), v̂ = v / (1 - β₂ᵗ). With
    `amsgrad` v̂ is the largest so far (Reddi et al. 2018). `decoupled_weight_decay`: as AdamW. `maximize` goes uphill.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "decoupled_weight_decay": decoupled_weight_decay,
        })  # fmt: skip

    def check(self, group: Group) -> None:
        super().check(group)
        if isinstance(self, AdamW) and not group["decoupled_weight_decay"]:
            raise ValueError("AdamW: decoupled_weight_decay is False; without it this is Adam: use that")

    def rule(self, p: Tensor, state: State, group: Group) -> Rule:
        t, (beta1, beta2) = tick(state), group["betas"]
        decay, kappa = apart(group, group["decoupled_weight_decay"])
        kind, names = (ops.AMSGrad, (*MOMENTS, "max_exp_avg_sq")) if group["amsgrad"] else (ops.Adam, MOMENTS)
        numbers = group["lr"] / (1 - beta1**t), sqrt(1 - beta2**t), kappa
        return kind(beta1, beta2, group["eps"], decay), names, numbers


class AdamW(Adam):
    """p ← p - η (m̂ / (√v̂ + ε) + λ p)        m̂, v̂ as for Adam, from g alone        Loshchilov & Hutter 2017"""

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, decoupled_weight_decay=True)


class NAdam(Ruled):
    """p ← p - η ((1 - μₜ) d / (1 - μ₁⋯μₜ) + μₜ₊₁ m / (1 - μ₁⋯μₜ₊₁)) / (√v̂ + ε)        Dozat 2016

    m, v, d as for Adam; μₜ = β₁ (1 - ½ · 0.96^(t ψ)), with momentum_decay ψ. `decoupled_weight_decay`: d = g, and
    p ← (1 - η λ) p first.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize,
        })  # fmt: skip

    def rule(self, p: Tensor, state: State, group: Group) -> Rule:
        t, (beta1, beta2), lr = tick(state), group["betas"], float(group["lr"])
        decay, kappa = apart(group, group["decoupled_weight_decay"])
        mu, after = (beta1 * (1 - 0.5 * 0.96 ** (s * group["momentum_decay"])) for s in (t, t + 1))
        state["mu_product"] = product = state.get("mu_product", 1.0) * mu
        numbers = lr * (1 - mu) / (1 - product), lr * after / (1 - product * after), sqrt(1 - beta2**t), kappa
        return ops.NAdam(beta1, beta2, group["eps"], decay), MOMENTS, numbers


class RAdam(Ruled):
    """m, v, d as for Adam        p ← p - η r m̂ / (√v̂ + ε √(1 - β₂ᵗ)⁻¹)        Liu et al. 2019

    ρ∞ = 2 / (1 - β₂) - 1,  ρ = ρ∞ - 2 t β₂ᵗ / (1 - β₂ᵗ),  r² = (ρ - 4) (ρ - 2) ρ∞ / ((ρ∞ - 4) (ρ∞ - 2) ρ); as long as
    ρ ≤ 5, v has seen too little, and p ← p - η m̂. `decoupled_weight_decay`: d = g, and p ← (1 - η λ) p first.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize,
        })  # fmt: skip

    def rule(self, p: Tensor, state: State, group: Group) -> Rule:
        t, (beta1, beta2) = tick(state), group["betas"]
        decay, kappa = apart(group, group["decoupled_weight_decay"])
        alpha, most = group["lr"] / (1 - beta1**t), 2 / (1 - beta2) - 1
        rho = most - 2 * t * beta2**t / (1 - beta2**t)
        if rho > 5:
            alpha *= sqrt((1 - beta2**t) * (rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho))
        return ops.RAdam(beta1, beta2, group["eps"], decay, rho > 5), MOMENTS, (alpha, kappa)


class Adamax(Ruled):
    """m ← β₁ m + (1 - β₁) d        u ← max(β₂ u, |d| + ε)        p ← p - η m̂ / u        Kingma & Ba 2014, section 7

    d = g + λ p with weight_decay λ, m̂ = m / (1 - β₁ᵗ). `maximize` goes uphill.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
        })  # fmt: skip

    def rule(self, p: Tensor, state: State, group: Group) -> Rule:
        t, (beta1, beta2) = tick(state), group["betas"]
        op = ops.Adamax(beta1, beta2, group["eps"], group["weight_decay"])
        return op, ("exp_avg", "exp_inf"), (group["lr"] / (1 - beta1**t),)
