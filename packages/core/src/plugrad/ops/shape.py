"""Movement: the same numbers in another shape or order of axes."""

from __future__ import annotations

from itertools import repeat

from ..apply import unary
from ..errors import ShapeError
from ..op import Op
from .axes import many_axes, one_axis, sizes_of
from .numbers import prod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..tensor import Tensor

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "contiguous", "expand", "expand_dims", "flatten",
    "matrix_transpose", "moveaxis", "permute", "permute_dims", "reshape", "squeeze", "sum_to", "swapaxes", "transpose",
    "unflatten", "unsqueeze", "view",
]  # fmt: skip


class Reshape(Op):
    """z = the numbers of x, last axis fastest, in another shape

    ∂L/∂x = g in the shape of x
    """

    shape: tuple[int, ...]
    source: tuple[int, ...]
    movement = storage = True

    def forward(self, xp, x):
        return xp.reshape(x, self.shape)

    def dx(self, g):
        return unary(Reshape(self.source, self.shape), g)


class Permute(Op):
    """z = x with its axes in another order: axis k of z is axis order[k] of x

    ∂L/∂x = g with the axes put back
    """

    order: tuple[int, ...]
    movement = storage = True

    def forward(self, xp, x):
        return xp.permute_dims(x, self.order)

    def dx(self, g):
        return unary(Permute(tuple(sorted(range(len(self.order)), key=self.order.__getitem__))), g)


class Expand(Op):
    """z = x repeated along new axes and along axes of size 1

    ∂L/∂x = g, summed over the copies (the way back does that)
    """

    shape: tuple[int, ...]
    movement = storage = True

    def forward(self, xp, x):
        return xp.broadcast_to(x, self.shape)

    def dx(self, g):
        return g


class SumTo(Op):
    """z = x summed over the axes along which broadcasting made copies

    ∂L/∂x = g, repeated along them
    """

    shape: tuple[int, ...]
    source: tuple[int, ...]

    def forward(self, xp, x):
        lead = len(self.source) - len(self.shape)
        grown = (i + lead for i, n in enumerate(self.shape) if n != self.source[i + lead])
        return xp.reshape(xp.sum(x, axis=(*range(lead), *grown)), self.shape)

    def dx(self, g):
        return unary(Expand(self.source), g)


def reshape(x: Tensor, *sizes: int | Sequence[int], shape: Sequence[int] = (), copy: bool | None = None) -> Tensor:
    """The numbers of `x`, last axis fastest, in another shape; one size may be -1 and is worked out.

    `reshape(x, 2, 3)` or `reshape(x, (2, 3))`. `copy=True` gives a value of its own, to which items may be assigned.
    """
    wanted = _worked_out("reshape", x.size, x.shape, sizes_of("reshape", sizes or (shape,)))
    z = unary(Reshape(wanted, x.shape), x)
    return z.clone() if copy else z  # type: ignore[no-any-return]


def _worked_out(op: str, n: int, have: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
    """`sizes` with -1 replaced, so that they hold the `n` numbers of shape (or axis) `have`."""
    known = prod(s for s in sizes if s != -1)
    if sizes.count(-1) > 1 or (-1 in sizes and not known):
        raise ShapeError(f"{op}: {sizes} leaves more than one answer for {have}; write the sizes out")
    if n != known if -1 not in sizes else n % known:
        raise ShapeError(f"{op}: {have} holds {n} numbers, which do not fill {sizes}; one size may be -1")
    return tuple(n // known if s == -1 else s for s in sizes)


def view(x: Tensor, *sizes: int | Sequence[int]) -> Tensor:
    """`reshape`, by PyTorch's other name."""
    wanted = _worked_out("view", x.size, x.shape, sizes_of("view", sizes))
    return unary(Reshape(wanted, x.shape), x)  # type: ignore[no-any-return]


def flatten(x: Tensor, start: int = 0, end: int = -1) -> Tensor:
    """`x` with axes `start` to `end` (included) made one; shape () gives (1,)."""
    shape = x.shape or (1,)
    i, j = one_axis("flatten", start, len(shape)), one_axis("flatten", end, len(shape))
    if i > j:
        raise ShapeError(f"flatten: start {start} is behind end {end} in shape {x.shape}; exchange them")
    return unary(Reshape((*shape[:i], prod(shape[i : j + 1]), *shape[j + 1 :]), x.shape), x)  # type: ignore[no-any-return]


def unflatten(x: Tensor, axis: int, sizes: Sequence[int]) -> Tensor:
    """`x` with one axis split into several; one size may be -1: shape (2, 12) with sizes (3, -1) gives (2, 3, 4)."""
    i = one_axis("unflatten", axis, x.ndim)
    parts = _worked_out("unflatten", x.shape[i], x.shape[i : i + 1], sizes_of("unflatten", (sizes,)))
    return unary(Reshape((*x.shape[:i], *parts, *x.shape[i + 1 :]), x.shape), x)  # type: ignore[no-any-return]


def squeeze(x: Tensor, axis: int | Sequence[int] | None = None) -> Tensor:
    """`x` without these axes, which must have size 1; None: without every axis of size 1."""
    shape = x.shape
    gone = [i for i, n in enumerate(shape) if n == 1] if axis is None else many_axes("squeeze", axis, len(shape))
    for i in gone:
        if shape[i] != 1:
            raise ShapeError(
                f"squeeze: axis {i} of shape {shape} has size {shape[i]}, not 1; index or reduce it instead"
            )
    return unary(Reshape(tuple(n for i, n in enumerate(shape) if i not in gone), shape), x)  # type: ignore[no-any-return]


def expand_dims(x: Tensor, axis: int | Sequence[int] = 0) -> Tensor:
    """`x` with new axes of size 1 at these places of the result."""
    names: Any = axis
    count = len(names) if hasattr(names, "__len__") else 1
    new = many_axes("expand_dims", names, x.ndim + count)
    old = iter(x.shape)
    return unary(Reshape(tuple(1 if i in new else next(old) for i in range(x.ndim + count)), x.shape), x)  # type: ignore[no-any-return]


unsqueeze = expand_dims


def expand(x: Tensor, *sizes: int | Sequence[int]) -> Tensor:
    """`x` repeated along new leading axes and along axes of size 1; -1 leaves a size as it is."""
    return unary(Expand(_expanded("expand", x.shape, sizes_of("expand", sizes))), x)  # type: ignore[no-any-return]


def broadcast_to(x: Tensor, shape: Sequence[int]) -> Tensor:
    """`x` repeated along new leading axes and along axes of size 1, to `shape`."""
    return unary(Expand(_expanded("broadcast_to", x.shape, sizes_of("broadcast_to", (shape,)))), x)  # type: ignore[no-any-return]


def _expanded(op: str, have: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
    """`sizes` with -1 replaced, checked against `have`."""
    lead = len(sizes) - len(have)
    wanted = tuple(have[i - lead] if s == -1 and i >= lead else s for i, s in enumerate(sizes))
    if lead < 0 or -1 in wanted or any(n not in (1, m) for n, m in zip(have, wanted[lead:], strict=True)):
        raise ShapeError(f"{op}: shape {have} does not stretch to {sizes}; only new leading axes and axes of size 1 do")
    return wanted


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that tensors of these shapes give together: sizes are equal, or 1, counted from the last axis."""
    found: list[int] = []
    for shape in map(tuple, shapes):
        found = [1] * (len(shape) - len(found)) + found
        lead = len(found) - len(shape)
        for i, n in enumerate(shape, lead):
            if n != 1 and found[i] not in (1, n):
                every = " and ".join(str(tuple(s)) for s in shapes)
                raise ShapeError(
                    f"broadcast_shapes: shapes {every} do not fit: axis {i - len(found)} has sizes {found[i]} and {n}"
                )
            found[i] = found[i] if n == 1 else n
    return tuple(found)


def broadcast_arrays(*xs: Tensor) -> tuple[Tensor, ...]:
    """All of `xs` in the one shape that they broadcast to."""
    shape = broadcast_shapes(*[x.shape for x in xs])
    return tuple(map(unary, repeat(Expand(shape)), xs))


def permute(x: Tensor, *order: int | Sequence[int]) -> Tensor:
    """`x` with its axes in another order: axis k of the result is axis order[k] of `x`."""
    axes = order[0] if len(order) == 1 and hasattr(order[0], "__iter__") else order
    return unary(Permute(_order("permute", x, axes)), x)  # type: ignore[no-any-return, arg-type]


def permute_dims(x: Tensor, axes: Sequence[int]) -> Tensor:
    """`permute`, by the array API's name."""
    return unary(Permute(_order("permute_dims", x, axes)), x)  # type: ignore[no-any-return]


def _order(op: str, x: Tensor, axes: Sequence[int]) -> tuple[int, ...]:
    order = many_axes(op, axes, x.ndim)
    if len(order) != x.ndim:
        raise ShapeError(f"{op}: {tuple(axes)} names {len(order)} axes, shape {x.shape} has {x.ndim}; name each once")
    return order


def transpose(x: Tensor, axis1: int, axis2: int) -> Tensor:
    """`x` with two axes exchanged."""
    return unary(Permute(_exchanged("transpose", x, axis1, axis2)), x)  # type: ignore[no-any-return]


def swapaxes(x: Tensor, axis1: int, axis2: int) -> Tensor:
    """`transpose`, by NumPy's name."""
    return unary(Permute(_exchanged("swapaxes", x, axis1, axis2)), x)  # type: ignore[no-any-return]


def _exchanged(op: str, x: Tensor, axis1: int, axis2: int) -> tuple[int, ...]:
    i, j, order = one_axis(op, axis1, x.ndim), one_axis(op, axis2, x.ndim), list(range(x.ndim))
    order[i], order[j] = j, i
    return tuple(order)


def moveaxis(x: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """`x` with the axes `source` at the places `destination`; the others keep their order."""
    start, end = many_axes("moveaxis", source, x.ndim), many_axes("moveaxis", destination, x.ndim)
    if len(start) != len(end):
        raise ShapeError(f"moveaxis: {len(start)} axes in {source}, but {len(end)} in {destination}; name as many")
    rest = (i for i in range(x.ndim) if i not in start)
    places = dict(zip(end, start, strict=True))
    return unary(Permute(tuple(places[i] if i in places else next(rest) for i in range(x.ndim))), x)  # type: ignore[no-any-return]


def matrix_transpose(x: Tensor) -> Tensor:
    """`x` with its last two axes exchanged."""
    n = x.ndim
    if n < 2:
        raise ShapeError(
            f"matrix_transpose: shape {x.shape} has no two axes to exchange; x.reshape(-1, 1) gives a column"
        )
    return unary(Permute((*range(n - 2), n - 1, n - 2)), x)  # type: ignore[no-any-return]


def sum_to(x: Tensor, shape: Sequence[int]) -> Tensor:
    """`x` summed to a shape that broadcasts to its own: the way back of `broadcast_to`."""
    wanted = tuple(shape)
    _expanded("sum_to", wanted, x.shape)
    return unary(SumTo(wanted, x.shape), x)  # type: ignore[no-any-return]


def contiguous(x: Tensor) -> Tensor:
    """`x` itself: how its numbers lie in memory is the backend's business."""
    return x
