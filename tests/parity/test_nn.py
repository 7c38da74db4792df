"""Layers, losses and starting values against PyTorch in float32: values, gradients, names and defaults."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np
import pytest
import torch
from against_torch import against, agree, both, compare
from torch.nn import functional as TF

import plugrad as pg
import plugrad_nn as nn
from plugrad_nn import functional as F

#: name of the case → the same in PyTorch
ROWS = {
    "plugrad_nn.Linear": TF.linear,
    "plugrad_nn.Linear/batches": TF.linear,
    "plugrad_nn.Linear/vector": TF.linear,
    "plugrad_nn.Linear/no rows": TF.linear,
    "plugrad_nn.LayerNorm": lambda x, w, b: TF.layer_norm(x, (5,), w, b),
    "plugrad_nn.LayerNorm/axes": lambda x, w, b: TF.layer_norm(x, (3, 5), w, b, 1e-2),
    "plugrad_nn.LayerNorm/constant row": lambda x, w, b: TF.layer_norm(x, (4,), w, b, 0.1),
    "plugrad_nn.CrossEntropy": lambda x, y: TF.cross_entropy(x, y, reduction="none"),
    "plugrad_nn.CrossEntropy/vector": lambda x, y: TF.cross_entropy(x, y, reduction="none"),
    "plugrad_nn.CrossEntropy/places": lambda x, y: TF.cross_entropy(x, y, reduction="none"),
    "plugrad_nn.CrossEntropy/far out": lambda x, y: TF.cross_entropy(x, y, reduction="none"),
    "plugrad_nn.SoftCrossEntropy": lambda x, q: TF.cross_entropy(x, q, reduction="none"),
    "plugrad_nn.SoftCrossEntropy/places": lambda x, q: TF.cross_entropy(x, q, reduction="none"),
    "plugrad_nn.BinaryCrossEntropy": lambda x, t: TF.binary_cross_entropy(x, t, reduction="none"),
}


@pytest.mark.parametrize("name", ROWS)
def test_ops_are_pytorchs(name: str) -> None:
    against(name, ROWS[name])


RNG = np.random.default_rng(7)
X = RNG.standard_normal((5, 3, 4)).astype("float32")
Q = RNG.random((5, 3, 4)).astype("float32")
Q /= Q.sum(1, keepdims=True)
Y = RNG.integers(0, 3, (5, 4))
W = np.array([0.2, 1.0, 3.0], "float32")


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("soft", [False, True])
def test_cross_entropy(reduction: str, smoothing: float, weighted: bool, soft: bool) -> None:
    how: dict[str, Any] = {"reduction": reduction, "label_smoothing": smoothing}
    if not soft:
        how["ignore_index"] = 1
    w = {"weight": W} if weighted else {}
    compare(
        lambda x, y: F.cross_entropy(x, y, **how, **{k: pg.tensor(v) for k, v in w.items()}),
        lambda x, y: TF.cross_entropy(x, y, **how, **{k: torch.tensor(v) for k, v in w.items()}),
        X,
        Q if soft else Y,
    )


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_other_losses(reduction: str) -> None:
    a, b = X[:, 0], X[:, 1]
    p, t = 1 / (1 + np.exp(-a)), Q[:, 0]
    for ours, theirs, x, y in [
        (F.mse_loss, TF.mse_loss, a, b),
        (F.l1_loss, TF.l1_loss, a, b),
        (F.binary_cross_entropy, TF.binary_cross_entropy, p, t),
        (F.binary_cross_entropy_with_logits, TF.binary_cross_entropy_with_logits, a, t),
    ]:
        compare(partial(ours, reduction=reduction), partial(theirs, reduction=reduction), x, y)
    compare(
        lambda x, y: F.binary_cross_entropy_with_logits(x, y, pos_weight=pg.tensor(W[:1] * 3), reduction=reduction),
        lambda x, y: TF.binary_cross_entropy_with_logits(x, y, pos_weight=torch.tensor(W[:1] * 3), reduction=reduction),
        a,
        t,
    )
    compare(
        lambda x, y: F.nll_loss(x, y, weight=pg.tensor(W), ignore_index=1, reduction=reduction),
        lambda x, y: TF.nll_loss(x, y, weight=torch.tensor(W), ignore_index=1, reduction=reduction),
        X,
        Y,
    )


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda x: F.pad(x, (1, 2)), lambda x: TF.pad(x, (1, 2))),
        (lambda x: F.pad(x, (1, 2, 0, 1), value=3.0), lambda x: TF.pad(x, (1, 2, 0, 1), value=3.0)),
        (lambda x: F.pad(x, (-1, 2)), lambda x: TF.pad(x, (-1, 2))),
        (lambda x: F.pad(x, (2, 1), mode="reflect"), lambda x: TF.pad(x, (2, 1), mode="reflect")),
        (lambda x: F.pad(x, (2, 1), mode="replicate"), lambda x: TF.pad(x, (2, 1), mode="replicate")),
        (lambda x: F.pad(x, (2, 1), mode="circular"), lambda x: TF.pad(x, (2, 1), mode="circular")),
        (lambda x: F.normalize(x), lambda x: TF.normalize(x)),
        (lambda x: F.normalize(x, p=1, axis=0), lambda x: TF.normalize(x, p=1, dim=0)),
        (lambda x: F.cosine_similarity(x, x * x), lambda x: TF.cosine_similarity(x, x * x)),
        (lambda x: F.layer_norm(x, (3, 4)), lambda x: TF.layer_norm(x, (3, 4))),
    ],
)
def test_functions(ours: Any, theirs: Any) -> None:
    compare(ours, theirs, X)


def test_embedding() -> None:
    i = np.array([[0, 2, 2], [1, 0, 2]])
    for padding in (None, 2, -1):
        compare(
            lambda w, p=padding: F.embedding(pg.tensor(i), w, p),
            lambda w, p=padding: TF.embedding(torch.tensor(i), w, p),
            X[0],
        )


def test_state_dicts_load_into_each_other() -> None:
    mine = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 3), nn.LayerNorm(3), nn.ReLU(), nn.Linear(3, 2, bias=False))
    t = torch.nn
    its = t.Sequential(t.Embedding(5, 4), t.Linear(4, 3), t.LayerNorm(3), t.ReLU(), t.Linear(3, 2, bias=False))
    mine_shapes, its_shapes = ([(n, tuple(v.shape)) for n, v in net.state_dict().items()] for net in (mine, its))
    assert mine_shapes == its_shapes
    mine.load_state_dict({n: v.numpy() for n, v in its.state_dict().items()})
    i = np.array([[0, 4], [2, 2]])
    agree(mine(pg.tensor(i)), its(torch.tensor(i)))
    its.load_state_dict({n: torch.tensor(v.numpy()) for n, v in mine.state_dict().items()})


@pytest.mark.parametrize("name", ["xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_"])
def test_starting_values_are_distributed_alike(name: str) -> None:
    shape = (40, 30, 3)
    mine, its = pg.zeros(shape), torch.zeros(shape)
    getattr(nn.init, name)(mine, generator=pg.Generator(0))
    getattr(torch.nn.init, name)(its, generator=torch.Generator().manual_seed(0))
    n = prod(shape)
    assert float(mine.std()) == pytest.approx(float(its.std()), rel=5 / n**0.5)
    assert float(mine.mean()) == pytest.approx(0.0, abs=5 * float(its.std()) / n**0.5)
    if "uniform" in name:
        assert float(mine.abs().max()) == pytest.approx(float(its.abs().max()), rel=0.01)


def test_layers_start_as_pytorchs_do() -> None:
    for mine, its in [(nn.Linear(50, 40), torch.nn.Linear(50, 40)), (nn.Embedding(50, 40), torch.nn.Embedding(50, 40))]:
        assert float(mine.weight.std()) == pytest.approx(float(its.weight.detach().std()), rel=0.1)
    assert float(nn.Linear(4, 400).bias.abs().max()) == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize("norm", [1.0, 2.0, 3.0, float("inf")])
def test_clipping_by_norm(norm: float) -> None:
    mine, its = zip(*[both(a.copy()) for a in (X[0], X[1, 0])], strict=True)
    for p, t in zip(mine, its, strict=True):
        p.grad, t.grad = p.detach() * 3, t.detach() * 3
    agree(nn.utils.clip_grad_norm_(mine, 1.5, norm), torch.nn.utils.clip_grad_norm_(its, 1.5, norm))
    for p, t in zip(mine, its, strict=True):
        agree(p.grad, t.grad)
