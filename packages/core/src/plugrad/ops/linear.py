"""Products of matrices and vectors."""

from __future__ import annotations

from ..apply import binary
from ..call import wrap
from ..errors import DTypeError, ShapeError
from ..node import Value
from ..op import Op, _clash
from .arithmetic import Mul
from .axes import one_axis
from .numbers import number, prod
from .select import mend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..tensor import Tensor

__all__ = ["dot", "matmul", "outer", "rmatmul", "vecdot"]


class MatMul(Op):
    """Z = X Y          X: (..., n, k)   Y: (..., k, m)   Z: (..., n, m)

    ∂L/∂X = G Yᵀ        ∂L/∂Y = Xᵀ G
    """

    def forward(self, xp, x, y):
        return xp.matmul(x, y)

    def dx(self, g, y):
        return g @ y.mT

    def dy(self, g, x):
        return x.mT @ g

    def misfit(self, *shapes):
        (*batch, _, k), (*others, j, _) = shapes
        if k != j:
            return f"axis -1 of the first has size {k}, axis -2 of the second {j}; they are summed over, so must agree"
        return _clash(((*batch, 1, 1), (*others, 1, 1)))


class MatMulShared(MatMul):
    """Z = X Y          X: (..., n, k)   Y: (k, m), one for the whole batch   Z: (..., n, m)

    ∂L/∂X = G Yᵀ        ∂L/∂Y = Xᵀ G, with the rows of the whole batch in one matrix
    """

    def forward(self, xp, x, y):
        return xp.reshape(xp.matmul(xp.reshape(x, _rows(x)), y), (*x.shape[:-1], y.shape[-1]))

    def dy(self, g, x):
        return x.reshape(_rows(x)).mT @ g.reshape(_rows(g))


class MatVec(Op):
    """z = X y          X: (..., n, k)   y: (..., k)   z: (..., n)

    ∂L/∂X = g yᵀ        ∂L/∂y = Xᵀ g
    """

    def forward(self, xp, x, y):
        z = xp.matmul(x, xp.reshape(y, (*y.shape, 1)))
        return xp.reshape(z, z.shape[:-1])

    def dx(self, g, y):
        return g.expand_dims(-1) * y.expand_dims(-2)

    def dy(self, g, x):
        return binary(_vecmat, g, x)

    def misfit(self, *shapes):
        (*batch, _, k), (*others, j) = shapes
        if k != j:
            return f"axis -1 of the matrix has size {k}, the vector {j}; they are summed over, so must agree"
        return _clash(((*batch, 1), (*others, 1)))


class VecMat(Op):
    """z = x Y          x: (..., k)   Y: (..., k, m)   z: (..., m)

    ∂L/∂x = Y g         ∂L/∂Y = xᵀ g
    """

    def forward(self, xp, x, y):
        z = xp.matmul(xp.reshape(x, (*x.shape[:-1], 1, x.shape[-1])), y)
        return xp.reshape(z, (*z.shape[:-2], z.shape[-1]))

    def dx(self, g, y):
        return binary(_matvec, y, g)

    def dy(self, g, x):
        return x.expand_dims(-1) * g.expand_dims(-2)

    def misfit(self, *shapes):
        (*batch, k), (*others, j, _) = shapes
        if k != j:
            return f"the vector has size {k}, axis -2 of the matrix {j}; they are summed over, so must agree"
        return _clash(((*batch, 1), (*others, 1)))


class VecDot(Op):
    """z = Σₖ xₖ yₖ     x: (..., k)   y: (..., k)   z: (...)

    ∂L/∂x = g y         ∂L/∂y = g x
    """

    def forward(self, xp, x, y):
        z = xp.matmul(xp.reshape(x, (*x.shape[:-1], 1, x.shape[-1])), xp.reshape(y, (*y.shape, 1)))
        return xp.reshape(z, z.shape[:-2])

    def dx(self, g, y):
        return g.expand_dims(-1) * y

    def dy(self, g, x):
        return g.expand_dims(-1) * x

    def misfit(self, *shapes):
        (*batch, k), (*others, j) = shapes
        if k != j:
            return f"axis -1 has sizes {k} and {j}; it is summed over, so they must agree"
        return _clash(((*batch, 1), (*others, 1)))


class Spared(Op):
    """Z = X Y, but 0 · ∞ is 0 where the 0 is in X: what takes no part does not see what it is multiplied by

    ∂L/∂X = G Yᵀ        ∂L/∂Y = Xᵀ G        with the same care for zeros
    """

    def forward(self, xp, x, y):
        z = xp.matmul(x, y)
        if not bool(xp.any(xp.isnan(z))):
            return z
        bad = ~xp.isfinite(y)
        met = xp.matmul(xp.astype(x != 0, x.dtype), xp.astype(bad, y.dtype))  # how often ∞ or NaN met something else
        rest = xp.matmul(x, xp.where(bad, number(xp, 0, y), y))
        return xp.where(xp.isnan(z) & (met == 0), rest, z)

    def dx(self, g, y):
        return spared(g, y.mT)

    def dy(self, g, x):
        return spared(x.mT, g)


class Cross(Op):
    """z = x × y        zᵢ = xⱼ yₖ - xₖ yⱼ, (i, j, k) = (0, 1, 2), (1, 2, 0), (2, 0, 1) along `axis`

    ∂L/∂x = y × g       ∂L/∂y = g × x
    """

    axis: int

    def forward(self, xp, x, y):
        j, k = (xp.asarray(i, dtype=xp.int64) for i in ((1, 2, 0), (2, 0, 1)))
        at = lambda a, i: xp.take(a, i, axis=self.axis)  # noqa: E731
        return at(x, j) * at(y, k) - at(x, k) * at(y, j)

    def dx(self, g, y):
        return binary(self, y, g)

    def dy(self, g, x):
        return binary(self, g, x)

    def misfit(self, *shapes):
        return _clash(shapes)


_matmul, _shared, _matvec, _vecmat, _vecdot, _mul = MatMul(), MatMulShared(), MatVec(), VecMat(), VecDot(), Mul()
_spared = Spared()


def spared(x: Any, y: Any) -> Any:
    """X Y, but 0 · ∞ is 0 where the 0 is in X"""
    return binary(_spared, x, y)


def _row(g: Any, y: Any) -> Any:
    """Σᵢ gᵢ Yᵢⱼ with that care."""
    z = spared(g.expand_dims(-2), y)
    return z.reshape((*z.shape[:-2], z.shape[-1]))


def _outer(g: Any, x: Any, axis: int) -> Any:
    """Products of g and x, each with a new axis, g at `axis` and x at the other of the last two, with that care."""
    g = g.expand_dims(axis)
    return mend(g, g * x.expand_dims(-3 - axis))


#: Gradient → the same, where g comes through an op that selects: a row that was not taken, and holds ∞ or NaN, must
#: not reach the sums over rows. The traversal looks here (see grad.gradients).
SPARED: dict[Any, Callable[..., Any]] = {
    MatMul.dx: lambda op, g, y: spared(g, y.mT),
    MatMul.dy: lambda op, g, x: spared(g.mT, x).mT,
    MatMulShared.dy: lambda op, g, x: spared(g.reshape(_rows(g)).mT, x.reshape(_rows(x))).mT,
    MatVec.dx: lambda op, g, y: _outer(g, y, -1),
    MatVec.dy: lambda op, g, x: _row(g, x),
    VecMat.dx: lambda op, g, y: _row(g, y.mT),
    VecMat.dy: lambda op, g, x: _outer(g, x, -2),
    VecDot.dx: lambda op, g, y: mend(g.expand_dims(-1), op.dx(g, y)),
    VecDot.dy: lambda op, g, x: mend(g.expand_dims(-1), op.dy(g, x)),
}


def _rows(x: Any) -> tuple[int, int]:
    """The shape of all rows of `x` in one matrix."""
    return prod(x.shape[:-1]), x.shape[-1]


def dims(op: str, x: Any, y: Any, least: int = 1) -> tuple[int, int]:
    """How many axes the operands of a product have; plain numbers, bools and fewer axes than `least` are refused."""
    for a in (x, y):
        if not isinstance(a, Value):
            raise DTypeError(f"{op}: expected tensors, got {type(a).__name__}; make one: pg.tensor(...)")
        if len(a.data.shape) < least:
            raise ShapeError(f"{op}: operands need at least one axis, and one has shape (); to scale, write x * y")
    if x.dtype.kind == y.dtype.kind == "bool":
        raise DTypeError(f"{op}: bools have no product; cast one of them: x.astype('int64')")
    return x.ndim, y.ndim


def own(x: Tensor) -> Tensor:
    """The same as a value of its own: movement was only the way to it, so that its items may be assigned."""
    return wrap(x.data, x.device, x.node)  # type: ignore[no-any-return]


def matmul(x: Tensor, y: Tensor) -> Tensor:
    """X Y; a 1-d operand is a row on the left, a column on the right, and its axis is gone from the result.

    (..., n, k) (..., k, m) → (..., n, m), leading axes broadcast; (..., n, k) (k,) → (..., n);
    (k,) (..., k, m) → (..., m); (k,) (k,) → (). With k = 0 the result is zeros.
    ShapeError where the two k differ, and for shape ().
    """
    return binary(_form(x, y), x, y)  # type: ignore[no-any-return]


def rmatmul(x: Tensor, y: Any) -> Tensor:
    """Y X: `array @ tensor`"""
    return binary(_form(y, x), y, x)  # type: ignore[no-any-return]


def _form(x: Any, y: Any) -> Op:
    """The op for these shapes."""
    try:
        n, m = len(x.data.shape), len(y.data.shape)
        plain = n > 1 and m > 1 and x.data.dtype in x.device.plain
    except AttributeError:
        n, m, plain = 0, 0, False
    if not plain:
        n, m = dims("matmul", x, y)
    if n > 1 and m > 1:
        return _shared if n > 2 and m == 2 else _matmul
    return _vecdot if n == m else _matvec if m == 1 else _vecmat


def common_axis(op: str, axis: int, x: Tensor, y: Tensor) -> int:
    """`axis` counted from the end: the same axis of both, whatever broadcasts in front."""
    n, m = dims(op, x, y)
    if axis >= 0 and n != m:
        raise ShapeError(f"{op}: axis {axis} is no common axis of shapes {x.shape} and {y.shape}; count from the end")
    return one_axis(op, axis, min(n, m)) - min(n, m)


def vecdot(x: Tensor, y: Tensor, /, *, axis: int = -1) -> Tensor:
    """Σₖ xₖ yₖ along `axis`; the other axes broadcast.

    ShapeError where the two sizes along `axis` differ. Counted from the front, `axis` needs equally many axes in both.
    """
    i = common_axis("vecdot", axis, x, y)
    if i == -1:
        return binary(_vecdot, x, y)  # type: ignore[no-any-return]
    return binary(_vecdot, x.moveaxis(i, -1), y.moveaxis(i, -1))  # type: ignore[no-any-return]


def dot(x: Tensor, y: Tensor) -> Tensor:
    """Σₖ xₖ yₖ of two vectors, () from (k,) and (k,); of a matrix and a vector, or two matrices, their product."""
    n, m = dims("dot", x, y)
    if n > 2 or m > 2:
        raise ShapeError(f"dot: shapes {x.shape} and {y.shape} have more than 2 axes; use matmul, tensordot or einsum")
    return binary(_form(x, y), x, y)  # type: ignore[no-any-return]


def outer(x: Tensor, y: Tensor, /) -> Tensor:
    """Zᵢⱼ = xᵢ yⱼ, (n, m) from vectors of shapes (n,) and (m,)."""
    if dims("outer", x, y) != (1, 1):
        raise ShapeError(f"outer: shapes {x.shape} and {y.shape} are not vectors; flatten them first: x.reshape(-1)")
    return binary(_mul, x.expand_dims(-1), y)  # type: ignore[no-any-return]
