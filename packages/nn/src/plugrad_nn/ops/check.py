"""A condition that numbers must meet, tested whenever an op runs: also in a recorded function."""

from __future__ import annotations

from typing import Any

from plugrad import Op

__all__ = ["Checked"]


class Checked(Op):
    """z = x, if `fine` holds everywhere; raises `error(told)` if not

    ∂L/∂x = g
    """

    error: Any
    told: str
    loose = ("fine",)
    storage = True

    def forward(self, xp, x, fine):
        if 0 not in fine.shape and not int(xp.min(xp.astype(fine, xp.int64))):
            raise self.error(self.told)
        return x

    def dx(self, g):
        return g
