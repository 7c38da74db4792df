"""Convolutions as matrix products: windows laid side by side, a few images or rows at a time, so that they stay in cache.

Each image is first staged: padded, and with a stride split into phases, so that what one entry of the kernel meets lies
in one run of memory. Entry k of every window is then a copy of the run that starts at k, or, the other way, is added to
it. A run goes through the ends of rows, where no window is: these columns are computed and thrown away, or hold zeros.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from plugrad.kernel import Kernel

from .._functions import sum as add_up
from .mend import has_nan

ROOM = 2**18  # numbers that are laid out at a time
WASTE = 1.5  # columns that may be computed for each that counts


class Plan:
    """Where everything lies for inputs of one size: x staged as (phase, image, channel, run), windows as columns.

    places    windows along each axis
    q         sizes of a phase along each axis; `pitch`: how far apart rows of the first axis lie
    lay       what lies between rows of columns: `q`, or `places` where only columns that count are computed (`exact`)
    moves     for each phase, where its numbers come from and where they go
    starts    for each entry of the kernel, (its phase, where its run starts)
    """

    def __init__(self, op: Any, sizes: tuple[int, ...], kernel: tuple[int, ...], exact: bool) -> None:
        padded = [n + a + b for n, (a, b) in zip(sizes, op.padding, strict=True)]
        axes = zip(padded, kernel, op.stride, op.dilation, strict=True)
        self.places = tuple([(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in axes])
        self.sizes, self.q = sizes, tuple([-(-n // s) for n, s in zip(padded, op.stride, strict=True)])
        self.pitch = prod(self.q[1:])
        self.whole = set(op.stride) == {1} and set(op.padding) == {(0, 0)}
        run = sum([(p - 1) * prod(self.q[i + 1 :]) for i, p in enumerate(self.places)]) + 1
        self.exact = exact or run > WASTE * prod(self.places)
        self.lay = self.places[1:] if self.exact else self.q[1:]
        self.inner = run - (self.places[0] - 1) * self.pitch
        self.moves, self.starts = [], []
        self._entries(op, kernel)
        if self.exact:
            grid = np.indices(self.places).reshape(len(self.q), -1)
            self.valid = np.ravel_multi_index(tuple(grid), self.q)

    def _entries(self, op: Any, kernel: tuple[int, ...]) -> None:
        phases: dict[tuple[int, ...], int] = {}
        for k in product(*map(range, kernel)):
            at = [divmod(i * d, s) for i, d, s in zip(k, op.dilation, op.stride, strict=True)]
            phase = tuple([r for _, r in at])
            start = sum([a * prod(self.q[i + 1 :]) for i, (a, _) in enumerate(at)])
            self.starts.append((phases.setdefault(phase, len(phases)), start))
        for phase in phases:
            how = zip(self.sizes, self.q, phase, op.stride, op.padding, strict=True)
            spans = [_span(n, q, r, s, before) for n, q, r, s, (before, _) in how]
            self.moves.append(tuple([(..., *keys) for keys in zip(*spans, strict=True)]))

    def at(self, start: int, row: int, rows: int) -> Any:
        """Where the run from `start` has its columns of these rows of windows."""
        first = start + row * self.pitch
        if self.exact:
            return self.valid[: rows * prod(self.lay)] + first
        return slice(first, first + (rows - 1) * self.pitch + self.inner)

    def stage(self, x: Any, room: Any) -> Any:
        """(phase, image, channel, run)"""
        if self.whole:
            return np.ascontiguousarray(x).reshape(1, *x.shape[:2], -1)
        staged = room["staged", (len(self.moves), *x.shape[:2], *self.q)]
        for phase, (source, to) in zip(staged, self.moves, strict=True):
            phase[to] = x[source]
        return staged.reshape(*staged.shape[:3], -1)

    def unstage(self, staged: Any, x: Any) -> None:
        """Write what is staged back into the image."""
        for phase, (source, to) in zip(staged, self.moves, strict=True):
            x[source] = phase.reshape(*x.shape[:2], *self.q)[to]

    def tiles(self, images: int, channels: int) -> Any:
        """(first image, images, ((first row, rows), ...)): as much at a time as there is room for."""
        row = channels * len(self.starts) * prod(self.lay)
        rows = max(1, min(self.places[0], ROOM // row))
        many = max(1, ROOM // (row * rows)) if rows == self.places[0] else 1
        spans = [(r, min(rows, self.places[0] - r)) for r in range(0, self.places[0], rows)]
        return [(i, min(many, images - i), spans) for i in range(0, images, many)]


def _span(n: int, q: int, phase: int, stride: int, before: int) -> tuple[slice, slice]:
    """Along one axis: which numbers belong to a phase, and where they go in it."""
    first = max(0, -(-(before - phase) // stride))
    start = first * stride + phase - before
    count = max(0, min(q - first, -(-(n - start) // stride)))
    return slice(start, start + (count - 1) * stride + 1, stride) if count else slice(0, 0), slice(first, first + count)


@lru_cache(maxsize=256)
def plan_of(op: Any, sizes: tuple[int, ...], kernel: tuple[int, ...], exact: bool = False) -> Plan:
    return Plan(op, sizes, kernel, exact)


class Scratch(dict[Any, Any]):
    """Zeros by name and shape, made once for each call; what is not written stays zero."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __missing__(self, key: tuple[str, tuple[int, ...]]) -> Any:
        made = self[key] = np.zeros(key[1], self.dtype)
        return made


def supports(op: Any, x: Any, y: Any, *b: Any) -> bool | str:
    if x.dtype not in (np.float32, np.float64) or y.dtype != x.dtype:
        return f"{x.dtype} and {y.dtype} are not both float32 or both float64"
    return True if x.size and y.size else f"shapes {x.shape} and {y.shape} hold nothing"


def matrices(op: Any, w: Any) -> Any:
    """(groups, o, (c, k))"""
    return w.reshape(op.groups, w.shape[0] // op.groups, -1)


def lay(plan: Plan, staged: Any, columns: Any, row: int, rows: int) -> Any:
    """Entry k of every window into `columns`: (c, k, image, column)"""
    for k, (phase, start) in enumerate(plan.starts):
        run = staged[phase][..., plan.at(start, row, rows)].swapaxes(0, 1)
        columns[:, k, :, : run.shape[-1]] = run
    return columns


def add(plan: Plan, staged: Any, columns: Any, row: int, rows: int) -> None:
    """The adjoint of `lay`."""
    for k, (phase, start) in enumerate(plan.starts):
        at = plan.at(start, row, rows)
        part = staged[phase]
        run = part[..., at]
        run += columns[:, k, :, : run.shape[-1]].swapaxes(0, 1)
        if plan.exact:
            part[..., at] = run


def grid(plan: Plan, columns: Any, rows: int) -> Any:
    """(channel, image, column) as the windows that count: (image, channel, ...)"""
    shape = columns.reshape(*columns.shape[:2], rows, *plan.lay)
    return shape[(..., *[slice(p) for p in plan.places[1:]])].swapaxes(0, 1)


def convolved(op: Any, x: Any, w: Any, b: Any = None, exact: bool = False) -> Any:
    """Z = W X, for each tile of columns X; b is added where the tile is copied to its place."""
    plan = plan_of(op, x.shape[2:], w.shape[2:], exact)
    z = np.empty((x.shape[0], w.shape[0], *plan.places), x.dtype)
    weight, room = matrices(op, w), Scratch(x.dtype)
    bias = None if b is None else b.reshape(op.groups, -1, 1)
    for i, n, spans in plan.tiles(len(x), x.shape[1]):
        staged = plan.stage(x[i : i + n], room)
        for row, rows in spans:
            columns = room["x", (x.shape[1], len(plan.starts), n, rows * prod(plan.lay))]
            lay(plan, staged, columns, row, rows)
            found = room["z", (op.groups, weight.shape[1], n * columns.shape[3])]
            np.matmul(weight, columns.reshape(op.groups, -1, found.shape[2]), out=found)
            if bias is not None:
                found += bias
            z[i : i + n, :, row : row + rows] = grid(plan, found.reshape(len(w), n, -1), rows)
    return z


def slopes(op: Any, x: Any, w: Any, g: Any, wanted: Any, exact: bool = False) -> tuple[Any, Any]:
    """∂L/∂X = Wᵀ G, added where each column came from, and ∂L/∂W = G Xᵀ, for each tile of columns."""
    plan = plan_of(op, x.shape[2:], w.shape[2:], exact)
    weight, room = matrices(op, w).swapaxes(1, 2), Scratch(g.dtype)
    dx = np.zeros(x.shape, g.dtype) if wanted[0] else None
    dw = np.zeros((op.groups, w.shape[0] // op.groups, weight.shape[1]), g.dtype) if wanted[1] else None
    for i, n, spans in plan.tiles(len(g), x.shape[1]):
        staged = plan.stage(x[i : i + n], room) if wanted[1] else None
        back = room["back", (len(plan.moves), n, x.shape[1], prod(plan.q))] if wanted[0] else None
        if wanted[0]:
            back.fill(0)
        for row, rows in spans:
            slope = room["g", (w.shape[0], n, rows * prod(plan.lay))]
            grid(plan, slope, rows)[...] = g[i : i + n, :, row : row + rows]
            slope = slope.reshape(op.groups, -1, n * slope.shape[2])
            shape = x.shape[1], len(plan.starts), n, rows * prod(plan.lay)
            if wanted[1]:
                columns = lay(plan, staged, room["x", shape], row, rows).reshape(op.groups, -1, slope.shape[2])
                dw += slope @ columns.swapaxes(1, 2)
            if wanted[0]:
                columns = np.matmul(weight, slope, out=room["dx", (op.groups, weight.shape[1], slope.shape[2])])
                add(plan, back, columns.reshape(shape), row, rows)
        if wanted[0]:
            plan.unstage(back, dx[i : i + n])
    return dx, None if dw is None else dw.reshape(w.shape)


def forward(op: Any, x: Any, w: Any, b: Any = None) -> Any:
    return convolved(op, x, w, b), (x, w)


def backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    x, w = kept
    found = slopes(op, x, w, g, wanted) if any(wanted[:2]) else (None, None)
    return [*found, *[add_up(g, axis=(0, *range(2, g.ndim))) if want else None for want in wanted[2:]]]


conv = Kernel(forward, backward, supports)
