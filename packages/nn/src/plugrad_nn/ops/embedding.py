"""Rows of a table, chosen by integers."""

from __future__ import annotations

from math import prod

import plugrad as pg
from plugrad import Op, apply
from plugrad.errors import AxisError
from plugrad.ops.index import Spread, Take

__all__ = ["Embedding", "EmbeddingBag"]


class Embedding(Op):
    """z = w[i]        w: (rows, dim)   i: integers, (...)   z: (..., dim)

    ∂L/∂w[k] = Σ_{i = k} g, but 0 for the row `padding`; `even` divides by how often k occurs
    """

    rows: int
    padding: int | None
    even: bool
    loose = ("i",)
    storage = selects = True

    def forward(self, xp, w, i):
        at = xp.astype(_in_range(xp, "embedding", i, self.rows), xp.int64)
        return xp.reshape(xp.take(w, xp.reshape(at, (-1,)), axis=0), (*i.shape, *w.shape[1:]))

    def dw(self, g, i):
        share = g if self.padding is None else pg.where((i == self.padding).expand_dims(-1), 0, g)
        share = share / _often(i, self.rows, g).expand_dims(-1) if self.even else share
        return apply(Spread(0, self.rows), share, i)


class EmbeddingBag(Op):
    """z_b = Σ_{k: bag_k = b} s_k w[i_k]        w: (rows, dim)   i, bag: integers, (K,)   s: (K,)   z: (bags, dim)

    ∂L/∂w = s_k g[bag_k] added up at i_k; `even` divides by how often i_k occurs        ∂L/∂s_k = g[bag_k] · w[i_k]
    """

    rows: int
    bags: int
    even: bool
    loose = ("i", "bag")

    def forward(self, xp, w, i, bag, s):
        at = xp.astype(_in_range(xp, "embedding_bag", i, self.rows), xp.int64)
        z = xp.zeros((self.bags, w.shape[1]), dtype=w.dtype)
        return xp.index_add(z, 0, bag, xp.take(w, at, axis=0) * xp.expand_dims(s, axis=1))

    def dw(self, g, i, bag, s):
        s = s / _often(i, self.rows, g) if self.even else s
        return apply(Spread(0, self.rows), apply(Take(0, self.bags, 0), g, bag) * s.expand_dims(1), i)

    def ds(self, g, w, i, bag):
        return (apply(Take(0, self.bags, 0), g, bag) * apply(Take(0, self.rows, 0), w, i)).sum(axis=1)


def _in_range(xp, name, i, rows):
    if prod(i.shape):
        low, high = int(xp.min(i)), int(xp.max(i))
        if low < 0 or high >= rows:
            bad = low if low < 0 else high
            raise AxisError(f"{name}: index {bad} is out of range for {rows} rows, which count from 0 to {rows - 1}")
    return i


def _often(i, rows, g):
    """How often each of i occurs, in the dtype of g."""
    return apply(Take(0, rows, 0), apply(Spread(0, rows), g.new_ones(i.shape), i), i)
