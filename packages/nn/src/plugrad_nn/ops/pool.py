"""Pooling: every window of a tensor made one number, along any number of axes. X: (n, c, ...)   Z: (n, c, ...)"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

from plugrad import Op
from plugrad.apply import unary

__all__ = ["AvgPool", "AvgSpread", "MaxPool", "MaxPoolIndices"]


class Windows(NamedTuple):
    """Where windows lie: window p reads entries p · stride + k · dilation - padding, those that there are.

    An empty kernel means adaptive windows: window p of P reads entries ⌊p · n / P⌋ to ⌈(p + 1) · n / P⌉.
    """

    size: tuple[int, ...]
    places: tuple[int, ...]
    kernel: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()
    padding: tuple[int, ...] = ()
    dilation: tuple[int, ...] = ()

    def spans(self, axis: int) -> list[range]:
        """The entries that each window reads along an axis."""
        n, places = self.size[axis], self.places[axis]
        if not self.kernel:
            return [range(p * n // places, -(-(p + 1) * n // places)) for p in range(places)]
        k, s, before, d = self.kernel[axis], self.stride[axis], self.padding[axis], self.dilation[axis]
        return [
            range(n)[max(-(i // d), 0) * d + i : (k - 1) * d + 1 + i : d]
            for i in range(-before, places * s - before, s)
        ]

    def counts(self, padded: bool) -> list[list[int]]:
        """For each axis, how many entries each window has: those it reads, and if `padded` those of the padding."""
        if not padded or not self.kernel:
            return [list(map(len, self.spans(a))) for a in range(len(self.size))]
        axes = zip(self.size, self.places, self.kernel, self.stride, self.padding, strict=True)
        return [[min(k, n + 2 * before - p * s) for p in range(places)] for n, places, k, s, before in axes]


@lru_cache(maxsize=64)
def table(windows: Windows) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """(places in the flattened axes that each window reads, how many it reads). Rows are of one length: a window that
    reads fewer repeats its first place."""
    rows = []
    for spans in product(*[windows.spans(a) for a in range(len(windows.size))]):
        row = [0]
        for n, span in zip(windows.size, spans, strict=True):
            row = [at * n + i for at in row for i in span]
        rows.append(row)
    width = max(map(len, rows), default=0)
    return tuple([tuple(row + row[:1] * (width - len(row))) for row in rows]), tuple(map(len, rows))


class MaxPool(Op):
    """z = the largest of each window, NaN if there is one

    ∂L/∂x = g where the first of the largest stands
    """

    windows: Windows
    selects = True

    def forward(self, xp, x):
        return xp.reshape(xp.max(_read(xp, self.windows, x), axis=-1), (*x.shape[:2], *self.windows.places))

    def dx(self, g, x):
        i = unary(MaxPoolIndices(self.windows), x)
        return put(g, i, x.shape)


class MaxPoolIndices(Op):
    """z = where the (first of the) largest of each window stands, in the flattened further axes; no gradient"""

    windows: Windows

    def forward(self, xp, x):
        best = xp.argmax(_read(xp, self.windows, x), axis=-1, keepdims=True)
        at = xp.asarray(table(self.windows)[0], dtype=best.dtype)
        at = xp.broadcast_to(xp.reshape(at, (1, 1, *at.shape)), (*best.shape[:3], at.shape[1]))
        z = xp.take_along_axis(at, best, axis=-1)
        return xp.reshape(z, (*x.shape[:2], *self.windows.places))


class AvgPool(Op):
    """z = Σ of each window / d        d: `divisor`, or the window's entries where that is 0, padding too if `padded`

    ∂L/∂x = the sum of g / d over the windows that read it
    """

    windows: Windows
    padded: bool
    divisor: int
    floats = True

    def forward(self, xp, x):
        _, counts = table(self.windows)
        read = _read(xp, self.windows, x)
        there = xp.asarray([[i < n for i in range(read.shape[-1])] for n in counts], dtype=xp.bool)
        z = xp.sum(xp.where(there, read, xp.zeros_like(read)), axis=-1) / _divisors(xp, self, x)
        return xp.reshape(z, (*x.shape[:2], *self.windows.places))

    def dx(self, g):
        return unary(AvgSpread(*self.settings), g)


class AvgSpread(Op):
    """z = the sum of x / d over the windows that read an entry: the transpose of `AvgPool`

    ∂L/∂x = Σ of each window of g / d
    """

    windows: Windows
    padded: bool
    divisor: int
    floats = True

    def forward(self, xp, x):
        (rows, counts), shape = table(self.windows), (*x.shape[:2], *self.windows.size)
        places = [(i, p) for p, (row, n) in enumerate(zip(rows, counts, strict=True)) for i in row[:n]]
        at, source = (xp.asarray(v, dtype=xp.int64) for v in zip(*places, strict=True))
        shares = xp.reshape(x, (*x.shape[:2], len(rows))) / _divisors(xp, self, x)
        z = xp.zeros((*shape[:2], prod(shape[2:])), dtype=x.dtype)
        return xp.reshape(xp.index_add(z, 2, at, xp.take(shares, source, axis=2)), shape)

    def dx(self, g):
        return unary(AvgPool(*self.settings), g)


def put(g: Any, i: Any, shape: tuple[int, ...]) -> Any:
    """`g` added up at the places `i` of zeros of a shape, whose further axes are taken as one."""
    flat = (*g.shape[:2], prod(g.shape[2:]))
    z = g.new_zeros((*shape[:2], prod(shape[2:])))
    return z.scatter_add(2, i.reshape(flat), g.reshape(flat)).reshape(shape)


def _divisors(xp, op, x):
    """d of every window."""
    return xp.asarray([op.divisor or prod(n) for n in product(*op.windows.counts(op.padded))], dtype=x.dtype)


def _read(xp, windows, x):
    """(n, c, windows, entries of each)"""
    rows, _ = table(windows)
    at = xp.asarray([i for row in rows for i in row], dtype=xp.int64)
    z = xp.take(xp.reshape(x, (*x.shape[:2], prod(windows.size))), at, axis=2)
    return xp.reshape(z, (*x.shape[:2], len(rows), len(rows[0]) if rows else 0))
