"""Gradients on the kinks, as PyTorch has them; settings; what is refused."""

from __future__ import annotations

import math

import pytest

import plugrad as pg


def slopes(f, *values):
    x = pg.tensor(values, requires_grad=True)
    f(x).sum().backward()
    return x.grad.tolist()


@pytest.mark.parametrize(
    ("f", "at", "slope"),
    [
        (pg.relu, 0.0, 0.0),
        (pg.leaky_relu, 0.0, 0.01),
        (pg.elu, 0.0, 1.0),
        (lambda x: pg.elu(x, 2.0), 0.0, 2.0),
        (pg.relu6, 0.0, 0.0),
        (pg.relu6, 6.0, 0.0),
        (pg.hardtanh, 1.0, 0.0),
        (pg.hardtanh, -1.0, 0.0),
        (pg.hardsigmoid, 3.0, 0.0),
        (pg.hardsigmoid, -3.0, 0.0),
        (pg.hardswish, 3.0, 1.0),
        (pg.hardswish, -3.0, 0.0),
        (lambda x: pg.threshold(x, 1.0, 5.0), 1.0, 0.0),
    ],
)
def test_on_a_kink(f, at, slope):
    assert slopes(f, at) == pytest.approx([slope])


def test_far_out():
    for f in (pg.elu, pg.selu, pg.celu, pg.relu, pg.hardswish):
        assert all(map(math.isfinite, slopes(f, -1000.0, 1000.0)))


def test_nan_shows():
    for f in (pg.relu, pg.relu6, pg.leaky_relu, pg.elu, pg.hardswish, lambda x: pg.threshold(x, 0, 1)):
        assert math.isnan(f(pg.tensor([math.nan])).item())


def test_prelu_by_channel():
    x = pg.tensor([[[-1.0, 2.0], [-3.0, -4.0]]], requires_grad=True)
    w = pg.tensor([0.5, 0.1], requires_grad=True)
    z = pg.prelu(x, w)
    assert z.tolist()[0][0] == [-0.5, 2]
    assert z.tolist()[0][1] == pytest.approx([-0.3, -0.4])
    z.sum().backward()
    assert w.grad.tolist() == [-1, -7]
    assert pg.prelu(pg.tensor([-2.0, 2.0]), pg.tensor([0.25])).tolist() == [-0.5, 2]


def test_what_is_refused():
    with pytest.raises(pg.errors.ShapeError, match=r"prelu: weight \(3,\).*1 or 2 numbers"):
        pg.prelu(pg.zeros(1, 2), pg.zeros(3))
    with pytest.raises(ValueError, match="hardtanh: min_val 2 is above"):
        pg.hardtanh(pg.zeros(1), 2, 1)


def test_relu_of_integers_stays_integer():
    assert pg.relu(pg.tensor([-2, 3])).dtype == "int64"
