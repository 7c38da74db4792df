"""Padding, state dicts, starting values and clipping against PyTorch in float32."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
import torch
from against_torch import agree, both, compare
from torch.nn import functional as TF

import plugrad as pg
import plugrad_nn as nn
from plugrad_nn import functional as F

RNG = np.random.default_rng(7)
X = RNG.standard_normal((5, 3, 4)).astype("float32")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda x: F.pad(x, (1, 2)), lambda x: TF.pad(x, (1, 2))),
        (lambda x: F.pad(x, (1, 2, 0, 1), value=3.0), lambda x: TF.pad(x, (1, 2, 0, 1), value=3.0)),
        (lambda x: F.pad(x, (-1, 2)), lambda x: TF.pad(x, (-1, 2))),
        (lambda x: F.pad(x, (2, 1), mode="reflect"), lambda x: TF.pad(x, (2, 1), mode="reflect")),
        (lambda x: F.pad(x, (2, 1), mode="replicate"), lambda x: TF.pad(x, (2, 1), mode="replicate")),
        (lambda x: F.pad(x, (2, 1), mode="circular"), lambda x: TF.pad(x, (2, 1), mode="circular")),
    ],
)
def test_padding(ours: Any, theirs: Any) -> None:
    compare(ours, theirs, X)


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
