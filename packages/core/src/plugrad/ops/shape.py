"""Movement."""

from __future__ import annotations

from ..apply import unary
from ..op import Op

__all__ = ["expand", "matrix_transpose", "permute", "reshape", "sum_to"]


class Reshape(Op):
    shape: tuple
    movement = storage = True

    def forward(self, xp, x):
        return xp.reshape(x, self.shape)

    def dx(self, g, x):
        return g.reshape(x.shape)


class Permute(Op):
    order: tuple
    movement = storage = True

    def forward(self, xp, x):
        return xp.permute_dims(x, self.order)

    def dx(self, g):
        return permute(g, tuple(sorted(range(len(self.order)), key=self.order.__getitem__)))


class Expand(Op):
    shape: tuple
    storage = True

    def forward(self, xp, x):
        return xp.broadcast_to(x, self.shape)

    def dx(self, g):
        return g


class SumTo(Op):
    shape: tuple

    def forward(self, xp, x):
        lead = len(x.shape) - len(self.shape)
        axes = (*range(lead), *(i + lead for i, n in enumerate(self.shape) if n == 1 and x.shape[i + lead] != 1))
        return xp.reshape(xp.sum(x, axis=axes), self.shape)

    def dx(self, g, x):
        return expand(g, x.shape)


def reshape(x, *shape):
    shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    return unary(Reshape(tuple(shape)), x)


def permute(x, order):
    return unary(Permute(tuple(order)), x)


def matrix_transpose(x):
    n = x.ndim
    return unary(Permute((*range(n - 2), n - 1, n - 2)), x)


def expand(x, shape):
    return unary(Expand(tuple(shape)), x)


def sum_to(x, shape):
    return unary(SumTo(tuple(shape)), x)
