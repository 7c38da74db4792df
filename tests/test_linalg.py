"""`pg.linalg` against NumPy's, gradients against slopes to second order, and what is singular."""

from __future__ import annotations

import numpy as np
import pytest

import plugrad as pg
from plugrad import linalg
from plugrad.errors import LinAlgError, ShapeError, UnsupportedError
from plugrad.ops.decompose import cofactor
from plugrad.testing.gradcheck import gradcheck


def array(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def regular(*shape):
    return array(*shape) + 4 * np.eye(shape[-1])


def symmetric(*shape):
    a = array(*shape)
    return a + np.swapaxes(a, -1, -2)


def definite(*shape):
    a = array(*shape)
    return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])


def leaf(a):
    return pg.tensor(a, requires_grad=True)


ROWS = {
    "inv": (linalg.inv, np.linalg.inv, regular(3, 3)),
    "inv, batch": (linalg.inv, np.linalg.inv, regular(2, 1, 3, 3)),
    "pinv, tall": (linalg.pinv, np.linalg.pinv, array(2, 4, 3)),
    "pinv, wide": (linalg.pinv, np.linalg.pinv, array(2, 5)),
    "det": (linalg.det, np.linalg.det, array(2, 4, 4)),
    "det, 1": (linalg.det, np.linalg.det, array(1, 1)),
    "slogdet": (linalg.slogdet, np.linalg.slogdet, array(2, 4, 4)),
    "solve": (linalg.solve, np.linalg.solve, regular(3, 3), array(3, 2)),
    "solve, vector": (linalg.solve, np.linalg.solve, regular(3, 3), array(3)),
    "solve, batch": (linalg.solve, np.linalg.solve, regular(2, 1, 3, 3), array(4, 3, 2)),
    "svd, tall": (lambda x: linalg.svd(x, full_matrices=False), lambda a: np.linalg.svd(a, False), array(4, 3)),
    "svd, wide": (lambda x: linalg.svd(x, full_matrices=False), lambda a: np.linalg.svd(a, False), array(2, 2, 4)),
    "svd, square": (linalg.svd, np.linalg.svd, array(3, 3)),
    "svdvals": (linalg.svdvals, np.linalg.svdvals, array(2, 3, 5)),
    "qr, tall": (linalg.qr, np.linalg.qr, array(4, 3)),
    "qr, square": (linalg.qr, np.linalg.qr, array(2, 3, 3)),
    "qr, wide": (linalg.qr, np.linalg.qr, array(2, 5)),
    "qr, complete": (lambda x: linalg.qr(x, mode="complete"), lambda a: np.linalg.qr(a, "complete"), array(3, 4)),
    "matrix_power 0": (lambda x: linalg.matrix_power(x, 0) + x, lambda a: np.eye(3) + a, array(3, 3)),
    "matrix_power 1": (lambda x: linalg.matrix_power(x, 1), lambda a: a, array(3, 3)),
    "matrix_power 6": (lambda x: linalg.matrix_power(x, 6), lambda a: np.linalg.matrix_power(a, 6), array(2, 2, 2)),
    "matrix_power -3": (lambda x: linalg.matrix_power(x, -3), lambda a: np.linalg.matrix_power(a, -3), regular(3, 3)),
    "trace": (linalg.trace, lambda a: np.trace(a, 0, -2, -1), array(2, 3, 4)),
    "trace, offset": (lambda x: linalg.trace(x, offset=-1), lambda a: np.trace(a, -1, -2, -1), array(2, 3, 4)),
    "diagonal": (lambda x: linalg.diagonal(x, offset=1), lambda a: np.diagonal(a, 1, -2, -1), array(2, 3, 4)),
    "cross": (linalg.cross, np.cross, array(2, 3), array(3, seed=1)),
    "cross, axis": (
        lambda x, y: linalg.cross(x, y, axis=0), lambda a, b: np.cross(a, b, axis=0), array(3, 2), array(3, 2, seed=1)
    ),
    "vector_norm": (linalg.vector_norm, np.linalg.vector_norm, array(3, 4)),
    "vector_norm, axes": (
        lambda x: linalg.vector_norm(x, axis=(0, 2), keepdims=True, ord=3),
        lambda a: np.linalg.vector_norm(a, axis=(0, 2), keepdims=True, ord=3),
        array(3, 4, 2),
    ),
    **{
        f"matrix_norm {p}": (
            lambda x, p=p: linalg.matrix_norm(x, ord=p),
            lambda a, p=p: np.linalg.matrix_norm(a, ord=p),
            array(2, 3, 4),
        )
        for p in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
    },
    "matrix_norm, keepdims": (
        lambda x: linalg.matrix_norm(x, keepdims=True),
        lambda a: np.linalg.matrix_norm(a, keepdims=True),
        array(2, 3, 4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_values_are_numpys_and_gradients_the_slopes(name):
    f, reference, *arrays = ROWS[name]
    xs = [pg.tensor(a) for a in arrays]
    got, want = f(*xs), reference(*arrays)
    for z, w in zip(got, want, strict=True) if isinstance(got, tuple) else [(got, want)]:
        np.testing.assert_allclose(z.numpy(), w, rtol=1e-10, atol=1e-12)
    gradcheck(f, xs, order=2)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4)])
def test_factorisations_of_symmetric_matrices(shape):
    """They read one triangle, so the slope is that of a symmetric change."""
    sym = lambda x: (x + x.mT) * 0.5  # noqa: E731
    for f, reference, a in (
        (linalg.eigh, np.linalg.eigh, symmetric(*shape)),
        (linalg.eigvalsh, np.linalg.eigvalsh, symmetric(*shape)),
        (linalg.cholesky, np.linalg.cholesky, definite(*shape)),
        (lambda x: linalg.cholesky(x, upper=True).mT, np.linalg.cholesky, definite(*shape)),
    ):
        got, want = f(pg.tensor(a)), reference(a)
        for z, w in zip(got, want, strict=True) if isinstance(got, tuple) else [(got, want)]:
            np.testing.assert_allclose(z.numpy(), w, rtol=1e-10, atol=1e-12)
        gradcheck(lambda x, f=f: f(sym(x)), [pg.tensor(a)], order=2)
        x = leaf(a)
        y = f(x)
        sum(z.sum() for z in (y if isinstance(y, tuple) else (y,))).backward()
        np.testing.assert_allclose(x.grad.numpy(), x.grad.mT.numpy(), rtol=1e-12, atol=1e-12)


def test_results_have_the_standards_names():
    x = pg.tensor(definite(3, 3))
    assert linalg.eigh(x)._fields == ("eigenvalues", "eigenvectors")
    assert linalg.qr(x)._fields == ("Q", "R")
    assert linalg.slogdet(x)._fields == ("sign", "logabsdet")
    assert linalg.svd(x)._fields == ("U", "S", "Vh")


SINGULAR = {
    "rank 2 of 3": [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [-1.0, 0.5, 2.0]],
    "rank 1 of 3": [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [-1.0, -2.0, -3.0]],
    "a row of zeros": [[1.0, 2.0], [0.0, 0.0]],
    "zeros": [[0.0, 0.0], [0.0, 0.0]],
    "one number": [[0.0]],
    "equal singular values": [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
}


def minors(a):
    """The cofactors by their definition."""
    n = len(a)
    cut = lambda i, j: np.delete(np.delete(a, i, 0), j, 1)  # noqa: E731
    return [[(-1) ** (i + j) * np.linalg.det(cut(i, j)) for j in range(n)] for i in range(n)]


@pytest.mark.parametrize("name", SINGULAR)
def test_det_of_singular_matrices_has_the_cofactors_as_gradient(name):
    a = np.array(SINGULAR[name])
    x = leaf(a)
    linalg.det(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), minors(a), atol=1e-12)
    gradcheck(linalg.det, [x.detach()], order=2)


def test_cofactors_do_not_depend_on_which_vectors_the_factorisation_chooses():
    x = pg.tensor(np.stack([np.eye(3), -np.eye(3), np.diag([1.0, 1.0, 0.0])]))
    want = np.stack([np.eye(3), np.eye(3), np.diag([0.0, 0.0, 1.0])])
    np.testing.assert_allclose(cofactor(x).numpy(), want, atol=1e-14)


def test_slogdet_of_a_singular_matrix_that_was_masked_out():
    a = np.stack([regular(2, 2), np.zeros((2, 2))])
    x = leaf(a)
    sign, logabs = linalg.slogdet(x)
    assert (sign.tolist()[1], logabs.tolist()[1]) == (0, -np.inf)
    pg.where(logabs > -np.inf, logabs, 0.0).sum().backward()
    np.testing.assert_allclose(x.grad.numpy()[0], np.linalg.inv(a[0]).T)
    assert x.grad.tolist()[1] == [[0, 0], [0, 0]]
    assert np.isnan(pg.grad(linalg.slogdet(x)[1].sum(), x)[0].numpy()[1]).all()


def test_equal_eigenvalues_and_singular_values():
    """Σ w is the trace whatever is equal, and Σ s of the identity moves with the symmetric part."""
    for f in (linalg.eigvalsh, linalg.svdvals):
        x = leaf(np.eye(3))
        f(x).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), np.eye(3), atol=1e-14)
    x = leaf(np.eye(3))
    w, v = linalg.eigh(x)
    ((v * w.expand_dims(-2)) @ v.mT).sum().backward()
    assert np.isfinite(x.grad.numpy()).all()


def test_singular_values_of_zero():
    x = leaf(np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]))
    u, _, vt = linalg.svd(x, full_matrices=False)
    (u[..., :1] @ vt[:1]).sum().backward()
    assert np.isfinite(x.grad.numpy()).all()


def test_the_extra_vectors_have_no_gradient_and_say_so():
    x = leaf(array(4, 2))
    u = linalg.svd(x).U
    assert u.shape == (4, 4)
    gradcheck(lambda x: (linalg.svd(x)[0][:, :2] @ linalg.svd(x)[2], linalg.svd(x).S), [x.detach()], order=2)
    with pytest.raises(UnsupportedError, match="full_matrices=False"):
        u.sum().backward()
    with pytest.raises(UnsupportedError, match="mode='reduced'"):
        linalg.qr(x, mode="complete").Q.sum().backward()


def test_rank_counts_by_the_tolerance():
    a = np.stack([np.diag([1.0, 1e-3, 1e-20]), np.eye(3), np.zeros((3, 3))])
    assert linalg.matrix_rank(pg.tensor(a)).tolist() == [2, 3, 0]
    assert linalg.matrix_rank(pg.tensor(a), rtol=1e-2).tolist() == [1, 3, 0]
    assert linalg.matrix_rank(leaf(a)).requires_grad is False
    assert linalg.pinv(pg.tensor(np.diag([1.0, 1e-3])), rtol=1e-2).tolist() == [[1, 0], [0, 0]]


def test_integers_become_float32_and_half_precision_stays():
    x = pg.tensor([[2, 0], [0, 4]])
    assert (linalg.inv(x).dtype, linalg.inv(x).tolist()) == (pg.float32, [[0.5, 0], [0, 0.25]])
    assert (linalg.det(x).dtype, linalg.det(x).item()) == (pg.float32, 8)
    y = linalg.solve(x.astype("float16"), pg.ones(2, dtype="float16"))
    assert (y.dtype, y.tolist()) == (pg.float16, [0.5, 0.25])
    assert linalg.matrix_rank(x).item() == 2


def test_empty_batches_and_empty_matrices():
    assert linalg.inv(pg.zeros(0, 3, 3)).shape == (0, 3, 3)
    x = leaf(np.zeros((2, 0, 0)))
    z = linalg.det(x)
    z.sum().backward()
    assert (z.tolist(), x.grad.shape) == ([1, 1], (2, 0, 0))


@pytest.mark.parametrize(
    ("f", "shapes", "words"),
    [
        (linalg.inv, [(2, 3)], "the last two axes have sizes 2 and 3"),
        (linalg.det, [(3,)], "a matrix has at least two axes"),
        (linalg.cholesky, [(2, 3)], "the last two axes have sizes 2 and 3"),
        (linalg.eigh, [(2, 3)], "the last two axes have sizes 2 and 3"),
        (linalg.solve, [(2, 3), (2, 1)], "the last two axes have sizes 2 and 3"),
        (linalg.solve, [(3, 3), (2, 1)], "the matrix has 3 rows, the right-hand side 2"),
        (linalg.solve, [(3, 3), (2,)], "the matrix has 3 rows, the right-hand side 2"),
        (linalg.solve, [(2, 3, 3), (4, 3, 1)], "axis -3 has sizes 2 and 4"),
        (linalg.matrix_power, [(2, 3)], "the last two axes have sizes 2 and 3"),
        (linalg.matrix_norm, [(3,)], "a matrix has at least two axes"),
        (linalg.cross, [(2,), (2,)], "must have size 3 in both"),
        (linalg.svd, [(3,)], "a matrix has at least two axes"),
        (linalg.qr, [(3,)], "a matrix has at least two axes"),
        (linalg.pinv, [(3,)], "a matrix has at least two axes"),
    ],
)
def test_shapes_that_do_not_fit_are_named(f, shapes, words):
    extra = [2] if f is linalg.matrix_power else []
    with pytest.raises(ShapeError, match=words):
        f(*(pg.ones(s) for s in shapes), *extra)


def test_unknown_modes_and_norms_are_named():
    with pytest.raises(ValueError, match="mode='full' is neither 'reduced' nor 'complete'"):
        linalg.qr(pg.ones(2, 2), mode="full")
    with pytest.raises(ValueError, match="ord=3 is none of 'fro', 'nuc', 2"):
        linalg.matrix_norm(pg.ones(2, 2), ord=3)


def test_what_cannot_be_inverted_or_factorised_raises():
    with pytest.raises(LinAlgError, match="inv: a matrix is singular; use pinv") as caught:
        linalg.inv(pg.zeros(2, 2))
    assert "while running Inv() on float32 (2, 2), numpy" in caught.value.__notes__[0]
    with pytest.raises(LinAlgError, match="cholesky: a matrix is not positive definite"):
        linalg.cholesky(-pg.ones(2, 2))
    with pytest.raises(LinAlgError, match="svd: the iteration did not converge"):
        linalg.svd(pg.full((2, 2), float("nan")))
