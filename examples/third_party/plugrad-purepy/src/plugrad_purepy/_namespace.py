"""The namespace: the functions that plugrad requires (`plugrad.backend.REQUIRED`), and not one more.

Names, arguments and results are those of the Python array API standard. Everything else that plugrad's ops use, from
`sort` to random numbers, core composes from these.
"""

from __future__ import annotations

import math
from itertools import chain
from operator import mul
from typing import TYPE_CHECKING, Any

from ._array import Array, both, each
from ._input import flatten, must_fit, sizes_of, usual
from ._layout import axes_of, broadcast, spread, steps_of, walk
from ._numbers import FLOATS, INF, LIMITS, NAN, convert, floor, half_to_even, larger, power, scalar, smaller, total

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._layout import Shape


class Namespace:
    """What an op gets as `xp`."""

    # -- numbers come in -----------------------------------------------------------------------------------------

    @staticmethod
    def asarray(obj: Any, /, *, dtype: str | None = None, copy: bool | None = None) -> Array:
        """An array of its own from an array, a number, nested lists, or anything with `tolist`."""
        flat, shape = flatten(obj)
        to = dtype or (obj.dtype if isinstance(obj, Array) else usual(flat))
        if to in LIMITS and not hasattr(obj, "shape"):
            must_fit(flat, to)
        return Array(convert(flat, to), shape, to)

    @staticmethod
    def zeros(shape: Any, *, dtype: str = "float64") -> Array:
        return Namespace.full(shape, 0, dtype=dtype)

    @staticmethod
    def full(shape: Any, fill_value: Any, *, dtype: str | None = None) -> Array:
        sizes, to = sizes_of(shape), dtype or usual([fill_value])
        return Array(convert([fill_value], to) * math.prod(sizes), sizes, to)

    @staticmethod
    def arange(start: float, /, stop: float | None = None, step: float = 1, *, dtype: str | None = None) -> Array:
        first, last = (0, start) if stop is None else (start, stop)
        n = max(math.ceil((last - first) / step), 0)
        flat = [first + step * i for i in range(n)]
        to = dtype or usual([first + step])
        return Array(convert(flat, to), (n,), to)

    @staticmethod
    def astype(x: Array, dtype: str, /, *, copy: bool = True) -> Array:
        return Array(list(x.flat) if dtype == x.dtype else convert(x.flat, dtype), x.shape, dtype)

    # -- movement ------------------------------------------------------------------------------------------------

    @staticmethod
    def reshape(x: Array, /, shape: Any, *, copy: bool | None = None) -> Array:
        sizes = sizes_of(shape)
        if -1 in sizes:
            rest = math.prod(n for n in sizes if n != -1)
            sizes = tuple((len(x.flat) // rest if rest else 0) if n == -1 else n for n in sizes)
        if math.prod(sizes) != len(x.flat):
            raise ValueError(f"shape {x.shape} cannot become {shape}: {len(x.flat)} numbers")
        return Array(list(x.flat), sizes, x.dtype)

    @staticmethod
    def permute_dims(x: Array, /, axes: Shape) -> Array:
        places = range(len(x.shape))
        order = [places[a] for a in axes]
        if sorted(order) != list(places):
            raise ValueError(f"axes {axes} are no order of {len(x.shape)} axes")
        steps, shape = steps_of(x.shape), tuple(x.shape[a] for a in order)
        return _gather(x, walk(shape, tuple(steps[a] for a in order)), shape)

    @staticmethod
    def broadcast_to(x: Array, /, shape: Any) -> Array:
        sizes = sizes_of(shape)
        return _gather(x, spread(x.shape, sizes), sizes)

    @staticmethod
    def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
        parts = [Array(x.flat, (len(x.flat),), x.dtype) for x in arrays] if axis is None else list(arrays)
        first = parts[0]
        (a,) = axes_of(axis or 0, len(first.shape))
        for x in parts:
            if x.dtype != first.dtype or x.shape[:a] + x.shape[a + 1 :] != first.shape[:a] + first.shape[a + 1 :]:
                raise ValueError(f"concat: {x.dtype} {x.shape} and {first.dtype} {first.shape} along axis {a}")
        widths = [(x.flat, math.prod(x.shape[a:])) for x in parts]
        rows = range(math.prod(first.shape[:a]))
        flat = chain.from_iterable(values[i * w : (i + 1) * w] for i in rows for values, w in widths)
        sizes = (*first.shape[:a], sum(x.shape[a] for x in parts), *first.shape[a + 1 :])
        return Array(list(flat), sizes, first.dtype)

    @staticmethod
    def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
        (a,) = axes_of(len(x.shape) - 1 if axis is None else axis, len(x.shape))
        n, width = x.shape[a], math.prod(x.shape[a + 1 :])
        wrong = [i for i in indices.flat if not -n <= i < n]
        if wrong:
            raise IndexError(f"take: index {wrong[0]} on axis {a} of size {n}")
        starts = [(row * n + i % n) * width for row in range(math.prod(x.shape[:a])) for i in indices.flat]
        flat = list(chain.from_iterable(x.flat[s : s + width] for s in starts))
        return Array(flat, (*x.shape[:a], *indices.shape, *x.shape[a + 1 :]), x.dtype)

    # -- number by number ----------------------------------------------------------------------------------------

    @staticmethod
    def where(condition: Array, x: Any, y: Any, /) -> Array:
        like = x if isinstance(x, Array) else y
        x, y = (v if isinstance(v, Array) else Array([scalar(v, like.dtype)], (), like.dtype) for v in (x, y))
        if x.dtype != y.dtype:
            raise TypeError(f"where: arrays of dtype {x.dtype} and {y.dtype}; cast one of them first")
        shape = broadcast(condition.shape, broadcast(x.shape, y.shape))
        triples = zip(condition.to(shape), x.to(shape), y.to(shape), strict=True)
        return Array([a if c else b for c, a, b in triples], shape, x.dtype)

    @staticmethod
    def maximum(x: Any, y: Any, /) -> Array:
        return both(larger, x, y)

    @staticmethod
    def minimum(x: Any, y: Any, /) -> Array:
        return both(smaller, x, y)

    @staticmethod
    def pow(x: Any, y: Any, /) -> Array:
        return both(power, x, y)

    @staticmethod
    def abs(x: Array, /) -> Array:
        return each(abs, x)

    @staticmethod
    def isnan(x: Array, /) -> Array:
        return each(math.isnan, x, "bool")

    @staticmethod
    def isfinite(x: Array, /) -> Array:
        return each(math.isfinite, x, "bool")

    @staticmethod
    def floor(x: Array, /) -> Array:
        return _safe(floor, lambda v: v, x) if x.dtype in FLOATS else Namespace.astype(x, x.dtype)

    @staticmethod
    def round(x: Array, /) -> Array:
        return _safe(half_to_even, lambda v: v, x) if x.dtype in FLOATS else Namespace.astype(x, x.dtype)

    @staticmethod
    def exp(x: Array, /) -> Array:
        return _safe(math.exp, lambda v: INF, x)

    @staticmethod
    def expm1(x: Array, /) -> Array:
        return _safe(math.expm1, lambda v: INF, x)

    @staticmethod
    def log(x: Array, /) -> Array:
        return _safe(math.log, lambda v: NAN if v else -INF, x)

    @staticmethod
    def log1p(x: Array, /) -> Array:
        return _safe(math.log1p, lambda v: -INF if v == -1 else NAN, x)

    @staticmethod
    def sqrt(x: Array, /) -> Array:
        return _safe(math.sqrt, lambda v: NAN, x)

    @staticmethod
    def sin(x: Array, /) -> Array:
        return _safe(math.sin, lambda v: NAN, x)

    @staticmethod
    def cos(x: Array, /) -> Array:
        return _safe(math.cos, lambda v: NAN, x)

    @staticmethod
    def atan(x: Array, /) -> Array:
        return _safe(math.atan, lambda v: NAN, x)

    @staticmethod
    def tanh(x: Array, /) -> Array:
        return _safe(math.tanh, lambda v: NAN, x)

    # -- reductions ----------------------------------------------------------------------------------------------

    @staticmethod
    def sum(x: Array, /, *, axis: Any = None, dtype: str | None = None, keepdims: bool = False) -> Array:
        to = dtype or _wide(x.dtype)
        return _reduce(total if to in FLOATS else sum, x, axis, to, keepdims)

    @staticmethod
    def prod(x: Array, /, *, axis: Any = None, dtype: str | None = None, keepdims: bool = False) -> Array:
        return _reduce(math.prod, x, axis, dtype or _wide(x.dtype), keepdims)

    @staticmethod
    def max(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
        return _reduce(lambda row: NAN if any(v != v for v in row) else max(row), x, axis, x.dtype, keepdims)

    @staticmethod
    def min(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
        return _reduce(lambda row: NAN if any(v != v for v in row) else min(row), x, axis, x.dtype, keepdims)

    @staticmethod
    def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
        return _reduce(_place_of_max, x, axis, "int64", keepdims)

    @staticmethod
    def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
        (a,) = axes_of(axis, len(x.shape))
        n, others = x.shape[a], [i for i in range(len(x.shape)) if i != a]
        flat = [i for row in _rows(x, (a,)) for i in sorted(range(n), key=_order(row), reverse=descending)]
        moved = Array(flat, (*(x.shape[i] for i in others), n), "int64")
        back = [*range(a), len(others), *range(a, len(others))]
        return Namespace.permute_dims(moved, tuple(back))

    @staticmethod
    def matmul(x: Array, y: Array, /) -> Array:
        """Z = X Y, for stacks of matrices too; a vector is one row on the left, one column on the right."""
        left, right = x.shape if len(x.shape) > 1 else (1, *x.shape), y.shape if len(y.shape) > 1 else (*y.shape, 1)
        (n, k), m = left[-2:], right[-1]
        if not x.shape or not y.shape or right[-2] != k or x.dtype != y.dtype:
            raise ValueError(f"matmul: {x.dtype} {x.shape} and {y.dtype} {y.shape} do not fit")
        stack = broadcast(left[:-2], right[:-2])
        dot = _dot if x.dtype in FLOATS else _whole_dot
        flat: list[Any] = []
        for p, q in zip(spread(left[:-2], stack), spread(right[:-2], stack), strict=True):
            rows = [x.flat[(p * n + i) * k : (p * n + i + 1) * k] for i in range(n)]
            columns = [y.flat[q * k * m + j : (q + 1) * k * m : m] for j in range(m)]
            flat += [dot(row, column) for row in rows for column in columns]
        shape = (*stack, *left[-2:-1] * (len(x.shape) > 1), *right[-1:] * (len(y.shape) > 1))
        return Array(convert(flat, x.dtype), shape, x.dtype)


def _wide(dtype: str) -> str:
    """The dtype that sums and products of `dtype` have: small integers might overflow."""
    return dtype if dtype in FLOATS else "uint64" if dtype[0] == "u" else "int64"


def _gather(x: Array, positions: tuple[int, ...], shape: Shape) -> Array:
    return Array(list(map(x.flat.__getitem__, positions)), shape, x.dtype)


def _safe(f: Callable[[float], float], where_it_raises: Callable[[float], float], x: Array) -> Array:
    """f of every number; Python's functions raise where the hardware's give ∞ or NaN."""
    if x.dtype not in FLOATS:
        raise TypeError(f"{f.__name__} is for floats, not {x.dtype}; cast first")

    def careful(v: float) -> float:
        try:
            return f(v)
        except (ValueError, OverflowError):
            return where_it_raises(v)

    try:
        return each(f, x)
    except (ValueError, OverflowError):
        return each(careful, x)


def _rows(x: Array, axes: Shape) -> list[list[Any]]:
    """The numbers in rows: what lies along `axes` is one row, in order of the other axes."""
    others = [i for i in range(len(x.shape)) if i not in axes]
    count, n = (math.prod(x.shape[i] for i in some) for some in (others, axes))
    order = (*others, *axes)
    flat = x.flat if order == tuple(range(len(x.shape))) else Namespace.permute_dims(x, order).flat
    return [flat[i * n : (i + 1) * n] for i in range(count)]


def _reduce(f: Callable[[list[Any]], Any], x: Array, axis: Any, dtype: str, keepdims: bool) -> Array:
    axes = axes_of(axis, len(x.shape))
    sizes = [1 if i in axes else n for i, n in enumerate(x.shape) if keepdims or i not in axes]
    return Array(convert(list(map(f, _rows(x, axes))), dtype), tuple(sizes), dtype)


def _place_of_max(row: list[Any]) -> int:
    """Where the largest number is; the first NaN, if there is one."""
    nan = next((i for i, v in enumerate(row) if v != v), None)
    return row.index(max(row)) if nan is None else nan


def _order(row: list[Any]) -> Callable[[int], tuple[bool, Any]]:
    """Sort key of a position: NaN last."""
    return lambda i: (row[i] != row[i], row[i] if row[i] == row[i] else 0.0)


def _dot(row: list[float], column: list[float]) -> float:
    return total(list(map(mul, row, column)))


def _whole_dot(row: list[int], column: list[int]) -> int:
    return sum(map(mul, row, column))
