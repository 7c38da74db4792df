"""Axes as a user writes them, checked and counted from the front."""

from __future__ import annotations

from ..errors import AxisError, DTypeError, ShapeError
from .numbers import as_int

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Axis = int | Sequence[int] | None


def whole(op: str, what: str, n: Any) -> int:
    """`n` as a plain integer; `what` it is goes into the error."""
    try:
        return as_int(n)
    except TypeError:
        raise DTypeError(f"{op}: {what} {n!r:.80} is no whole number") from None


def one_axis(op: str, axis: int, ndim: int) -> int:
    """`axis` counted from the front."""
    i = whole(op, "axis", axis)
    if not ndim:
        raise AxisError(f"{op}: axis {i} is out of range: a 0-d tensor has no axes")
    if not -ndim <= i < ndim:
        raise AxisError(f"{op}: axis {i} is out of range for {ndim} dimensions; use {-ndim} to {ndim - 1}")
    return i % ndim


def many_axes(op: str, axis: Axis, ndim: int) -> tuple[int, ...]:
    """`axis` as a tuple counted from the front, in the order given; None means all."""
    if axis is None:
        return tuple(range(ndim))
    found = tuple(one_axis(op, i, ndim) for i in (axis if hasattr(axis, "__iter__") else (axis,)))
    if len(set(found)) != len(found):
        raise AxisError(f"{op}: axis {axis} names an axis twice")
    return found


def sizes_of(op: str, shape: tuple[object, ...]) -> tuple[int, ...]:
    """(2, 3) from `f(x, 2, 3)` and `f(x, (2, 3))` alike; -1 is left as it is."""
    if len(shape) == 1 and hasattr(shape[0], "__iter__"):
        shape = tuple(shape[0])
    sizes = tuple([whole(op, "size", n) for n in shape])
    if any(n < -1 for n in sizes):
        raise ShapeError(f"{op}: shape {sizes} has a negative size")
    return sizes
