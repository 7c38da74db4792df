"""Attention piece by piece: the scores of a few rows at a time, which stay in the cache, and no more of them."""

from __future__ import annotations

from itertools import product
from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from plugrad.kernel import Kernel

from .common import no_float, quiet
from .mend import has_nan

if TYPE_CHECKING:
    from collections.abc import Iterator

    Key = tuple[slice, ...]

LIMIT = 2**16  # scores at a time
ROWS = 64  # at a time, where later ones reach more keys
CALM = 40.0  # scores between -40 and 40 need no largest taken off: neither eˢ nor its sums leave what float32 holds


class Pieces:
    """Q, K, m and V with equally many axes, and how they are cut: some of the batch, some rows, the keys these reach.

    batch    the axes before the last two, broadcast
    top      no score is larger; ∞ or NaN where Q or K holds such
    """

    def __init__(self, op: Any, q: Any, k: Any, m: Any, *v: Any) -> None:
        axes = max(x.ndim for x in (q, k, m, *v))
        self.q, self.k, self.m, *self.v = (x.reshape((1,) * (axes - x.ndim) + x.shape) for x in (q, k, m, *v))
        self.batch = np.broadcast_shapes(*[x.shape[:-2] for x in (self.q, self.k, self.m, *self.v)])
        self.scale, self.reach, self.n, self.t = q.dtype.type(op.scale), op.reach, q.shape[-2], k.shape[-2]
        self.open = m.ndim == 0 and bool(m)
        self.top = abs(op.scale) * longest(q) * longest(k)
        self.calm = m.dtype == bool and self.top < CALM

    def __iter__(self) -> Iterator[tuple[Key, Key, Any, Any]]:
        """(which rows, which keys, their scores S = s Q Kᵀ + m, room for as many: the same memory each time)"""
        sizes, made = (*self.batch, self.n), {}
        rooms = np.empty((2, max(min(LIMIT, prod(sizes) * self.t), self.t)), self.q.dtype)
        for rows in cuts(sizes, self.n if self.reach is None else ROWS, LIMIT // self.t):
            keys, first = self.reached(rows[-1]), rows[-1].start
            if self.reach is not None and first not in made:
                i, j = np.arange(first, rows[-1].stop) + self.reach, np.arange(keys.stop)
                made[first] = self.low(j <= i[:, None])
            shape = (*[s.stop - s.start for s in rows], keys.stop)
            (x, room), below = (r[: prod(shape)].reshape(shape) for r in rooms), (*rows[:-1], keys)
            np.matmul(cut(self.q, rows) * self.scale, cut(self.k, below).mT, out=x)
            for y in self.added(made.get(first), (*rows, keys)):
                x += y
            yield rows, below, x, room

    def reached(self, rows: slice) -> slice:
        return slice(0, self.t if self.reach is None else min(max(rows.stop + self.reach, 1), self.t))

    def added(self, seen: Any, key: Key) -> Iterator[Any]:
        """What is added to the scores: the mask, and what a row does not reach."""
        if not self.open:
            m = cut(self.m, key)
            yield self.low(m) if m.dtype == bool else m
        if seen is not None:
            yield seen

    def low(self, keep: Any) -> Any:
        """0 where a key takes part, else -∞."""
        return np.where(keep, self.scale * 0, self.scale.dtype.type(-inf))

    def exponentials(self, x: Any) -> tuple[Any, Any, Any]:
        """eˢ⁻ᵐ in the memory of S, m the largest of each row where that takes care; Σ eˢ⁻ᵐ, ∞ where it is 0; and m."""
        top: Any = 0.0
        if not self.calm:
            top = np.max(x, axis=-1, keepdims=True, initial=-inf)
            top[top == -inf] = 0
            x -= top
        np.exp(x, out=x)
        s = np.matmul(x, np.ones((x.shape[-1], 1), x.dtype))
        s[s == 0] = inf
        return x, s, top


def longest(x: Any) -> float:
    """The largest ‖row‖; ∞ or NaN where an entry is."""
    squares = np.matmul(x * x, np.ones(x.shape[-1], x.dtype))
    return float(np.sqrt(squares.max()))


def cuts(sizes: tuple[int, ...], rows: int, limit: int) -> Iterator[Key]:
    """Keys that cut an array of these sizes into pieces of at most `limit` elements, `rows` of the last axis."""
    steps = [max(min(rows, limit, sizes[-1]), 1)]
    for n in sizes[-2::-1]:
        steps.append(max(min(limit // prod(steps), n), 1))
    for starts in product(*[range(0, n, by) for n, by in zip(sizes, reversed(steps), strict=True)]):
        yield tuple([slice(i, min(i + by, n)) for i, by, n in zip(starts, reversed(steps), sizes, strict=True)])


def cut(x: Any, key: Key) -> Any:
    """x[key], where an axis of size 1 stands for any size."""
    return x[tuple([slice(None) if n == 1 else s for n, s in zip(x.shape, key, strict=False)])]


class Slopes:
    """Gradients of Q, K, V and m that are collected piece by piece; None where one is not wanted."""

    def __init__(self, p: Pieces, wanted: Any) -> None:
        self.p, inputs = p, (p.q, p.k, *p.v, p.m)
        found = [np.zeros(x.shape, p.q.dtype) if w else None for x, w in zip(inputs, wanted, strict=True)]
        self.q, self.k, *self.v, self.m = self.all = found
        self.scores = self.q is not None or self.k is not None or self.m is not None

    def collect(self, rows: Key, keys: Key, u: Any) -> None:
        """From u, ∂L/∂S of a piece."""
        if self.q is not None:
            self.multiplied(self.q, rows, u, cut(self.p.k, keys), True)
        if self.k is not None:
            self.multiplied(self.k, keys, u.mT, cut(self.p.q, rows), rows[-1].start == 0)
        if self.m is not None:
            add(self.m, (*rows, keys[-1]), u)

    def multiplied(self, total: Any, key: Key, a: Any, b: Any, first: bool) -> None:
        """Add a matrix product to a part of `total`: the first for its numbers, unless the batch shares them."""
        if first and total.shape[:-2] == self.p.batch:
            np.matmul(a, b, out=cut(total, key))
        else:
            add(total, key, np.matmul(a, b))

    def finished(self, *shapes: tuple[int, ...]) -> list[Any]:
        for x in (self.q, self.k):
            if x is not None:
                x *= self.p.scale
        return [x if x is None else x.reshape(s) for x, s in zip(self.all, shapes, strict=True)]


def add(total: Any, key: Key, part: Any) -> None:
    """Add a piece's share to a part of `total`, summed where the input was broadcast."""
    at = cut(total, key)
    axes = tuple([i for i, (n, m) in enumerate(zip(at.shape, part.shape, strict=True)) if n < m])
    at += part.sum(axis=axes, keepdims=True) if axes else part


@quiet
def forward(op: Any, q: Any, k: Any, v: Any, m: Any) -> Any:
    """Z = P V; keeps Z, m and Σ eˢ⁻ᵐ: apart, as a large m would swallow the logarithm. NaN is left to the formula."""
    p = Pieces(op, q, k, m, v)
    if not p.top < inf:
        return NotImplemented
    z, (top, s) = np.empty((*p.batch, p.n, v.shape[-1]), q.dtype), np.empty((2, *p.batch, p.n, 1), q.dtype)
    for rows, keys, x, _ in p:
        e, s[rows], top[rows] = p.exponentials(x)
        np.matmul(e, cut(p.v[0], keys), out=z[rows])
        z[rows] /= s[rows]
    return NotImplemented if has_nan(z) else (z, (p, z, top, s, (q.shape, k.shape, v.shape, m.shape)))


@quiet
def backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂V = eᵀ H        ∂L/∂S = e (H Vᵀ - Σ H Z)        with e = eˢ⁻ᵐ made again, and H = G / Σ e"""
    p, z, top, s, shapes = kept
    found = Slopes(p, wanted)
    for rows, keys, x, room in p:
        h, e = g[rows] / s[rows], np.exp(x if p.calm else np.subtract(x, top[rows], out=x), out=x)
        if found.v[0] is not None:
            found.multiplied(found.v[0], keys, e.mT, h, rows[-1].start == 0)
        if found.scores:
            u = np.matmul(h, cut(p.v[0], keys).mT, out=room)
            u -= np.matmul(h * z[rows], np.ones((z.shape[-1], 1), z.dtype))
            u *= e
            found.collect(rows, keys, u)
    return found.finished(*shapes)


def supports(op: Any, q: Any, k: Any, *vm: Any) -> bool | str:
    *v, m = vm
    if odd := no_float(q):
        return odd
    if m.dtype not in (q.dtype, bool):
        return f"the mask is {m.dtype}, neither bool nor {q.dtype}"
    sizes = [x.shape for x in (q, k, *v, m) if not x.size]
    return f"an input of shape {sizes[0]} is empty" if sizes else True


@quiet
def weights_forward(op: Any, q: Any, k: Any, m: Any) -> Any:
    """P = e / Σ e; keeps P. NaN is left to the formula."""
    p = Pieces(op, q, k, m)
    if not p.top < inf:
        return NotImplemented
    z = np.zeros((*p.batch, p.n, p.t), q.dtype)
    for rows, keys, x, _ in p:
        e, s, _ = p.exponentials(x)
        np.divide(e, s, out=z[(*rows, keys[-1])])
    return NotImplemented if has_nan(z) else (z, (p, z, (q.shape, k.shape, m.shape)))


@quiet
def weights_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂S = P (G - Σ G P)"""
    p, z, shapes = kept
    found = Slopes(p, wanted)
    for rows, keys, _, room in p:
        e = z[(*rows, keys[-1])]
        u = np.multiply(g[(*rows, keys[-1])], e, out=room)
        u -= e * u.sum(axis=-1, keepdims=True)
        found.collect(rows, keys, u)
    return found.finished(*shapes)


attention = Kernel(forward, backward, supports)
attention_weights = Kernel(weights_forward, weights_backward, supports)
