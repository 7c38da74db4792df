"""Angles, with the signs of zeros; gradients at the ends of domains and at the origin."""

from __future__ import annotations

import math
from math import inf, isnan

import pytest

import plugrad as pg


def test_atan2_knows_the_quadrant():
    y, x = pg.tensor([0.0, -0.0, 1.0, -1.0]), pg.tensor([-1.0, -1.0, -0.0, 0.0])
    assert pg.atan2(y, x).tolist() == pytest.approx([math.pi, -math.pi, math.pi / 2, -math.pi / 2])


def test_atan2_at_the_origin():
    y, x = pg.tensor([0.0, 3.0], requires_grad=True), pg.tensor([0.0, 4.0], requires_grad=True)
    pg.atan2(y, x).sum().backward()
    assert y.grad.tolist() == pytest.approx([0, 0.16])
    assert x.grad.tolist() == pytest.approx([0, -0.12])


def test_atan2_far_out():
    y, x = pg.tensor(3e30, requires_grad=True), pg.tensor(4e30, requires_grad=True)
    pg.atan2(y, x).backward()
    assert y.grad.item() == pytest.approx(1.6e-31)
    assert x.grad.item() == pytest.approx(-1.2e-31)


def test_tanh_far_out():
    x = pg.tensor([-1000.0, 1000.0], requires_grad=True)
    z = pg.tanh(x)
    z.sum().backward()
    assert z.tolist() == [-1, 1]
    assert x.grad.tolist() == [0, 0]


@pytest.mark.parametrize("f", [pg.asin, pg.acos])
def test_the_ends_of_a_domain_behind_a_mask(f):
    x = pg.tensor([-1.0, 0.5, 1.0], requires_grad=True)
    (g,) = pg.grad(pg.where(abs(x) < 1, f(x), 0.0).sum(), [x], create_graph=True)
    (h,) = pg.grad(g.sum(), [x])
    assert g.tolist()[::2] == h.tolist()[::2] == [0, 0]
    assert math.isfinite(h.tolist()[1])


def test_inverses():
    x = pg.tensor([-0.7, 0.0, 0.4], dtype="float64")
    for f, inverse in ((pg.sin, pg.asin), (pg.tan, pg.atan), (pg.sinh, pg.asinh), (pg.tanh, pg.atanh)):
        assert inverse(f(x)).tolist() == pytest.approx(x.tolist(), abs=1e-15)
    assert pg.acos(pg.cos(abs(x))).tolist() == pytest.approx(abs(x).tolist(), abs=1e-15)
    assert pg.acosh(pg.cosh(abs(x))).tolist() == pytest.approx(abs(x).tolist(), abs=1e-15)


def test_integers_give_float32():
    for f in (pg.sin, pg.cos, pg.tan, pg.atan, pg.sinh, pg.tanh, pg.asinh):
        assert f(pg.tensor([0, 1])).dtype == "float32"


@pytest.mark.parametrize(
    ("f", "at", "first", "second"),
    [
        (pg.asin, 1.0, inf, inf), (pg.asin, -1.0, inf, -inf), (pg.acos, 1.0, -inf, -inf), (pg.acos, -1.0, -inf, inf),
        (pg.atanh, 1.0, inf, inf), (pg.atanh, -1.0, inf, -inf), (pg.acosh, 1.0, inf, -inf),
    ],
)  # fmt: skip
def test_slopes_at_the_ends_are_infinite_to_second_order(f, at, first, second):
    x = pg.tensor([at], requires_grad=True)
    (g,) = pg.grad(f(x).sum(), x, create_graph=True)
    (h,) = pg.grad(g.sum(), x)
    assert (g.item(), h.item()) == (first, second)


@pytest.mark.parametrize(("f", "x"), [(pg.asin, 2.0), (pg.acos, -2.0), (pg.acosh, 0.5), (pg.acosh, -2.0)])
def test_slopes_outside_the_domain_are_nan(f, x):
    t = pg.tensor([x], requires_grad=True)
    f(t).sum().backward()
    assert isnan(t.grad.item())


def test_the_slope_of_acosh_far_out():
    x = pg.tensor([1e30], requires_grad=True)
    pg.acosh(x).sum().backward()
    assert x.grad.item() == pytest.approx(1e-30)
