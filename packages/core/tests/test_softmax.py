"""Softmax: rows far out, masked entries, rows of nothing but -∞, and their gradients."""

from __future__ import annotations

import math

import pytest

import plugrad as pg

INF = math.inf


def test_far_out():
    x = pg.tensor([1000.0, 1000.0, -1000.0])
    assert pg.softmax(x).tolist() == [0.5, 0.5, 0]
    assert pg.log_softmax(x).tolist() == pytest.approx([-math.log(2), -math.log(2), -2000 - math.log(2)])
    assert pg.softmin(-x).tolist() == [0.5, 0.5, 0]


def test_masked_entries():
    assert pg.softmax(pg.tensor([0.0, -INF, -INF])).tolist() == [1, 0, 0]
    assert pg.log_softmax(pg.tensor([0.0, -INF, -INF])).tolist() == [0, -INF, -INF]


@pytest.mark.parametrize("f", [pg.softmax, pg.log_softmax])
def test_a_dead_row_harms_no_other(f):
    x = pg.tensor([[-INF, -INF], [0.0, 0.0]], requires_grad=True)
    z = f(x, axis=1)
    assert all(map(math.isnan, z.tolist()[0]))
    (g,) = pg.grad(pg.where(pg.isnan(z), 0.0, z * pg.tensor([1.0, 2.0])).sum(), [x], create_graph=True)
    assert g.tolist()[0] == [0, 0]
    assert g.tolist()[1] == pytest.approx([-0.25, 0.25] if f is pg.softmax else [-0.5, 0.5])
    (h,) = pg.grad((g * pg.tensor([1.0, 3.0])).sum(), [x])
    assert h.tolist()[0] == [0, 0]
    assert all(map(math.isfinite, h.tolist()[1]))


def test_a_dead_row_passes_no_gradient_on():
    x = pg.tensor([[-INF, -INF], [0.0, 0.0]], requires_grad=True)
    pg.softmax(x).sum().backward()
    assert x.grad.tolist()[0] == [0, 0]


def test_axes():
    x = pg.tensor([[1.0, 2.0], [3.0, 5.0]])
    assert pg.softmax(x, axis=0).sum(axis=0).tolist() == pytest.approx([1, 1])
    assert pg.softmax(x, axis=-2).tolist() == pg.softmax(x, axis=0).tolist()
    with pytest.raises(pg.errors.AxisError, match="softmax: axis 2 is out of range for 2 dimensions"):
        pg.softmax(x, axis=2)
    assert pg.softmax(pg.zeros(3, 0)).shape == (3, 0)


def test_half_precision_adds_up_in_float32():
    x = pg.zeros(4096, dtype="float16")
    assert pg.softmax(x).tolist()[0] == pytest.approx(1 / 4096)
