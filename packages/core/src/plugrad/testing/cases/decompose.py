"""Solving, inverses, determinants and factorisations.

Matrices are kept far from singular, and factors that are known up to a sign are looked at through what does not depend on
it. The gradients of singular matrices and of equal eigenvalues have tests of their own.
"""

from ... import linalg
from ...ops import decompose
from ..case import case, exactly, real

LINALG = {"needs": ("linalg",)}


def _one(x):
    return x.new_ones(x.shape).tril().triu()


def _regular(x):
    """Its diagonal outweighs the rest."""
    return x + 6 * _one(x)


def _definite(x):
    """Symmetric and positive definite."""
    y = x @ x.mT
    return y + _one(y)


def _symmetric(x):
    """Symmetric, eigenvalues apart: 10, 20, 30, ... on the diagonal outweigh the rest."""
    return x + x.mT + 10 * _one(x) * _one(x).cumsum(-2).sum(axis=-1, keepdims=True)


def _first(x):
    """The first singular value and the product of the first vectors, which has no sign to choose."""
    u, s, vt = linalg.svd(x, full_matrices=False)
    return s, u[..., :1] @ vt[..., :1, :]


def _last(x):
    w, v = linalg.eigh(_symmetric(x))
    return w, v[..., -1:] @ v[..., -1:].mT


def _unsigned(x, mode="reduced"):
    """Q and R, the diagonal of R made positive."""
    q, r = linalg.qr(x, mode=mode)
    sign = r.diagonal(0, -2, -1).sign().detach()
    return q * sign.expand_dims(-2), r * sign.expand_dims(-1)


TWO_ZEROS = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [-1.0, -2.0, -3.0]]
ONE_ZERO = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [-1.0, 0.5, 2.0]]

ROWS = [
    case(decompose.Solve, lambda x, y: linalg.solve(_regular(x), y), real(3, 3), real(3, 2), **LINALG),
    case(decompose.Solve, lambda x, y: linalg.solve(_regular(x), y), real(2, 3, 3), real(3), label="vector", **LINALG),
    case(
        decompose.Solve, lambda x, y: linalg.solve(_regular(x), y), real(2, 1, 3, 3), real(4, 3, 2), label="batch", **LINALG
    ),
    case(decompose.Inv, lambda x: linalg.inv(_regular(x)), real(3, 3), **LINALG),
    case(decompose.Inv, lambda x: linalg.inv(_regular(x)), real(2, 3, 3), label="batch", **LINALG),
    case(decompose.Pinv, linalg.pinv, real(4, 2), **LINALG),
    case(decompose.Pinv, linalg.pinv, real(2, 2, 3), label="wide, batch", **LINALG),
    case(decompose.Det, linalg.det, real(3, 3), **LINALG),
    case(decompose.Det, linalg.det, real(2, 4, 4), label="batch", **LINALG),
    case(decompose.Det, linalg.det, exactly(ONE_ZERO), label="singular", **LINALG),
    case(decompose.Det, linalg.det, exactly(TWO_ZEROS), label="rank 1", **LINALG),
    case(decompose.Cofactor, decompose.cofactor, real(3, 3), **LINALG),
    case(decompose.Cofactor, decompose.cofactor, exactly(ONE_ZERO), label="singular", order=1, **LINALG),
    case(decompose.SlogDet, lambda x: linalg.slogdet(_regular(x)), real(3, 3), **LINALG),
    case(decompose.SlogDet, lambda x: linalg.slogdet(-_regular(x)), real(2, 3, 3), label="batch", **LINALG),
    case(decompose.Cholesky, lambda x: linalg.cholesky(_definite(x)), real(3, 4), **LINALG),
    case(decompose.Cholesky, lambda x: linalg.cholesky(_definite(x), upper=True), real(2, 2, 3), label="upper", **LINALG),
    case(decompose.Qr, _unsigned, real(4, 3), **LINALG),
    case(decompose.Qr, _unsigned, real(2, 3, 3), label="square, batch", **LINALG),
    case(decompose.Qr, _unsigned, real(2, 4), label="wide", **LINALG),
    case(decompose.Qr, lambda x: _unsigned(x, "complete"), real(2, 3), label="complete", **LINALG),
    case(decompose.Eigh, _last, real(3, 3), **LINALG),
    case(decompose.Eigh, _last, real(2, 3, 3), label="batch", **LINALG),
    case(decompose.Eigh, lambda x: linalg.eigvalsh(_symmetric(x)), real(3, 3), label="values", **LINALG),
    case(decompose.Svd, _first, real(4, 3), **LINALG),
    case(decompose.Svd, _first, real(2, 2, 3), label="wide, batch", **LINALG),
    case(decompose.Svd, linalg.svdvals, real(3, 3), label="values", **LINALG),
    case(decompose.Svd, lambda x: linalg.svd(x)[1], real(4, 2), label="full", **LINALG),
]
