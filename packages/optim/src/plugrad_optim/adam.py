"""Adam and its relatives."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from plugrad.apply import apply

from . import ops
from .optimizer import Group, Optimizer

if TYPE_CHECKING:
    from plugrad import Tensor

    from .optimizer import Params


class Adam(Optimizer):
    """m ← β₁ m + (1 - β₁) d    v ← β₂ v + (1 - β₂) d²    p ← p - η m̂ / (√v̂ + ε)        Kingma & Ba 2014

    d = g + λ p (weight_decay λ, as a penalty in the loss would give); m̂ = m / (1 - β₁ᵗ), v̂ = v / (1 - β₂ᵗ). With
    `amsgrad` v̂ is the largest so far (Reddi et al. 2018). `maximize` goes uphill.
    """

    decoupled = False

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
    ) -> None:
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize,
        })  # fmt: skip

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: Group) -> Tensor:
        t = state["step"] = int(state.get("step", 0)) + 1
        lr, decay, (beta1, beta2) = float(group["lr"]), float(group["weight_decay"]), group["betas"]
        rule = ops.AMSGrad if group["amsgrad"] else ops.Adam
        op = rule(float(beta1), float(beta2), float(group["eps"]), 0.0 if self.decoupled else decay)
        names = ["exp_avg", "exp_avg_sq", "max_exp_avg_sq"][: 3 if group["amsgrad"] else 2]
        moments = [state[n] if n in state else g.new_zeros(g.shape) for n in names]
        correct = (lr / (1 - beta1**t), sqrt(1 - beta2**t), 1 - lr * decay if self.decoupled else 1.0)
        z, *moments = apply(op, p, g, *moments, *correct)
        state.update(zip(names, moments, strict=True))
        return z  # type: ignore[no-any-return]


class AdamW(Adam):
    """p ← p - η (m̂ / (√v̂ + ε) + λ p)        m̂, v̂ as for Adam, from g alone        Loshchilov & Hutter 2017"""

    decoupled = True

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
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
