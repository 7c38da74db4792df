"""The array: a flat list of Python numbers, a shape, and the name of a dtype."""

from __future__ import annotations

import math
import operator
from itertools import repeat
from typing import TYPE_CHECKING, Any

from ._layout import broadcast, chosen, spread
from ._numbers import DTYPES, FLOATS, divide, power, scalar, shift_left

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ._layout import Shape


class Array:
    """`flat` holds the numbers, last axis fastest. Results are new arrays; only item assignment writes into one."""

    __slots__ = ("dtype", "flat", "shape")

    def __init__(self, flat: list[Any], shape: Shape, dtype: str) -> None:
        self.flat, self.shape, self.dtype = flat, shape, dtype

    def __repr__(self) -> str:
        return f"Array({self.tolist()}, {self.dtype!r})"

    def tolist(self) -> Any:
        """Nested lists; a plain number for shape ()."""
        values = self.flat
        if not self.shape:
            return values[0]
        for axis in range(len(self.shape) - 1, 0, -1):
            n, rows = self.shape[axis], math.prod(self.shape[:axis])
            values = [values[i * n : (i + 1) * n] for i in range(rows)]
        return list(values)

    def to(self, shape: Shape) -> list[Any]:
        """The numbers, broadcast to `shape`."""
        return self.flat if shape == self.shape else list(map(self.flat.__getitem__, spread(self.shape, shape)))

    # -- one number --------------------------------------------------------------------------------------------

    def _only(self) -> Any:
        if len(self.flat) != 1:
            raise ValueError(f"an array of shape {self.shape} is not one number")
        return self.flat[0]

    def __bool__(self) -> bool:
        return bool(self._only())

    def __int__(self) -> int:
        return int(self._only())

    def __float__(self) -> float:
        return float(self._only())

    # -- reading and writing parts -----------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Array:
        shape, positions = chosen(key, self.shape)
        return Array(list(map(self.flat.__getitem__, positions)), shape, self.dtype)

    def __setitem__(self, key: Any, value: Any) -> None:
        shape, positions = chosen(key, self.shape)
        new = value.to(shape) if isinstance(value, Array) else repeat(scalar(value, self.dtype))
        if isinstance(value, Array) and value.dtype != self.dtype:
            raise TypeError(f"dtype {value.dtype} assigned into {self.dtype}; cast it first")
        for p, v in zip(positions, new, strict=False):
            self.flat[p] = v

    # -- arithmetic --------------------------------------------------------------------------------------------

    def __neg__(self) -> Array:
        return each(operator.neg, self)

    def __invert__(self) -> Array:
        return each(operator.not_ if self.dtype == "bool" else operator.invert, self)

    def __add__(self, other: Any) -> Array:
        return both(operator.add, self, other)

    def __sub__(self, other: Any) -> Array:
        return both(operator.sub, self, other)

    def __mul__(self, other: Any) -> Array:
        return both(operator.mul, self, other)

    def __truediv__(self, other: Any) -> Array:
        if self.dtype not in FLOATS:
            raise TypeError(f"/ is for floats, not {self.dtype}; cast first")
        return both(divide, self, other)

    def __pow__(self, other: Any) -> Array:
        return both(power, self, other)

    def __and__(self, other: Any) -> Array:
        return both(operator.and_, self, other)

    def __or__(self, other: Any) -> Array:
        return both(operator.or_, self, other)

    def __xor__(self, other: Any) -> Array:
        return both(operator.xor, self, other)

    def __lshift__(self, other: Any) -> Array:
        return both(shift_left, self, other)

    def __rshift__(self, other: Any) -> Array:
        return both(operator.rshift, self, other)

    # -- comparison --------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> Any:
        return both(operator.eq, self, other, "bool")

    def __ne__(self, other: object) -> Any:
        return both(operator.ne, self, other, "bool")

    def __lt__(self, other: Any) -> Array:
        return both(operator.lt, self, other, "bool")

    def __le__(self, other: Any) -> Array:
        return both(operator.le, self, other, "bool")

    def __gt__(self, other: Any) -> Array:
        return both(operator.gt, self, other, "bool")

    def __ge__(self, other: Any) -> Array:
        return both(operator.ge, self, other, "bool")

    # -- the same with the number on the left ------------------------------------------------------------------

    def __radd__(self, other: Any) -> Array:
        return both(operator.add, other, self)

    def __rsub__(self, other: Any) -> Array:
        return both(operator.sub, other, self)

    def __rmul__(self, other: Any) -> Array:
        return both(operator.mul, other, self)

    def __rtruediv__(self, other: Any) -> Array:
        return both(divide, other, self)

    def __rpow__(self, other: Any) -> Array:
        return both(power, other, self)


def each(f: Callable[[Any], Any], x: Array, dtype: str = "") -> Array:
    """f of every number; the result has the dtype of `x`, or `dtype`."""
    values = list(map(f, x.flat))
    return Array(values, x.shape, dtype) if dtype else Array(DTYPES[x.dtype](values), x.shape, x.dtype)


def both(f: Callable[[Any, Any], Any], x: Any, y: Any, dtype: str = "") -> Array:
    """f of every pair of numbers, shapes broadcast; the result has the dtype of both, or `dtype`."""
    a, b, shape, common = pair(x, y)
    values = list(map(f, a, b))
    return Array(values, shape, dtype) if dtype else Array(DTYPES[common](values), shape, common)


def pair(x: Any, y: Any) -> tuple[Iterable[Any], Iterable[Any], Shape, str]:
    """The numbers of two arrays, broadcast, or of an array and a plain number; their shape and dtype."""
    if not isinstance(y, Array):
        return x.flat, repeat(scalar(y, x.dtype)), x.shape, x.dtype
    if not isinstance(x, Array):
        return repeat(scalar(x, y.dtype)), y.flat, y.shape, y.dtype
    if x.dtype != y.dtype:
        raise TypeError(f"arrays of dtype {x.dtype} and {y.dtype}; cast one of them first")
    if x.shape == y.shape:
        return x.flat, y.flat, x.shape, x.dtype
    shape = broadcast(x.shape, y.shape)
    return x.to(shape), y.to(shape), shape, x.dtype
