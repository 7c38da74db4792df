"""Reductions: values, shapes, dtypes, ties, zeros, NaN, and nothing to reduce."""

from math import inf, isnan, nan

import pytest

import plugrad as pg
from plugrad.errors import AxisError, DTypeError, ShapeError


def slope(f, data):
    """∂f/∂x as nested lists."""
    x = pg.tensor(data, requires_grad=True)
    z = f(x)
    z.backward(pg.ones(z.shape))
    return x.grad.tolist()


def second(f, data):
    """∂/∂x of the sum of squares of ∂f/∂x, as nested lists."""
    x = pg.tensor(data, requires_grad=True)
    (g,) = pg.grad(f(x).sum(), x, create_graph=True)
    (h,) = pg.grad((g * g).sum(), x, allow_unused=True, materialize_grads=True)
    return h.tolist()


GRID = [[1.0, 5.0, 2.0], [4.0, 0.0, 3.0]]


def test_axis_and_keepdims():
    x = pg.tensor(GRID)
    assert x.sum().tolist() == 15.0
    assert x.sum(axis=0).tolist() == x.sum(axis=-2).tolist() == [5.0, 5.0, 5.0]
    assert x.sum(axis=1, keepdims=True).tolist() == [[8.0], [7.0]]
    assert x.sum(axis=(1, 0), keepdims=True).tolist() == [[15.0]]
    assert x.sum(axis=()).tolist() == GRID
    assert x.mean(axis=1).tolist() == pytest.approx([8 / 3, 7 / 3])
    assert x.prod(axis=0).tolist() == [4.0, 0.0, 6.0]
    assert (x.max().item(), x.min().item()) == (5.0, 0.0)
    assert x.amax(axis=1).tolist() == [5.0, 4.0]
    assert x.amin(axis=(0, 1), keepdims=True).tolist() == [[0.0]]


def test_a_single_number_is_its_own_sum_mean_product_and_maximum():
    x = pg.tensor(3.0, requires_grad=True)
    for f in (pg.sum, pg.mean, pg.prod, pg.max, pg.min):
        assert f(x).item() == 3.0
        assert pg.grad(f(x), x)[0].item() == 1.0


def test_positions():
    x = pg.tensor(GRID)
    assert (x.argmax().item(), x.argmin().item()) == (1, 4)
    assert x.argmax(axis=0).tolist() == [1, 0, 1]
    assert x.argmin(axis=-1, keepdims=True).tolist() == [[0], [1]]
    assert pg.tensor([2.0, 7.0, 7.0]).argmax().item() == 1
    assert pg.tensor([False, True, True]).argmax().item() == 1
    assert x.argmax().dtype is pg.int64


def test_positions_of_the_smallest_integers_that_there_are():
    assert pg.tensor([5, -(2**63), 2**63 - 1]).argmin().item() == 1
    assert pg.tensor([5, 0, 255], dtype="uint8").argmin().item() == 1


def test_all_any_count_nonzero():
    x = pg.tensor([[0.0, nan], [1.0, 2.0]])
    assert x.all(axis=1).tolist() == [False, True]
    assert x.any(axis=0).tolist() == [True, True]
    assert x.count_nonzero(axis=1, keepdims=True).tolist() == [[1], [2]]
    assert pg.tensor([0, 0]).any().item() is False
    nothing = pg.zeros(0)
    assert (nothing.all().item(), nothing.any().item(), nothing.count_nonzero().item()) == (True, False, 0)


@pytest.mark.parametrize(
    ("given", "found"), [("bool", "int64"), ("int32", "int64"), ("uint8", "uint64"), ("float16", "float16")]
)
def test_sums_and_products_of_small_integers_widen(given, found):
    x = pg.tensor([1, 1, 1]).astype(given)
    assert x.sum().dtype == x.prod().dtype == found
    assert (x.sum().item(), x.prod().item()) == (3, 1)


def test_a_sum_of_small_integers_does_not_wrap_around():
    assert pg.tensor([100, 100, 100], dtype="uint8").sum().item() == 300
    assert pg.tensor([2**31 - 1, 2], dtype="int32").prod().item() == 2**32 - 2


def test_dtype_says_what_to_add_up_in():
    x = pg.tensor([1.5, 2.5])
    assert x.sum(dtype="int64").item() == 3
    assert pg.tensor([1, 2]).sum(dtype=pg.float64).dtype is pg.float64
    assert pg.tensor([100, 100, 57], dtype="uint8").sum(dtype="uint8").item() == 1
    assert pg.tensor([1, 2]).mean(dtype="float64").item() == 1.5
    y = pg.tensor([1.0, 2.0], requires_grad=True)
    y.sum(dtype="float64").backward()
    assert y.grad.dtype is pg.float32


def test_means_of_integers_are_floats():
    assert pg.tensor([1, 2]).mean().dtype is pg.float32
    assert pg.tensor([True, False]).mean().item() == 0.5


def test_half_precision_adds_up_in_float32():
    x = pg.ones(4096, dtype="float16") if "float16" in pg.device().backend.dtypes else pg.ones(4096)
    assert x.sum().item() == 4096


def test_nothing_to_reduce():
    x = pg.zeros((0, 4))
    assert (x.sum().item(), x.prod().item()) == (0.0, 1.0)
    assert isnan(x.mean().item())
    assert x.sum(axis=0).tolist() == [0.0] * 4
    assert [isnan(v) for v in x.mean(axis=0).tolist()] == [True] * 4
    assert x.amax(axis=1).shape == (0,)
    for f in (pg.max, pg.min, pg.argmax, pg.argmin):
        with pytest.raises(ShapeError, match=rf"{f.__name__}: shape \(0, 4\) has nothing along axis 0"):
            f(x, axis=0)


@pytest.mark.parametrize("f", [pg.sum, pg.mean, pg.prod])
def test_the_gradient_of_nothing_is_nothing(f):
    x = pg.zeros((3, 0), requires_grad=True)
    f(x, axis=1).sum().backward()
    assert x.grad.shape == (3, 0)


def test_ties_share_the_gradient():
    assert slope(pg.max, [3.0, 1.0, 3.0, 2.0]) == [0.5, 0.0, 0.5, 0.0]
    assert slope(pg.min, [1.0, 1.0, 1.0, 2.0]) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0.0])
    assert slope(lambda x: x.amax(axis=1), [[2.0, 2.0], [1.0, 3.0]]) == [[0.5, 0.5], [0.0, 1.0]]
    assert slope(pg.max, [inf, inf, 1.0]) == [0.5, 0.5, 0.0]


def test_nan_is_handed_on_with_its_gradient():
    x = pg.tensor([1.0, nan, 3.0], requires_grad=True)
    for f in (pg.max, pg.min):
        z = f(x)
        assert isnan(z.item())
        assert pg.grad(z, x)[0].tolist() == [0.0, 1.0, 0.0]
    assert x.argmax().item() == x.argmin().item() == 1


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # 0 · inf is NaN, and NumPy says so
def test_what_a_mask_hides_has_no_gradient():
    data = [[1.0, nan], [inf, 0.0], [2.0, 3.0]]
    keep = pg.tensor([False, False, True])
    for f in (pg.sum, pg.mean, pg.prod, pg.max, pg.min):
        found = slope(lambda x, f=f: pg.where(keep, f(x, axis=1), 0.0), data)
        assert found[:2] == [[0.0, 0.0], [0.0, 0.0]]
        assert any(found[2])


def test_products_with_zeros():
    assert slope(pg.prod, [2.0, 0.0, 4.0]) == [0.0, 8.0, 0.0]
    assert slope(pg.prod, [0.0, 0.0, 5.0]) == [0.0, 0.0, 0.0]
    assert slope(pg.prod, [0.0]) == [1.0]


def test_second_derivatives_of_products_with_zeros():
    x = pg.tensor([0.0, 0.0, 5.0], requires_grad=True)
    (g,) = pg.grad(x.prod(), x, create_graph=True)
    assert pg.grad(g[0], x)[0].tolist() == [0.0, 5.0, 0.0]
    assert second(lambda x: x.prod(), [0.0, 2.0, 3.0]) == [0.0, 36.0, 24.0]


def test_wrong_axes_and_things_that_are_no_tensors():
    with pytest.raises(AxisError, match="sum: axis 2 is out of range for 2 dimensions"):
        pg.ones((2, 3)).sum(axis=2)
    with pytest.raises(AxisError, match="twice"):
        pg.ones((2, 3)).mean(axis=(1, -1))
    with pytest.raises(DTypeError, match=r"max: expected a tensor, got list.*pg\.tensor"):
        pg.max([1.0, 2.0])
    with pytest.raises(DTypeError, match="sum: expected a tensor"):
        pg.sum([1.0], dtype="float64")


def test_nothing_is_kept_for_the_gradient_of_a_sum():
    x = pg.ones((2, 3), requires_grad=True)
    assert x.sum(axis=0).node.saved == x.mean().node.saved == ()


def test_gradient_of_a_product_whose_parts_overflow():
    assert slope(pg.prod, [1e-20, 1e-20, 1e20, 1e20]) == pytest.approx([1e20, 1e20, 1e-20, 1e-20], rel=1e-4)
    assert slope(pg.prod, [1e-20, 1e-20, 1e-3]) == pytest.approx([1e-23, 1e-23, 1e-40], rel=1e-4)
    assert slope(pg.prod, [1e30, 1e30]) == pytest.approx([1e30, 1e30], rel=1e-6)
    assert slope(pg.prod, [2.0, inf]) == [inf, 2.0]
    assert second(pg.prod, [1e-10, 1.0])[0] == pytest.approx(2e-10, rel=1e-4, abs=0)


def test_axes_are_whole_numbers():
    with pytest.raises(DTypeError, match=r"sum: axis 1\.0 is no whole number"):
        pg.ones(2, 2).sum(axis=1.0)
    with pytest.raises(AxisError, match="sum: axis 0 is out of range: a 0-d tensor has no axes"):
        pg.tensor(1.0).sum(axis=0)
