"""Numbers in order: sorting, the k largest, and what stands at a given place of the order."""

from __future__ import annotations

from ..apply import apply, unary
from ..dtypes import bool_, float32, uint8
from ..errors import AxisError
from ..node import Value
from ..op import Op
from .along import axis_for, count, cut, filled_axes, lined, merged, ones, turned, unmerged, without
from .compare import isnan
from .convert import astype
from .creation import tensor
from .numbers import ceil, floor
from .select import where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
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

    ∂L/∂x = g put back by the permutation: z_k = x_{i_k}, so g_k goes to i_k; equal x in order if `stable`
    """

    axis: int
    descending: bool
    stable: bool

    def forward(self, xp, x):
        z = xp.sort(x, axis=self.axis, stable=False)  # equal values cannot be told apart
        return turned(z, self.axis) if self.descending else z

    def dx(self, g, x):
        i = argsort(x, self.axis, self.descending, self.stable)
        return g.new_zeros(g.shape).scatter(self.axis, i, g)


class ArgSort(Op):
    """z = the positions along `axis` that sort x, equal x in the order in which they stand if `stable`; no gradient"""

    axis: int
    descending: bool
    stable: bool

    def forward(self, xp, x):
        return sorting(xp, x, self.axis, self.descending, self.stable)


class TopK(Op):
    """v, i = the k largest x along `axis`, falling, and where they stand; the k smallest, rising, where not `largest`

    ∂L/∂x = the gradient of v, put at i; `size` is that of x along `axis`
    """

    k: int
    axis: int
    largest: bool
    size: int

    def forward(self, xp, x):
        i = cut(sorting(xp, x, self.axis, self.largest, True), self.axis, 0, self.k)
        return xp.take_along_axis(x, i, axis=self.axis), i

    def dx(self, g, z):
        g, i, axis = g[0], z[1], self.axis
        return g.new_zeros((*g.shape[:axis], self.size, *g.shape[axis + 1 :])).scatter_add(axis, i, g)


class Rank(Op):
    """z = what stands at place p of x in rising order over `axis`, for each p; NaN if there is one

    Between two places, with a and b: (1 - w) a + w b, w = the fraction of p. `shape` is that of z.

    ∂L/∂x = (1 - w) g where a stands, w g where b stands; g where the NaN stands
    """

    places: tuple[float, ...]
    axis: tuple[int, ...]
    shape: tuple[int, ...]

    def forward(self, xp, x):
        y = xp.sort(lined(xp, x, self.axis), axis=-1, stable=False)
        return xp.reshape(between(xp, y, self.places), self.shape)

    def dx(self, g, x, z):
        y = merged(x, self.axis)
        g, lost = (t.reshape((len(self.places), *y.shape[:-1])).moveaxis(0, -1) for t in (g, isnan(z)))
        total = g.new_zeros(y.shape)
        for i, w in standing(y, self.places, lost):
            total = total.scatter_add(y.ndim - 1, i, g * w)
        return unmerged(total, self.axis, x.shape)


def corners(places: Sequence[float]) -> list[tuple[list[int], list[float]]]:
    """[(place of a, 1 - w), (place of b, w)]; the first alone where all places are whole numbers."""
    low = [floor(p) for p in places]
    w = [p - i for p, i in zip(places, low, strict=True)]
    below = low, [1 - t for t in w]
    return [below, ([ceil(p) for p in places], w)] if any(w) else [below]


def between(xp: Any, y: Any, places: Sequence[float]) -> Any:
    """What stands at `places` along the last axis of the sorted array y; the places come first in the shape."""
    z, *above = (xp.take(y, xp.asarray(i, dtype=xp.int64), axis=-1) for i, _ in corners(places))
    for b in above:
        w = xp.asarray([p % 1 or 0.5 for p in places], dtype=y.dtype)  # a = b at a whole place; 0 · ∞ is avoided
        z = xp.where(z == b, z, z * (1 - w) + b * w)
    axis = len(y.shape) - 1
    if xp.backend.dtype_of(y).kind == "float":
        last = cut(y, axis, y.shape[axis] - 1, y.shape[axis])
        z = xp.where(xp.isnan(last), last, z)
    return xp.permute_dims(z, (axis, *range(axis)))


def standing(y: Any, places: Sequence[float], lost: Any) -> Iterator[tuple[Any, Any]]:
    """(positions, weights) of what stands at `places` along the last axis of the tensor y; of a NaN where `lost`."""
    order, axis, device = argsort(y, stable=False), y.ndim - 1, y.device
    end = order.take(tensor([y.shape[axis] - 1], device=device), axis=axis)
    for i, w in corners(places):
        here = order.take(tensor(i, device=device), axis=axis)
        yield where(lost, end, here), tensor(w, y.dtype, device)


def sorting(xp: Any, x: Any, axis: int, descending: bool, stable: bool) -> Any:
    """The positions along `axis` that sort the array x, equal x in the order in which they stand if `stable`."""
    if not descending:
        return xp.argsort(x, axis=axis, stable=stable)
    back = xp.argsort(turned(x, axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - turned(back, axis)


def sort(x: Tensor, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """x in rising order along `axis` (falling where `descending`); NaN counts as the largest. Positions: `argsort`.

    stable    equal x count as sorted in the order in which they stand (only gradients tell)
    """
    i = axis_for("sort", x, axis)
    if x.dtype.kind == "bool":
        return astype(sort(astype(x, uint8), i, descending), bool_)
    return unary(Sort(i, descending, stable), x)  # type: ignore[no-any-return]


def argsort(x: Tensor, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Positions along `axis` that sort x; equal ones stay in the order in which they stand, unless not `stable`."""
    i = axis_for("argsort", x, axis)
    return unary(ArgSort(i, descending, stable), ordered(x))  # type: ignore[no-any-return]


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
    middle = (count(x.shape, axes) - 1) // 2
    return unary(Rank((middle,), axes, _shape(x, axes, keepdims)), ordered(x))  # type: ignore[no-any-return]


def quantile(
    x: Tensor,
    q: float | Sequence[float] | Tensor,
    axis: Axis = None,
    keepdims: bool = False,
    interpolation: str = "linear",
) -> Tensor:
    """What a share `q` of all x over `axis` (all axes by default) lies below; several q give a first axis.

    interpolation    between two numbers: "linear", "lower", "higher", "nearest" or "midpoint"
    """
    axes = filled_axes("quantile", x, axis)
    shares, spots = _spots(q, count(x.shape, axes) - 1)
    many = isinstance(shares, (list, tuple))
    pairs = zip(shares, spots, strict=True) if many else [(shares, spots)]
    places = tuple([_place(s, spot, interpolation) for s, spot in pairs])
    shape = (*([len(places)] if many else []), *_shape(x, axes, keepdims))
    y = x if x.dtype.kind == "float" else astype(x, float32)
    return unary(Rank(places, axes, shape), y)  # type: ignore[no-any-return]


def _shape(x: Any, axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    """What is left of the shape of x."""
    return ones(x.shape, axes) if keepdims else without(x.shape, axes)


def _spots(q: Any, last: int) -> tuple[Any, Any]:
    """Shares as plain numbers, and each times `last`: rounded in the dtype of `q`, where a tenth of 10 is 1."""
    if hasattr(q, "tolist"):
        t: Any = q if isinstance(q, Value) else tensor(q)
        t = t if t.dtype == "float64" else astype(t, float32)
        return t.tolist(), (t * float(last)).tolist()
    return q, [s * last for s in q] if isinstance(q, (list, tuple)) else q * last


def _place(q: float, spot: float, interpolation: str) -> float:
    """The place that the share `q` has among numbers in order, `spot` counted from the first."""
    if not 0 <= q <= 1:
        raise ValueError(f"quantile: q={q} is no share of the numbers; use 0 to 1")
    if interpolation not in ROUNDING:
        raise ValueError(f"quantile: interpolation {interpolation!r} is none of {', '.join(ROUNDING)}")
    return float(ROUNDING[interpolation](spot))


def ordered(x: Any) -> Any:
    """`x` in a dtype with an order."""
    return astype(x, uint8) if x.dtype.kind == "bool" else x
