"""Order from argsort and take."""

from __future__ import annotations

from math import prod

from ...backend import composed


@composed
def sort(xp, x, *, axis=-1, stable=True):
    return xp.take_along_axis(x, xp.argsort(x, axis=axis, stable=stable), axis=axis)


@composed
def take_along_axis(xp, x, indices, *, axis=-1):
    """z[i, j, k] = x[i, indices[i, j, k], k], by positions in x flattened."""
    axis = axis % len(x.shape)
    index = xp.astype(indices, xp.int64)
    flat = xp.where(index < 0, index + x.shape[axis], index) * prod(x.shape[axis + 1 :])
    for i, n in enumerate(x.shape):
        if i != axis:
            line = xp.arange(n, dtype=xp.int64) * prod(x.shape[i + 1 :])
            flat = flat + xp.reshape(line, (*[1] * i, n, *[1] * (len(x.shape) - i - 1)))
    return xp.reshape(xp.take(xp.reshape(x, (-1,)), xp.reshape(flat, (-1,)), axis=0), flat.shape)


@composed
def searchsorted(xp, x1, x2, *, side="left"):
    """Bisection: the place lies from `low` up to `high`, and each pass halves that."""
    n, low = x1.shape[0], xp.zeros(x2.shape, dtype=xp.int64)
    high = low + n
    for _ in range(n.bit_length()):
        middle = (low + high) >> 1
        inside = xp.where(middle < n, middle, middle - 1)
        here = xp.reshape(xp.take(x1, xp.reshape(inside, (-1,)), axis=0), x2.shape)
        right = (low < high) & (_below(xp, here, x2) if side == "left" else ~_below(xp, x2, here))
        low, high = xp.where(right, middle + 1, low), xp.where(right, high, middle)
    return low


def _below(xp, x, y):
    """x < y, where NaN is the largest."""
    return (x < y) | (xp.isnan(y) & ~xp.isnan(x))
