"""Sorting, the k largest, medians and quantiles: ties, NaN, every way round."""

from math import inf, isnan, nan

import pytest

import plugrad as pg
from plugrad.errors import AxisError, DTypeError, ShapeError


def slope(f, data, g):
    """∂L/∂x as nested lists, where ∂L/∂f = g."""
    x = pg.tensor(data, requires_grad=True)
    f(x).backward(pg.tensor(g))
    return x.grad.tolist()


def test_sorting():
    x = pg.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, -1.0]])
    assert x.sort().tolist() == [[1.0, 2.0, 3.0], [-1.0, 0.0, 5.0]]
    assert x.sort(axis=0, descending=True).tolist() == [[3.0, 5.0, 2.0], [0.0, 1.0, -1.0]]
    assert x.argsort().tolist() == [[1, 2, 0], [2, 0, 1]]
    assert x.argsort(descending=True).tolist() == [[0, 2, 1], [1, 0, 2]]
    assert x.argsort().dtype is pg.int64
    assert pg.tensor([3, 1, 2], dtype="int32").sort().dtype == "int32"
    assert pg.tensor([True, False, True]).sort().tolist() == [False, True, True]
    assert pg.zeros((2, 0)).sort().shape == pg.zeros((2, 0)).argsort(axis=1).shape == (2, 0)


def test_equals_stay_in_order_both_ways_round():
    x = pg.tensor([2.0, 1.0, 2.0, 1.0, 2.0])
    assert x.argsort().tolist() == [1, 3, 0, 2, 4]
    assert x.argsort(descending=True).tolist() == [0, 2, 4, 1, 3]


def test_nan_counts_as_the_largest():
    x = pg.tensor([2.0, nan, 1.0, inf])
    assert x.argsort().tolist() == [2, 0, 3, 1]
    assert x.argsort(descending=True).tolist() == [1, 3, 0, 2]
    assert x.topk(2)[1].tolist() == [1, 3]
    assert x.sort().tolist()[:3] == [1.0, 2.0, inf]
    assert isnan(x.sort(descending=True)[0].item())


def test_the_gradient_of_sort_is_the_permutation_undone():
    assert slope(pg.sort, [2.0, 2.0, 1.0], [10.0, 20.0, 30.0]) == [20.0, 30.0, 10.0]
    assert slope(lambda x: x.sort(descending=True), [2.0, 5.0, 1.0], [10.0, 20.0, 30.0]) == [20.0, 10.0, 30.0]


def test_the_k_largest():
    x = pg.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 0.0]])
    values, indices = x.topk(2)
    assert (values.tolist(), indices.tolist()) == ([[3.0, 2.0], [5.0, 0.0]], [[0, 2], [1, 0]])
    values, indices = pg.topk(x, 1, axis=0, largest=False)
    assert (values.tolist(), indices.tolist()) == ([[0.0, 1.0, 0.0]], [[1, 0, 1]])
    assert x.topk(0)[0].shape == (2, 0)
    assert slope(lambda x: x.topk(2)[0], [3.0, 1.0, 4.0], [10.0, 20.0]) == [20.0, 0.0, 10.0]
    with pytest.raises(AxisError, match="topk: k=4 is out of range for axis 1 of size 3"):
        x.topk(4)


def test_the_second_derivative_of_topk():
    x = pg.tensor([3.0, 1.0, 4.0], requires_grad=True)
    (g,) = pg.grad((x.topk(2)[0] ** 3).sum(), x, create_graph=True)
    assert pg.grad(g.sum(), x)[0].tolist() == pytest.approx([18.0, 0.0, 24.0])


def test_medians():
    x = pg.tensor([[3.0, 1.0, 2.0, 9.0], [0.0, 5.0, 5.0, 7.0]])
    assert x.median().item() == 3.0
    assert x.median(axis=1).tolist() == [2.0, 5.0]
    assert x.median(axis=0, keepdims=True).tolist() == [[0.0, 1.0, 2.0, 7.0]]
    assert x.median(axis=(0, 1), keepdims=True).tolist() == [[3.0]]
    assert pg.tensor([2**62 + 1, 2**62, 0]).median().item() == 2**62
    assert isnan(pg.tensor([1.0, nan, 0.0]).median().item())
    with pytest.raises(ShapeError, match="no median of nothing"):
        pg.zeros(0).median()


def test_one_element_gets_the_whole_gradient_of_a_median():
    assert slope(pg.median, [1.0, 3.0, 3.0, 9.0], 1.0) == [0.0, 1.0, 0.0, 0.0]
    found = slope(lambda x: x.median(axis=0), [[2.0, 1.0], [2.0, 5.0], [2.0, 0.0]], [1.0, 7.0])
    assert [sum(column) for column in zip(*found, strict=True)] == [1.0, 7.0]
    assert sum(v != 0 for row in found for v in row) == 2


def test_the_gradient_of_nan_goes_to_it():
    x = pg.tensor([[1.0, nan, 0.0], [4.0, 5.0, 6.0]], requires_grad=True)
    x.median(axis=1).backward(pg.tensor([1.0, 2.0]))
    assert x.grad.tolist() == [[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]


def test_quantiles():
    x = pg.tensor([4.0, 1.0, 3.0, 2.0])
    assert x.quantile(0.5).item() == 2.5
    assert x.quantile([0.0, 0.25, 1.0]).tolist() == [1.0, 1.75, 4.0]
    assert x.quantile(pg.tensor([0.5])).tolist() == [2.5]
    grid = pg.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    assert grid.quantile([0.0, 0.5], axis=1, keepdims=True).shape == (2, 2, 1)
    assert grid.quantile([0.0, 0.5], axis=1).tolist() == [[1.0, 1.0], [2.0, 2.0]]
    assert pg.tensor([1, 2]).quantile(0.5).item() == 1.5


def test_ways_to_interpolate():
    x = pg.tensor([0.0, 10.0, 20.0, 30.0])
    want = {"linear": 12.0, "lower": 10.0, "higher": 20.0, "nearest": 10.0, "midpoint": 15.0}
    assert {how: x.quantile(0.4, interpolation=how).item() for how in want} == pytest.approx(want)
    assert x.quantile(0.5, interpolation="nearest").item() == 20.0  # place 1.5, half to even


def test_quantiles_of_odd_numbers():
    assert pg.tensor([inf, 1.0, inf, inf]).quantile([0.0, 0.9, 1.0]).tolist() == [1.0, inf, inf]
    assert pg.tensor([0.1] * 7).quantile(0.3).item() == pg.tensor(0.1).item()
    assert [isnan(v) for v in pg.tensor([[1.0, nan], [1.0, 2.0]]).quantile(0.0, axis=1).tolist()] == [True, False]
    with pytest.raises(ValueError, match=r"q=1\.5"):
        pg.ones(3).quantile(1.5)
    with pytest.raises(ValueError, match="'cubic' is none of linear"):
        pg.ones(3).quantile(0.5, interpolation="cubic")


def test_the_gradient_of_a_quantile_goes_to_its_neighbours():
    assert slope(lambda x: x.quantile(0.25), [4.0, 1.0, 3.0, 2.0], 1.0) == [0.0, 0.25, 0.0, 0.75]
    assert slope(lambda x: x.quantile([0.0, 0.5, 1.0]), [3.0, 1.0, 2.0], [1.0, 2.0, 4.0]) == [4.0, 1.0, 2.0]


def test_wrong_arguments():
    with pytest.raises(AxisError, match="sort: axis -1 is out of range: a 0-d tensor has no axes"):
        pg.tensor(1.0).sort()
    with pytest.raises(DTypeError, match="argsort: expected a tensor"):
        pg.argsort([1.0])


def test_shares_given_as_a_tensor_are_rounded_as_such():
    x = pg.tensor([float(i) for i in range(11)])
    for q in (0.1, [0.1, 0.7], pg.tensor(0.1), pg.tensor([0.1, 0.7])):
        for rounding in ("lower", "higher", "linear"):
            assert pg.quantile(x, q, interpolation=rounding).reshape(-1).tolist() in ([1], [1, 7])
    with pytest.raises(ValueError, match=r"q=1\.5"):
        pg.quantile(x, pg.tensor([0.5, 1.5]))
