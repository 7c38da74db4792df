"""Resampling along one axis: every new entry is a weighted sum of old ones, which lie where the mode says."""

from __future__ import annotations

from functools import lru_cache
from math import floor
from struct import pack, unpack
from typing import TYPE_CHECKING, NamedTuple

from plugrad import Op
from plugrad.apply import unary

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Resample", "ResampleTranspose"]


class Grid(NamedTuple):
    """`size` entries are made `to`.

    mode       "nearest", "nearest-exact", "linear", "cubic" (Keys 1981, a = -0.75; -0.5 where antialias)
    scale      old entries for a new one
    aligned    the first and the last entries of both lie upon each other
    antialias  weights reach over all old entries that fall into a new one
    """

    size: int
    to: int
    mode: str
    scale: float
    aligned: bool
    antialias: bool


class Resample(Op):
    """z[.., i, ..] = Σ w[i, t] · x[.., at[i, t], ..] along `axis`

    ∂L/∂x = the transpose of it on g
    """

    axis: int
    grid: Grid
    numbers = True

    def forward(self, xp, x):
        z = None
        for at, w in taps(self.grid):
            part = xp.take(x, xp.asarray(at, dtype=xp.int64), axis=self.axis)
            part = part if w is None else part * _along(xp, w, x, self.axis)
            z = part if z is None else z + part
        return z

    def dx(self, g):
        return unary(ResampleTranspose(*self.settings), g)


class ResampleTranspose(Op):
    """z[.., j, ..] = Σ w[i, t] · x[.., i, ..] over the i, t with at[i, t] = j: the transpose of `Resample`

    ∂L/∂x = the resampling of g
    """

    axis: int
    grid: Grid
    numbers = True

    def forward(self, xp, x):
        shape = (*x.shape[: self.axis], self.grid.size, *x.shape[self.axis + 1 :])
        z = xp.zeros(shape, dtype=x.dtype)
        for at, w in taps(self.grid):
            part = x if w is None else x * _along(xp, w, x, self.axis)
            z = xp.index_add(z, self.axis, xp.asarray(at, dtype=xp.int64), part)
        return z

    def dx(self, g):
        return unary(Resample(*self.settings), g)


def _along(xp, w, x, axis):
    """Weights along one axis of x."""
    return xp.reshape(xp.asarray(w, dtype=x.dtype), (-1, *[1] * (len(x.shape) - 1 - axis)))


@lru_cache(maxsize=256)
def taps(grid: Grid) -> tuple[tuple[tuple[int, ...], tuple[float, ...] | None], ...]:
    """For each term of the sum: where it reads for every new entry, and its weights (None: 1)."""
    size, to, mode, scale, aligned, antialias = grid
    if mode.startswith("nearest"):
        half = 0.5 if mode == "nearest-exact" else 0.0
        return ((tuple([min(floor(single((i + half) * single(scale))), size - 1) for i in range(to)]), None),)
    if antialias:
        return _turned([_wide(i, size, mode, scale) for i in range(to)])
    place = (lambda i: i * scale) if aligned else (lambda i: (i + 0.5) * scale - 0.5)
    return _turned(
        [_linear(max(place(i), 0.0), size) if mode == "linear" else _cubic(place(i), size) for i in range(to)]
    )


def _linear(at: float, size: int) -> list[tuple[int, float]]:
    j = min(floor(at), size - 1)
    return [(j, 1 - (at - j)), (min(j + 1, size - 1), at - j)]


def _cubic(at: float, size: int) -> list[tuple[int, float]]:
    j = floor(at)
    return [(min(max(j + k, 0), size - 1), keys(at - j - k, -0.75)) for k in (-1, 0, 1, 2)]


def _wide(i: int, size: int, mode: str, scale: float) -> list[tuple[int, float]]:
    """Weights by a filter as wide as a new entry, those inside made to add up to 1."""
    middle, wide = (i + 0.5) * scale, max(scale, 1.0)
    shape: Callable[[float], float] = triangle if mode == "linear" else (lambda t: keys(t, -0.5))
    reach = wide if mode == "linear" else 2 * wide
    inside = range(max(floor(middle - reach + 0.5), 0), min(floor(middle + reach + 0.5), size))
    weights = [shape((j - middle + 0.5) / wide) for j in inside]
    return [(j, w / sum(weights)) for j, w in zip(inside, weights, strict=True)]


def triangle(t: float) -> float:
    return max(1 - abs(t), 0.0)


def keys(t: float, a: float) -> float:
    """Keys' cubic convolution kernel."""
    t = abs(t)
    if t <= 1:
        return ((a + 2) * t - (a + 3)) * t * t + 1
    return (((t - 5) * t + 8) * t - 4) * a if t < 2 else 0.0


def _turned(
    rows: list[list[tuple[int, float]]],
) -> tuple[tuple[tuple[int, ...], tuple[float, ...] | None], ...]:
    """Rows of (place, weight) as terms; short rows repeat their first place with weight 0."""
    width = max(map(len, rows), default=0)
    whole = [row + [(row[0][0], 0.0)] * (width - len(row)) for row in rows]
    return tuple([(tuple([row[t][0] for row in whole]), tuple([row[t][1] for row in whole])) for t in range(width)])


def single(x: float) -> float:
    """`x` rounded to float32: nearest entries are found in that, as PyTorch does."""
    found: float = unpack("f", pack("f", x))[0]
    return found
