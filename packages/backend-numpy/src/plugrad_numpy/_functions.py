"""Functions of the array API standard that NumPy lacks, spells otherwise, or rounds badly; and two of plugrad's own."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = 512  # rows from which a sum is made in blocks
CHUNK = 2**20  # numbers that `index_add` scatters at a time
reduce: Any = np.add.reduce  # what np.sum calls in the end
multiply: Any = np.multiply.reduce
OLD = np.lib.NumpyVersion(np.__version__) < "2.1.0"


def astype(x: Any, dtype: Any, *, copy: bool = True) -> Any:
    """`x` in another dtype, NumPy's scalars too; what does not fit becomes infinite without a warning."""
    to = np.dtype(dtype)
    if to.kind == "f" and to.itemsize >= x.dtype.itemsize:
        return x.astype(to, copy=copy)
    with np.errstate(all="ignore"):
        return x.astype(to, copy=copy)


def arange(start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any = None) -> Any:
    """start + i · step: each number from its own product, where NumPy repeats a rounded step."""
    first, last = (0, start) if stop is None else (start, stop)
    if any(isinstance(v, float) for v in (first, last, step)):
        made = first + step * np.arange(max(math.ceil((last - first) / step), 0))
    else:
        made = np.arange(first, last, step)
    return made if dtype is None else astype(made, dtype, copy=False)


def sum(x: Any, *, axis: int | tuple[int, ...] | None = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Σ x along axes.

    NumPy adds in pairs only along the axis that lies closest in memory; along the others it adds row after row, and
    the rounding grows with n. Long axes of that kind are summed in blocks of √n first: rounding grows with √n.
    """
    if axis is not None and x.size > LONG and x.dtype.kind == "f":
        x = x if dtype is None else astype(x, dtype, copy=False)
        for a in axis if isinstance(axis, tuple) else (axis,):
            x = _blocks(x, a % x.ndim)
    return reduce(x, axis=axis, dtype=dtype, keepdims=keepdims)


def _blocks(x: Any, axis: int) -> Any:
    """Sums of √n neighbours along `axis`, still to be added up; `x` itself where NumPy does well."""
    n = x.shape[axis]
    if n < LONG or abs(x.strides[axis]) <= x.itemsize:
        return x
    size = math.isqrt(n)
    before, whole = (slice(None),) * axis, n - n % size
    blocks = x[(*before, slice(whole))].reshape(*x.shape[:axis], whole // size, size, *x.shape[axis + 1 :])
    sums = reduce(blocks, axis=axis + 1)
    rest = x[(*before, slice(whole, n))]
    return np.concatenate([sums, rest], axis=axis) if whole < n else sums


def cumulative_sum(x: Any, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """z[i] = x[0] + ... + x[i]; with the initial 0 in front if asked."""
    return _scan(np.add, x, axis, dtype, include_initial)


def cumulative_prod(x: Any, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """z[i] = x[0] · ... · x[i]; with the initial 1 in front if asked."""
    return _scan(np.multiply, x, axis, dtype, include_initial)


def _scan(f: Any, x: Any, axis: int | None, dtype: Any, include_initial: bool) -> Any:
    if axis is None and x.ndim != 1:
        raise ValueError(f"cumulative: axis is needed for shape {x.shape}")
    a = x.ndim - 1 if axis is None else axis % x.ndim
    to = np.dtype(dtype) if dtype is not None else f.reduce(x[:0], axis=None).dtype  # small integers grow to int64
    z = _in_double(f, x, a) if to == x.dtype == np.float32 else f.accumulate(x, axis=a, dtype=to)
    if not include_initial:
        return z
    first = np.full((*z.shape[:a], 1, *z.shape[a + 1 :]), f.identity, z.dtype)
    return np.concatenate([first, z], axis=a)


def _in_double(f: Any, x: Any, axis: int) -> Any:
    """Running sums or products in float64, rounded once each: an error does not grow with the length. In chunks."""
    z, rows = np.empty_like(x), np.moveaxis(x, axis, 0)
    out, last = np.moveaxis(z, axis, 0), None
    step = max(CHUNK // max(math.prod(rows.shape[1:]), 1), 1)
    for i in range(0, len(rows), step):
        part = f.accumulate(rows[i : i + step], axis=0, dtype=np.float64)
        part = part if last is None else f(part, last, out=part)
        out[i : i + step], last = part, part[-1]
    return z


def prod(x: Any, *, axis: int | tuple[int, ...] | None = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Π x along axes; of float32 in float64, so that what is between may be larger or smaller than the result."""
    if x.dtype == np.float32 and dtype in (None, np.float32):
        return multiply(x, axis=axis, dtype=np.float64, keepdims=keepdims).astype(np.float32)
    return multiply(x, axis=axis, dtype=dtype, keepdims=keepdims)


def argsort(x: Any, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Positions that sort `x`; equal numbers stay in order, downwards too. NaN counts as the largest."""
    if not descending:
        return np.argsort(x, axis=axis, stable=stable)
    backwards = np.argsort(np.flip(x, axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - np.flip(backwards, axis)


def sort(x: Any, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """`x` in order; NaN counts as the largest. Equal numbers look the same, so NumPy's fastest way will do."""
    z = np.sort(x, axis=axis)
    return np.flip(z, axis) if descending else z


def unique_values(x: Any) -> Any:
    """The different numbers in `x`, in order (newer NumPy gives them in the order of a hash table)."""
    return np.unique(x, equal_nan=False)


def count_nonzero(x: Any, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
    """How many are not zero, as an array also where nothing is left to count along."""
    return np.asarray(np.count_nonzero(x, axis=axis, keepdims=keepdims), dtype=np.int64)


def unstack(x: Any, *, axis: int = 0) -> tuple[Any, ...]:
    """The slices of `x` along `axis`."""
    return tuple(np.moveaxis(x, axis, 0))


def index_add(x: Any, axis: int, index: Any, source: Any) -> Any:
    """z = x, then z[index[i]] += source[i] along `axis`, one after the other: repeated indices add up."""
    z = np.array(np.moveaxis(x, axis, 0), order="C")
    rows = np.moveaxis(source, axis, 0)
    flat, width = z.reshape(-1), math.prod(z.shape[1:])
    places = index.astype(np.intp)
    if places.size and not -len(z) <= places.min() <= places.max() < len(z):
        raise IndexError(f"index_add: indices from {places.min()} to {places.max()} on an axis of size {len(z)}")
    columns = np.arange(width)
    step = max(CHUNK // max(width, 1), 1)
    for i in range(0, len(places), step):
        positions = places[i : i + step, None] * width + columns
        np.add.at(flat, positions.reshape(-1), rows[i : i + step].reshape(-1))
    return np.moveaxis(z, 0, axis)


def index_put(x: Any, index: Any, source: Any) -> Any:
    """z = x (one axis), then z[index[i]] = source[i]: of equal indices the last counts."""
    z = np.array(x)
    z[index] = source
    return z


def philox(key: tuple[int, int], offset: int, n: int) -> Any:
    """Words `offset` to `offset + n` of the stream of `key`, from NumPy's own bit generator; four words a counter."""
    skip = offset % 4
    generator = np.random.Philox(key=np.array(key, dtype=np.uint64), counter=offset // 4)
    return generator.random_raw(n + skip)[skip:]


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """`x` held between `min` and `max`: the standard's keywords, which NumPy 2.0 does not know."""
    return np.clip(x, min, max)


def _whole(f: Any) -> Callable[[Any], Any]:
    """Integers are their own floor, in their own dtype; NumPy 2.0 makes floats of them."""

    def rounded(x: Any, /) -> Any:
        return f(x) if x.dtype.kind == "f" else x.copy()

    return rounded


quiet: Any = np.errstate(all="ignore")  # for what is written in Python inside NumPy: its warnings would be NumPy's own
FUNCTIONS: dict[str, Any] = {
    f.__name__: f
    for f in (
        astype, arange, sum, prod, cumulative_sum, cumulative_prod, argsort, sort, unique_values, count_nonzero,
        unstack, index_add, index_put, philox, *map(quiet, (np.full, np.linspace, np.max, np.min, np.round)),
    )
}  # fmt: skip
FUNCTIONS["linalg"] = SimpleNamespace(
    **{name: quiet(getattr(np.linalg, name)) for name in np.linalg.__all__ if name[0].islower()}
)
if OLD:
    FUNCTIONS |= {"clip": clip, **{name: _whole(getattr(np, name)) for name in ("floor", "ceil", "trunc")}}
