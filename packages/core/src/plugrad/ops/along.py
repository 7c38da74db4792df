"""What reductions, scans and sorts share: which axes, how many numbers, and axes merged, cut or put back."""

from __future__ import annotations

from ..errors import DTypeError, ShapeError
from ..node import Value
from .axes import many_axes, one_axis
from .convert import astype
from .numbers import prod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..dtypes import DType
    from .axes import Axis

    What = DType | str | type | None


def tensor_for(op: str, x: Any) -> Any:
    """`x`, if it is a tensor."""
    if not isinstance(x, Value):
        raise DTypeError(f"{op}: expected a tensor, got {type(x).__name__}; make one of it: pg.tensor(...)")
    return x


def cast_for(op: str, x: Any, dtype: What) -> Any:
    """The tensor `x` in `dtype`, if one is given."""
    return x if dtype is None else astype(tensor_for(op, x), dtype)


def axes_for(op: str, x: Any, axis: Axis) -> tuple[int, ...]:
    """The axes of the tensor `x` that `axis` names, in rising order; None means all."""
    return tuple(sorted(many_axes(op, axis, len(tensor_for(op, x).data.shape))))


def axis_for(op: str, x: Any, axis: int) -> int:
    """The axis of the tensor `x` that `axis` names."""
    return one_axis(op, axis, len(tensor_for(op, x).data.shape))


def filled_axes(op: str, x: Any, axis: Axis) -> tuple[int, ...]:
    """`axes_for`, where each output needs at least one number to choose from."""
    axes, shape = axes_for(op, x, axis), tuple(x.data.shape)
    if not count(shape, axes) and 0 not in without(shape, axes):
        which = " and ".join(map(str, axes))
        raise ShapeError(
            f"{op}: shape {shape} has nothing along axis {which}, and there is no {op} of nothing; "
            f"check x.size first, or reduce another axis"
        )
    return axes


def count(shape: Sequence[int], axes: tuple[int, ...]) -> int:
    """How many numbers are reduced to one."""
    return prod([shape[i] for i in axes])


def without(shape: Sequence[int], axes: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` without `axes`."""
    return tuple([n for i, n in enumerate(shape) if i not in axes])


def ones(shape: Sequence[int], axes: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` with `axes` as 1."""
    return tuple([1 if i in axes else n for i, n in enumerate(shape)])


def opened(op: Any, t: Any, shape: Sequence[int]) -> Any:
    """`t`, a reduction of something of shape `shape`, with the reduced axes put back as 1 so that it broadcasts."""
    if op.keepdims or op.axis == tuple(range(len(op.axis))):  # axes in front come back by themselves
        return t
    return t.reshape(ones(shape, op.axis))


def shut(xp: Any, z: Any, op: Any) -> Any:
    """The array `z`, that still has the reduced axes as 1, in the shape that `op` is to give."""
    return z if op.keepdims else xp.reshape(z, without(z.shape, op.axis))


def widened(xp: Any, x: Any) -> Any:
    """The array `x`; integers and bool as int64 (unsigned ones as uint64), so that many of them add up."""
    t = xp.backend.dtype_of(x)
    if t.kind == "float" or t.bits == 64:
        return x
    return xp.astype(x, xp.uint64 if t.kind == "uint" else xp.int64)


def ratio(xp: Any, s: Any, n: float) -> Any:
    """s / n for s ≥ 0; where n is not positive it counts as 0: ∞, or NaN where s is 0."""
    if n > 0:
        return s / n
    return xp.where(s > 0, xp.full(s.shape, float("inf"), dtype=s.dtype), xp.full(s.shape, float("nan"), dtype=s.dtype))


def cut(x: Any, axis: int, start: int, stop: int) -> Any:
    """The array x[start:stop] along `axis`; both count from the front, and are cut down to its size."""
    n = x.shape[axis]
    return x[(*[slice(None)] * axis, slice(min(start, n), max(min(stop, n), 0)), ...)]


def turned(x: Any, axis: int) -> Any:
    """The array x from the other end along `axis`."""
    return x[(*[slice(None)] * axis, slice(None, None, -1), ...)]


def shifted(xp: Any, x: Any, axis: int, step: int, fill: int = 0) -> Any:
    """The array whose k-th entry along `axis` is x_(k - step), or `fill` where there is none."""
    n = x.shape[axis]
    gap = xp.full((*x.shape[:axis], min(abs(step), n), *x.shape[axis + 1 :]), fill, dtype=x.dtype)
    return xp.concat([gap, cut(x, axis, 0, n - step)] if step > 0 else [cut(x, axis, -step, n), gap], axis=axis)


def merging(shape: Sequence[int], axes: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(order, shape): permuted by the one and reshaped to the other, `axes` are a single last axis."""
    kept = tuple([i for i in range(len(shape)) if i not in axes])
    return (*kept, *axes), (*without(shape, axes), count(shape, axes))


def lined(xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """The array `x` with `axes` as a single last axis."""
    order, shape = merging(x.shape, axes)
    return xp.reshape(xp.permute_dims(x, order), shape)


def merged(x: Any, axes: tuple[int, ...]) -> Any:
    """The tensor `x` with `axes` as a single last axis."""
    order, shape = merging(x.shape, axes)
    return x.permute(order).reshape(shape)


def unmerged(t: Any, axes: tuple[int, ...], shape: Sequence[int]) -> Any:
    """The tensor `t` with its last axis as the `axes` of `shape` again: undoes `merged`."""
    order, _ = merging(shape, axes)
    back = tuple(sorted(range(len(order)), key=order.__getitem__))
    return t.reshape(tuple([shape[i] for i in order])).permute(back)
