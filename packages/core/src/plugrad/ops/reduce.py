from __future__ import annotations

from ..apply import unary
from ..op import Op
from .shape import expand, reshape

__all__ = ["sum"]


class Sum(Op):
    axis: tuple
    keepdims: bool

    def forward(self, xp, x):
        return xp.sum(x, axis=self.axis, keepdims=self.keepdims)

    def dx(self, g, x):
        return expand(reshape(g, tuple(1 if i in self.axis else n for i, n in enumerate(x.shape))), x.shape)


def sum(x, axis=None, keepdims=False):
    axis = tuple(range(x.ndim)) if axis is None else (axis % x.ndim,)
    return unary(Sum(axis, keepdims), x)
