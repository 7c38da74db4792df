"""Which values there are and how many of each; where values stand in a sorted row."""

from __future__ import annotations

from _operator import itemgetter

from ..apply import apply, binary
from ..dtypes import float32, int64
from ..errors import DTypeError, ShapeError
from ..node import Value
from ..op import Op
from .along import cut, tensor_for
from .convert import astype
from .creation import arange, tensor
from .order import ordered, sort
from .reduce import max as largest
from .reduce import min as smallest
from .scan import diff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..tensor import Tensor

__all__ = [
    "bincount", "histogram", "searchsorted", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip


class UniqueAll(tuple):  # type: ignore[type-arg]
    """(values, indices, inverse_indices, counts); collections.namedtuple would cost a millisecond at import."""

    __slots__ = ()
    values, indices, inverse_indices, counts = (property(itemgetter(i)) for i in range(4))


class UniqueCounts(tuple):  # type: ignore[type-arg]
    """(values, counts)"""

    __slots__ = ()
    values, counts = (property(itemgetter(i)) for i in range(2))


class UniqueInverse(tuple):  # type: ignore[type-arg]
    """(values, inverse_indices)"""

    __slots__ = ()
    values, inverse_indices = (property(itemgetter(i)) for i in range(2))


class Unique(Op):
    """v, i, j, n: v = x_i are the different x, rising; x = v_j; n is how often each occurs; no gradient

    i is where each stands first, in x flattened; every NaN is different from the others.
    """

    def forward(self, xp, x):
        flat = xp.reshape(x, (-1,))
        order = xp.argsort(flat, axis=0, stable=True)
        y, size = xp.take(flat, order, axis=0), flat.shape[0]
        one = min(size, 1)
        new = xp.concat([xp.full((one,), True, dtype=xp.bool), cut(y, 0, 1, size) != cut(y, 0, 0, size - 1)], axis=0)
        (start,) = xp.nonzero(new)
        stop = xp.concat([cut(start, 0, 1, size), xp.full((one,), size, dtype=start.dtype)], axis=0)
        which = xp.cumulative_sum(xp.astype(new, xp.int64), axis=0) - 1
        j = xp.take(which, xp.argsort(order, axis=0, stable=True), axis=0)
        return xp.take(y, start, axis=0), xp.take(order, start, axis=0), xp.reshape(j, x.shape), stop - start


class SearchSorted(Op):
    """z = how many x are < y (≤ y for `side` "right"): where in the sorted row x to insert y; no gradient"""

    side: str

    def forward(self, xp, x, y):
        return xp.searchsorted(x, y, side=self.side)


_unique = Unique()


def unique_all(x: Tensor, /) -> UniqueAll:
    """(values, indices, inverse_indices, counts) of the different x, rising, each NaN on its own.

    `indices` says where each stands first in x flattened, `inverse_indices` which of them each x is.
    """
    v, i, j, n = apply(_unique, ordered(tensor_for("unique_all", x)))
    return UniqueAll((_like(v, x), i, j, n))


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """(values, counts) of `unique_all`"""
    found = unique_all(x)
    return UniqueCounts((found.values, found.counts))


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """(values, inverse_indices) of `unique_all`"""
    found = unique_all(x)
    return UniqueInverse((found.values, found.inverse_indices))


def unique_values(x: Tensor, /) -> Tensor:
    """The different x, rising; each NaN on its own."""
    return unique_all(x).values  # type: ignore[no-any-return]


def unique(x: Tensor, return_inverse: bool = False, return_counts: bool = False) -> Tensor | tuple[Tensor, ...]:
    """The different x, rising; with what else is asked for behind them, in a tuple."""
    values, _, inverse, counts = unique_all(x)
    more = [t for t, asked in ((inverse, return_inverse), (counts, return_counts)) if asked]
    return (values, *more) if more else values


def searchsorted(x1: Tensor, x2: Any, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Where in the sorted row `x1` to insert each of `x2`: before equal ones (`side="left"`) or behind them ("right").

    sorter    positions that sort x1, where it is not sorted itself
    """
    if len(tensor_for("searchsorted", x1).data.shape) != 1:
        raise ShapeError(f"searchsorted: x1 has shape {x1.shape}; it must be one sorted row: shape (n,)")
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side {side!r} is neither 'left' nor 'right'")
    row = x1 if sorter is None else x1.take(sorter, axis=0)
    return binary(SearchSorted(side), row, x2)  # type: ignore[no-any-return]


def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """z_k = how many x are k, for k = 0 to the largest x; with `weights` the sum of theirs, and the gradient is g_x.

    x    whole numbers ≥ 0, shape (n,)
    """
    if tensor_for("bincount", x).dtype.kind not in ("int", "uint") or x.ndim != 1:
        raise DTypeError(f"bincount: expected a row of integers, got {x.dtype} of shape {x.shape}")
    low, high = (int(smallest(x)), int(largest(x))) if x.size else (0, -1)
    if low < 0:
        raise ShapeError(f"bincount: {low} is negative; only numbers from 0 can be counted")
    n = max(high + 1, minlength)
    if weights is not None:
        return weights.new_zeros(n).index_add(0, x, weights)
    return diff(searchsorted(sort(astype(x, int64)), arange(n + 1, device=x.device)))


def histogram(
    x: Tensor, bins: int | Sequence[float] | Tensor = 10, range: tuple[float, float] | None = None
) -> tuple[Tensor, Tensor]:
    """(counts, edges): how many x lie in each bin, from its lower edge up to, not including, its upper one; the last
    includes both. What lies outside, or is NaN, is not counted.

    bins     how many of equal width, or the edges themselves, rising
    range    lowest and highest edge; by default the smallest and the largest x
    """
    y = (x if tensor_for("histogram", x).dtype.kind == "float" else astype(x, float32)).detach().reshape(-1)
    edges = _edges(y, bins, range)
    n = edges.size - 1
    row = sort(y)
    below = searchsorted(row, edges[:n])
    upto = searchsorted(row, edges[n:], side="right")
    return diff(below, append=upto), edges


def _edges(y: Tensor, bins: Any, span: tuple[float, float] | None) -> Tensor:
    """The edges of the bins of a histogram of y."""
    if not isinstance(bins, int):
        edges = bins if isinstance(bins, Value) else tensor(list(bins), dtype=y.dtype, device=y.device)
        return astype(edges, y.dtype)  # type: ignore[arg-type]
    if bins < 1:
        raise ShapeError(f"histogram: {bins} bins; use 1 or more")
    low, high = span or ((smallest(y).item(), largest(y).item()) if y.size else (0.0, 1.0))
    if not low <= high or high - low == float("inf"):
        raise ShapeError(f"histogram: no bins from {low} to {high}; give a finite range=(low, high)")
    low, high = (low, high) if low < high else (low - 0.5, high + 0.5)
    steps = [low + (high - low) * i / bins for i in range(bins)]
    return tensor([*steps, high], dtype=y.dtype, device=y.device)


def _like(v: Any, x: Any) -> Any:
    """`v` in the dtype of `x`: bool was counted as an integer."""
    return astype(v, x.dtype) if x.dtype.kind == "bool" else v
