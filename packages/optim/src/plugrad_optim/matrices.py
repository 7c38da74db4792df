"""Optimizers that see a parameter as a matrix."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from . import ops
from .groups import not_below
from .ruled import Ruled, apart, tick

if TYPE_CHECKING:
    from plugrad import Tensor

    from .groups import Group
    from .optimizer import Params, State
    from .ruled import Rule

__all__ = ["Adafactor", "Muon"]

EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
ADJUST = (None, "original", "match_rms_adamw")


class Adafactor(Ruled):
    """p ← p - η λ p - α u / max(1, ‖u‖ / d),  u = g / √max(v, ε₁²)        Shazeer & Stern 2018

    v ← v + t^τ (g² - v); of a matrix only the means of its rows r and columns c are kept, v = r c / mean(r).
    α = max(ε₂, ‖p‖) min(η, 1/√t), ‖x‖ = √(mean of x²). lr η, beta2_decay τ, eps (ε₁, ε₂), weight_decay λ. ε₁ None is
    the distance from 1 to the next number of the dtype. As in PyTorch, and other than in the paper, η is a setting
    (there 0.01), means stand for sums, and ε₁ bounds v rather than being added to g².
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
            "maximize": maximize,
        })  # fmt: skip

    def check(self, group: Group) -> None:
        super().check(group)
        not_below("Adafactor", "d", group["d"], 1.0)
        if not group["beta2_decay"] <= 0:
            raise ValueError(f"Adafactor: beta2_decay is {group['beta2_decay']}; it cannot be above 0")

    def shape_of(self, name: str, p: Tensor) -> tuple[int, ...] | None:
        *outer, rows, columns = p.shape if p.ndim > 1 else (1, 1)
        return {"row_var": (*outer, rows, 1), "col_var": (*outer, 1, columns)}.get(name, p.shape)

    def start(self, name: str, p: Tensor, group: Group) -> Tensor:
        return p.new_zeros(self.shape_of(name, p))

    def rule(self, p: Tensor, state: State, group: Group) -> Rule:
        t, lr, (eps1, eps2) = tick(state), float(group["lr"]), group["eps"]
        kind, names = (ops.Factored, ("row_var", "col_var")) if p.ndim > 1 else (ops.Adafactor, ("variance",))
        _, kappa = apart(group, True)
        op = kind(EPS[p.dtype.name] if eps1 is None else float(eps1), float(eps2), float(group["d"]))
        return op, names, (t ** group["beta2_decay"], min(lr, 1 / sqrt(t)), kappa)


class Muon(Ruled):
    """b ← μ b + (1 - μ) g        p ← p - η λ p - η a O((1 - μ) g + μ b)        Jordan et al. 2024

    For matrices alone. O(x) has the singular vectors of x, and singular values near 1: `ns_steps` Newton–Schulz steps
    x ← a x + (b A + c A²) x, A = x xᵀ, with `ns_coefficients` (a, b, c), from x / max(‖x‖, eps). Without `nesterov` it
    is O(b). `adjust_lr_fn`: "original" multiplies η by √max(1, rows / columns), "match_rms_adamw" by
    0.2 √max(rows, columns), after which AdamW's η and λ fit (Liu et al. 2025). O is computed in float32.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        })  # fmt: skip

    def check(self, group: Group) -> None:
        super().check(group)
        for p in group["params"]:
            if p.ndim != 2:
                raise ValueError(
                    f"Muon: a parameter has shape {p.shape}; it moves matrices alone, give the others to AdamW"
                )
        if group["adjust_lr_fn"] not in ADJUST:
            raise ValueError(f"Muon: adjust_lr_fn is {group['adjust_lr_fn']!r}; it is one of {ADJUST}")
        if len(group["ns_coefficients"]) != 3:
            raise ValueError(f"Muon: ns_coefficients are {group['ns_coefficients']}; they are three numbers")
        if not 0 <= group["ns_steps"] < 100:
            raise ValueError(f"Muon: ns_steps is {group['ns_steps']}; it counts from 0 to 99")

    def rule(self, p: Tensor, state: State, group: Group) -> Rule:
        rows, columns = p.shape
        _, kappa = apart(group, True)
        matched = group["adjust_lr_fn"] == "match_rms_adamw"
        factor = 0.2 * sqrt(max(rows, columns)) if matched else sqrt(max(1, rows / max(columns, 1)))
        op = ops.Muon(
            float(group["momentum"]), bool(group["nesterov"]), tuple(group["ns_coefficients"]), float(group["eps"]),
            int(group["ns_steps"]),
        )  # fmt: skip
        return op, ("momentum_buffer",), (group["lr"] * factor, kappa)
