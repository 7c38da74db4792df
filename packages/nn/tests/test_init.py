"""Starting values."""

from __future__ import annotations

from math import sqrt

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import ShapeError
from plugrad_nn import init


def w() -> nn.Parameter:
    return nn.Parameter(pg.zeros(20, 30))


@pytest.mark.parametrize(
    ("fill", "bound"),
    [
        (lambda t: init.uniform_(t, -2.0, 2.0), 2.0),
        (lambda t: init.xavier_uniform_(t, gain=2.0), 2 * sqrt(6 / 50)),
        (lambda t: init.kaiming_uniform_(t, nonlinearity="relu"), sqrt(2) * sqrt(3 / 30)),
        (lambda t: init.kaiming_uniform_(t, a=sqrt(5), mode="fan_out"), sqrt(1 / 3) * sqrt(3 / 20)),
    ],
)
def test_uniform_ones_fill_their_range(fill, bound: float) -> None:
    t = w()
    assert fill(t) is t
    assert t.requires_grad
    largest = float(t.abs().max())
    assert 0.95 * bound < largest <= bound * (1 + 1e-6)
    assert abs(float(t.mean())) < 0.15 * bound


@pytest.mark.parametrize(
    ("fill", "std"),
    [
        (lambda t: init.normal_(t, 0.0, 3.0), 3.0),
        (lambda t: init.xavier_normal_(t), sqrt(2 / 50)),
        (lambda t: init.kaiming_normal_(t), sqrt(2) / sqrt(30)),
    ],
)
def test_normal_ones_have_their_width(fill, std: float) -> None:
    assert float(fill(w()).std()) == pytest.approx(std, rel=0.1)


def test_constants_keep_dtype_and_object() -> None:
    t = nn.Parameter(pg.ones(2, dtype="float16"))
    assert init.constant_(t, 7.0) is t
    assert (t.tolist(), t.dtype) == ([7.0, 7.0], pg.float16)
    assert init.zeros_(t).tolist() == [0.0, 0.0]
    assert init.ones_(t).tolist() == [1.0, 1.0]


def test_generators_repeat() -> None:
    assert (
        init.normal_(w(), generator=pg.Generator(3)).tolist() == init.normal_(w(), generator=pg.Generator(3)).tolist()
    )


def test_fans_and_gains() -> None:
    assert init.fans(pg.zeros(2, 3, 5, 7)) == (105, 70)
    gains = [init.calculate_gain(n) for n in ("linear", "conv2d", "sigmoid", "tanh", "relu", "selu", "leaky_relu")]
    assert gains == pytest.approx([1, 1, 1, 5 / 3, sqrt(2), 3 / 4, sqrt(2 / 1.0001)])
    with pytest.raises(ShapeError, match="two axes"):
        init.xavier_uniform_(pg.zeros(3))
    with pytest.raises(ValueError, match="softplus"):
        init.calculate_gain("softplus")
    with pytest.raises(ValueError, match="fan_avg"):
        init.kaiming_normal_(w(), mode="fan_avg")
