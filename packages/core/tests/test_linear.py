"""Products in every form of shapes, by hand-made numbers."""

from __future__ import annotations

import pytest

import plugrad as pg
from plugrad.errors import ShapeError, UnsupportedError
from plugrad.ops.linear import spared
from plugrad.testing.gradcheck import gradcheck


def leaf(data):
    return pg.tensor(data, dtype="float64", requires_grad=True)


def test_a_matrix_and_a_vector():
    a, b = leaf([[1, 2], [3, 4]]), leaf([5, 7])
    z = a @ b
    (z * pg.tensor([1, 10])).sum().backward()
    assert z.tolist() == [19, 43]
    assert a.grad.tolist() == [[5, 7], [50, 70]]
    assert b.grad.tolist() == [31, 42]


def test_a_vector_and_a_batch_of_matrices():
    r, x = leaf([1, 2]), leaf([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
    z = r @ x
    z.sum().backward()
    assert z.tolist() == [[7, 10], [19, 22]]
    assert r.grad.tolist() == [14, 22]
    assert x.grad.tolist() == [[[1, 1], [2, 2]]] * 2


def test_two_vectors():
    u, v = leaf([1, 2]), leaf([3, 4])
    z = u @ v
    z.backward()
    assert (z.shape, z.item()) == ((), 11)
    assert (u.grad.tolist(), v.grad.tolist()) == ([3, 4], [1, 2])


def test_one_matrix_for_a_whole_batch():
    x, w = leaf([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]), leaf([[1, 0, 2], [0, 1, 3]])
    (x @ w).sum().backward()
    assert w.grad.tolist() == [[16, 16, 16], [20, 20, 20]]
    assert x.grad.tolist() == [[[3, 4], [3, 4]]] * 2


def test_nothing_to_sum_over_gives_zeros_and_empty_gradients():
    a, b = pg.zeros(3, 0, requires_grad=True), pg.zeros(0, 2, requires_grad=True)
    z = a @ b
    ((z + 1) ** 2).sum().backward()
    assert z.tolist() == [[0, 0]] * 3
    assert (a.grad.shape, b.grad.shape) == ((3, 0), (0, 2))


def test_only_what_a_gradient_names_is_kept():
    x, w = leaf([[1, 2]]), pg.tensor([[3.0], [4.0]], dtype="float64")
    saved = (x @ w).node.saved
    assert [a is w.data for a in saved if a is not None] == [True]


def test_both_shapes_and_the_axes_are_named():
    with pytest.raises(ShapeError, match=r"\(2, 3\) and \(4, 5\).*axis -1 .* size 3, axis -2 of the second 4"):
        pg.ones(2, 3) @ pg.ones(4, 5)
    with pytest.raises(ShapeError, match=r"and one has shape \(\); to scale, write x \* y"):
        pg.ones(2) @ pg.ones(())


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk", [(2, 3), (3, 2)]),
        ("ii->i", [(3, 3)]),
        ("bi,oij,bj->bo", [(2, 3), (2, 3, 2), (2, 2)]),
        ("...i,i->...", [(2, 3), (3,)]),
    ],
)
def test_einsum_has_gradients_of_gradients(subscripts, shapes):
    xs = [pg.arange(1, 1 + pg.zeros(s).size).reshape(s).astype("float64") * 0.1 for s in shapes]
    gradcheck(lambda *xs: pg.einsum(subscripts, *xs), xs, order=2)


def test_tensordot_dot_and_outer():
    x, y = leaf([[1, 2], [3, 4]]), leaf([[5, 6], [7, 8]])
    assert pg.tensordot(x, y).item() == 70
    assert pg.tensordot(x, y, axes=([0], [1])).tolist() == [[23, 31], [34, 46]]
    assert pg.dot(x[0], y[0]).item() == 17
    assert pg.outer(x[0], y[1]).tolist() == [[7, 8], [14, 16]]
    assert pg.vecdot(x, y, axis=0).tolist() == [26, 44]


def test_linear_algebra_comes_from_the_backend_or_is_refused_in_words():
    x = leaf([[2, 0], [0, 4]])
    if "linalg" in x.device.backend.capabilities:
        pg.linalg.inv(x).sum().backward()
        assert x.grad.tolist() == [[-0.25, -0.125], [-0.125, -0.0625]]
    else:
        with pytest.raises(UnsupportedError, match=r"has no function 'linalg'.*x\.to\('cpu'\)"):
            pg.linalg.inv(x)
    assert pg.linalg.cross(pg.tensor([1, 0, 0]), pg.tensor([0, 1, 0])).tolist() == [0, 0, 1]
    assert pg.linalg.trace(x).item() == 6


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("x", "y", "want"),
    [
        ([[0, 2]], [[INF], [3]], [[6]]),
        ([[0, 2]], [[NAN], [3]], [[6]]),
        ([[1, 0], [0, 1]], [[INF, -INF], [2, 5]], [[INF, -INF], [2, 5]]),
        ([[1, -1, 0]], [[INF], [INF], [NAN]], [[NAN]]),
    ],
)
def test_what_takes_no_part_does_not_see_what_it_is_multiplied_by(x, y, want):
    assert str(spared(leaf(x), leaf(y)).tolist()) == str(leaf(want).tolist())


def test_a_row_that_was_not_taken_reaches_no_gradient():
    for x, y in (([[INF, 1], [2, 3]], [[1], [1]]), ([[[NAN, 1], [2, 3]]], [[1], [1]]), ([[INF, 1], [2, 3]], [1, 1])):
        a, w = leaf(x), leaf(y)
        z = a @ w
        mask = pg.tensor([False, True]).reshape([2 if n == 2 else 1 for n in z.shape])
        pg.where(mask, z, 0).sum().backward()
        assert w.grad.reshape(-1).tolist() == [2, 3]
        assert a.grad.reshape(-1).tolist() == [0, 0, 1, 1]


def test_a_column_that_was_not_taken_reaches_no_gradient():
    for x, y in (([[1, 1]], [[INF, 2], [1, 3]]), ([1, 1], [[INF, 2], [1, 3]])):
        a, w = leaf(x), leaf(y)
        pg.where(pg.tensor([False, True]), a @ w, 0).sum().backward()
        assert a.grad.reshape(-1).tolist() == [2, 3]
        assert w.grad.tolist() == [[0, 1], [0, 1]]


def test_infinities_in_a_vector_that_was_not_taken():
    for x, y, z in (([[1, 2]], [INF, 1], [0]), ([INF, 1], [[1], [2]], [0])):
        a, w = leaf(x), leaf(y)
        pg.where(pg.tensor([False]), a @ w, pg.tensor(z, dtype="float64")).sum().backward()
        assert a.grad.reshape(-1).tolist() == w.grad.reshape(-1).tolist() == [0, 0]
    u, v = leaf([INF, 1]), leaf([1, NAN])
    pg.where(pg.tensor(False), u @ v, 0).backward()
    assert u.grad.tolist() == v.grad.tolist() == [0, 0]
