"""Optimizers that go by the sign of the gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plugrad as pg

from . import ops
from .ruled import Ruled, apart, tick

if TYPE_CHECKING:
    from plugrad import Tensor

    from .groups import Group
    from .optimizer import Params, State
    from .ruled import Rule

__all__ = ["Lion", "Rprop"]


class Lion(Ruled):
    """p ← p - η (sign(β₁ m + (1 - β₁) g) + λ p)        m ← β₂ m + (1 - β₂) g        Chen et al. 2023, algorithm 2

    weight_decay λ. Every element moves by η: the paper takes η 3 to 10 times smaller, and λ as much larger, than for
    AdamW. `maximize` goes uphill.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize})

    def rule(self, p: Tensor, state: State, group: Group) -> Rule:
        _, kappa = apart(group, True)
        return ops.Lion(*map(float, group["betas"])), ("exp_avg",), (float(group["lr"]), kappa)


class Rprop(Ruled):
    """p ← p - s sign g,  s ← s η₊ where g kept its sign, s η₋ where it turned        Riedmiller & Braun 1993

    etas (η₋, η₊), step_sizes the bounds of s, lr the first s. Where g turned, p waits one step. For gradients of the
    whole data set, not of batches. `maximize` goes uphill.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize})

    def check(self, group: Group) -> None:
        super().check(group)
        (minus, plus), (low, high) = group["etas"], group["step_sizes"]
        if not 0 < minus < 1 < plus:
            raise ValueError(f"Rprop: etas are {group['etas']}; the first is between 0 and 1, the second above 1")
        if not 0 <= low <= high:
            raise ValueError(f"Rprop: step_sizes are {group['step_sizes']}; they are a smallest and a largest step")

    def start(self, name: str, p: Tensor, group: Group) -> Tensor:
        return pg.full_like(p, float(group["lr"])) if name == "step_size" else super().start(name, p, group)

    def rule(self, p: Tensor, state: State, group: Group) -> Rule:
        tick(state)
        bounds = tuple(map(float, group["step_sizes"]))
        return ops.Rprop(tuple(group["etas"]), bounds), ("prev", "step_size"), ()
