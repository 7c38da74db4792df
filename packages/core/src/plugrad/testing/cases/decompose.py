"""Solving, inverses, determinants and factorisations.

Matrices are kept far from singular, and factors that are known up to a sign are looked at through what does not depend
on it. Equal eigenvalues have tests of their own.
"""

from __future__ import annotations

from typing import Any

from ... import linalg
from ...ops import decompose
from ..case import case, exactly, real

LINALG: dict[str, Any] = {"needs": ("linalg",)}


def _one(x: Any) -> Any:
    return x.new_ones(x.shape).tril().triu()


def _regular(x: Any) -> Any:
    """Its diagonal outweighs the rest."""
    return x + 6 * _one(x)


def _solve(x: Any, y: Any) -> Any:
    return linalg.solve(_regular(x), y)


def _definite(x: Any) -> Any:
    """Symmetric and positive definite."""
    y = x @ x.mT
    return y + _one(y)


def _symmetric(x: Any) -> Any:
    """Symmetric, eigenvalues apart: 10, 20, 30, ... on the diagonal outweigh the rest."""
    return x + x.mT + 10 * _one(x) * _one(x).cumsum(-2).sum(axis=-1, keepdims=True)


def _first(x: Any) -> Any:
    """The first singular value and the product of the first vectors, which has no sign to choose."""
    u, s, vt = linalg.svd(x, full_matrices=False)
    return s, u[..., :1] @ vt[..., :1, :]


def _last(x: Any) -> Any:
    w, v = linalg.eigh(_symmetric(x))
    return w, v[..., -1:] @ v[..., -1:].mT


def _unsigned(qr: Any) -> Any:
    """Q and R, the diagonal of R made positive."""
    q, r = qr
    sign = r.diagonal(0, -2, -1).sign().detach()
    return q * sign.expand_dims(-2), r * sign.expand_dims(-1)


def _reduced(x: Any) -> Any:
    return _unsigned(linalg.qr(x))


def _upper(x: Any) -> Any:
    return linalg.cholesky(_definite(x), upper=True)


TWO_ZEROS = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [-1.0, -2.0, -3.0]]
ONE_ZERO = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [-1.0, 0.5, 2.0]]

ROWS = [
    case(decompose.Solve, _solve, real(3, 3), real(3, 2), **LINALG),
    case(decompose.Solve, _solve, real(2, 3, 3), real(3), label="vector", **LINALG),
    case(decompose.Solve, _solve, real(2, 1, 3, 3), real(4, 3, 2), label="batch", **LINALG),
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
    case(decompose.Cholesky, _upper, real(2, 2, 3), label="upper", **LINALG),
    case(decompose.Qr, _reduced, real(4, 3), **LINALG),
    case(decompose.Qr, _reduced, real(2, 3, 3), label="square, batch", **LINALG),
    case(decompose.Qr, _reduced, real(2, 4), label="wide", **LINALG),
    case(decompose.Qr, lambda x: _unsigned(linalg.qr(x, mode="complete")), real(2, 3), label="complete", **LINALG),
    case(decompose.Eigh, _last, real(3, 3), **LINALG),
    case(decompose.Eigh, _last, real(2, 3, 3), label="batch", **LINALG),
    case(decompose.Eigh, lambda x: linalg.eigvalsh(_symmetric(x)), real(3, 3), label="values", **LINALG),
    case(decompose.Svd, _first, real(4, 3), **LINALG),
    case(decompose.Svd, _first, real(2, 2, 3), label="wide, batch", **LINALG),
    case(decompose.Svd, linalg.svdvals, real(3, 3), label="values", **LINALG),
    case(decompose.Svd, lambda x: linalg.svd(x)[1], real(4, 2), label="full", **LINALG),
]
