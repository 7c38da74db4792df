"""Layers and their functions."""

from __future__ import annotations

from math import sqrt

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import AxisError, DTypeError, ShapeError
from plugrad_nn import functional as F


def test_linear_is_a_matrix_and_a_bias() -> None:
    layer = nn.Linear(2, 3)
    layer.load_state_dict(
        {"weight": pg.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), "bias": pg.tensor([0.0, 10.0, 0.0])}
    )
    assert layer(pg.tensor([[1.0, 2.0]])).tolist() == [[1.0, 12.0, 3.0]]
    assert layer(pg.tensor([1.0, 2.0])).tolist() == [1.0, 12.0, 3.0]
    assert nn.Linear(2, 3, bias=False)(pg.ones(4, 5, 2)).shape == (4, 5, 3)
    assert nn.Linear(2, 3, dtype="float64").weight.dtype is pg.float64
    with pytest.raises(ShapeError, match="last axis of the input has 3 entries, the weight takes 2"):
        layer(pg.ones(1, 3))


def test_linear_starts_within_its_bounds_and_repeatably() -> None:
    pg.manual_seed(0)
    layer = nn.Linear(16, 8)
    assert float(layer.weight.abs().max()) <= 1 / sqrt(16)
    assert len(set(layer.bias.tolist())) > 1
    pg.manual_seed(0)
    assert nn.Linear(16, 8).weight.tolist() == layer.weight.tolist()


def test_activations_are_the_functions() -> None:
    x = pg.tensor([[-1.0, 0.5, 2.0]])
    pairs = [
        (nn.ReLU(), F.relu), (nn.Tanh(), F.tanh), (nn.Sigmoid(), F.sigmoid), (nn.SiLU(), F.silu), (nn.GELU(), F.gelu),
        (nn.GELU("tanh"), lambda t: F.gelu(t, approximate="tanh")), (nn.LeakyReLU(0.2), lambda t: F.leaky_relu(t, 0.2)),
        (nn.Softmax(axis=1), lambda t: F.softmax(t, axis=1)), (nn.LogSoftmax(), lambda t: F.log_softmax(t, axis=-1)),
    ]  # fmt: skip
    values = [(layer(x).tolist(), function(x).tolist()) for layer, function in pairs]
    assert all(a == b for a, b in values)
    assert len({str(a) for a, _ in values}) == len(pairs)


def test_flatten_and_identity() -> None:
    assert nn.Flatten()(pg.ones(2, 3, 4)).shape == (2, 12)
    assert nn.Flatten(0, 1)(pg.ones(2, 3, 4)).shape == (6, 4)
    x = pg.ones(2)
    assert nn.Identity(1, anything=2)(x) is x


def test_dropout_keeps_the_mean_and_draws_only_in_training() -> None:
    pg.manual_seed(0)
    layer, x = nn.Dropout(0.25), pg.ones(400)
    y = layer(x)
    assert set(y.tolist()) == {0.0, float(pg.tensor(4 / 3))}
    assert y.mean().item() == pytest.approx(1.0, abs=0.1)
    state = pg.get_rng_state()
    assert layer.eval()(x) is x
    assert pg.get_rng_state() == state
    assert nn.Dropout(1.0)(x).sum().item() == 0.0
    with pytest.raises(ValueError, match="probability"):
        nn.Dropout(1.5)
    with pytest.raises(ValueError, match="probability"):
        F.dropout(x, -0.1)


def test_dropout_with_a_generator_of_its_own() -> None:
    x, g = pg.ones(20), pg.Generator(5)
    state = pg.get_rng_state()
    first = nn.Dropout(generator=g)(x).tolist()
    assert first != nn.Dropout(generator=g)(x).tolist()
    assert first == nn.Dropout(generator=pg.Generator(5))(x).tolist()
    assert pg.get_rng_state() == state


def test_a_dropped_infinity_is_gone() -> None:
    x = pg.full((8,), float("inf"), requires_grad=True)
    y = F.dropout(x, 0.5, generator=pg.Generator(0))
    assert set(y.tolist()) == {0.0, float("inf")}
    pg.where(y == 0, y, 0.0).sum().backward()
    assert x.grad.tolist() == [0.0] * 8


def test_layer_norm() -> None:
    x = pg.tensor([[1.0, 3.0], [5.0, 5.0]])
    layer = nn.LayerNorm(2, eps=0.0 + 1e-12)
    assert layer(x).tolist()[0] == pytest.approx([-1.0, 1.0])
    assert layer(x).tolist()[1] == [0.0, 0.0]
    assert list(layer.state_dict()) == ["weight", "bias"]
    assert list(nn.LayerNorm((2, 3), bias=False).state_dict()) == ["weight"]
    plain = nn.LayerNorm(2, elementwise_affine=False)
    assert plain.state_dict() == {}
    assert plain(x).shape == (2, 2)
    with pytest.raises(ShapeError, match="normalized_shape"):
        nn.LayerNorm(3)(x)
    with pytest.raises(ShapeError, match="weight"):
        F.layer_norm(x, (2,), pg.ones(3))


def test_layer_norm_of_a_constant_row_is_exactly_the_bias() -> None:
    for value in (0.1, 100.0, 1e6):
        y = F.layer_norm(pg.full((1, 7), value), (7,), pg.full((7,), 3.0), pg.full((7,), 0.5))
        assert y.tolist() == [[0.5] * 7]


def test_embedding() -> None:
    layer = nn.Embedding(4, 2, padding_idx=-1)
    assert layer.weight[3].tolist() == [0.0, 0.0]
    i = pg.tensor([[0, 0, 3]])
    assert layer(i).tolist() == [[layer.weight[k].tolist() for k in (0, 0, 3)]]
    layer(i).sum().backward()
    assert layer.weight.grad.tolist() == [[2.0, 2.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    fixed = nn.Embedding.from_pretrained(pg.tensor([[1.0], [2.0]]))
    assert (fixed(pg.tensor(1)).tolist(), fixed.weight.requires_grad) == ([2.0], False)
    with pytest.raises(IndexError):
        layer(pg.tensor([4]))
    with pytest.raises(DTypeError, match="astype"):
        layer(pg.tensor([1.0]))
    with pytest.raises(AxisError, match="padding_idx"):
        nn.Embedding(3, 1, padding_idx=3)


def test_small_functions() -> None:
    assert F.one_hot(pg.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert F.one_hot(pg.tensor([0]), 2).tolist() == [[1, 0]]
    assert F.pad(pg.ones(1, 2), (1, 0, 0, 1)).tolist() == [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    assert F.pad(pg.tensor([1.0, 2.0, 3.0]), (1, 1), mode="reflect").tolist() == [2.0, 1.0, 2.0, 3.0, 2.0]
    assert F.pad(pg.tensor([1.0]), (0, 2), value=7.0).tolist() == [1.0, 7.0, 7.0]
    with pytest.raises(ShapeError, match="last axis first"):
        F.pad(pg.ones(2), (1, 1, 1, 1))
    assert F.normalize(pg.tensor([[3.0, 4.0], [0.0, 0.0]])).tolist() == [pytest.approx([0.6, 0.8]), [0.0, 0.0]]
    assert F.cosine_similarity(pg.tensor([[1.0, 0.0]]), pg.tensor([[2.0, 2.0]])).tolist() == pytest.approx([sqrt(0.5)])
