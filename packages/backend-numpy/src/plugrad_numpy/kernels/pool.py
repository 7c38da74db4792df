"""Pooling without a table of windows: entry k of all windows at once is a strided view; a few passes over these."""

from __future__ import annotations

from functools import reduce
from itertools import product
from math import prod
from typing import Any

import numpy as np

from plugrad.kernel import Kernel

from .common import no_float
from .mend import has_nan


def supports(op: Any, x: Any) -> bool | str:
    if not op.windows.kernel:
        return "windows of unequal sizes are left to the formula"
    return no_float(x) or True


def keys(w: Any) -> list[tuple[Any, ...]]:
    """For each entry of a window: where all windows have it, in the padded tensor."""
    axes = list(zip(w.places, w.stride, w.dilation, strict=True))
    return [
        (..., *[slice(i * d, i * d + (p - 1) * s + 1, s) for i, (p, s, d) in zip(k, axes, strict=True)])
        for k in product(*map(range, w.kernel))
    ]


def frame(w: Any) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """(sizes of the padded tensor, where the tensor itself lies in it)."""
    axes = zip(w.size, w.places, w.kernel, w.stride, w.padding, w.dilation, strict=True)
    sizes = tuple([max(n + b, (p - 1) * s + (k - 1) * d + 1) for n, p, k, s, b, d in axes])
    return sizes, (..., *[slice(b, b + n) for b, n in zip(w.padding, w.size, strict=True)])


def framed(w: Any, x: Any, fill: Any) -> Any:
    """The padded tensor: `x` itself where nothing is added."""
    sizes, inside = frame(w)
    if sizes == tuple(w.size):
        return x
    z = np.full((*x.shape[:2], *sizes), fill, x.dtype)
    z[inside] = x
    return z


def unframed(w: Any, z: Any) -> Any:
    """What lies inside, in memory of its own order."""
    sizes, inside = frame(w)
    return z if sizes == tuple(w.size) else np.ascontiguousarray(z[inside])


def max_forward(op: Any, x: Any) -> tuple[Any, Any]:
    """z = the running maximum over the entries of the windows; keeps x and z."""
    p = framed(op.windows, x, -np.inf)
    first, *rest = [p[key] for key in keys(op.windows)]
    if not rest:
        z = first.copy()
    else:
        z = np.maximum(first, rest[0])
        for part in rest[1:]:
            np.maximum(z, part, out=z)
    return z, (x, z)


def max_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    """g where an entry is the largest, and no entry before it was."""
    w, (x, z) = op.windows, kept
    p = framed(w, x, np.nan)  # what is added is never the largest, not even among -∞
    dp, free = np.zeros(p.shape, g.dtype), np.ones(g.shape, bool)
    lost = np.isnan(z) if has_nan(z) else None
    holes = None if lost is None else framed(w, np.isnan(x), False)
    for key in keys(w):
        here = p[key] == z
        if holes is not None:
            here |= holes[key] & lost
        here &= free
        free ^= here
        dp[key] += g * here
    return [unframed(w, dp)]


def mean_forward(op: Any, x: Any) -> tuple[Any, Any]:
    """z = Σ over the entries of the windows / d"""
    w = op.windows
    if whole(w):
        z = x.reshape(*x.shape[:2], prod(w.size)).mean(2, dtype=x.dtype).reshape(*x.shape[:2], *w.places)
        if op.divisor:
            z *= x.dtype.type(prod(w.kernel) / op.divisor)
        return z, x.shape
    p = framed(w, x, 0.0)
    z = reduce(np.add, [p[key] for key in keys(w)]) / divisors(op, x.dtype)
    return z, x.shape


def mean_backward(op: Any, shape: Any, g: Any, wanted: Any) -> list[Any]:
    """The sum of g / d over the windows that read an entry."""
    return [spread(op, g)]


def spread(op: Any, g: Any) -> Any:
    w, share = op.windows, g / divisors(op, g.dtype)
    if whole(w):
        return np.broadcast_to(share, (*g.shape[:2], *w.size)).copy()
    z = np.zeros((*g.shape[:2], *frame(w)[0]), g.dtype)
    for key in keys(w):
        z[key] += share
    return unframed(w, z)


def whole(w: Any) -> bool:
    """One window that is the tensor."""
    return w.kernel == w.size and not any(w.padding) and set(w.dilation) == {1} and set(w.places) == {1}


def divisors(op: Any, dtype: Any) -> Any:
    """d of every window: one number where they are all the same."""
    if op.divisor:
        return dtype.type(op.divisor)
    counts = op.windows.counts(op.padded)
    if all(len(set(n)) == 1 for n in counts):
        return dtype.type(prod([n[0] for n in counts]))
    return reduce(np.multiply.outer, [np.array(n, dtype) for n in counts])


max_pool = Kernel(max_forward, max_backward, supports)
avg_pool = Kernel(mean_forward, mean_backward, supports)
avg_spread = Kernel(spread, supports=supports)
