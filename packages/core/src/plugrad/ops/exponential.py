from __future__ import annotations

from ..apply import unary
from ..op import Op

__all__ = ["exp"]


class Exp(Op):
    """z = eˣ

    ∂L/∂x = g · z
    """

    elementwise = singular = True

    def forward(self, xp, x):
        return xp.exp(x)

    def dx(self, g, z):
        return g * z


_exp = Exp()


def exp(x):
    return unary(_exp, x)
