"""Different values, counts, histograms and places in a sorted row."""

from math import inf, nan

import pytest

import plugrad as pg
from plugrad.errors import DTypeError, ShapeError


def test_unique():
    x = pg.tensor([[3, 1, 3], [2, 1, 3]])
    found = pg.unique_all(x)
    assert found.values.tolist() == [1, 2, 3]
    assert found.indices.tolist() == [1, 3, 0]
    assert found.inverse_indices.tolist() == [[2, 0, 2], [1, 0, 2]]
    assert found.counts.tolist() == [2, 1, 3]
    assert pg.unique_values(x).tolist() == [1, 2, 3]
    assert pg.unique_counts(x).counts.tolist() == [2, 1, 3]
    assert pg.unique_inverse(x).inverse_indices.shape == (2, 3)
    values, inverse = pg.unique(x, return_inverse=True)
    assert values[inverse].tolist() == x.tolist()
    assert pg.unique(x).tolist() == [1, 2, 3]
    assert [t.tolist() for t in pg.unique(x, return_counts=True)] == [[1, 2, 3], [2, 1, 3]]


def test_every_nan_is_different():
    assert pg.unique_counts(pg.tensor([nan, 1.0, nan, 1.0])).counts.tolist() == [2, 1, 1]


def test_unique_of_nothing_of_one_and_of_bools():
    assert [t.tolist() for t in pg.unique_all(pg.zeros(0))] == [[], [], [], []]
    assert [t.tolist() for t in pg.unique_all(pg.tensor(5))] == [[5], [0], 0, [1]]
    found = pg.unique_counts(pg.tensor([True, False, True]))
    assert (found.values.tolist(), found.counts.tolist()) == ([False, True], [1, 2])


def test_searchsorted():
    row = pg.tensor([1.0, 2.0, 2.0, 4.0])
    x = pg.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    assert pg.searchsorted(row, x).tolist() == [[0, 0, 1], [3, 3, 4]]
    assert pg.searchsorted(row, x, side="right").tolist() == [[0, 1, 3], [3, 4, 4]]
    assert pg.searchsorted(pg.tensor([4, 1, 2]), pg.tensor([3]), sorter=pg.tensor([1, 2, 0])).tolist() == [2]
    assert pg.searchsorted(row, 2.0).item() == 1
    assert pg.searchsorted(pg.zeros(0), x).tolist() == [[0, 0, 0], [0, 0, 0]]
    with pytest.raises(ShapeError, match="one sorted row"):
        pg.searchsorted(x, row)
    with pytest.raises(ValueError, match="'middle'"):
        pg.searchsorted(row, x, side="middle")


def test_bincount():
    x = pg.tensor([1, 3, 1, 0])
    assert pg.bincount(x).tolist() == [1, 2, 0, 1]
    assert pg.bincount(x, minlength=6).tolist() == [1, 2, 0, 1, 0, 0]
    assert pg.bincount(pg.tensor([], dtype="int64"), minlength=2).tolist() == [0, 0]
    assert pg.bincount(x, pg.tensor([1.0, 2.0, 4.0, 8.0])).tolist() == [8.0, 5.0, 0.0, 2.0]
    with pytest.raises(ShapeError, match="-2 is negative"):
        pg.bincount(pg.tensor([3, -2]))
    with pytest.raises(DTypeError, match="row of integers, got float32"):
        pg.bincount(pg.ones(3))


def test_weights_of_a_count_have_a_gradient():
    w = pg.tensor([1.0, 2.0, 4.0], requires_grad=True)
    pg.bincount(pg.tensor([1, 0, 1]), w).backward(pg.tensor([10.0, 20.0]))
    assert w.grad.tolist() == [20.0, 10.0, 20.0]


def test_histogram():
    x = pg.tensor([[1.0, 2.0, 2.5], [3.0, 10.0, nan]])
    counts, edges = pg.histogram(x, 3, (1, 4))
    assert (counts.tolist(), edges.tolist()) == ([1, 2, 1], [1.0, 2.0, 3.0, 4.0])
    assert pg.histogram(x, [0.0, 2.0, 10.0])[0].tolist() == [1, 4]
    counts, edges = pg.histogram(pg.tensor([0, 1, 2, 4]), bins=2)
    assert (counts.tolist(), edges.tolist()) == ([2, 2], [0.0, 2.0, 4.0])
    assert pg.histogram(pg.tensor([5.0, 5.0]), 2)[1].tolist() == [4.5, 5.0, 5.5]
    assert pg.histogram(pg.zeros(0), 2)[0].tolist() == [0, 0]


def test_histograms_that_cannot_be():
    with pytest.raises(ShapeError, match="0 bins"):
        pg.histogram(pg.ones(3), 0)
    for x in ([1.0, inf], [1.0, nan]):
        with pytest.raises(ShapeError, match="give a finite range"):
            pg.histogram(pg.tensor(x))
