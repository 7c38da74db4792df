"""Powers at 0 and of negative bases, to the fourth derivative; roots at 0; whole numbers."""

from __future__ import annotations

import pytest

import plugrad as pg
from plugrad.errors import DTypeError


def derivatives(f, at, n):
    x = pg.tensor(at, requires_grad=True)
    y, found = f(x), []
    for _ in range(n):
        (y,) = pg.grad(y, [x], create_graph=True)
        found.append(y.item())
    return found


def test_fourth_derivative_at_zero():
    assert derivatives(lambda x: pg.exp(-(x**2)), 0.0, 4) == pytest.approx([0, -2, 0, 12])
    assert derivatives(lambda x: x**3, 0.0, 4)[:3] == [0, 0, 6]
    assert derivatives(lambda x: x ** pg.tensor(3.0), 0.0, 4) == [0, 0, 6, 0]
    assert derivatives(lambda x: x ** pg.tensor(2.0), -2.0, 3) == [-4, 2, 0]


def test_zero_to_every_power():
    x = pg.tensor([0.0, 0.0, 0.0, -2.0], requires_grad=True)
    (x ** pg.tensor([0.0, 1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [0, 1, 0, 12]


def test_gradient_of_the_exponent_at_base_zero():
    p = pg.tensor([1.0, 2.0, 0.0], requires_grad=True)
    (pg.tensor([0.0, 3.0, 0.0]) ** p).sum().backward()
    assert p.grad.tolist() == pytest.approx([0, 9.887511, 0])


def test_second_order_with_both_at_zero():
    x = pg.tensor([0.0, 2.0, -1.0], requires_grad=True)
    p = pg.tensor([2.0, 0.0, 2.0])
    (g,) = pg.grad((x**p).sum(), [x], create_graph=True)
    (h,) = pg.grad(g.sum(), [x])
    assert h.tolist() == [2, 0, 2]


def test_mixed_derivative_at_exponent_zero():
    x, p = (pg.tensor(v, requires_grad=True) for v in (2.0, 0.0))
    (g,) = pg.grad(x**p, [x], create_graph=True)
    assert pg.grad(g, [p])[0].item() == pytest.approx(0.5)


def test_integers():
    x = pg.tensor([2, -3, 0])
    assert (x**3).tolist() == [8, -27, 0]
    assert (x**3).dtype == "int64"
    assert (2 ** pg.tensor([3, 0])).tolist() == [8, 1]
    assert (pg.tensor([4, 9]) ** 0.5).tolist() == [2, 3]
    assert (pg.tensor([True, False]) ** 2).dtype == "int64"
    with pytest.raises(pg.errors.DTypeError, match=r"negative powers.*astype"):
        x**-1
    with pytest.raises(pg.errors.DTypeError, match="negative powers"):
        x ** pg.tensor([1, -1, 1])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy tells of infinities and NaNs, as it should
def test_roots_at_zero_behind_a_mask():
    for f in (pg.sqrt, pg.rsqrt, lambda x: x**0.5, lambda x: x**-1):
        x = pg.tensor([0.0, 4.0], requires_grad=True)
        (g,) = pg.grad(pg.where(x > 0, f(x), 0.0).sum(), [x], create_graph=True)
        (h,) = pg.grad(g.sum(), [x])
        assert g.tolist()[0] == h.tolist()[0] == 0


def test_hypot_at_the_origin_and_far_out():
    x, y = (pg.tensor(v, requires_grad=True) for v in ([0.0, 3.0, 3e30], [0.0, -4.0, 4e30]))
    z = pg.hypot(x, y)
    assert z.tolist() == pytest.approx([0, 5, 5e30], rel=1e-6)
    z.sum().backward()
    assert x.grad.tolist() == pytest.approx([0, 0.6, 0.6])
    assert y.grad.tolist() == pytest.approx([0, -0.8, 0.8])


def test_bools_have_no_power():
    with pytest.raises(DTypeError, match="not for bool"):
        pg.tensor([True]) ** pg.tensor([False])
    assert (pg.tensor([True, False]) ** 2).dtype == "int64"


def test_hypot_at_the_origin_is_flat_to_second_order():
    x, y = (pg.tensor([0.0, 3.0], requires_grad=True) for _ in range(2))
    gx, gy = pg.grad(pg.hypot(x, y).sum(), (x, y), create_graph=True)
    hx, hy = pg.grad((gx + gy).sum(), (x, y))
    assert gx.tolist() == gy.tolist() == [0, pytest.approx(0.5**0.5)]
    assert hx.tolist()[0] == hy.tolist()[0] == 0
