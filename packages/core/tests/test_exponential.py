"""Exponentials and logarithms far out, and their gradients there."""

from __future__ import annotations

import math
from math import inf

import pytest

import plugrad as pg

INF = math.inf


def run(f, *values):
    xs = [pg.tensor(v, requires_grad=True) for v in values]
    z = f(*xs)
    z.sum().backward()
    return z.tolist(), *[x.grad.tolist() for x in xs]


def approx(values):
    return pytest.approx(values, rel=1e-4, abs=1e-38)


def test_softplus():
    z, g = run(pg.softplus, [50.0, 100.0, 1000.0, -80.0])
    assert z == approx([50, 100, 1000, 1.804851e-35])
    assert g == approx([1, 1, 1, 1.804851e-35])


def test_sigmoid():
    z, g = run(pg.sigmoid, [-548.0, -74.0, 0.0, 548.0])
    assert z == approx([0, 7.28129e-33, 0.5, 1])
    assert g == approx([0, 7.28129e-33, 0.25, 0])


def test_logsigmoid():
    z, g = run(pg.logsigmoid, [-300.0, 300.0])
    assert z == approx([-300, 0])
    assert g == approx([1, 0])
    assert pg.log_sigmoid is pg.logsigmoid


def test_logaddexp_of_nothing():
    z, gx, gy = run(pg.logaddexp, [-INF, -INF, 1000.0], [-INF, 2.0, 1000.0])
    assert z == approx([-INF, 2, 1000 + math.log(2)])
    assert gx == approx([0, 0, 0.5])
    assert gy == approx([0, 1, 0.5])


def test_logaddexp_twice():
    x, y = (pg.tensor(v, requires_grad=True) for v in ([-INF, 1.0], [-INF, 1.0]))
    (g,) = pg.grad(pg.logaddexp(x, y).sum(), [x], create_graph=True)
    h, k = pg.grad(g.sum(), [x, y])
    assert h.tolist() == [0, 0.25]
    assert k.tolist() == [0, -0.25]


def test_xlogy_at_zero():
    z, gx, gy = run(pg.xlogy, [0.0, 0.0, 2.0], [0.0, 3.0, 1.0])
    assert z == [0, 0, 0]
    assert gx == pytest.approx([0, math.log(3), 0])
    assert gy == [0, 0, 2]
    assert math.isnan(pg.xlogy(pg.tensor(0.0), pg.tensor(math.nan)).item())


def test_small_numbers_keep_their_digits():
    assert run(pg.expm1, [1e-9])[0] == pytest.approx([1e-9])
    assert run(pg.log1p, [1e-9])[0] == pytest.approx([1e-9])
    assert run(pg.expm1, [-50.0])[1] == approx([math.exp(-50)])


def test_integers_give_float32():
    for f in (pg.exp, pg.exp2, pg.log, pg.log2, pg.log10, pg.log1p, pg.expm1, pg.sigmoid, pg.softplus):
        assert f(pg.tensor([1, 2])).dtype == "float32"


def test_whole_logarithms():
    assert pg.log2(pg.tensor([0.25, 1.0, 1024.0])).tolist() == [-2, 0, 10]
    assert pg.log10(pg.tensor([1.0, 1000.0])).tolist() == [0, 3]
    assert pg.exp2(pg.tensor([-1.0, 3.0])).tolist() == [0.5, 8]


def test_infinities_share_the_gradient_of_logaddexp():
    x, y = (pg.tensor([inf, -inf, 2.0], requires_grad=True) for _ in range(2))
    gx, gy = pg.grad(pg.logaddexp(x, y).sum(), (x, y), create_graph=True)
    assert gx.tolist() == gy.tolist() == [0.5, 0, 0.5]
    assert pg.grad(gx.sum(), x)[0].tolist() == [0, 0, 0.25]


def test_xlogy_at_zero_is_flat_to_second_order():
    x, y = (pg.tensor([0.0], requires_grad=True) for _ in range(2))
    gx, gy = pg.grad(pg.xlogy(x, y).sum(), (x, y), create_graph=True)
    hx, hy = pg.grad((gx + gy).sum(), (x, y), allow_unused=True, materialize_grads=True)
    assert [t.item() for t in (gx, gy, hx, hy)] == [0, 0, 0, 0]
