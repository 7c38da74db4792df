"""Numbers in order: sorting, the k largest, and what stands at a given place of the order."""

from __future__ import annotations

from math import ceil, floor

from ..apply import apply, unary
from ..creation import tensor
from ..dtypes import float32, uint8
from ..errors import AxisError
from ..op import Op
from .along import axes_for, axis_for, count, cut, filled_axes, merged, merging, turned, unmerged
from .convert import astype

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..tensor import Tensor
    from .axes import Axis

__all__ = ["argsort", "median", "quantile", "sort", "topk"]

ROUNDING: dict[str, Callable[[float], float]] = {
    "linear": float, "lower": floor, "higher": ceil, "nearest": round,
    "midpoint": lambda place: (floor(place) + ceil(place)) / 2,
}  # fmt: skip


class Sort(Op):
    """z = x in rising order along `axis`, NaN last; the other way round where `descending`

    ∂L/∂x = g put back by the permutation: x_{i_k} = z_k, so the k-th gradient goes to i_k
    """

    axis: int
    descending: bool

    def forward(self, xp, x):
        z = xp.sort(x, axis=self.axis, stable=False)  # equal values cannot be told apart
        return turned(z, self.axis) if self.descending else z

    def dx(self, g, x):
        place = argsort(argsort(x, self.axis, self.descending), self.axis)
        return g.take_along_axis(place, self.axis)


class ArgSort(Op):
    """z = the positions along `axis` that sort x, equal ones in the order in which they stand; no gradient"""

    axis: int
    descending: bool

    def forward(self, xp, x):
        return sorting(xp, x, self.axis, self.descending)


class TopK(Op):
    """v, i = the k largest x along `axis` in falling order, and where they stand; the smallest, rising, where not `largest`

    ∂L/∂x = the gradient of v, put at i; `size` is that of x along `axis`
    """

    k: int
    axis: int
    largest: bool
    size: int

    def forward(self, xp, x):
        i = cut(sorting(xp, x, self.axis, self.largest), self.axis, 0, self.k)
        return xp.take_along_axis(x, i, axis=self.axis), i

    def dx(self, g, z):
        g, i, axis = g[0], z[1], self.axis
        return g.new_zeros((*g.shape[:axis], self.size, *g.shape[axis + 1 :])).scatter_add(axis, i, g)


class Rank(Op):
    """z = what stands at place p of x in rising order over `axis`; NaN if there is one

    Between places a and b it is in between: (1 - w) a + w b, w = the fraction of p. Several places come first in the shape.

    ∂L/∂x = (1 - w) g where a stands, w g where b stands
    """

    place: float | tuple[float, ...]
    axis: tuple[int, ...]
    keepdims: bool

    def forward(self, xp, x):
        order, shape = merging(x.shape, self.axis)
        y = xp.sort(xp.reshape(xp.permute_dims(x, order), shape), axis=-1, stable=False)
        places = self.place if isinstance(self.place, tuple) else (self.place,)
        z = between(xp, y, places)
        if xp.backend.dtype_of(y).kind == "float":
            last = cut(y, len(shape) - 1, shape[-1] - 1, shape[-1])
            z = xp.where(xp.isnan(last), last, z)
        z = xp.permute_dims(z, (len(shape) - 1, *range(len(shape) - 1)))
        lead = (len(places),) if isinstance(self.place, tuple) else ()
        kept = [1 if i in self.axis else n for i, n in enumerate(x.shape)] if self.keepdims else shape[:-1]
        return xp.reshape(z, (*lead, *kept))

    def dx(self, g, x):
        places = self.place if isinstance(self.place, tuple) else (self.place,)
        y, last = merged(x, self.axis), len(x.shape) - len(self.axis)
        g = g.reshape((len(places), *y.shape[:-1])).permute((*range(1, last + 1), 0))
        at, total = argsort(y), g.new_zeros(y.shape)
        for place, weight in corners(places):
            here = at.take(tensor(place, device=g.device), axis=last)
            total = total.scatter_add(last, here, g * tensor(weight, g.dtype, g.device))
        return unmerged(total, self.axis, x.shape)


def corners(places: Sequence[float]) -> list[tuple[list[int], list[float]]]:
    """[(where a stands, 1 - w), (where b stands, w)]; the first alone where all places are whole numbers."""
    low = [floor(p) for p in places]
    w = [p - i for p, i in zip(places, low, strict=True)]
    below = low, [1 - t for t in w]
    return [below, ([ceil(p) for p in places], w)] if any(w) else [below]


def between(xp: Any, y: Any, places: Sequence[float]) -> Any:
    """What stands at `places` along the last axis of the array y, in between where a place is."""
    a, *b = (xp.take(y, xp.asarray(i, dtype=xp.int64), axis=-1) for i, _ in corners(places))
    if not b:
        return a
    w = xp.asarray([p % 1 or 0.5 for p in places], dtype=y.dtype)  # a is b at a whole place; 0 · ∞ is avoided
    return xp.where(a == b[0], a, a * (1 - w) + b[0] * w)


def sorting(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    """The positions along `axis` that sort the array x, equal ones in the order in which they stand."""
    if not descending:
        return xp.argsort(x, axis=axis, stable=True)
    back = xp.argsort(turned(x, axis), axis=axis, stable=True)
    return x.shape[axis] - 1 - turned(back, axis)


def sort(x: Tensor, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """x in rising order along `axis` (falling where `descending`); NaN counts as the largest. Positions: `argsort`."""
    i = axis_for("sort", x, axis)
    if x.dtype.kind == "bool":
        return astype(sort(astype(x, uint8), i, descending), "bool")
    return unary(Sort(i, descending), x)  # type: ignore[no-any-return]


def argsort(x: Tensor, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Positions along `axis` that sort x; equal ones stay in the order in which they stand."""
    i = axis_for("argsort", x, axis)
    return unary(ArgSort(i, descending), ordered(x))  # type: ignore[no-any-return]


def topk(x: Tensor, k: int, axis: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """(values, indices) of the k largest x along `axis`, the largest first; of the k smallest where not `largest`.

    Of equal ones the first comes first; NaN counts as the largest.
    """
    i = axis_for("topk", x, axis)
    n = x.shape[i]
    if not 0 <= k <= n:
        raise AxisError(f"topk: k={k} is out of range for axis {i} of size {n}, shape {x.shape}; use 0 to {n}")
    return apply(TopK(k, i, largest, n), ordered(x))  # type: ignore[no-any-return]


def median(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The middle x over `axis` (all axes by default), of two the lower; one element gets the whole gradient."""
    axes = filled_axes("median", x, axis)
    return unary(Rank((count(x.shape, axes) - 1) // 2, axes, keepdims), ordered(x))  # type: ignore[no-any-return]


def quantile(
    x: Tensor, q: float | Sequence[float] | Tensor, axis: Axis = None, keepdims: bool = False,
    interpolation: str = "linear",
) -> Tensor:
    """What a share `q` of all x over `axis` (all axes by default) lies below; several q give a first axis.

    interpolation    between two numbers: "linear", "lower", "higher", "nearest" or "midpoint"
    """
    shares = q.tolist() if hasattr(q, "tolist") else q
    many = isinstance(shares, (list, tuple))
    axes = filled_axes("quantile", x, axis)
    places = tuple([_place(float(s), count(x.shape, axes), interpolation) for s in (shares if many else [shares])])
    y = x if x.dtype.kind == "float" else astype(x, float32)
    return unary(Rank(places if many else places[0], axes, keepdims), y)  # type: ignore[no-any-return]


def _place(q: float, n: int, interpolation: str) -> float:
    """The place of the share `q` among `n` numbers in order."""
    if not 0 <= q <= 1:
        raise ValueError(f"quantile: q={q} is no share of the numbers; use 0 to 1")
    if interpolation not in ROUNDING:
        raise ValueError(f"quantile: interpolation {interpolation!r} is none of {', '.join(ROUNDING)}")
    return float(ROUNDING[interpolation](q * (n - 1)))


def ordered(x: Any) -> Any:
    """`x` in a dtype with an order."""
    return astype(x, uint8) if x.dtype.kind == "bool" else x
