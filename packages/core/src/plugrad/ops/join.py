"""Joining tensors and taking them apart again."""

from __future__ import annotations

from itertools import accumulate, repeat

from ..apply import apply, unary
from ..errors import DTypeError, ShapeError
from ..node import Value
from ..op import Op
from .axes import one_axis
from .numbers import as_int
from .shape import Expand, Reshape, broadcast_shapes, reshape
from .slices import Slice, cut, native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..tensor import Tensor

__all__ = ["cat", "chunk", "concat", "meshgrid", "split", "stack", "unbind", "unstack"]


class Concat(Op):
    """z = x₀, x₁, ... one behind the other along an axis, where their sizes are `sizes`

    ∂L/∂xᵢ = the i-th part of g
    """

    axis: int
    sizes: tuple[int, ...]
    storage = True

    def forward(self, xp, *xs):
        return xp.concat(xs, axis=self.axis)

    def dxs(self, i, g):
        start = sum(self.sizes[:i])
        return cut(g, self.axis, start, start + self.sizes[i])


class Stack(Op):
    """z = x₀, x₁, ... one behind the other along a new axis

    ∂L/∂xᵢ = the i-th slice of g
    """

    axis: int
    storage = True

    def forward(self, xp, *xs):
        shape = xs[0].shape
        return xp.concat([xp.reshape(x, (*shape[: self.axis], 1, *shape[self.axis :])) for x in xs], axis=self.axis)

    def dxs(self, i, g):
        return unary(Slice(_at(g.shape, self.axis, i), g.shape), g)


class Split(Op):
    """z₀, z₁, ... = the parts of x along an axis, of these sizes

    ∂L/∂x = g₀, g₁, ... one behind the other
    """

    axis: int
    sizes: tuple[int, ...]
    storage = True

    def forward(self, xp, x):
        ends = accumulate(self.sizes, initial=0)
        parts = [(start, start + n, 1) for start, n in zip(ends, self.sizes, strict=False)]
        return tuple([x[native(_at(x.shape, self.axis, p))] for p in parts])

    def dx(self, g):
        return apply(Concat(self.axis, self.sizes), *g)


class Unstack(Op):
    """z₀, z₁, ... = the slices of x along an axis, without that axis

    ∂L/∂x = g₀, g₁, ... one behind the other along it
    """

    axis: int
    storage = True

    def forward(self, xp, x):
        return tuple([x[native(_at(x.shape, self.axis, i))] for i in range(x.shape[self.axis])])

    def dx(self, g):
        return apply(Stack(self.axis), *g)


def _at(shape: tuple[int, ...], axis: int, k: Any) -> tuple[Any, ...]:
    """The key that has `k` at one axis and takes the others whole."""
    return tuple([k if i == axis else (0, n, 1) for i, n in enumerate(shape)])


def concat(xs: Sequence[Tensor], axis: int | None = 0) -> Tensor:
    """`xs` one behind the other along an axis; None: flattened first. The other sizes must be equal."""
    parts = _tensors("concat", xs, axis)
    if axis is None:
        parts = [unary(Reshape((x.size,), x.shape), x) for x in parts]
    i = one_axis("concat", axis or 0, parts[0].ndim)
    for k, x in enumerate(parts):
        if _at(x.shape, i, 0) != _at(parts[0].shape, i, 0):
            raise ShapeError(
                f"concat: shape {x.shape} of tensor {k} does not fit shape {parts[0].shape} of tensor 0: "
                f"outside axis {i} the sizes must be equal"
            )
    return apply(Concat(i, tuple(x.shape[i] for x in parts)), *parts)  # type: ignore[no-any-return]


cat = concat


def stack(xs: Sequence[Tensor], axis: int = 0) -> Tensor:
    """`xs`, all of one shape, one behind the other along a new axis."""
    parts = _tensors("stack", xs, axis)
    i = one_axis("stack", axis, parts[0].ndim + 1)
    for k, x in enumerate(parts):
        if x.shape != parts[0].shape:
            raise ShapeError(
                f"stack: shape {x.shape} of tensor {k} is not shape {parts[0].shape} of tensor 0; see pg.concat"
            )
    return apply(Stack(i), *parts)  # type: ignore[no-any-return]


def _tensors(op: str, xs: Sequence[Tensor], axis: Any) -> list[Tensor]:
    if isinstance(axis, Value):
        raise DTypeError(f"{op}: the second argument, the axis, is a tensor; give a list: pg.{op}([a, b])")
    parts = list(xs)
    if not parts:
        raise ShapeError(f"{op}: no tensors; give at least one")
    for k, x in enumerate(parts):
        if not isinstance(x, Value):
            raise DTypeError(f"{op}: item {k} is {type(x).__name__}, not a tensor; make a tensor of it: pg.tensor(...)")
    return parts


def split(x: Tensor, sizes: int | Sequence[int], axis: int = 0) -> tuple[Tensor, ...]:
    """The parts of `x` along an axis: of these sizes, or all of one size and the last of what is left."""
    i = one_axis("split", axis, x.ndim)
    n = x.shape[i]
    parts = _sizes(sizes, n)
    if sum(parts) != n or min(parts, default=0) < 0:
        raise ShapeError(f"split: sizes {parts} do not add up to {n}, the size of axis {i} of shape {x.shape}")
    return _views(apply(Split(i, parts), x), "split")


def _sizes(sizes: Any, n: int) -> tuple[int, ...]:
    """A list of sizes as it is; one size as often as `n` holds it, then what is left."""
    if hasattr(sizes, "__iter__"):
        return tuple(map(as_int, sizes))
    every = as_int(sizes)
    if every < 1 and (every or n):
        raise ShapeError(f"split: parts of size {every}; give a positive size, or a list of sizes")
    return tuple(min(every, n - k) for k in range(0, n, every or 1)) or (0,)


def chunk(x: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """`x` in at most so many parts along an axis, of equal size but for the last."""
    i = one_axis("chunk", axis, x.ndim)
    n = x.shape[i]
    if chunks < 1:
        raise ShapeError(f"chunk: {chunks} parts; give a positive number")
    every = -(-n // chunks)
    parts = tuple(min(every, n - k) for k in range(0, n, every or 1)) or (0,) * chunks
    return _views(apply(Split(i, parts), x), "chunk")


def unstack(x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices of `x` along an axis, without that axis."""
    i = one_axis("unstack", axis, x.ndim)
    return _views(apply(Unstack(i), x), "unstack") if x.shape[i] else ()


unbind = unstack


def _views(parts: tuple[Tensor, ...], name: str) -> tuple[Tensor, ...]:
    """`parts`, marked: assigning to their items would be lost on the tensor behind them."""
    for z in parts:
        z.origin = name
    return parts


def meshgrid(*xs: Tensor, indexing: str = "xy") -> list[Tensor]:
    """Grids of coordinates: the k-th holds the numbers of the k-th of `xs`, along axis k.

    indexing    "ij": so; "xy": with axes 0 and 1 exchanged
    """
    if indexing not in ("xy", "ij") or any(x.ndim > 1 for x in xs):
        shapes = ", ".join(str(x.shape) for x in xs)
        raise ShapeError(f"meshgrid: indexing {indexing!r} with shapes {shapes}; it takes 'xy' or 'ij' and 1-d tensors")
    places = list(range(len(xs)))
    if indexing == "xy":
        places[:2] = places[:2][::-1]
    lines = [reshape(x, [-1 if k == at else 1 for k in range(len(xs))]) for x, at in zip(xs, places, strict=True)]
    shape = broadcast_shapes(*[x.shape for x in lines])
    return list(map(unary, repeat(Expand(shape)), lines))
