"""Running sums, products and differences: values, dtypes, zeros, infinities."""

from math import inf

import pytest

import plugrad as pg
from plugrad.errors import AxisError, DTypeError, ShapeError
from plugrad.ops.scan import recurrence
from plugrad.testing.gradcheck import gradcheck


def slope(f, data):
    """∂(Σ f)/∂x as nested lists."""
    x = pg.tensor(data, requires_grad=True)
    z = f(x)
    z.backward(pg.ones(z.shape))
    return x.grad.tolist()


def test_running_sums_and_products():
    x = pg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert x.cumsum(1).tolist() == [[1.0, 3.0, 6.0], [4.0, 9.0, 15.0]]
    assert x.cumsum(axis=-2).tolist() == [[1.0, 2.0, 3.0], [5.0, 7.0, 9.0]]
    assert x.cumprod(1).tolist() == [[1.0, 2.0, 6.0], [4.0, 20.0, 120.0]]
    assert x.cumprod(axis=0).tolist() == [[1.0, 2.0, 3.0], [4.0, 10.0, 18.0]]


@pytest.mark.parametrize("n", range(9))
def test_every_length(n):
    x = pg.tensor([float(i + 1) for i in range(n)])
    assert x.cumsum(0).tolist() == [float(sum(range(1, i + 2))) for i in range(n)]
    assert pg.diff(x.cumsum(0)).tolist() == [float(i + 2) for i in range(n - 1)]
    assert slope(lambda x: x.cumsum(0), x.tolist()) == [float(n - i) for i in range(n)]


def test_the_standards_names():
    x = pg.tensor([1, 2, 3])
    assert pg.cumulative_sum(x).tolist() == [1, 3, 6]
    assert pg.cumulative_sum(x, include_initial=True).tolist() == [0, 1, 3, 6]
    assert pg.cumulative_prod(x, include_initial=True).tolist() == [1, 1, 2, 6]
    assert pg.cumulative_prod(pg.ones((2, 3)), axis=1, include_initial=True).shape == (2, 4)
    assert pg.cumulative_sum(x, dtype="float64").dtype is pg.float64
    with pytest.raises(ShapeError, match=r"shape \(2, 3\) has 2 dimensions; say which"):
        pg.cumulative_sum(pg.ones((2, 3)))


def test_dtypes():
    for given, found in (("bool", "int64"), ("int32", "int64"), ("uint8", "uint64"), ("float32", "float32")):
        x = pg.tensor([1, 1, 1]).astype(given)
        assert x.cumsum(0).dtype == x.cumprod(0).dtype == found
    assert pg.tensor([200, 100], dtype="uint8").cumsum(0).tolist() == [200, 300]
    assert pg.tensor([1.5, 1.5]).cumsum(0, dtype="int64").tolist() == [1, 2]


def test_running_products_with_zeros():
    assert slope(lambda x: x.cumprod(0), [2.0, 0.0, 3.0, 4.0]) == [1.0, 32.0, 0.0, 0.0]
    assert slope(lambda x: x.cumprod(0), [0.0]) == [1.0]
    assert slope(lambda x: x.cumprod(0)[2], [0.0, 0.0, 5.0]) == [0.0, 0.0, 0.0]


def test_second_derivative_of_a_running_product_with_zeros():
    x = pg.tensor([2.0, 0.0, 0.0, 4.0], requires_grad=True)
    (g,) = pg.grad(x.cumprod(0).sum(), x, create_graph=True)
    assert g.tolist() == [1.0, 2.0, 0.0, 0.0]
    assert pg.grad(g[1], x)[0].tolist() == [1.0, 0.0, 10.0, 0.0]  # g₁ = x₀ + x₀ x₂ + x₀ x₂ x₃


def test_an_infinity_behind_what_was_asked_for_does_no_harm():
    assert slope(lambda x: x.cumprod(0)[0], [1.0, inf, 2.0]) == [1.0, 0.0, 0.0]
    assert slope(lambda x: x.cumprod(0)[1], [3.0, 2.0, inf]) == [2.0, 3.0, 0.0]


def test_nothing_to_run_along():
    assert slope(lambda x: x.cumsum(-1), [[], []]) == [[], []]
    assert slope(lambda x: x.cumprod(-1), [[], []]) == [[], []]


def test_recurrence_adds_and_multiplies():
    x, y = pg.tensor([9.0, 2.0, 3.0]), pg.tensor([1.0, 1.0, 1.0])
    assert recurrence(x, y, 0, False).tolist() == [1.0, 3.0, 10.0]
    assert recurrence(x, y, 0, True).tolist() == [28.0, 3.0, 1.0]
    with pytest.raises(ShapeError, match=r"\(3,\) and \(2,\)"):
        recurrence(x, pg.ones(2), 0, False)


def test_differences():
    x = pg.tensor([[1.0, 4.0, 9.0, 16.0]])
    assert pg.diff(x).tolist() == [[3.0, 5.0, 7.0]]
    assert pg.diff(x, n=2).tolist() == [[2.0, 2.0]]
    assert pg.diff(x, n=0).tolist() == x.tolist()
    assert pg.diff(x, n=9).shape == (1, 0)
    assert pg.diff(x, axis=0).shape == (0, 4)
    assert pg.diff(x, prepend=pg.tensor([[0.0]]), append=pg.tensor([[20.0]])).tolist() == [[1.0, 3.0, 5.0, 7.0, 4.0]]
    assert slope(pg.diff, [1.0, 5.0, 2.0]) == [-1.0, 0.0, 1.0]
    assert slope(lambda x: pg.diff(x, axis=0), [[1.0, 2.0]]) == [[0.0, 0.0]]
    with pytest.raises(ShapeError, match="n=-1"):
        pg.diff(x, n=-1)


def test_gradients_of_long_products_are_slopes():
    if "float64" not in pg.device().backend.dtypes:
        pytest.skip("the default device has no float64")
    x = pg.tensor([1.5, -0.5, 0.0, 2.0, 1.0, 0.0, -1.0, 3.0, 0.25], dtype="float64")
    gradcheck(lambda x: x.cumprod(0), [x], order=3)


def test_wrong_arguments():
    with pytest.raises(AxisError, match="cumsum: axis 1 is out of range"):
        pg.ones(3).cumsum(1)
    with pytest.raises(DTypeError, match="cumprod: expected a tensor"):
        pg.cumprod([1.0], 0)
