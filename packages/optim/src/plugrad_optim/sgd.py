"""Stochastic gradient descent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad.apply import apply

from .ops import Descend, Momentum
from .optimizer import Group, Optimizer

if TYPE_CHECKING:
    from plugrad import Tensor

    from .optimizer import Params


class SGD(Optimizer):
    """d = g + λ p        b ← μ b + (1 - τ) d        p ← p - η b

    lr η, momentum μ, dampening τ, weight_decay λ. The first b is d itself, not dampened. With `nesterov` the step is
    η (d + μ b); without momentum it is η d. `maximize` goes uphill.
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
            raise ValueError("SGD: nesterov wants a momentum, and no dampening")

    def update(self, p: Tensor, g: Tensor, state: dict[str, Any], group: Group) -> Tensor:
        lr, decay, mu = float(group["lr"]), float(group["weight_decay"]), float(group["momentum"])
        if not mu:
            return apply(Descend(decay), p, g, lr)  # type: ignore[no-any-return]
        b = state.get("momentum_buffer")
        op = Momentum(mu, 0.0 if b is None else float(group["dampening"]), bool(group["nesterov"]), decay)
        z, state["momentum_buffer"] = apply(op, p, g, g.new_zeros(g.shape) if b is None else b, lr)
        return z  # type: ignore[no-any-return]
