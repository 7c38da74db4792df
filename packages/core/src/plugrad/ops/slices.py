"""Basic indexing: the part of x that whole numbers and slices name, put into zeros, or given another value.

A key holds for each axis a whole number, counted from the front, or (start, stop, step).
"""

from __future__ import annotations

from ..apply import binary, unary
from ..errors import ShapeError
from ..op import Op
from .axes import many_axes, one_axis
from .shape import Permute, Reshape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..tensor import Tensor

    Span = tuple[int, int | None, int]
    Key = tuple[int | Span, ...]

__all__ = ["diagonal", "dilate", "flip"]


class Slice(Op):
    """z = x[part]

    ∂L/∂x = zeros with g at part
    """

    part: Key
    source: tuple[int, ...]
    movement = storage = selects = True

    def forward(self, xp, x):
        return x[native(self.part)]

    def dx(self, g):
        return unary(Place(self.part, self.source, 0), g)


class Place(Op):
    """z = value everywhere, but z[part] = x

    ∂L/∂x = g[part]
    """

    part: Key
    shape: tuple[int, ...]
    value: bool | int | float
    storage = True

    def forward(self, xp, x):
        z = xp.full(self.shape, self.value, dtype=x.dtype) if self.value else xp.zeros(self.shape, dtype=x.dtype)
        z[native(self.part)] = x
        return z

    def dx(self, g):
        return unary(Slice(self.part, self.shape), g)


class Assign(Op):
    """z = x, but z[part] = v; v broadcasts

    ∂L/∂x = g, but 0 at part       ∂L/∂v = g[part]
    """

    part: Key
    storage = selects = True

    def forward(self, xp, x, v):
        z = xp.zeros(x.shape, dtype=x.dtype)
        z[...] = x
        z[native(self.part)] = v
        return z

    def dx(self, g):
        return binary(self, g, 0)

    def dv(self, g):
        return unary(Slice(self.part, g.shape), g)


class Flip(Op):
    """z = x, last first along each of these axes

    ∂L/∂x = g, last first along them
    """

    axis: tuple[int, ...]
    storage = True

    def forward(self, xp, x):
        return x[tuple([slice(None, None, -1 if i in self.axis else 1) for i in range(len(x.shape))])]

    def dx(self, g):
        return unary(self, g)


def native(key: Key) -> tuple[Any, ...]:
    """`key` in Python's slices."""
    return tuple([slice(*k) if isinstance(k, tuple) else k for k in key])


def span(s: slice, n: int) -> Span:
    """A slice of an axis of size `n`, its ends counted from the front; nothing is (0, 0, 1)."""
    start, stop, step = s.indices(n)
    if not len(range(start, stop, step)):
        return 0, 0, 1
    return start, None if stop < 0 else stop, step


def cut(x: Tensor, axis: int, start: int, stop: int, step: int = 1) -> Tensor:
    """x[start:stop:step] along one axis; all counted from the front."""
    shape = x.shape
    key = tuple((start, stop, step) if i == axis else (0, n, 1) for i, n in enumerate(shape))
    return unary(Slice(key, shape), x)  # type: ignore[no-any-return]


def flip(x: Tensor, axis: int | Sequence[int] | None = None) -> Tensor:
    """`x`, last first along these axes; None: along all."""
    return unary(Flip(many_axes("flip", axis, x.ndim)), x)  # type: ignore[no-any-return]


def dilate(x: Tensor, axis: int | Sequence[int], step: int) -> Tensor:
    """`x` with step - 1 zeros between neighbours along these axes: size n becomes (n - 1) · step + 1."""
    axes, shape = many_axes("dilate", axis, x.ndim), x.shape
    if step < 1:
        raise ShapeError(f"dilate: step {step} is not positive; 1 leaves the tensor as it is")
    steps = [step if i in axes else 1 for i in range(len(shape))]
    wide = tuple((n - 1) * k + 1 if n else 0 for n, k in zip(shape, steps, strict=True))
    return unary(Place(tuple((0, n, k) for n, k in zip(wide, steps, strict=True)), wide, 0), x)  # type: ignore[no-any-return]


def diagonal(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """x[i, i + offset] over two axes, as a new last axis."""
    i, j = one_axis("diagonal", axis1, x.ndim), one_axis("diagonal", axis2, x.ndim)
    if i == j:
        raise ShapeError(f"diagonal: axis1 and axis2 are both {i}; name two axes of shape {x.shape}")
    rest = tuple(k for k in range(x.ndim) if k not in (i, j))
    n, m, lead = x.shape[i], x.shape[j], tuple(x.shape[k] for k in rest)
    start = offset if offset >= 0 else -offset * m
    count = max(min(n, m - offset) if offset >= 0 else min(n + offset, m), 0)
    rows = unary(Reshape((*lead, n * m), (*lead, n, m)), unary(Permute((*rest, i, j)), x))
    ends = (start, start + (count - 1) * (m + 1) + 1, m + 1) if count else (0, 0, 1)
    return unary(Slice((*((0, k, 1) for k in lead), ends), rows.shape), rows)  # type: ignore[no-any-return]
