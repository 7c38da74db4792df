"""Products of matrices and vectors against NumPy, at random shapes, and their gradients against slopes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plugrad as pg
from plugrad.errors import DTypeError, ShapeError
from plugrad.ops.linear import MatMul
from plugrad.testing.gradcheck import gradcheck

rng = np.random.default_rng(0)
sizes = st.integers(0, 4)


def array(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def check(f, reference, *arrays):
    """The value is NumPy's, and the gradient the slope, to second order."""
    xs = [pg.tensor(a) for a in arrays]
    z, want = f(*xs), reference(*arrays)
    assert z.shape == np.shape(want)
    np.testing.assert_allclose(z.numpy(), want, rtol=1e-12, atol=1e-12)
    if all(a.dtype == np.float64 for a in arrays):
        gradcheck(f, xs, order=2)


@st.composite
def pairs(draw):
    """Two shapes that matmul accepts: vectors, matrices, batches that broadcast."""
    n, k, m = draw(sizes), draw(sizes), draw(sizes)
    batch = draw(st.lists(st.integers(1, 3), max_size=2))
    ones = draw(st.lists(st.booleans(), min_size=len(batch), max_size=len(batch)))
    left = draw(st.sampled_from([(k,), (n, k), (*batch, n, k)]))
    thin = [1 if one else b for one, b in zip(ones, batch, strict=True)]
    return left, draw(st.sampled_from([(k,), (k, m), (*thin, k, m)]))


@settings(max_examples=60, deadline=None)
@given(pairs())
def test_matmul_takes_every_form_of_the_standard(shapes):
    check(pg.matmul, np.matmul, *(array(*s) for s in shapes))


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "int64"])
def test_products_of_integers_keep_their_dtype(dtype):
    a, b = rng.integers(0, 5, (2, 3)).astype(dtype), rng.integers(0, 5, (3, 4)).astype(dtype)
    z = pg.tensor(a) @ pg.tensor(b)
    assert z.dtype == dtype
    assert z.tolist() == (a @ b).tolist()
    assert pg.einsum("ij,jk->i", pg.tensor(a), pg.tensor(b)).dtype == dtype
    assert (pg.tensor(a) @ pg.tensor(b).astype("float32")).dtype is pg.float32


def test_half_precision_adds_up_in_float32():
    one = pg.ones((1, 4096), dtype="float16")
    assert (one @ one.mT).item() == 4096
    assert pg.einsum("ij,kj->ik", one, one).item() == 4096


def test_a_numpy_matrix_on_the_left_is_refused_with_the_way_out():
    with pytest.raises(DTypeError, match=r"matmul: expected tensors, got ndarray; make one: pg\.tensor"):
        np.ones((2, 2)) @ pg.ones(2, 2)


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        ((2, 3), (4, 5), "axis -1 of the first has size 3, axis -2 of the second 4"),
        ((2, 3), (4,), "axis -1 of the matrix has size 3, the vector 4"),
        ((3,), (2, 4), "the vector has size 3, axis -2 of the matrix 2"),
        ((3,), (4,), "axis -1 has sizes 3 and 4"),
        ((5, 2, 3), (4, 2), "axis -1 of the first has size 3, axis -2 of the second 4"),
        ((2, 2, 3), (3, 3, 4), "axis -3 has sizes 2 and 3"),
        ((2, 2, 3), (3, 3), ""),
        ((), (3,), r"operands need at least one axis, and one has shape \(\)"),
        ((3,), (), r"operands need at least one axis, and one has shape \(\)"),
    ],
)
def test_shapes_that_do_not_fit_are_named(left, right, words):
    if not words:
        assert (pg.ones(left) @ pg.ones(right)).shape == (2, 2, 3)
        return
    with pytest.raises(ShapeError, match=words) as caught:
        pg.ones(left) @ pg.ones(right)
    assert not left or not right or f"{left} and {right}" in str(caught.value)


def test_numbers_and_bools_have_no_product():
    with pytest.raises(DTypeError, match="expected tensors, got int"):
        pg.ones(2, 2) @ 2
    with pytest.raises(DTypeError, match="bools have no product"):
        pg.ones(2, 2, dtype="bool") @ pg.ones(2, 2, dtype="bool")
    with pytest.raises(DTypeError, match="expected tensors, got int"):
        pg.einsum("ii", 3)
    assert (pg.ones(2, 2, dtype="bool") @ pg.ones(2)).tolist() == [2, 2]


def test_a_shared_matrix_has_one_gradient_without_a_batch_of_them():
    x, w = array(5, 4, 3), array(3, 2)
    a, b = pg.tensor(x, requires_grad=True), pg.tensor(w, requires_grad=True)
    g = array(5, 4, 2)
    (a @ b).backward(pg.tensor(g))
    np.testing.assert_allclose(b.grad.numpy(), np.einsum("bik,bij->kj", x, g), rtol=1e-12)
    np.testing.assert_allclose(a.grad.numpy(), g @ w.T, rtol=1e-12)


def test_products_are_values_of_their_own():
    x = pg.ones(2, 2)
    for z in (pg.ones(2, 2, 2) @ x, pg.einsum("ij->ji", x), pg.tensordot(x, x, axes=1)):
        z[...] = 7
        assert set(z.numpy().ravel()) == {7}


@pytest.mark.parametrize(
    ("left", "right", "axis"),
    [((3,), (3,), -1), ((2, 3), (3,), -1), ((4, 1, 3), (2, 3), -1), ((3, 2), (3, 1), -2), ((3, 2), (3, 2), 0)],
)
def test_vecdot(left, right, axis):
    check(lambda x, y: pg.vecdot(x, y, axis=axis), lambda x, y: (x * y).sum(axis), array(*left), array(*right))


def test_vecdot_needs_an_axis_that_both_have():
    with pytest.raises(ShapeError, match="axis 0 is no common axis"):
        pg.vecdot(pg.ones(2, 3), pg.ones(3), axis=0)
    with pytest.raises(ShapeError, match="vecdot: axis -2 is out of range"):
        pg.vecdot(pg.ones(2, 3), pg.ones(3), axis=-2)
    with pytest.raises(ShapeError, match=r"\(2, 3\) and \(4,\)"):
        pg.vecdot(pg.ones(2, 3), pg.ones(4))


def test_dot_and_outer():
    check(pg.dot, np.dot, array(3), array(3))
    check(pg.dot, np.dot, array(2, 3), array(3))
    check(pg.outer, np.outer, array(2), array(3))
    with pytest.raises(ShapeError, match="not vectors"):
        pg.outer(pg.ones(2, 2), pg.ones(2))
    with pytest.raises(ShapeError, match="more than 2 axes"):
        pg.dot(pg.ones(2, 2, 2), pg.ones(2))


@pytest.mark.parametrize(
    ("left", "right", "axes"),
    [
        ((2, 3), (3, 4), 1),
        ((2, 3, 4), (3, 4, 5), 2),
        ((2,), (3, 1), 0),
        ((2, 3, 4), (4, 5, 2), ([0, 2], [2, 0])),
        ((2, 3, 4), (4, 5, 2), ([-1, 0], [0, -1])),
        ((2, 0), (0, 3), 1),
        ((), (3,), 0),
    ],
)
def test_tensordot(left, right, axes):
    check(
        lambda x, y: pg.tensordot(x, y, axes=axes), lambda x, y: np.tensordot(x, y, axes), array(*left), array(*right)
    )


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        (2, "axis 0 of the first has size 2, axis 0 of the second 3"),
        (3, "axes=3 is out of range"),
        (([0], [0, 1]), "names 1 axes of the first and 2"),
        (([0, 0], [0, 1]), "twice"),
        (([2], [0]), "out of range"),
    ],
)
def test_tensordot_says_what_is_wrong(axes, words):
    with pytest.raises(ShapeError, match=words):
        pg.tensordot(pg.ones(2, 3), pg.ones(3, 4), axes=axes)


EINSUMS = {
    "matmul": ("ij,jk->ik", (2, 3), (3, 4)),
    "implicit": ("ij,jk", (2, 3), (3, 4)),
    "implicit is alphabetical": ("ba", (2, 3)),
    "implicit trace": ("ii", (3, 3)),
    "sum of all": ("ij->", (2, 3)),
    "diagonal": ("ii->i", (3, 3)),
    "diagonal of three": ("iji->ij", (3, 2, 3)),
    "triple diagonal": ("iii->i", (2, 2, 2)),
    "transpose": ("ijk->kij", (2, 3, 4)),
    "batch": ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    "bilinear": ("bi,oij,bj->bo", (4, 2), (3, 2, 5), (4, 5)),
    "outer": ("i,j->ji", (2,), (3,)),
    "hadamard": ("ij,ij->ij", (2, 3), (2, 3)),
    "inner": ("i,i", (3,), (3,)),
    "sum of one's own axis": ("ij,k->ik", (2, 3), (4,)),
    "ellipsis": ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
    "ellipsis, implicit": ("...i,...i", (2, 3), (4, 2, 3)),
    "ellipsis in the middle": ("i...j->j...i", (2, 3, 4)),
    "ellipsis of nothing": ("...ij->...ji", (2, 3)),
    "sizes of one broadcast": ("ij,jk->ik", (2, 1), (3, 4)),
    "batch of one": ("bij,bjk->bik", (1, 2, 3), (4, 3, 2)),
    "diagonal in a product": ("ii,ij->j", (3, 3), (3, 2)),
    "four": ("ab,bc,cd,de->ae", (2, 3), (3, 4), (4, 2), (2, 5)),
    "scalar operand": (",ij->ij", (), (2, 3)),
    "spaces": ("i j , j k -> i k", (2, 3), (3, 4)),
    "empty": ("ij,jk->ik", (2, 0), (0, 3)),
    "attention": ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)),
}


@pytest.mark.parametrize("name", EINSUMS)
def test_einsum(name):
    subscripts, *shapes = EINSUMS[name]
    check(
        lambda *xs: pg.einsum(subscripts, *xs),
        lambda *xs: np.einsum(subscripts, *xs),
        *(np.random.default_rng(i).standard_normal(s) for i, s in enumerate(shapes)),
    )


def test_einsum_sums_over_an_ellipsis_that_the_result_lacks():
    check(lambda x: pg.einsum("...i->i", x), lambda x: x.sum((0, 1)), array(2, 3, 4))


@pytest.mark.parametrize(
    ("subscripts", "shapes", "words"),
    [
        ("ij,jk->ik", [(2, 3)], "names 2 operands, and 1 were given"),
        ("ij->i", [(2, 3, 4)], "'ij' names 2 axes of an operand that has 3"),
        ("ijk...->i", [(2, 3)], "names 3 axes of an operand that has 2"),
        ("ij,jk->ik", [(2, 3), (4, 5)], r"shapes \(2, 3\) and \(4, 5\) do not fit: axis 'j' has sizes 3 and 4"),
        ("...i,...i", [(2, 3), (4, 3)], "axis -1 of ... has sizes 2 and 4"),
        ("ij->ijz", [(2, 3)], "must name axes of the operands"),
        ("ij->ii", [(2, 3)], "each once"),
        ("i1->i", [(2, 3)], "axes are named by letters"),
        ("ii->i", [(2, 3)], "axis 'i' has sizes 2 and 3"),
    ],
)
def test_einsum_says_what_is_wrong(subscripts, shapes, words):
    with pytest.raises(ShapeError, match=words):
        pg.einsum(subscripts, *(pg.ones(s) for s in shapes))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_einsum_of_random_subscripts(data):
    """Any letters, repeated within and between operands, any result."""
    size = dict(zip("abcd", (1, 2, 3, 2), strict=True))
    terms = data.draw(st.lists(st.text("abcd", max_size=3), min_size=1, max_size=3))
    letters = sorted({c for t in terms for c in t})
    result = "".join(data.draw(st.permutations(letters)))[: data.draw(st.integers(0, 4))]
    subscripts = f"{','.join(terms)}->{result}"
    arrays = [np.random.default_rng(i).standard_normal([size[c] for c in t]) for i, t in enumerate(terms)]
    want = np.einsum(subscripts, *arrays)
    got = pg.einsum(subscripts, *map(pg.tensor, arrays))
    assert got.shape == np.shape(want)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-12, atol=1e-12)


def test_einsum_multiplies_the_small_ones_first():
    """A B x costs two products of a matrix and a vector: A B is never made."""
    sizes = []

    class Look(pg.Watcher):
        def after(self, op, inputs, outputs, mark):
            sizes.extend([outputs.size] if isinstance(op, MatMul) else [])

    x = pg.ones(30, 30)
    with Look():
        pg.einsum("ij,jk,k->i", x, x, pg.ones(30))
    assert sizes == [30, 30]
