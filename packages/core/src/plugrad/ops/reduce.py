"""Many numbers in, fewer out: over one axis, several, or all."""

from __future__ import annotations

from ..apply import unary
from ..dtypes import uint8
from ..op import Op
from .along import axes_for, axis_for, cast_for, count, filled_axes, merged, opened, ratio, unmerged, widened
from .compare import isnan
from .convert import astype
from .select import mend, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tensor import Tensor
    from .along import What
    from .axes import Axis

__all__ = ["all", "amax", "amin", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "min", "prod", "sum"]


class Sum(Op):
    """z = Σ x over `axis`; `shape` is that of x

    ∂L/∂x = g, repeated along `axis`
    """

    axis: tuple[int, ...]
    keepdims: bool
    shape: tuple[int, ...]

    def forward(self, xp, x):
        return xp.sum(widened(xp, x), axis=self.axis, keepdims=self.keepdims)

    def dx(self, g):
        return opened(self, g, self.shape).expand(self.shape)


class Mean(Op):
    """z = Σ x / n over `axis`, n numbers; `shape` is that of x

    ∂L/∂x = g / n, repeated along `axis`
    """

    axis: tuple[int, ...]
    keepdims: bool
    shape: tuple[int, ...]
    floats = True

    def forward(self, xp, x):
        return ratio(xp, xp.sum(x, axis=self.axis, keepdims=self.keepdims), count(x.shape, self.axis))

    def dx(self, g):
        return (opened(self, g, self.shape) / (count(self.shape, self.axis) or 1)).expand(self.shape)


class Prod(Op):
    """z = Π x over `axis`

    ∂L/∂xᵢ = g · Π_{j≠i} xⱼ (see scan.Others), so zeros do no harm
    """

    axis: tuple[int, ...]
    keepdims: bool

    def forward(self, xp, x):
        return xp.prod(widened(xp, x), axis=self.axis, keepdims=self.keepdims)

    def dx(self, g, x):
        from .scan import others

        g = opened(self, g, x.shape)
        return mend(g, g * unmerged(others(merged(x, self.axis)), self.axis, x.shape))


class Max(Op):
    """z = the largest x over `axis`; NaN if there is one

    ∂L/∂x = g, shared equally among the x that equal z, 0 elsewhere
    """

    axis: tuple[int, ...]
    keepdims: bool

    def forward(self, xp, x):
        return xp.max(x, axis=self.axis, keepdims=self.keepdims)

    def dx(self, g, x, z):
        return shared(self, g, x, z)


class Min(Op):
    """z = the smallest x over `axis`; NaN if there is one

    ∂L/∂x = g, shared equally among the x that equal z, 0 elsewhere
    """

    axis: tuple[int, ...]
    keepdims: bool

    def forward(self, xp, x):
        return xp.min(x, axis=self.axis, keepdims=self.keepdims)

    def dx(self, g, x, z):
        return shared(self, g, x, z)


class Survey(Op):
    """z = the function `name` of the array namespace over `axis`; no gradient"""

    name: str  # type: ignore[misc]  # so that errors and kernel modes speak of "argmax"
    axis: tuple[int, ...] | int | None
    keepdims: bool

    def forward(self, xp, x):
        return getattr(xp, self.name)(x, axis=self.axis, keepdims=self.keepdims)


def shared(op: Any, g: Any, x: Any, z: Any) -> Any:
    """`g` in equal shares to the x that equal z, their maximum or minimum."""
    hit = (x == opened(op, z, x.shape)) | isnan(x)
    return where(hit, opened(op, g, x.shape) / sum(hit, op.axis, keepdims=True), 0)


def sum(x: Tensor, axis: Axis = None, keepdims: bool = False, dtype: What = None) -> Tensor:
    """Σ x over `axis` (all axes by default). Integers and bool give int64, unsigned integers uint64.

    dtype    what to cast to first, and to return
    """
    y = cast_for("sum", x, dtype)
    z: Tensor = unary(Sum(axes_for("sum", y, axis), keepdims, y.shape), y)
    return z if dtype is None else astype(z, dtype)


def mean(x: Tensor, axis: Axis = None, keepdims: bool = False, dtype: What = None) -> Tensor:
    """Σ x / n over `axis` (all axes by default). Integers give float32; nothing gives NaN."""
    y = cast_for("mean", x, dtype)
    return unary(Mean(axes_for("mean", y, axis), keepdims, y.shape), y)  # type: ignore[no-any-return]


def prod(x: Tensor, axis: Axis = None, keepdims: bool = False, dtype: What = None) -> Tensor:
    """Π x over `axis` (all axes by default). Integers and bool give int64, unsigned integers uint64."""
    y = cast_for("prod", x, dtype)
    z: Tensor = unary(Prod(axes_for("prod", y, axis), keepdims), y)
    return z if dtype is None else astype(z, dtype)


def max(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The largest x over `axis` (all axes by default); equal ones share the gradient."""
    return unary(Max(filled_axes("max", x, axis), keepdims), x)  # type: ignore[no-any-return]


def min(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The smallest x over `axis` (all axes by default); equal ones share the gradient."""
    return unary(Min(filled_axes("min", x, axis), keepdims), x)  # type: ignore[no-any-return]


amax, amin = max, min


def argmax(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Position of the first largest x along `axis`, or in x flattened; the first NaN if there is one."""
    return unary(Survey("argmax", _place("argmax", x, axis), keepdims), _ranked(x))  # type: ignore[no-any-return]


def argmin(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Position of the first smallest x along `axis`, or in x flattened; the first NaN if there is one."""
    return unary(Survey("argmin", _place("argmin", x, axis), keepdims), _ranked(x))  # type: ignore[no-any-return]


def all(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Are all x other than 0 (or True)? Over `axis`; True of nothing."""
    return unary(Survey("all", axes_for("all", x, axis), keepdims), x)  # type: ignore[no-any-return]


def any(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Is any x other than 0 (or True)? Over `axis`; False of nothing."""
    return unary(Survey("any", axes_for("any", x, axis), keepdims), x)  # type: ignore[no-any-return]


def count_nonzero(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """How many x are not 0, over `axis`."""
    return unary(Survey("count_nonzero", axes_for("count_nonzero", x, axis), keepdims), x)  # type: ignore[no-any-return]


def _place(op: str, x: Any, axis: int | None) -> int | None:
    """`axis` for a search that needs something to find."""
    filled_axes(op, x, axis)
    return axis if axis is None else axis_for(op, x, axis)


def _ranked(x: Any) -> Any:
    """`x` in a dtype with an order."""
    return astype(x, uint8) if x.dtype.kind == "bool" else x
