"""Where numbers lie: shapes, steps, and the positions in a flat list that a view of it reads."""

from __future__ import annotations

import math
from functools import lru_cache
from operator import index as as_int
from typing import Any

Shape = tuple[int, ...]


def steps_of(shape: Shape) -> Shape:
    """How far apart neighbours along each axis lie: (12, 4, 1) for shape (2, 3, 4)."""
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


@lru_cache(maxsize=1024)
def walk(shape: Shape, steps: Shape, start: int = 0) -> tuple[int, ...]:
    """Every position, last axis fastest. A transpose, a broadcast and a slice differ only in their steps."""
    positions = [start]
    for n, step in zip(shape, steps, strict=True):
        offsets = range(0, n * step, step) if step else (0,) * n
        positions = [p + o for p in positions for o in offsets]
    return tuple(positions)


@lru_cache(maxsize=1024)
def broadcast(a: Shape, b: Shape) -> Shape:
    """The shape that `a` and `b` give together."""
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + a, (1,) * (n - len(b)) + b
    if any(p != q and 1 not in (p, q) for p, q in zip(a, b, strict=True)):
        raise ValueError(f"shapes {a} and {b} do not broadcast")
    return tuple(q if p == 1 else p for p, q in zip(a, b, strict=True))


def spread(shape: Shape, to: Shape) -> tuple[int, ...]:
    """The positions that broadcast `shape` to `to`: an axis of size 1 is read again and again, with step 0."""
    lead = len(to) - len(shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(shape, to[lead:], strict=True)):
        raise ValueError(f"shape {shape} does not broadcast to {to}")
    steps = [0 if n == 1 else step for n, step in zip(shape, steps_of(shape), strict=True)]
    return walk(to, (0,) * lead + tuple(steps))


def axes_of(axis: Any, ndim: int) -> Shape:
    """An axis, several, or None for all, counted from 0 and in order."""
    some = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if any(not -ndim <= a < ndim for a in some):
        raise IndexError(f"axis {axis} of an array with {ndim} axes")
    return tuple(sorted({a % ndim for a in some}))


def chosen(key: Any, shape: Shape) -> tuple[Shape, tuple[int, ...]]:
    """What x[key] reads: shape and positions. Keys: integers, slices, `...` and None; other kinds are for `take`."""
    steps, sizes, strides, start, axis = steps_of(shape), [], [], 0, 0
    for item in _full(key, len(shape)):
        if item is None:
            sizes.append(1)
            strides.append(0)
            continue
        if isinstance(item, slice):
            found = range(shape[axis])[item]
            sizes.append(len(found))
            strides.append(found.step * steps[axis])
            start += found.start * steps[axis] if found else 0
        else:
            start += _within(item, shape[axis]) * steps[axis]
        axis += 1
    return tuple(sizes), walk(tuple(sizes), tuple(strides), start)


def _full(key: Any, ndim: int) -> list[Any]:
    """The key with a slice for each axis that it leaves out."""
    items = list(key) if isinstance(key, tuple) else [key]
    missing = ndim - sum(1 for item in items if item is not None and item is not Ellipsis)
    if missing < 0:
        raise IndexError(f"{ndim - missing} indices for {ndim} axes")
    at = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    return [*items[:at], *[slice(None)] * missing, *items[at + 1 :]]


def _within(item: Any, n: int) -> int:
    if isinstance(item, bool):
        raise TypeError("a bool is no index here; use where")
    i = as_int(item)
    if not -n <= i < n:
        raise IndexError(f"index {i} on an axis of size {n}")
    return i % n
