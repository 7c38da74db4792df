"""Tables of rows against PyTorch: values, gradients, rows cut short, bags of every kind, layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from against_torch import against, agree, both, compare
from torch.nn import functional as TF

import plugrad as pg
import plugrad_nn as nn
from plugrad_nn import functional as F


def rows(padding: int | None = None, even: bool = False) -> Any:
    return lambda w, i: TF.embedding(i, w, padding, scale_grad_by_freq=even)


def bag(bags: int, even: bool = False) -> Any:
    """A weighted sum of rows, by PyTorch's own indexing: its embedding_bag evens by the count of another row."""
    return lambda w, i, b, s: torch.zeros(bags, w.shape[1], dtype=w.dtype).index_add(
        0, b, rows(None, even)(w, i) * s[:, None]
    )


#: name of the case → the same in PyTorch
ROWS = {
    "plugrad_nn.Embedding": rows(),
    "plugrad_nn.Embedding/padding": rows(2),
    "plugrad_nn.Embedding/evened": rows(even=True),
    "plugrad_nn.Embedding/none": rows(),
    "plugrad_nn.Embedding/one": rows(),
    "plugrad_nn.EmbeddingBag": bag(3),
    "plugrad_nn.EmbeddingBag/evened": bag(3, even=True),
    "plugrad_nn.EmbeddingBag/none": bag(2),
}


@pytest.mark.parametrize("name", ROWS)
def test_ops_are_pytorchs(name: str) -> None:
    against(name, ROWS[name])


RNG = np.random.default_rng(3)
W = RNG.standard_normal((7, 4)).astype("float32")
IDS = RNG.integers(0, 7, (3, 5))
FLAT = RNG.integers(0, 7, 11)
OFFSETS = np.array([0, 3, 3, 8])
S = RNG.standard_normal((3, 5)).astype("float32")


@pytest.mark.parametrize("even", [False, True])
@pytest.mark.parametrize("padding", [None, 2, -1])
@pytest.mark.parametrize("index", [IDS, IDS[0], IDS.astype("int32"), np.zeros((2, 0), "int64")])
def test_embedding(index: np.ndarray, padding: int | None, even: bool) -> None:
    compare(
        lambda w: F.embedding(pg.tensor(index), w, padding, scale_grad_by_freq=even),
        lambda w: TF.embedding(torch.tensor(index), w, padding, scale_grad_by_freq=even),
        W,
    )


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("bags", [False, True])
def test_rows_are_cut_short_in_the_weight(p: float, bags: bool) -> None:
    mine, its = both(W.copy())
    name = "embedding_bag" if bags else "embedding"
    y = getattr(F, name)(pg.tensor(IDS), mine, max_norm=1.0, norm_type=p)
    t = getattr(TF, name)(torch.tensor(IDS), its, max_norm=1.0, norm_type=p)
    agree(y, t)
    agree(mine, its)
    (y * y).sum().backward()
    (t * t).sum().backward()
    agree(mine.grad, its.grad, 1e-4, 1e-5)
    unused = np.setdiff1d(np.arange(7), IDS)
    assert mine.detach().numpy()[unused].tolist() == W[unused].tolist()


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 2, -3])
def test_bags_of_equal_size(mode: str, padding: int | None) -> None:
    how: dict[str, Any] = {"mode": mode, "padding_idx": padding}
    compare(
        lambda w: F.embedding_bag(pg.tensor(IDS), w, **how), lambda w: TF.embedding_bag(torch.tensor(IDS), w, **how), W
    )


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 2])
@pytest.mark.parametrize("closed", [False, True])
def test_bags_by_offsets(mode: str, padding: int | None, closed: bool) -> None:
    offsets = np.append(OFFSETS, len(FLAT)) if closed else OFFSETS
    how: dict[str, Any] = {"mode": mode, "padding_idx": padding, "include_last_offset": closed}
    compare(
        lambda w: F.embedding_bag(pg.tensor(FLAT), w, pg.tensor(offsets), **how),
        lambda w: TF.embedding_bag(torch.tensor(FLAT), w, torch.tensor(offsets), **how),
        W,
    )


@pytest.mark.parametrize("padding", [None, 2])
def test_weighted_bags(padding: int | None) -> None:
    compare(
        lambda w, s: F.embedding_bag(pg.tensor(IDS), w, mode="sum", per_sample_weights=s, padding_idx=padding),
        lambda w, s: TF.embedding_bag(torch.tensor(IDS), w, mode="sum", per_sample_weights=s, padding_idx=padding),
        W,
        S,
    )
    flat, offsets = IDS.reshape(-1), np.array([0, 0, 4, 9])
    compare(
        lambda w, s: F.embedding_bag(
            pg.tensor(flat), w, pg.tensor(offsets), mode="sum", per_sample_weights=s, padding_idx=padding
        ),
        lambda w, s: TF.embedding_bag(
            torch.tensor(flat), w, torch.tensor(offsets), mode="sum", per_sample_weights=s, padding_idx=padding
        ),
        W,
        S.reshape(-1),
    )


def test_the_first_of_equal_ones_takes_the_gradient() -> None:
    w = np.ones((3, 2), "float32")
    i = np.array([[2, 0, 2], [1, 1, 0]])
    compare(
        lambda w: F.embedding_bag(pg.tensor(i), w, mode="max"),
        lambda w: TF.embedding_bag(torch.tensor(i), w, mode="max"),
        w,
    )


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_with_nothing_in_them(mode: str) -> None:
    none, offsets = np.zeros(0, "int64"), np.array([0, 0])
    compare(
        lambda w: F.embedding_bag(pg.tensor(none), w, pg.tensor(offsets), mode=mode),
        lambda w: TF.embedding_bag(torch.tensor(none), w, torch.tensor(offsets), mode=mode),
        W,
    )


@pytest.mark.parametrize("options", [{}, {"padding_idx": -2, "max_norm": 0.8, "norm_type": 1.0}])
def test_layer(options: dict[str, Any]) -> None:
    mine, its = nn.Embedding(7, 4, **options), torch.nn.Embedding(7, 4, **options)
    loaded(mine, its)
    y, t = mine(pg.tensor(IDS)), its(torch.tensor(IDS))
    agree(y, t)
    (y * y).sum().backward()
    (t * t).sum().backward()
    agree(mine.weight.grad, its.weight.grad, 1e-4, 1e-5)
    agree(mine.weight, its.weight)
    assert repr(mine) == repr(its)


@pytest.mark.parametrize(
    "options", [{}, {"mode": "sum", "include_last_offset": True}, {"mode": "max", "padding_idx": 1}]
)
def test_bag_layer(options: dict[str, Any]) -> None:
    mine, its = nn.EmbeddingBag(7, 4, **options), torch.nn.EmbeddingBag(7, 4, **options)
    loaded(mine, its)
    offsets = np.append(OFFSETS, len(FLAT)) if "include_last_offset" in options else OFFSETS
    y, t = mine(pg.tensor(FLAT), pg.tensor(offsets)), its(torch.tensor(FLAT), torch.tensor(offsets))
    agree(y, t)
    (y * y).sum().backward()
    (t * t).sum().backward()
    agree(mine.weight.grad, its.weight.grad, 1e-4, 1e-5)


def loaded(mine: Any, its: Any) -> None:
    """The same weights, taken over both ways."""
    assert list(mine.state_dict()) == list(its.state_dict()) == ["weight"]
    mine.load_state_dict({n: v.numpy() for n, v in its.state_dict().items()})
    its.load_state_dict({n: torch.tensor(v.numpy()) for n, v in mine.state_dict().items()})
    if mine.padding_idx is not None:
        assert not mine.weight.detach().numpy()[mine.padding_idx].any()
        assert mine.padding_idx == its.padding_idx


@pytest.mark.parametrize("freeze", [False, True])
def test_rows_that_are_there_already(freeze: bool) -> None:
    how: dict[str, Any] = {"freeze": freeze, "padding_idx": 1, "max_norm": 0.9}
    for name in ("Embedding", "EmbeddingBag"):
        mine = getattr(nn, name).from_pretrained(pg.tensor(W), **how)
        its = getattr(torch.nn, name).from_pretrained(torch.tensor(W), **how)
        agree(mine.weight, its.weight)
        assert mine.weight.requires_grad is its.weight.requires_grad is (not freeze)
        agree(mine(pg.tensor(IDS)), its(torch.tensor(IDS)))


def test_tables_start_as_pytorchs_do() -> None:
    for name in ("Embedding", "EmbeddingBag"):
        w = getattr(nn, name)(50, 40, padding_idx=3).weight.detach().numpy()
        assert not w[3].any()
        assert float(np.delete(w, 3, 0).std()) == pytest.approx(1.0, rel=0.1)
