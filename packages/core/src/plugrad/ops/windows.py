"""Windows on a tensor: strided, sliding, triangular."""

from __future__ import annotations

from ..apply import unary
from ..errors import ShapeError
from ..op import Op
from .axes import one_axis
from .numbers import as_int, prod
from .slices import native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tensor import Tensor

__all__ = ["as_strided", "tril", "triu", "unfold"]


class AsStrided(Op):
    """z[i, j, ...] = x[offset + i · stride[0] + j · stride[1] + ...], x flattened

    ∂L/∂x = g added up at these places
    """

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    source: tuple[int, ...]
    movement = storage = selects = True

    def forward(self, xp, x):
        at = xp.reshape(_strided(xp, self.size, self.stride, self.offset), (-1,))
        return xp.reshape(xp.take(xp.reshape(x, (-1,)), at, axis=0), self.size)

    def dx(self, g):
        return unary(AddStrided(self.size, self.stride, self.offset, self.source), g)


class AddStrided(Op):
    """z = zeros, x[i, j, ...] added at z[offset + i · stride[0] + j · stride[1] + ...], z flattened

    ∂L/∂x = g at these places
    """

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    source: tuple[int, ...]

    def forward(self, xp, x):
        at = xp.reshape(_strided(xp, self.size, self.stride, self.offset), (-1,))
        z = xp.index_add(xp.zeros((prod(self.source),), dtype=x.dtype), 0, at, xp.reshape(x, (-1,)))
        return xp.reshape(z, self.source)

    def dx(self, g):
        return unary(AsStrided(self.size, self.stride, self.offset, self.source), g)


class Unfold(Op):
    """z[..., i, ..., j] = x[..., i · step + j, ...]: windows of one size along an axis, as a new last axis

    ∂L/∂x = g, each window added where it came from
    """

    axis: int
    size: int
    step: int
    source: tuple[int, ...]
    movement = storage = selects = True

    def forward(self, xp, x):
        at, a = _windows(self), self.axis
        i = xp.reshape(_strided(xp, at, (self.step, 1), 0), (-1,))
        z = xp.reshape(xp.take(x, i, axis=a), (*x.shape[:a], *at, *x.shape[a + 1 :]))
        last = len(x.shape)
        return xp.permute_dims(z, (*range(a + 1), *range(a + 2, last + 1), a + 1))

    def dx(self, g):
        return unary(Fold(self.axis, self.size, self.step, self.source), g)


class Fold(Op):
    """z = zeros, x[..., i, ..., j] added at z[..., i · step + j, ...]

    ∂L/∂x = the windows of g
    """

    axis: int
    size: int
    step: int
    source: tuple[int, ...]

    def forward(self, xp, x):
        z = xp.zeros(self.source, dtype=x.dtype)
        n = _windows(self)[0]
        for j in range(self.size):
            key = _every(self, j, n)
            z[key] = z[key] + x[(*[slice(0, m, 1) for m in x.shape[:-1]], j)]
        return z

    def dx(self, g):
        return unary(Unfold(self.axis, self.size, self.step, self.source), g)


def _every(op, j, n):
    """The key of number j of each of the n windows."""
    ends = (j, j + (n - 1) * op.step + 1, op.step) if n else (0, 0, 1)
    return native(tuple([ends if k == op.axis else (0, m, 1) for k, m in enumerate(op.source)]))


class Band(Op):
    """z[..., i, j] = x[..., i, j] where j - i lies from `low` to `high`, else 0

    ∂L/∂x = g there, else 0
    """

    low: int
    high: int
    storage = selects = True

    def forward(self, xp, x):
        n, m = x.shape[-2:]
        d = xp.arange(m, dtype=xp.int64) - xp.reshape(xp.arange(n, dtype=xp.int64), (n, 1))
        return xp.where((d >= self.low) & (d <= self.high), x, xp.zeros(x.shape, dtype=x.dtype))

    def dx(self, g):
        return unary(self, g)


FAR = 2**62  # further from the diagonal than any tensor reaches


def _strided(xp, size, stride, offset):
    """The places offset + Σ iₖ · stride[k]."""
    at = xp.full((1,) * len(size), offset, dtype=xp.int64)
    for k, (n, s) in enumerate(zip(size, stride, strict=True)):
        at = at + xp.reshape(xp.arange(n, dtype=xp.int64), (-1, *[1] * (len(size) - k - 1))) * s
    return at


def _windows(op: Unfold | Fold) -> tuple[int, int]:
    """How many windows, and their size."""
    return (op.source[op.axis] - op.size) // op.step + 1, op.size


def as_strided(x: Tensor, size: Sequence[int], stride: Sequence[int], offset: int = 0) -> Tensor:
    """z[i, j, ...] = x[offset + i · stride[0] + j · stride[1] + ...], with `x` flattened; places may repeat."""
    sizes, steps = tuple(map(as_int, size)), tuple(map(as_int, stride))
    if len(sizes) != len(steps):
        raise ShapeError(
            f"as_strided: size {sizes} has {len(sizes)} axes, stride {steps} has {len(steps)}; give as many"
        )
    reach = [(n - 1) * s for n, s in zip(sizes, steps, strict=True)]
    low, high = offset + sum(r for r in reach if r < 0), offset + sum(r for r in reach if r > 0)
    if min(sizes, default=1) < 0 or (0 not in sizes and not 0 <= low <= high < x.size):
        raise ShapeError(
            f"as_strided: size {sizes}, stride {steps} and offset {offset} reach places {low} to {high} "
            f"of the {x.size} elements of shape {x.shape}"
        )
    return unary(AsStrided(sizes, steps, offset, x.shape), x)  # type: ignore[no-any-return]


def unfold(x: Tensor, axis: int, size: int, step: int = 1) -> Tensor:
    """Windows of `size` along an axis, one every `step`; the numbers inside a window form a new last axis.

    (..., n, ...) becomes (..., (n - size) // step + 1, ..., size).
    """
    i = one_axis("unfold", axis, x.ndim)
    if not 0 <= size <= x.shape[i] or step < 1:
        raise ShapeError(
            f"unfold: windows of {size} every {step} do not fit axis {i} of shape {x.shape}; "
            f"size is 0 to {x.shape[i]}, step at least 1"
        )
    return unary(Unfold(i, size, step, x.shape), x)  # type: ignore[no-any-return]


def tril(x: Tensor, k: int = 0) -> Tensor:
    """The lower triangle of the last two axes, up to the k-th diagonal, and 0 above."""
    return unary(Band(-FAR, _diagonal("tril", x, k)), x)  # type: ignore[no-any-return]


def triu(x: Tensor, k: int = 0) -> Tensor:
    """The upper triangle of the last two axes, from the k-th diagonal, and 0 below."""
    return unary(Band(_diagonal("triu", x, k), FAR), x)  # type: ignore[no-any-return]


def _diagonal(op: str, x: Tensor, k: int) -> int:
    if x.ndim < 2:
        raise ShapeError(f"{op}: shape {x.shape} has no last two axes; x.reshape(1, -1) gives a row")
    return int(k)
