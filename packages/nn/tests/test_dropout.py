"""Dropout: what is left out together, what it draws from, what stays."""

from __future__ import annotations

from typing import Any

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import ShapeError
from plugrad_nn import functional as F

LAYERS = [
    (nn.Dropout, (4, 5)), (nn.Dropout1d, (4, 5, 3)), (nn.Dropout2d, (4, 5, 3, 2)), (nn.Dropout3d, (2, 5, 1, 3, 2)),
    (nn.AlphaDropout, (4, 5)), (nn.FeatureAlphaDropout, (4, 5, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "shape"), LAYERS)
def test_layers_draw_in_training_alone_and_repeatably(layer: Any, shape: tuple[int, ...]) -> None:
    x, g = pg.ones(shape), pg.Generator(3)
    mine = layer(0.5, generator=g)
    first = mine(x).tolist()
    assert first != mine(x).tolist()
    assert first == layer(0.5, generator=pg.Generator(3))(x).tolist()
    state = g.get_state()
    assert mine.eval()(x) is x
    assert layer(0.0, generator=g)(x) is x
    assert g.get_state() == state
    assert repr(mine) == f"{layer.__name__}(p=0.5)"
    assert layer(1.0)(x).tolist() == pg.zeros(shape).tolist()
    for p in (1.5, -0.1, float("nan")):
        with pytest.raises(ValueError, match="probability"):
            layer(p)


@pytest.mark.parametrize(
    ("f", "shape", "front"),
    [
        (F.dropout1d, (6, 7, 3), 2), (F.dropout1d, (30, 3), 1), (F.dropout2d, (6, 7, 3, 2), 2),
        (F.dropout2d, (6, 7, 3), 2), (F.dropout3d, (6, 7, 3, 1, 2), 2), (F.dropout3d, (30, 3, 1, 2), 1),
        (F.feature_alpha_dropout, (6, 7, 3), 2), (F.feature_alpha_dropout, (6, 7), 2),
    ],
)  # fmt: skip
def test_channels_are_left_out_whole(f: Any, shape: tuple[int, ...], front: int) -> None:
    y = f(pg.ones(shape), 0.5, True, generator=pg.Generator(0))
    channels = y.reshape(*shape[:front], -1).reshape(-1, y.size // pg.ones(shape[:front]).size).tolist()
    assert all(len(set(row)) == 1 for row in channels)
    assert len({row[0] for row in channels}) == 2


def test_the_gradient_passes_what_stayed() -> None:
    x = pg.ones(30, requires_grad=True)
    y = F.dropout(x, 0.25, generator=pg.Generator(1))
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    z = pg.ones(30, requires_grad=True)
    a = F.alpha_dropout(z, 0.25, True, generator=pg.Generator(1))
    a.sum().backward()
    scale = (0.75 * (1 + 0.25 * 1.7580993408473766**2)) ** -0.5
    assert z.grad.tolist() == [pytest.approx(scale) if v else 0.0 for v in y.tolist()]


def test_what_alpha_dropout_gives() -> None:
    p, low = 0.3, -1.7580993408473766
    a = ((1 - p) * (1 + p * low * low)) ** -0.5
    b = -a * p * low
    y = F.alpha_dropout(pg.full((50,), 2.0), p, True, generator=pg.Generator(0))
    assert sorted(set(y.tolist())) == pytest.approx([a * low + b, a * 2.0 + b])
    assert F.alpha_dropout(y) is y  # by default it does nothing, as in PyTorch


def test_other_numbers_of_axes_are_told() -> None:
    functions = [F.dropout1d, F.dropout2d, F.dropout3d, F.feature_alpha_dropout]
    for f, shape, takes in zip(
        functions, [(2,), (2, 3), (2, 3), (3,)], ["2 to 3", "3 to 4", "4 to 5", "2"], strict=True
    ):
        with pytest.raises(ShapeError, match=f"has {len(shape)} axes; it takes {takes}"):
            f(pg.ones(shape), 0.5, True)


def test_infinities_that_are_left_out_are_gone() -> None:
    x = pg.full((20,), float("inf"), requires_grad=True)
    y = F.alpha_dropout(x, 0.5, True, generator=pg.Generator(0))
    assert len(set(y.tolist())) == 2
    pg.where(y.isinf(), 0.0, y).sum().backward()
    assert x.grad.isfinite().all().item()
