"""The functions of `pg.linalg`, by the array API standard. All leading axes are a batch."""

from __future__ import annotations

from collections import namedtuple
from functools import reduce

from ..apply import apply, binary, unary
from ..dtypes import dtype as as_dtype
from ..errors import ShapeError
from . import slices
from .contract import tensordot
from .decompose import Cholesky, Det, Eigh, Inv, Pinv, Qr, SlogDet, Solve, Svd, not_matrix, not_square
from .info import finfo
from .linear import Cross, common_axis, matmul, outer, own, vecdot
from .reduce import amax, amin
from .reduce import sum as total
from .shape import matrix_transpose
from .statistics import norm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..tensor import Tensor

__all__ = [
    "EighResult", "QRResult", "SVDResult", "SlogdetResult", "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh",
    "inv", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet",
    "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip

EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
QRResult = namedtuple("QRResult", "Q R")
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = namedtuple("SVDResult", "U S Vh")

_solve, _inv, _det, _slogdet, _cholesky, _eigh = Solve(), Inv(), Det(), SlogDet(), Cholesky(), Eigh()


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """X₁⁻¹ X₂; X₁ (..., n, n), X₂ (..., n, m), or (n,) for one right-hand side. Batches broadcast."""
    if x2.ndim != 1:
        return binary(_solve, x1, x2)  # type: ignore[no-any-return]
    z = binary(_solve, x1, x2.expand_dims(-1))
    return own(z.reshape(z.shape[:-1]))


def inv(x: Tensor, /) -> Tensor:
    """X⁻¹, of (..., n, n)"""
    return unary(_inv, x)  # type: ignore[no-any-return]


def pinv(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """X⁺, the pseudo-inverse (Moore and Penrose); (..., m, n) from (..., n, m).

    rtol    singular values up to `rtol` times the largest count as 0; default max(n, m) · ε of the dtype
    """
    return unary(Pinv(_tolerance(x, rtol)), x)  # type: ignore[no-any-return]


def _tolerance(x: Tensor, rtol: Any) -> float:
    if rtol is None:
        return max(x.shape[-2:]) * finfo(x.dtype if x.dtype.kind == "float" else "float32").eps
    return float(rtol)


def det(x: Tensor, /) -> Tensor:
    """det X, (...) from (..., n, n); its gradient, the cofactors, is right at singular matrices too"""
    return unary(_det, x)  # type: ignore[no-any-return]


def slogdet(x: Tensor, /) -> Any:
    """(sign, log |det X|) of (..., n, n); (0, -∞) where X is singular"""
    return SlogdetResult(*apply(_slogdet, x))


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """L lower triangular with L Lᵀ = X, for symmetric positive definite X (..., n, n); with `upper`, Lᵀ"""
    z = unary(_cholesky, x)
    return own(z.mT) if upper else z


def qr(x: Tensor, /, *, mode: str = "reduced") -> Any:
    """(Q, R): X = Q R, Q with orthonormal columns and R upper triangular.

    mode    "reduced": Q (..., n, k), R (..., k, m), k = min(n, m); "complete": Q (..., n, n), R (..., n, m)
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode={mode!r} is neither 'reduced' nor 'complete'")
    return QRResult(*apply(Qr(mode), x))


def eigh(x: Tensor, /) -> Any:
    """(w, V): X = V diag(w) Vᵀ for symmetric X (..., n, n); w ascending. The gradient gives eigenvectors no share that
    turns those of equal eigenvalues into each other."""
    return EighResult(*apply(_eigh, x))


def eigvalsh(x: Tensor, /) -> Tensor:
    """The eigenvalues of symmetric X (..., n, n), ascending"""
    return apply(_eigh, x)[0]  # type: ignore[no-any-return]


def svd(x: Tensor, /, *, full_matrices: bool = True) -> Any:
    """(U, s, Vᵀ): X = U diag(s) Vᵀ, s descending; with `full_matrices=False` only k = min(n, m) columns of U and V"""
    return SVDResult(*apply(Svd(bool(full_matrices)), x))


def svdvals(x: Tensor, /) -> Tensor:
    """The singular values of X (..., n, m), descending"""
    return apply(Svd(False), x)[1]  # type: ignore[no-any-return]


def matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """How many singular values exceed `rtol` times the largest (default max(n, m) · ε of the dtype); no gradient"""
    s = svdvals(x.detach())
    return (s > s[..., :1] * _tolerance(x, rtol)).sum(axis=-1)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """Xⁿ for any integer n: n = 0 is the identity, n < 0 takes the inverse"""
    if not_square(x.shape):
        raise ShapeError(f"matrix_power: shape {x.shape} does not fit: {not_square(x.shape)}")
    if n == 0:
        return x.new_ones(x.shape).tril().triu()
    x, n = (inv(x), -n) if n < 0 else (x, n)
    powers = [x]  # X, X², X⁴, ...
    for _ in range(n.bit_length() - 1):
        powers.append(matmul(powers[-1], powers[-1]))
    return reduce(matmul, [p for i, p in enumerate(powers) if n >> i & 1])


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """Xᵢ,ᵢ₊ₒ of each matrix of (..., n, m)"""
    return slices.diagonal(x, offset, -2, -1)


def trace(x: Tensor, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """Σᵢ Xᵢ,ᵢ₊ₒ, (...) from (..., n, m)"""
    return diagonal(x, offset=offset).sum(axis=-1, dtype=None if dtype is None else as_dtype(dtype))


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """x₁ × x₂ along `axis`, which has size 3 in both; the other axes broadcast"""
    i = common_axis("cross", axis, x1, x2)
    if x1.shape[i] != 3 or x2.shape[i] != 3:
        raise ShapeError(f"cross: axis {axis} of shapes {x1.shape} and {x2.shape} must have size 3 in both")
    return binary(Cross(i), x1, x2)  # type: ignore[no-any-return]


def vector_norm(
    x: Tensor, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False, ord: float = 2
) -> Tensor:
    """(Σ |x|ᵖ)^(1/p) over `axis` (None: all), p = `ord`; ∞ and -∞ give the largest and smallest |x|, 0 counts x ≠ 0"""
    return norm(x, ord=ord, axis=axis, keepdims=keepdims)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """The norm of each matrix of (..., n, m).

    ord     "fro": √Σ Xᵢⱼ²   "nuc": Σ sᵢ   2, -2: largest, smallest singular value
            1, -1: largest, smallest Σᵢ |Xᵢⱼ| of a column   ∞, -∞: the same of a row
    """
    if not_matrix(x.shape):
        raise ShapeError(f"matrix_norm: shape {x.shape} does not fit: {not_matrix(x.shape)}")
    if ord not in MATRIX_NORMS:
        raise ValueError(f"matrix_norm: ord={ord!r} is none of {', '.join(map(repr, MATRIX_NORMS))}")
    z = MATRIX_NORMS[ord](x)
    return own(z.reshape((*z.shape, 1, 1))) if keepdims else z


MATRIX_NORMS = {
    "fro": lambda x: norm(x, axis=(-2, -1)),
    "nuc": lambda x: total(svdvals(x), axis=-1),
    2: lambda x: amax(svdvals(x), axis=-1),
    -2: lambda x: amin(svdvals(x), axis=-1),
    1: lambda x: amax(abs(x).sum(axis=-2), axis=-1),
    -1: lambda x: amin(abs(x).sum(axis=-2), axis=-1),
    float("inf"): lambda x: amax(abs(x).sum(axis=-1), axis=-1),
    -float("inf"): lambda x: amin(abs(x).sum(axis=-1), axis=-1),
}
