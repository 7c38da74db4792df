"""Normalisation block by block: some rows, or some channels, are read, measured and written while they are in cache.

The input is seen as x[i, j, k]. In rows, the statistics are over k, and weights are shared over i. In channels, both
are over i and k: one number for each j.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from plugrad.kernel import Kernel

from .._functions import sum as add_up
from .common import no_float, quiet

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 2**19  # numbers that are worked on at a time
SHORT = 16  # below this many numbers in a row, a dot product for each row costs more than multiplying
FAR = 16.0  # a mean of more than 4 standard deviations is taken off in two steps


class Layout(NamedTuple):
    """How x is seen.

    sizes     of i, j and k
    n         how many numbers a mean is taken of
    axes      of the statistics
    small     the shape of the statistics
    shared    axes over which a weight is the same
    apart     the shape of a weight as it meets x[i, j, k]
    weight    the shape of a weight with all axes of the input
    """

    sizes: tuple[int, int, int]
    n: int
    axes: tuple[int, ...]
    small: tuple[int, ...]
    shared: tuple[int, ...]
    apart: tuple[int, ...]
    weight: tuple[int, ...]

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """Parts of x by their i and j, each with all the numbers that its statistics need."""
        p, q, r = self.sizes
        if 0 in self.axes:
            many = max(BLOCK // (p * r), SHORT if r < SHORT else 1)
            yield from ((slice(None), slice(j, j + many)) for j in range(0, q, many))
        elif q * r <= BLOCK:
            many = BLOCK // (q * r)
            yield from ((slice(i, i + many), slice(None)) for i in range(0, p, many))
        else:
            many = max(BLOCK // r, 1)
            yield from ((slice(i, i + 1), slice(j, j + many)) for i in range(p) for j in range(0, q, many))

    def weigh(self, w: Any) -> Any:
        """A weight as it meets x[i, j, k]."""
        if not w.ndim:
            return w
        full = w.reshape((1,) * (len(self.weight) - w.ndim) + w.shape)
        return np.broadcast_to(full, self.weight).reshape(self.apart)

    def mean(self, t: Any) -> Any:
        found = add_up(t, axis=self.axes, keepdims=True)
        found /= self.n
        return found

    def dot(self, s: Any, t: Any) -> Any:
        """The mean of s t."""
        if s.shape[2] < SHORT:
            return self.mean(s * t)
        found = np.vecdot(s, t)[..., None]
        found = add_up(found, axis=0, keepdims=True) if 0 in self.axes else found
        found /= self.n
        return found


@lru_cache(256)
def plan(axes: tuple[int, ...], shape: tuple[int, ...], *weights: tuple[int, ...]) -> Layout | str:
    """How to see x of this shape, or why not at all."""
    last = len(shape) - len(axes)
    if any(len(w) > len(shape) for w in weights) or np.broadcast_shapes(shape, *weights) != shape:
        return f"weights of shapes {weights} are larger than x of shape {shape}"
    full = [(1,) * (len(shape) - len(w)) + w for w in weights]
    if axes == tuple(range(last, len(shape))):
        first = min([i for i in range(last) if any(w[i] != 1 for w in full)], default=last)
        sizes = prod(shape[:first]), prod(shape[first:last]), prod(shape[last:])
        weight = (1,) * first + shape[first:]
        return Layout(sizes, sizes[2], (2,), (*sizes[:2], 1), (0,), (1, *sizes[1:]), weight)
    kept = [i for i in range(len(shape)) if i not in axes]
    if len(kept) != 1 or any(w[i] != 1 for w in full for i in axes):
        return f"axes {axes} of {len(shape)} are neither the last nor all but one, or a weight varies along them"
    (k,) = kept
    sizes, small = (prod(shape[:k]), shape[k], prod(shape[k + 1 :])), (1, shape[k], 1)
    weight = tuple(1 if i in axes else n for i, n in enumerate(shape))
    return Layout(sizes, sizes[0] * sizes[2], (0, 2), small, (0, 2), small, weight)


def layout(op: Any, x: Any, *weights: Any) -> Any:
    return plan(op.axes, x.shape, *[w.shape for w in weights])


def supports(op: Any, x: Any, *weights: Any) -> bool | str:
    if odd := no_float(x):
        return odd
    if not x.size:
        return f"shape {x.shape} is empty"
    found = layout(op, x, *weights)
    return found if isinstance(found, str) else True


class Seen(NamedTuple):
    """What the forward pass keeps: x̂ = (x - a - c) · r, with c None where it is 0, a where there is no mean."""

    how: Layout
    x: Any
    w: Any
    a: Any
    c: Any
    r: Any


def measure(how: Layout, x: Any, d: Any) -> tuple[Any, Any, Any]:
    """Write x less its mean to d; the mean as the sum of two numbers, and the variance."""
    a = how.mean(x)
    np.subtract(x, a, out=d)
    v = how.dot(d, d)
    if not (a * a > FAR * v).any():
        return a, 0, v
    a = x[:1, :, :1] if 0 in how.axes else x[:, :, :1]  # equal numbers give 0, and a large mean costs no digits
    np.subtract(x, a, out=d)
    c = how.mean(d)
    d -= c
    return a, c, how.dot(d, d)


def scale(d: Any, r: Any, w: Any) -> None:
    """d ← d · r · w; r and a weight that is as small go in one pass."""
    if not w.ndim or w.shape[2] == 1:
        d *= r * w
    else:
        d *= r
        d *= w


def part(w: Any, at: tuple[slice, slice]) -> Any:
    """What of a weight meets x[at]."""
    return w[:, at[1]] if w.ndim else w


def standardize(op: Any, x: Any, w: Any, b: Any) -> tuple[Any, Any, Seen]:
    """z = x̂ · w + b, its parts made in the memory of z; and the variance."""
    how = layout(op, x, w, b)
    x, w, b = x.reshape(how.sizes), how.weigh(w), how.weigh(b)
    z, (a, c, r, v) = np.empty(x.shape, x.dtype), (np.empty(how.small, x.dtype) for _ in range(4))
    for at in how.blocks():
        d = z[at]
        a[at], c[at], v[at] = measure(how, x[at], d)
        r[at] = 1 / np.sqrt(v[at] + x.dtype.type(op.eps))
        scale(d, r[at], part(w, at))
        if b.ndim or b:
            d += part(b, at)
    return z, v, Seen(how, x, w, a, c if c.any() else None, r)


@quiet
def layer_norm_forward(op: Any, x: Any, w: Any, b: Any) -> tuple[Any, Seen]:
    z, _, seen = standardize(op, x, w, b)
    return z.reshape(x.shape), seen


@quiet
def batch_norm_forward(op: Any, x: Any, w: Any, b: Any) -> tuple[Any, Seen]:
    z, v, seen = standardize(op, x, w, b)
    m = seen.a if seen.c is None else seen.a + seen.c
    small = tuple(1 if i in op.axes else n for i, n in enumerate(x.shape))
    return (z.reshape(x.shape), m.reshape(small), v.reshape(small)), seen


@quiet
def rms_norm_forward(op: Any, x: Any, w: Any) -> tuple[Any, Seen]:
    """z = x · r · w, r = 1 / √(mean(x²) + ε)"""
    how = layout(op, x, w)
    shape, x, w = x.shape, x.reshape(how.sizes), how.weigh(w)
    z, r = np.empty(x.shape, x.dtype), np.empty(how.small, x.dtype)
    for at in how.blocks():
        r[at] = 1 / np.sqrt(how.dot(x[at], x[at]) + x.dtype.type(op.eps))
        np.multiply(x[at], r[at], out=z[at])
        if w.ndim or w != 1:
            z[at] *= part(w, at)
    return z.reshape(shape), Seen(how, x, w, None, None, r)


def standard(s: Seen, at: tuple[slice, slice]) -> Any:
    """x̂ in a buffer of its own."""
    if s.a is None:
        return s.x[at] * s.r[at]
    u = s.x[at] - s.a[at]
    if s.c is not None:
        u -= s.c[at]
    u *= s.r[at]
    return u


@quiet
def backward(op: Any, s: Seen, g: Any, wanted: Any) -> list[Any]:
    """∂L/∂x = (h - mean(h) - x̂ · mean(h · x̂)) · r, h = g · w; without the first mean where x has none taken off

    ∂L/∂w = Σ g x̂        ∂L/∂b = Σ g
    """
    how, shape = s.how, g.shape
    g = g.reshape(how.sizes)
    dx = np.empty(g.shape, g.dtype) if wanted[0] else None
    dw, db = (np.zeros(how.apart, g.dtype) if want else None for want in (*wanted[1:], False)[:2])
    each = how.shared == how.axes  # one weight for each mean: its sums are means as well
    for at in how.blocks():
        u, w, j = standard(s, at), part(s.w, at), at[1]
        wide = bool(w.ndim) and w.shape[2] > 1
        h = g[at] * w if wide else g[at]
        q = how.dot(h, u)
        m: Any = None if s.a is None else how.mean(h)
        if dw is not None:
            dw[:, j] += q * how.n if each else np.einsum("ijk,ijk->jk", g[at], u)
        if db is not None:
            db[:, j] += m * how.n if each else np.add.reduce(g[at], axis=0)
        if dx is not None:
            combine(dx[at], h, u, q, m, s.r[at] if wide else s.r[at] * w)
    sums = [None if t is None else t.reshape(how.weight) for t in (dw, db)[: len(wanted) - 1]]
    return [None if dx is None else dx.reshape(shape), *sums]


def combine(d: Any, h: Any, u: Any, q: Any, m: Any, r: Any) -> None:
    """d ← (h - m - u q) r"""
    np.multiply(u, -q, out=d)
    d += h
    if m is not None:
        d -= m
    d *= r


@quiet
def batch_norm_backward(op: Any, s: Seen, g: Any, wanted: Any) -> list[Any]:
    """The same, and what comes back through the statistics: (g_μ + 2 g_v (x - μ)) / n"""
    found = backward(op, s, g[0], wanted)
    if wanted[0] and (g[1].any() or g[2].any()):
        small, n = s.how.small, s.x.dtype.type(s.how.n)
        spread = standard(s, (slice(None), slice(None))) / s.r
        found[0] += ((g[1].reshape(small) + 2 * g[2].reshape(small) * spread) / n).reshape(found[0].shape)
    return found


@quiet
def rescale(op: Any, x: Any, m: Any, v: Any, w: Any, b: Any) -> Any:
    """z = (x - m) · w / √(v + ε) + b, some samples at a time, in the memory of z"""
    z, s = np.empty(x.shape, x.dtype), w / np.sqrt(v + x.dtype.type(op.eps))
    many = max(BLOCK // prod(x.shape[1:]), 1)
    for i in range(0, len(x), many):
        d = np.subtract(x[i : i + many], m, out=z[i : i + many])
        d *= s
        d += b
    return z


def supports_rescale(op: Any, x: Any, *known: Any) -> bool | str:
    if odd := no_float(x) or ("" if x.size else f"shape {x.shape} is empty"):
        return odd
    if x.ndim < 2 or any(t.ndim >= x.ndim and t.shape[0] != 1 for t in known):
        return f"shape {x.shape} has no samples in front that share what is known"
    same = np.broadcast_shapes(x.shape, *[t.shape for t in known]) == x.shape
    return same or f"what is known is larger than x of shape {x.shape}"


layer_norm = Kernel(layer_norm_forward, backward, supports)
batch_norm = Kernel(batch_norm_forward, batch_norm_backward, supports)
rms_norm = Kernel(rms_norm_forward, backward, supports)
rescaled = Kernel(rescale, supports=supports_rescale)
