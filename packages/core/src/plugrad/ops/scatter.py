"""Taking from and adding to places given by integer tensors, one axis at a time."""

from __future__ import annotations

from ..apply import apply
from ..errors import AxisError, DTypeError, ShapeError
from ..node import Value
from ..op import Op
from .assign import Put
from .axes import one_axis
from .index import Take, as_index, checked, counted
from .nonzero import nonzero
from .numbers import prod
from .shape import broadcast_arrays, broadcast_shapes, expand, reshape
from .slices import Slice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tensor import Tensor

__all__ = ["gather", "index_add", "masked_select", "one_hot", "scatter", "scatter_add", "take", "take_along_axis"]


class Along(Op):
    """z = places, in x flattened, of x[i, ..., index[i, ..., k], ..., k]; no gradient

    shape   of x
    axis    along which `index` says where
    """

    shape: tuple[int, ...]
    axis: int

    def forward(self, xp, index):
        z = checked(xp, "gather", index, self.shape[self.axis], self.axis) * prod(self.shape[self.axis + 1 :])
        for k, n in enumerate(index.shape):
            if k != self.axis:
                step = prod(self.shape[k + 1 :])
                line = xp.reshape(xp.arange(n, dtype=xp.int64), (-1, *[1] * (len(index.shape) - k - 1)))
                z = z + line * step
        return z


class PutAdd(Op):
    """z = x, v added at the places `at`, counted in x flattened; equal places add up

    ∂L/∂x = g        ∂L/∂v = g[at]
    """

    loose = ("at",)

    def forward(self, xp, x, at, v):
        z = xp.index_add(xp.reshape(x, (-1,)), 0, xp.reshape(at, (-1,)), xp.reshape(v, (-1,)))
        return xp.reshape(z, x.shape)

    def dx(self, g):
        return g

    def dv(self, g, at):
        return apply(Take(0, g.size, 0), reshape(g, -1), at)


class IndexAdd(Op):
    """z = x, v[..., j, ...] added at z[..., index[j], ...] along one axis; equal indices add up

    ∂L/∂x = g        ∂L/∂v = g taken at index
    """

    axis: int
    loose = ("index",)

    def forward(self, xp, x, index, v):
        i = checked(xp, "index_add", index, x.shape[self.axis], self.axis)
        return xp.index_add(x, self.axis, i, v)

    def dx(self, g):
        return g

    def dv(self, g, index):
        return apply(Take(self.axis, g.shape[self.axis], self.axis), g, index)


class OneHot(Op):
    """z[..., k] = 1 where x[...] = k, else 0, for k below n; no gradient"""

    n: int

    def forward(self, xp, x):
        low, high = (int(xp.min(x)), int(xp.max(x))) if prod(x.shape) else (0, -1)
        if low < 0 or high >= self.n:
            bad = low if low < 0 else high
            raise AxisError(f"one_hot: {bad} is none of the {self.n} classes, which count from 0 to {self.n - 1}")
        i = xp.reshape(counted(xp, x, self.n), (*x.shape, 1))
        return xp.astype(i == xp.arange(self.n, dtype=xp.int64), xp.int64)


_put, _put_add = Put(), PutAdd()


def _whole(op: str, x: Tensor, index: Any) -> Tensor:
    """`index` as a tensor of integers; no mask."""
    found: Tensor = as_index(op, x, index)
    if found.dtype.kind == "bool":
        raise DTypeError(f"{op}: an index of bools; give positions: pg.nonzero(mask)")
    return found


def take(x: Tensor, indices: Any, axis: int | None = None) -> Tensor:
    """The entries of `x` at `indices` along one axis; None: of `x` flattened."""
    index = _whole("take", x, indices)
    if axis is None:
        return apply(Take(0, x.size, 0), reshape(x, -1), index)  # type: ignore[no-any-return]
    i = one_axis("take", axis, x.ndim)
    return apply(Take(i, x.shape[i], i), x, index)  # type: ignore[no-any-return]


def take_along_axis(x: Tensor, indices: Tensor, axis: int = -1) -> Tensor:
    """z[i, ..., j, ..., k] = x[i, ..., indices[i, ..., j, ..., k], ..., k]; the other axes broadcast."""
    i, index = one_axis("take_along_axis", axis, x.ndim), _whole("take_along_axis", x, indices)
    if index.ndim != x.ndim:
        raise ShapeError(f"take_along_axis: index shape {index.shape} and shape {x.shape} need as many axes")
    rest = broadcast_shapes((*x.shape[:i], 1, *x.shape[i + 1 :]), (*index.shape[:i], 1, *index.shape[i + 1 :]))
    y, index = (expand(t, (*rest[:i], t.shape[i], *rest[i + 1 :])) for t in (x, index))
    at = apply(Along(y.shape, i), index)
    return apply(Take(0, y.size, 0), reshape(y, -1), at)  # type: ignore[no-any-return]


def gather(x: Tensor, axis: int, index: Tensor) -> Tensor:
    """z[i, ..., j, ..., k] = x[i, ..., index[i, ..., j, ..., k], ..., k]

    `index` has as many axes as `x`, and may be smaller along the others.
    """
    at = _along("gather", x, axis, index)
    return apply(Take(0, x.size, 0), reshape(x, -1), at)  # type: ignore[no-any-return]


def _along(op: str, x: Tensor, axis: int, index: Any) -> Tensor:
    """The places that `index` names along `axis`, in `x` flattened."""
    i, found = one_axis(op, axis, x.ndim), _whole(op, x, index)
    if found.ndim != x.ndim or any(n > m for k, (n, m) in enumerate(zip(found.shape, x.shape, strict=True)) if k != i):
        raise ShapeError(
            f"{op}: index shape {found.shape} does not fit shape {x.shape}: outside axis {i} it may only be smaller"
        )
    return apply(Along(x.shape, i), found)  # type: ignore[no-any-return]


def scatter(x: Tensor, axis: int, index: Tensor, src: Any) -> Tensor:
    """`x`, but with src[i, ..., j, ..., k] at [i, ..., index[i, ..., j, ..., k], ..., k].

    Of equal places the last counts. `src` may be larger than `index`, or a number.
    """
    at = _along("scatter", x, axis, index)
    return apply(_put, x, at, _source("scatter", x, at, src))  # type: ignore[no-any-return]


def scatter_add(x: Tensor, axis: int, index: Tensor, src: Any) -> Tensor:
    """`x`, with src[i, ..., j, ..., k] added at [i, ..., index[i, ..., j, ..., k], ..., k]; equal places add up."""
    at = _along("scatter_add", x, axis, index)
    return apply(_put_add, x, at, _source("scatter_add", x, at, src))  # type: ignore[no-any-return]


def _source(op: str, x: Tensor, at: Tensor, src: Any) -> Tensor:
    """The part of `src` that lies under the index; a number everywhere."""
    if not isinstance(src, Value):
        return x.new_zeros(at.shape) + src  # type: ignore[no-any-return]
    if src.ndim != at.ndim or any(n > m for n, m in zip(at.shape, src.shape, strict=True)):  # type: ignore[attr-defined]
        raise ShapeError(f"{op}: source shape {src.shape} is smaller than index shape {at.shape}; it must cover it")  # type: ignore[attr-defined]
    return src if src.shape == at.shape else apply(Slice(tuple((0, n, 1) for n in at.shape), src.shape), src)  # type: ignore


def index_add(x: Tensor, axis: int, index: Tensor, source: Tensor) -> Tensor:
    """`x`, the j-th slice of `source` along `axis` added to slice index[j]; equal indices add up."""
    i, found = one_axis("index_add", axis, x.ndim), _whole("index_add", x, index)
    want = (*x.shape[:i], found.size, *x.shape[i + 1 :])
    if found.ndim != 1 or source.shape != want:
        raise ShapeError(
            f"index_add: index shape {found.shape} and source shape {source.shape} do not fit axis {i} of {x.shape}: "
            f"the index has one axis, the source shape {want}"
        )
    return apply(IndexAdd(i), x, found, source)  # type: ignore[no-any-return]


def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """The numbers of `x` where `mask` is true, in a row; shapes broadcast."""
    y, where = broadcast_arrays(x, mask)
    return apply(Take(0, y.size, 0), reshape(y, -1), nonzero(reshape(where, -1))[0])  # type: ignore[no-any-return]


def one_hot(x: Tensor, n: int = -1) -> Tensor:
    """int64, with a new last axis of size `n`: 1 at the position that `x` gives, 0 elsewhere.

    -1: as many positions as the largest of `x` needs.
    """
    classes = _whole("one_hot", x, x)
    count = n if n >= 0 else int(classes.max().item()) + 1 if classes.size else 0
    return apply(OneHot(count), classes)  # type: ignore[no-any-return]
