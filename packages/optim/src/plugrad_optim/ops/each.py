"""One rule for many parameters: one call, whatever their number."""

from __future__ import annotations

from typing import Any

from plugrad import Op

__all__ = ["Each"]


class Each(Op):
    """z₁, z₂, ... = rule(x₁, ν), rule(x₂, ν), ...        x: what belongs to one parameter, ν: the numbers, for all

    A backend that fuses one rule may fuse them all, over all parameters, by taking this op.
    """

    shared = False  # ν is another one in every step
    rule: Any
    count: int
    nu: tuple[float, ...]

    def forward(self, xp: Any, *xs: Any) -> tuple[Any, ...]:
        width = len(xs) // self.count
        rows = [self.rule.forward(xp, *xs[i : i + width], *self.nu) for i in range(0, len(xs), width)]
        return tuple([z for row in rows for z in (row if isinstance(row, tuple) else (row,))])
