"""Tables of rows: values by hand, what is learned, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import AxisError, DTypeError, ShapeError
from plugrad_nn import functional as F

W = [[1.0, 2.0], [3.0, 4.0], [-6.0, 8.0]]


def flat(rows: list[list[float]]) -> list[float]:
    return [v for row in rows for v in row]


def weight() -> Any:
    return pg.tensor(W, requires_grad=True)


def test_rows_by_number() -> None:
    w = weight()
    y = F.embedding(pg.tensor([[2, 0], [2, 2]]), w)
    assert y.tolist() == [[W[2], W[0]], [W[2], W[2]]]
    y.sum().backward()
    assert w.grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [3.0, 3.0]]
    assert F.embedding(pg.tensor(1), w).tolist() == W[1]
    assert F.embedding(pg.zeros(0, 3, dtype="int64"), w).shape == (0, 3, 2)


def test_padding_and_frequency() -> None:
    w = weight()
    F.embedding(pg.tensor([2, 0, 2, 1]), w, padding_idx=-3, scale_grad_by_freq=True).sum().backward()
    assert w.grad.tolist() == [[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]


def test_long_rows_are_cut_in_the_weight_where_they_are_used() -> None:
    w = pg.tensor(W)
    y = F.embedding(pg.tensor([2, 2, 0]), w, max_norm=5.0)
    assert y.tolist()[0] == y.tolist()[1] == pytest.approx([-3.0, 4.0], rel=1e-6)
    assert w.tolist() == [W[0], W[1], y.tolist()[0]]
    layer = nn.Embedding.from_pretrained(pg.tensor(W), freeze=False, max_norm=1.0, norm_type=1.0)
    layer(pg.tensor([1])).sum().backward()
    assert layer.weight.detach().tolist()[1] == pytest.approx([3 / 7, 4 / 7], rel=1e-6)
    assert layer.weight.grad.tolist() == [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("mode", "want", "slope"),
    [
        ("sum", [[-2.0, 14.0], [0.0, 0.0], [3.0, 4.0]], [[1.0, 1.0], [2.0, 2.0], [1.0, 1.0]]),
        ("mean", [[-2 / 3, 14 / 3], [0.0, 0.0], [3.0, 4.0]], [[1 / 3, 1 / 3], [4 / 3, 4 / 3], [1 / 3, 1 / 3]]),
        ("max", [[3.0, 8.0], [0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0], [2.0, 1.0], [0.0, 1.0]]),
    ],
)
def test_bags(mode: str, want: Any, slope: Any) -> None:
    w, ids, offsets = weight(), pg.tensor([1, 2, 0, 1]), pg.tensor([0, 3, 3])
    y = F.embedding_bag(ids, w, offsets, mode=mode)
    assert flat(y.tolist()) == pytest.approx(flat(want), rel=1e-6)
    y.sum().backward()
    assert flat(w.grad.tolist()) == pytest.approx(flat(slope), rel=1e-6)


def test_padding_is_left_out_of_bags() -> None:
    w, ids = weight(), pg.tensor([[0, 1], [1, 1]])
    assert F.embedding_bag(ids, w, padding_idx=1).tolist() == [W[0], [0.0, 0.0]]
    assert F.embedding_bag(ids, w, padding_idx=1, mode="max").tolist() == [W[0], [0.0, 0.0]]
    s = pg.tensor([[2.0, 5.0], [7.0, 7.0]], requires_grad=True)
    y = F.embedding_bag(ids, w, padding_idx=1, mode="sum", per_sample_weights=s)
    assert y.tolist() == [[2.0, 4.0], [0.0, 0.0]]
    y.sum().backward()
    assert s.grad.tolist() == [[3.0, 0.0], [0.0, 0.0]]
    assert w.grad.tolist() == [[2.0, 2.0], [0.0, 0.0], [0.0, 0.0]]


def test_what_comes_after_the_last_bag_is_left_out() -> None:
    y = F.embedding_bag(pg.tensor([0, 1, 2]), weight(), pg.tensor([0, 1, 2]), mode="sum", include_last_offset=True)
    assert y.tolist() == W[:2]
    assert F.embedding_bag(pg.zeros(0, dtype="int64"), weight(), pg.zeros(0, dtype="int64")).shape == (0, 2)
    assert F.embedding_bag(pg.zeros(2, 0, dtype="int64"), weight(), mode="max").tolist() == [[0.0, 0.0]] * 2


def test_frequency_counts_the_whole_input() -> None:
    w = weight()
    F.embedding_bag(pg.tensor([[1, 2, 2], [2, 1, 0]]), w, mode="sum", scale_grad_by_freq=True).sum().backward()
    assert flat(w.grad.tolist()) == pytest.approx([1.0] * 6)


def test_gradients_of_gradients_of_bags() -> None:
    ids, offsets = pg.tensor([1, 2, 0, 1]), pg.tensor([0, 3])
    for mode in ("mean", "max"):
        f = lambda w, mode=mode: F.embedding_bag(ids, w, offsets, mode=mode).square()  # noqa: E731
        assert pg.testing.gradcheck(f, [pg.tensor(W, dtype="float64")], order=2)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda w: F.embedding(pg.tensor([0, 3]), w), AxisError, "index 3 is out of range for 3 rows"),
        (lambda w: F.embedding(pg.tensor([0, -1]), w), AxisError, "index -1"),
        (lambda w: F.embedding(pg.tensor([3]), w, max_norm=1.0), AxisError, "embedding: index 3"),
        (lambda w: F.embedding(pg.tensor([0.0]), w), DTypeError, "astype"),
        (lambda w: F.embedding(pg.tensor([0]), w[0]), ShapeError, r"weight has shape \(2,\)"),
        (lambda w: F.embedding(pg.tensor([0]), w, 3), AxisError, "padding_idx 3"),
        (lambda w: F.embedding_bag(pg.tensor([[0, 3]]), w), AxisError, "embedding_bag: index 3"),
        (lambda w: F.embedding_bag(pg.tensor([0]), w), ShapeError, "offsets None"),
        (lambda w: F.embedding_bag(pg.tensor([[0]]), w, pg.tensor([0])), ShapeError, "without offsets"),
        (lambda w: F.embedding_bag(pg.tensor([0, 1]), w, pg.tensor([1])), AxisError, "begins at 0, not at 1"),
        (lambda w: F.embedding_bag(pg.tensor([0, 1]), w, pg.tensor([0, 2, 1])), AxisError, "do not rise"),
        (lambda w: F.embedding_bag(pg.tensor([0, 1]), w, pg.tensor([0, 3])), AxisError, "at most 2"),
        (lambda w: F.embedding_bag(pg.tensor([0, 1]), w, pg.tensor([0.0])), DTypeError, "offsets are float32"),
        (lambda w: F.embedding_bag(pg.tensor([[0]]), w, mode="min"), ValueError, "'min'"),
        (lambda w: F.embedding_bag(pg.tensor([[0]]), w, mode="max", scale_grad_by_freq=True), ValueError, "max"),
        (lambda w: F.embedding_bag(pg.tensor([[0]]), w, per_sample_weights=w[:1, :1]), ShapeError, "mode 'mean'"),
        (lambda w: F.embedding_bag(pg.tensor([[0]]), w, mode="sum", per_sample_weights=w), ShapeError, r"\(3, 2\)"),
        (lambda w: nn.Embedding(3, 2, padding_idx=-4), AxisError, "Embedding: padding_idx -4"),
        (lambda w: nn.EmbeddingBag.from_pretrained(w[0]), ShapeError, r"\(rows, dim\)"),
    ],
)
def test_refusals(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(weight())


def test_how_they_look() -> None:
    assert repr(nn.Embedding(3, 2, padding_idx=-1, max_norm=2.0)) == "Embedding(3, 2, padding_idx=2, max_norm=2.0)"
    assert repr(nn.EmbeddingBag(3, 2, mode="max", norm_type=1.0)) == "EmbeddingBag(3, 2, norm_type=1.0, mode='max')"


def test_padding_is_neither_drawn_nor_learned() -> None:
    layer = nn.Embedding(3, 2, padding_idx=0, dtype="float64")
    assert layer.weight.dtype is pg.float64
    layer(pg.tensor([0, 1])).sum().backward()
    assert layer.weight.detach().tolist()[0] == layer.weight.grad.tolist()[0] == [0.0, 0.0]
    bag = nn.EmbeddingBag(3, 2, padding_idx=1)
    assert bag.weight.detach().tolist()[1] == [0.0, 0.0]
