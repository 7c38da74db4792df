"""Matrix products."""

from __future__ import annotations

from ..apply import binary
from ..op import Op

__all__ = ["matmul"]


class MatMul(Op):
    """Z = X Y          X: (..., n, k)   Y: (..., k, m)   Z: (..., n, m)

    ∂L/∂X = G Yᵀ        ∂L/∂Y = Xᵀ G
    """

    def forward(self, xp, x, y):
        return xp.matmul(x, y)

    def dx(self, g, y):
        return g @ y.mT

    def dy(self, g, x):
        return x.mT @ g


_matmul = MatMul()


def matmul(x, y):
    """X Y"""
    return binary(_matmul, x, y)
