"""Scatters without a scatter: positions and indices are sorted together, and each position reads its last entry."""

from __future__ import annotations

from math import prod

from ...backend import composed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@composed
def index_add(xp: Any, x: Any, axis: int, index: Any, source: Any) -> Any:
    """A new array: x with source[..., j, ...] added at x[..., index[j], ...]; equal indices add up.

    Sums inside runs of equal indices by doubling: after step d each entry holds the last 2d of its run.
    """
    order, keys, ends = _runs(xp, x.shape[axis], index)
    m = keys.shape[0]
    v, j, d = xp.take(xp.concat([x, source], axis=axis), order, axis=axis), xp.arange(m, dtype=xp.int64), 1
    while d < m:
        back = (j - d) * xp.astype(j >= d, xp.int64)
        same = (j >= d) & (xp.take(keys, back, axis=0) == keys)
        if not int(xp.max(xp.astype(same, xp.int64))):
            break
        along = xp.reshape(same, (*[1] * axis, m, *[1] * (len(x.shape) - axis - 1)))
        v = v + xp.where(along, xp.take(v, back, axis=axis), xp.zeros(v.shape, dtype=v.dtype))
        d *= 2
    return xp.take(v, ends, axis=axis)


@composed
def index_put(xp: Any, x: Any, index: Any, source: Any) -> Any:
    """A new array: x (1-d) with x[index[j]] = source[j]; of equal indices the last counts."""
    order, _, ends = _runs(xp, x.shape[0], index)
    return xp.take(xp.concat([x, source], axis=0), xp.take(order, ends, axis=0), axis=0)


def _runs(xp: Any, n: int, index: Any) -> tuple[Any, Any, Any]:
    """0, ..., n - 1 followed by `index`, sorted: (order, what is sorted, where the run of each number ends)."""
    keys = xp.concat([xp.arange(n, dtype=xp.int64), index], axis=0)
    m = keys.shape[0]
    place = xp.arange(m, dtype=xp.int64)
    order = xp.argsort(keys * m + place)  # no two are equal, so any sort keeps the order of a run
    keys = xp.take(keys, order, axis=0)
    after = xp.take(keys, xp.where(place + 1 < m, place + 1, place), axis=0)
    more = (after == keys) & (place + 1 < m)
    return order, keys, xp.argsort(xp.where(more, place + m, place))[:n]


@composed
def nonzero(xp: Any, x: Any) -> tuple[Any, ...]:
    """Positions of what is not 0, an array for each axis, last axis fastest."""
    n = prod(x.shape)
    place = xp.arange(n, dtype=xp.int64)
    found = xp.reshape(xp.astype(x, xp.bool), (n,))
    count = int(xp.sum(xp.astype(found, xp.int64))) if n else 0
    flat = xp.argsort(xp.where(found, place, place + n))[:count]
    return tuple([xp.take(_counter(xp, x.shape, k), flat, axis=0) for k in range(len(x.shape))])


def _counter(xp: Any, shape: tuple[int, ...], axis: int) -> Any:
    """The position along `axis` of every number of an array of this shape, flattened."""
    line = xp.reshape(xp.arange(shape[axis], dtype=xp.int64), (-1, *[1] * (len(shape) - axis - 1)))
    return xp.reshape(xp.broadcast_to(line, shape), (prod(shape),))
