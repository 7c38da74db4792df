"""Solving, inverses, determinants and factorisations of matrices, by the backend's `xp.linalg`.

The gradients are those of Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008); where others are used, the op says whose. All leading axes are a batch.
"""

from __future__ import annotations

from ..apply import apply, binary, unary
from ..errors import UnsupportedError
from ..op import Op, _clash
from .failures import factored
from .join import concat
from .select import where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..tensor import Tensor


class Square(Op):
    """Base of what needs square matrices."""

    floats = True

    def misfit(self, *shapes):
        return not_square(shapes[0])


class Matrix(Op):
    """Base of what takes any matrices."""

    floats = True

    def misfit(self, *shapes):
        return not_matrix(shapes[0])


def not_matrix(shape: tuple[int, ...]) -> str | None:
    """Why a shape is not that of matrices, in words."""
    return "a matrix has at least two axes" if len(shape) < 2 else None


def not_square(shape: tuple[int, ...]) -> str | None:
    """Why a shape is not that of square matrices, in words."""
    if len(shape) < 2 or shape[-1] == shape[-2]:
        return not_matrix(shape)
    return f"the last two axes have sizes {shape[-2]} and {shape[-1]}, and must have equal ones"


class Solve(Square):
    """Z = X⁻¹ Y        X: (..., n, n)   Y: (..., n, m)   Z: (..., n, m)

    ∂L/∂X = -X⁻ᵀ G Zᵀ   ∂L/∂Y = X⁻ᵀ G
    """

    def forward(self, xp, x, y):
        return factored(self, xp.linalg.solve, x, y)

    def dx(self, g, x, z):
        return -solve(x.mT, g) @ z.mT

    def dy(self, g, x):
        return solve(x.mT, g)

    def misfit(self, *shapes):
        x, y = shapes
        if not_square(x) or x[-1] == y[-2]:
            return not_square(x) or _clash(((*x[:-2], 1, 1), (*y[:-2], 1, 1)))
        return f"the matrix has {x[-1]} rows, the right-hand side {y[-2]}"


class Inv(Square):
    """Z = X⁻¹          X: (..., n, n)

    ∂L/∂X = -Zᵀ G Zᵀ
    """

    def forward(self, xp, x):
        return factored(self, xp.linalg.inv, x)

    def dx(self, g, z):
        return -z.mT @ g @ z.mT


class Pinv(Matrix):
    """Z = X⁺           X: (..., n, m)   Z: (..., m, n); singular values up to `rtol` times the largest count as 0

    ∂L/∂X = -Zᵀ G Zᵀ + (I - X Z) Gᵀ Z Zᵀ + Zᵀ Z Gᵀ (I - Z X)        (Golub and Pereyra, 1973)
    """

    rtol: float

    def forward(self, xp, x):
        return factored(self, xp.linalg.pinv, x, rtol=self.rtol)

    def dx(self, g, x, z):
        a, b = g.mT @ z @ z.mT, z.mT @ z @ g.mT
        return -z.mT @ g @ z.mT + a - x @ (z @ a) + b - (b @ z) @ x


class Det(Square):
    """z = det X        X: (..., n, n)

    ∂L/∂X = g cof X, at singular matrices too
    """

    def forward(self, xp, x):
        return xp.linalg.det(x)

    def dx(self, g, x):
        return _each(g) * cofactor(x)


class Cofactor(Square):
    """Z = cof X = d U diag(Πₖ≠ᵢ sₖ) Vᵀ, where X = U diag(s) Vᵀ and d = det U det V; for regular X it is det X · X⁻ᵀ

    ∂L/∂X = d U (diag(P diag H) - P ∘ Hᵀ) Vᵀ, where H = Uᵀ G V and Pᵢⱼ = Πₖ≠ᵢⱼ sₖ off the diagonal, else 0
    """

    def forward(self, xp, x):
        u, s, v = factored(self, xp.linalg.svd, x)
        d = xp.linalg.det(u) * xp.linalg.det(v)
        rows = xp.broadcast_to(xp.expand_dims(s, axis=-2), x.shape)
        rest = xp.prod(xp.where(xp.eye(x.shape[-1]) == 1, xp.ones_like(rows), rows), axis=-1)
        return xp.matmul(u * xp.expand_dims(xp.expand_dims(d, axis=-1) * rest, axis=-2), v)

    def dx(self, g, x):
        u, s, v = svd(x)
        one = x.new_ones(x.shape).tril().triu()
        p = _others(where(one == 1, 1, s.expand_dims(-2))) * (1 - one)
        h = u.mT @ g @ v.mT
        inner = one * (p @ h.diagonal(0, -2, -1).expand_dims(-1)) - p * h.mT
        return _each((unary(_det, u) * unary(_det, v)).detach()) * (u @ inner @ v)


class SlogDet(Square):
    """z = (sign, log |det X|)      X: (..., n, n)

    ∂L/∂X = g X⁻ᵀ, g of the logarithm; where X is singular: NaN, but 0 where g is 0
    """

    def forward(self, xp, x):
        return tuple(xp.linalg.slogdet(x))

    def dx(self, g, x, z):
        regular, g = _each(z[0].detach() != 0), _each(g[1])
        inverse = unary(_inv, where(regular, x, x.new_ones(x.shape).tril().triu()))
        return where(regular, g, where(g == 0, g, float("nan"))) * inverse.mT


class Cholesky(Square):
    """L lower triangular with L Lᵀ = X         X: (..., n, n), symmetric and positive definite

    ∂L/∂X = (S + Sᵀ) / 2, S = L⁻ᵀ Φ(Lᵀ G) L⁻¹, Φ: lower triangle, diagonal halved        (Murray, 2016)
    """

    def forward(self, xp, x):
        return factored(self, xp.linalg.cholesky, x)

    def dx(self, g, z):
        a = z.mT @ g
        phi = (a.tril() + a.tril(-1)) * 0.5
        s = solve(z.mT, solve(z.mT, phi.mT).mT)
        return (s + s.mT) * 0.5


class Qr(Matrix):
    """(Q, R): X = Q R, Q with orthonormal columns, R upper triangular          X: (..., n, m), of full rank

    ∂L/∂X = (Gq + Q C) R⁻ᵀ, C symmetric with the lower triangle of R Grᵀ - Gqᵀ Q        (Walter and Lehmann, 2010)

    With more columns than rows this holds for the first n, as X₂ = Q R₂ for the others (Liao et al., 2019).
    """

    mode: str

    def forward(self, xp, x):
        return tuple(xp.linalg.qr(x, mode=self.mode))

    def dx(self, g, z):
        (q, r), (gq, gr) = z, g
        n, m = q.shape[-2], r.shape[-1]
        if q.shape[-1] > m:
            raise UnsupportedError("qr: the extra columns of mode='complete' have no gradient; use mode='reduced'")
        if n >= m:
            return _qr(q, r, gq, gr)
        rest = gr[..., n:]
        first = _qr(q, r[..., :n], gq + (q @ r[..., n:]) @ rest.mT, gr[..., :n])
        return concat((first, q @ rest), axis=-1)


def _qr(q: Tensor, r: Tensor, gq: Tensor, gr: Tensor) -> Tensor:
    """∂L/∂X for a square R"""
    m = r @ gr.mT - gq.mT @ q
    return solve(r, (gq + q @ (m.tril() + m.tril(-1).mT)).mT).mT


class Eigh(Square):
    """(w, V): X = V diag(w) Vᵀ, w ascending            X: (..., n, n), symmetric; the lower triangle is read

    ∂L/∂X = V (diag(Gw) + F ∘ sym(Vᵀ Gv)) Vᵀ, symmetrised, Fᵢⱼ = 1 / (wⱼ - wᵢ), and 0 between equal eigenvalues
    """

    def forward(self, xp, x):
        return tuple(factored(self, xp.linalg.eigh, x))

    def dx(self, g, z):
        (gw, gv), (w, v) = g, z
        a = (v * gw.expand_dims(-2) + v @ (_gaps(w) * (v.mT @ gv))) @ v.mT
        return (a + a.mT) * 0.5


class Svd(Matrix):
    """(U, s, Vᵀ): X = U diag(s) Vᵀ, s descending       X: (..., n, m)

    ∂L/∂X = U (diag(Gs) + (F ∘ A) S + S (F ∘ B)) Vᵀ + (I - U Uᵀ) Gu S⁻¹ Vᵀ + U S⁻¹ Gvᵀ (I - V Vᵀ), where
    A = Uᵀ Gu - Guᵀ U, B = Vᵀ Gv - Gvᵀ V, Fᵢⱼ = 1 / (sⱼ² - sᵢ²); F is 0 between equal s, S⁻¹ is 0 where s is
    (Townsend, 2016)
    """

    full: bool

    def forward(self, xp, x):
        return tuple(factored(self, xp.linalg.svd, x, full_matrices=self.full))

    def dx(self, g, z):
        (u, s, vt), (gu, gs, gvt) = z, g
        k = s.shape[-1]
        if self.full:
            u, vt, gu, gvt = u[..., :k], vt[..., :k, :], _first(gu, k), _first(gvt.mT, k).mT
        f, over = _gaps(s * s), where(s == 0, 0, 1 / where(s == 0, 1, s)).expand_dims(-2)
        s, a, b = s.expand_dims(-2), u.mT @ gu, vt @ gvt.mT
        inner = (f * (a - a.mT)) * s + s.mT * (f * (b - b.mT))
        x = (u * gs.expand_dims(-2) + u @ inner + (gu - u @ a) * over) @ vt
        return x + (u * over) @ (gvt - b.mT @ vt)


def _first(g: Tensor, k: int) -> Tensor:
    """The gradient of the first k columns; the others are any basis of the rest, so nothing may depend on them."""
    if (g[..., k:] != 0).any():
        raise UnsupportedError("svd: the extra vectors of full_matrices=True have no gradient; use full_matrices=False")
    return g[..., :k]


_solve, _inv, _det, _cofactor, _slogdet, _cholesky, _eigh = (
    Solve(), Inv(), Det(), Cofactor(), SlogDet(), Cholesky(), Eigh()
)  # fmt: skip
_svd = Svd(False)


def solve(x: Tensor, y: Tensor) -> Tensor:
    """X⁻¹ Y"""
    return binary(_solve, x, y)  # type: ignore[no-any-return]


def cofactor(x: Tensor) -> Tensor:
    """cof X: det X is Σⱼ Xᵢⱼ (cof X)ᵢⱼ for every i"""
    return unary(_cofactor, x)  # type: ignore[no-any-return]


def svd(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(U, s, Vᵀ), only as many as there are singular values"""
    return apply(_svd, x)  # type: ignore[no-any-return]


def _each(g: Tensor) -> Tensor:
    """One number for each matrix, with axes for the matrix."""
    return g.reshape((*g.shape, 1, 1))


def _gaps(w: Tensor) -> Tensor:
    """Fᵢⱼ = 1 / (wⱼ - wᵢ), 0 where they are equal"""
    d = w.expand_dims(-2) - w.expand_dims(-1)
    return where(d == 0, 0, 1 / where(d == 0, 1, d))  # type: ignore[no-any-return]


def _others(s: Tensor) -> Tensor:
    """zᵢ = Πₖ≠ᵢ sₖ along the last axis: what is before times what is behind"""
    return _before(s) * _before(s.flip(-1)).flip(-1)


def _before(s: Tensor) -> Tensor:
    """zᵢ = Πₖ<ᵢ sₖ"""
    one = s.new_ones((*s.shape[:-1], 1))
    return concat((one, s[..., :-1]), axis=-1).cumprod(-1)
