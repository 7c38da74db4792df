"""Variance, norms and logsumexp, where others give NaN: large means, equal numbers, zeros, infinities."""

from math import inf, isnan, log, nan, sqrt

import pytest

import plugrad as pg
from plugrad.errors import ShapeError


def slope(f, data):
    """∂f/∂x as nested lists."""
    x = pg.tensor(data, requires_grad=True)
    z = f(x)
    z.backward(pg.ones(z.shape))
    return x.grad.tolist()


def second(f, data):
    """∂/∂x of Σ c · ∂f/∂x, with c = 1, 2, 3, ..., as a list."""
    x = pg.tensor(data, requires_grad=True)
    z = f(x)
    (g,) = pg.grad(z, x, pg.ones(z.shape), create_graph=True)
    c = pg.tensor([float(i + 1) for i in range(x.size)]).reshape(x.shape)
    if not g.requires_grad:  # constant
        return [0.0] * x.size
    return pg.grad(g, x, c, allow_unused=True, materialize_grads=True)[0].reshape(-1).tolist()


def test_variance():
    x = pg.tensor([[1.0, 2.0, 6.0], [3.0, 3.0, 3.0]])
    assert x.var(axis=1).tolist() == pytest.approx([7.0, 0.0])
    assert x.var(axis=1, correction=0).tolist() == pytest.approx([14 / 3, 0.0])
    assert x.std(axis=-1, keepdims=True).tolist() == [[pytest.approx(sqrt(7))], [0.0]]
    spread, middle = pg.var_mean(x, axis=0)
    assert (spread.tolist(), middle.tolist()) == ([2.0, 0.5, 4.5], [2.0, 2.5, 4.5])
    spread, middle = pg.std_mean(x, axis=0, correction=0)
    assert (spread.tolist(), middle.tolist()) == ([1.0, 0.5, 1.5], [2.0, 2.5, 4.5])
    assert pg.tensor([1, 2, 6]).var().dtype is pg.float32


def test_variance_of_numbers_with_a_large_mean():
    x = [65536.0 + 0.25 * i for i in range(16)]
    assert pg.tensor(x).var().item() == pytest.approx(1.416667)
    assert pg.tensor(x).var(correction=0).item() == 1.328125
    assert slope(lambda x: x.var(correction=0), x)[0] == -0.234375
    far = [1e7 + i for i in (0.0, 1.0, 2.0, 4.0)]
    assert pg.tensor(far).var(correction=0).item() == 2.1875
    assert slope(lambda x: x.var(correction=0), far) == [-0.875, -0.375, 0.125, 1.125]


@pytest.mark.parametrize("value", [2.0, 0.1, 1e-20, 3e7])
def test_equal_numbers_have_no_spread_and_no_gradient(value):
    x = [value] * 9
    assert pg.tensor(x).std().item() == pg.tensor(x).var().item() == 0.0
    assert slope(pg.std, x) == slope(pg.var, x) == [0.0] * 9
    assert second(pg.std, x) == [0.0] * 9


def test_spread_of_one_number():
    one = pg.tensor([5.0])
    assert isnan(one.std().item())
    assert isnan(one.var().item())
    assert one.std(correction=0).item() == one.var(correction=0).item() == 0.0
    assert pg.tensor([1.0, 3.0]).var(correction=2).item() == inf


def test_gradient_of_the_standard_deviation():
    assert slope(pg.std, [1.0, 3.0]) == pytest.approx([-sqrt(0.5), sqrt(0.5)])


def test_norms():
    x = pg.tensor([[3.0, -4.0], [0.0, 2.0]])
    assert x.norm().item() == pytest.approx(sqrt(29))
    assert x.norm(axis=1).tolist() == [5.0, 2.0]
    assert x.norm(1, axis=0).tolist() == [3.0, 6.0]
    assert x.norm(inf, axis=1, keepdims=True).tolist() == [[4.0], [2.0]]
    assert x.norm(-inf, axis=1).tolist() == [3.0, 0.0]
    assert x.norm(0, axis=1).tolist() == [2.0, 1.0]
    assert x.norm(3).item() == pytest.approx((27 + 64 + 8) ** (1 / 3))
    assert x.norm(-1, axis=1).tolist() == pytest.approx([1 / (1 / 3 + 1 / 4), 0.0])
    assert pg.tensor([3, 4]).norm().item() == 5.0


@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 3, inf, -inf, -1])
def test_at_zero_a_norm_has_the_gradient_zero(p):
    zeros = [0.0, 0.0, 0.0]
    assert pg.tensor(zeros).norm(p).item() == 0.0
    assert slope(lambda x: x.norm(p), zeros) == second(lambda x: x.norm(p), zeros) == zeros
    rows = slope(lambda x: x.norm(p, axis=1), [[0.0, 0.0], [3.0, 4.0]])
    assert rows[0] == [0.0, 0.0]
    assert p == 0 or any(rows[1])


def test_the_square_of_a_norm_at_zero():
    assert slope(lambda x: x.norm() ** 2, [0.0, 0.0]) == [0.0, 0.0]


@pytest.mark.parametrize("p", [0.5, 1.5, 3])
def test_zeros_among_other_numbers_have_finite_gradients(p):
    x = [0.0, -2.0, 1.0]
    found = slope(lambda x: x.norm(p), x)
    assert found[0] == 0.0
    assert found[1] < 0 < found[2]
    assert all(abs(v) < inf for v in second(lambda x: x.norm(p), x))


@pytest.mark.parametrize("unit", [1e30, 1e-30, 1e-42])
def test_a_norm_neither_overflows_nor_vanishes(unit):
    x = [3 * unit, -4 * unit]
    assert pg.tensor(x).norm().item() == pytest.approx(5 * unit, rel=1e-2 if unit < 1e-40 else 1e-6)
    assert slope(pg.norm, x) == pytest.approx([0.6, -0.8], rel=1e-2 if unit < 1e-40 else 1e-6)


def test_a_norm_of_infinities():
    assert pg.tensor([1.0, -inf]).norm().item() == inf
    assert isnan(pg.tensor([nan, inf]).norm().item())
    assert slope(lambda x: x.norm(inf), [-2.0, 2.0, 1.0]) == [-0.5, 0.5, 0.0]


def test_norms_of_nothing():
    x = pg.zeros((2, 0))
    assert x.norm(axis=1).tolist() == x.norm(0, axis=1).tolist() == [0.0, 0.0]
    with pytest.raises(ShapeError, match="nothing along axis 1"):
        x.norm(inf, axis=1)


def test_logsumexp():
    far = pg.tensor([[1000.0, 1000.0], [0.0, -1000.0]])
    assert far.logsumexp(axis=1).tolist() == pytest.approx([1000 + log(2), 0.0])
    assert slope(pg.logsumexp, [1000.0, 1000.0]) == [0.5, 0.5]
    assert pg.zeros((2, 0)).logsumexp(axis=1).tolist() == [-inf, -inf]
    assert pg.zeros((2, 3)).logsumexp(axis=(0, 1), keepdims=True).shape == (1, 1)
    assert pg.tensor([0, 0]).logsumexp().item() == pytest.approx(log(2))


def test_logsumexp_of_infinities():
    x = [[-inf, -inf], [0.0, 0.0], [-inf, 2.0], [inf, 1000.0], [inf, inf]]
    want = [-inf, pytest.approx(log(2)), 2.0, inf, inf]
    assert pg.tensor(x).logsumexp(axis=1).tolist() == want
    assert slope(lambda x: x.logsumexp(axis=1), x) == [[0.0, 0.0], [0.5, 0.5], [0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]
    found = second(lambda x: x.logsumexp(axis=1), x)
    assert found[:2] + found[4:] == [0.0] * 8
    assert found[2:4] == pytest.approx([-0.25, 0.25])


def test_an_impossible_row_does_not_spoil_what_it_shares():
    b = pg.tensor(1.0, requires_grad=True)
    pg.stack([b * 0.0 - inf, b - inf]).logsumexp(axis=0).backward()
    assert b.grad.item() == 0.0


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # inf - inf is NaN, and NumPy says so
def test_what_a_mask_hides_has_no_gradient():
    data = [[1.0, nan], [inf, 0.0], [-inf, -inf], [2.0, 4.0]]
    keep = pg.tensor([False, False, False, True])
    norms = [lambda x, p=p: x.norm(p, axis=1) for p in (1, 2, 3, inf, -inf)]
    spreads = [lambda x: x.var(axis=1), lambda x: x.std(axis=1), lambda x: x.var(axis=1, correction=2)]
    for f in (*norms, spreads[0], spreads[1], lambda x: x.logsumexp(axis=1)):
        found = slope(lambda x, f=f: pg.where(keep, f(x), 0.0), data)
        assert found[:3] == [[0.0, 0.0]] * 3
        assert any(found[3])
    hidden = slope(lambda x: pg.where(keep, 0.0, spreads[2](x)) * pg.where(keep, 1.0, 0.0), data)
    assert hidden[3] == [0.0, 0.0]
