"""Running along an axis: sums, products and differences of neighbours."""

from __future__ import annotations

from ..apply import binary, unary
from ..errors import ShapeError
from ..op import Op
from .along import axis_for, cast_for, cut, shifted, tensor_for, turned, widened
from .convert import astype
from .numbers import STEPS
from .select import mend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..tensor import Tensor
    from .along import What

__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "diff"]


class CumSum(Op):
    """z_k = Σ_{j≤k} x_j along `axis`; over j ≥ k where `reverse`

    ∂L/∂x = the sum of g from the other end
    """

    axis: int
    reverse: bool

    def forward(self, xp, x):
        return run(xp.cumulative_sum, widened(xp, x), self.axis, self.reverse)

    def dx(self, g):
        return unary(CumSum(self.axis, not self.reverse), g)


class CumProd(Op):
    """z_k = Π_{j≤k} x_j along `axis`; over j ≥ k where `reverse`

    h_k = g_k + x_{k+1} h_{k+1}        ∂L/∂x_k = h_k · z_{k-1}, so zeros do no harm
    """

    axis: int
    reverse: bool

    def forward(self, xp, x):
        return run(xp.cumulative_prod, widened(xp, x), self.axis, self.reverse)

    def dx(self, g, x, z):
        step = -1 if self.reverse else 1
        h = recurrence(lag(x, self.axis, -step), g, self.axis, not self.reverse)
        return mend(h, h * lag(z, self.axis, step, fill=1))


class Others(Op):
    """z_i = Π_{j≠i} x_j along the last axis: Π x / x_i where that is safe, else the product of all before and after

    ∂L/∂x = what comes back through the product of all before, and through that of all after, so zeros do no harm
    """

    def forward(self, xp, x):
        axis, p = len(x.shape) - 1, xp.prod(x, axis=-1, keepdims=True)
        before, after = (shifted(xp, run(xp.cumulative_prod, x, axis, s < 0), axis, s, 1) for s in (1, -1))
        safe = xp.isfinite(p) & (xp.abs(p) >= normal(xp, x)) & xp.isfinite(x) & (x != 0)
        return xp.where(safe, p / xp.where(safe, x, xp.ones_like(x)), before * after)

    def dx(self, g, x):
        axis = len(x.shape) - 1
        ops = CumProd(axis, False), CumProd(axis, True)
        z, y = (unary(op, x) for op in ops)
        gz, gy = g * lag(y, axis, -1, fill=1), g * lag(z, axis, 1, fill=1)
        return ops[0].dx(lag(mend(g, gz), axis, -1), x, z) + ops[1].dx(lag(mend(g, gy), axis, 1), x, y)


class Recurrence(Op):
    """z_k = y_k + x_k · z_{k-1} along `axis`, nothing before the first (0 · ∞ is 0); from the end where `reverse`

    h_k = g_k + x_{k+1} h_{k+1}        ∂L/∂x_k = h_k · z_{k-1}        ∂L/∂y = h
    """

    axis: int
    reverse: bool

    def forward(self, xp, x, y):
        if not self.reverse:
            return followed(xp, x, y, self.axis)
        return turned(followed(xp, turned(x, self.axis), turned(y, self.axis), self.axis), self.axis)

    def dx(self, g, x, z):
        h = self.dy(g, x)
        return mend(h, h * lag(z, self.axis, -1 if self.reverse else 1))

    def dy(self, g, x):
        return recurrence(lag(x, self.axis, 1 if self.reverse else -1), g, self.axis, not self.reverse)


class Lag(Op):
    """z_k = x_{k-step} along `axis`, `fill` where there is none

    ∂L/∂x = g moved back
    """

    axis: int
    step: int
    fill: int
    storage = True

    def forward(self, xp, x):
        return shifted(xp, x, self.axis, self.step, self.fill)

    def dx(self, g):
        return lag(g, self.axis, -self.step)


class Diff(Op):
    """z_k = x_{k+1} - x_k along `axis`

    ∂L/∂x_k = g_{k-1} - g_k
    """

    axis: int
    numbers = True

    def forward(self, xp, x):
        n = x.shape[self.axis]
        return cut(x, self.axis, 1, n) - cut(x, self.axis, 0, n - 1)

    def dx(self, g):
        none = g.new_zeros((*g.shape[: self.axis], 1, *g.shape[self.axis + 1 :]))
        return joined([none, g], self.axis) - joined([g, none], self.axis)


_others = Others()


def run(scan: Callable[..., Any], x: Any, axis: int, reverse: bool) -> Any:
    """`scan` of the array x along `axis`, from the end where `reverse`."""
    return turned(scan(turned(x, axis), axis=axis), axis) if reverse else scan(x, axis=axis)


def followed(xp: Any, a: Any, z: Any, axis: int) -> Any:
    """The recurrence of the arrays x = a and y = z in log₂ n passes."""
    d = 1
    while d < a.shape[axis]:  # z_k holds what the last d terms give, a_k is the product of their factors
        before = shifted(xp, z, axis, d)
        z = z + xp.where(before == 0, before, a * before)
        a, d = a * shifted(xp, a, axis, d), 2 * d
    return z


def normal(xp: Any, x: Any) -> float:
    """The smallest number that has all the digits of the dtype of x."""
    unit, tiny, _ = STEPS[xp.backend.dtype_of(x).name]
    return tiny / unit / 2


def others(x: Any) -> Any:
    """z_i = Π_{j≠i} x_j along the last axis of a tensor"""
    return unary(_others, x)


def recurrence(x: Any, y: Any, axis: int, reverse: bool) -> Any:
    """z_k = y_k + x_k · z_{k-1} along `axis`, for x and y of one shape; from the end where `reverse`"""
    if x.shape != y.shape:
        raise ShapeError(f"recurrence: shapes {x.shape} and {y.shape} differ; expand one of them first")
    return binary(Recurrence(axis, reverse), x, y)


def lag(x: Any, axis: int, step: int, fill: int = 0) -> Any:
    """z_k = x_{k-step} along `axis`, `fill` where there is none"""
    return unary(Lag(axis, step, fill), x)


def joined(xs: list[Any], axis: int) -> Any:
    """The tensors `xs` one after another."""
    from .join import concat

    return concat(xs, axis=axis)


def cumsum(x: Tensor, axis: int, dtype: What = None) -> Tensor:
    """z_k = Σ_{j≤k} x_j along `axis`. Integers and bool give int64, unsigned integers uint64."""
    y = cast_for("cumsum", x, dtype)
    z: Tensor = unary(CumSum(axis_for("cumsum", y, axis), False), y)
    return z if dtype is None else astype(z, dtype)


def cumprod(x: Tensor, axis: int, dtype: What = None) -> Tensor:
    """z_k = Π_{j≤k} x_j along `axis`. Integers and bool give int64, unsigned integers uint64."""
    y = cast_for("cumprod", x, dtype)
    z: Tensor = unary(CumProd(axis_for("cumprod", y, axis), False), y)
    return z if dtype is None else astype(z, dtype)


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: What = None, include_initial: bool = False
) -> Tensor:
    """`cumsum`; a 1-d `x` needs no axis. `include_initial` begins with the sum of nothing, 0."""
    i = _only_axis("cumulative_sum", x, axis)
    y = cast_for("cumulative_sum", x, dtype)
    z: Tensor = unary(CumSum(i, False), _led(y, i, 0) if include_initial else y)
    return z if dtype is None else astype(z, dtype)


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: What = None, include_initial: bool = False
) -> Tensor:
    """`cumprod`; a 1-d `x` needs no axis. `include_initial` begins with the product of nothing, 1."""
    i = _only_axis("cumulative_prod", x, axis)
    y = cast_for("cumulative_prod", x, dtype)
    z: Tensor = unary(CumProd(i, False), _led(y, i, 1) if include_initial else y)
    return z if dtype is None else astype(z, dtype)


def diff(x: Tensor, axis: int = -1, n: int = 1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
    """x_{k+1} - x_k along `axis`, `n` times over; `prepend` and `append` are put before and behind x first."""
    i = axis_for("diff", x, axis)
    if n < 0:
        raise ShapeError(f"diff: n={n} is negative; use 0 or more")
    parts = [t for t in (prepend, x, append) if t is not None]
    z = x if len(parts) == 1 else joined(parts, i)
    for _ in range(min(n, z.shape[i])):  # of nothing, there is no difference
        z = unary(Diff(i), z)
    return z


def _only_axis(op: str, x: Any, axis: int | None) -> int:
    """`axis`, which a 1-d tensor may leave out."""
    if axis is None and len(tensor_for(op, x).data.shape) != 1:
        raise ShapeError(f"{op}: shape {x.shape} has {x.ndim} dimensions; say which: axis=-1")
    return axis_for(op, x, -1 if axis is None else axis)


def _led(x: Any, axis: int, first: int) -> Any:
    """`x` behind one entry `first` along `axis`."""
    slab = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    return joined([x.new_ones(slab) if first else x.new_zeros(slab), x], axis)
