"""Reparametrised weights and starting values against PyTorch."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from against_torch import agree

import plugrad as pg
import plugrad_nn as nn

T = torch.nn
X = np.random.default_rng(3).standard_normal((5, 3, 7)).astype("float32")


def old(f: Any, *args: Any, **options: Any) -> Any:
    with warnings.catch_warnings():  # weight_norm's keys are what checkpoints hold, though PyTorch has a newer one
        warnings.simplefilter("ignore", FutureWarning)
        return f(*args, **options)


KINDS: dict[str, Any] = {
    "linear": lambda lib: lib.Linear(7, 4),
    "conv": lambda lib: lib.Conv1d(3, 4, 2),
    "transposed": lambda lib: lib.ConvTranspose1d(3, 5, 2),
}


def pair(kind: str) -> tuple[Any, Any]:
    return KINDS[kind](nn), KINDS[kind](T)


def take_over(mine: nn.Module, its: T.Module) -> None:
    assert {n: v.shape for n, v in mine.state_dict().items()} == {
        n: tuple(v.shape) for n, v in its.state_dict().items()
    }
    mine.load_state_dict({n: v.numpy() for n, v in its.state_dict().items()})


def step(mine: nn.Module, its: T.Module) -> None:
    """One call each: outputs, gradients, state."""
    y, t = mine(pg.tensor(X)), its(torch.tensor(X))
    agree(y, t, 1e-4, 1e-5)
    for net, out in ((mine, y), (its, t)):
        net.zero_grad()
        (out * out).sum().backward()
    theirs = dict(its.named_parameters())
    for name, p in mine.named_parameters():
        agree(p.grad, theirs[name].grad, 1e-3, 1e-4)
    for name, v in its.state_dict().items():
        agree(mine.state_dict()[name], v, 1e-4, 1e-5)


@pytest.mark.parametrize("kind", ["linear", "conv", "transposed"])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_weight_norm(kind: str, axis: int | None) -> None:
    mine, its = pair(kind)
    old(T.utils.weight_norm, its, dim=axis)
    nn.utils.weight_norm(mine, axis=axis)
    take_over(mine, its)
    step(mine, its)
    w = mine.weight.detach()
    nn.utils.remove_weight_norm(mine)
    T.utils.remove_weight_norm(its)
    assert sorted(mine.state_dict()) == ["bias", "weight"]
    agree(mine.weight, its.weight)
    agree(w, its.weight)
    step(mine, its)


@pytest.mark.parametrize("kind", ["linear", "conv", "transposed"])
@pytest.mark.parametrize("iterations", [1, 3])
def test_spectral_norm(kind: str, iterations: int) -> None:
    mine, its = pair(kind)
    old(T.utils.spectral_norm, its, n_power_iterations=iterations)
    nn.utils.spectral_norm(mine, n_power_iterations=iterations)
    take_over(mine, its)
    step(mine, its)
    step(mine, its)
    mine.eval()
    its.eval()
    step(mine, its)
    nn.utils.remove_spectral_norm(mine)
    T.utils.remove_spectral_norm(its)
    agree(mine.weight, its.weight, 1e-4, 1e-5)
    assert not list(mine.buffers())


@pytest.mark.parametrize("f", [nn.utils.weight_norm, nn.utils.spectral_norm])
def test_copies_go_on_by_themselves(f: Any) -> None:
    net = nn.Sequential(f(nn.Linear(7, 4)))
    net(pg.tensor(X)).sum().backward()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        other.eval()
        net.eval()
        agree(other(pg.tensor(X)), torch.tensor(net(pg.tensor(X)).detach().numpy()))
        for p in other.parameters():
            p.data = (p.detach() * 0 + 1).data
        assert not np.allclose(other(pg.tensor(X)).detach().numpy(), net(pg.tensor(X)).detach().numpy())


@pytest.mark.parametrize("shape", [(40, 30), (30, 40, 3), (6, 5, 2, 3)])
def test_truncated_normal_is_distributed_as_pytorchs(shape: tuple[int, ...]) -> None:
    mine, its = pg.zeros(200, *shape), torch.zeros(200, *shape)
    how = {"mean": 0.3, "std": 0.7, "a": -0.5, "b": 2.0}
    nn.init.trunc_normal_(mine, **how, generator=pg.Generator(0))
    T.init.trunc_normal_(its, **how)
    a, b = np.sort(mine.numpy().ravel()), np.sort(its.numpy().ravel())
    assert a.min() >= -0.5
    assert a.max() <= 2.0
    assert np.abs(a - b).max() < 0.12  # the largest distance of the quantiles, at the thin ends
    assert np.abs(a - b).mean() < 0.01


def test_dirac_and_eye_are_pytorchs() -> None:
    for shape, groups in [((4, 2, 3), 2), ((6, 6, 3, 4), 1), ((3, 5, 1, 2, 3), 1), ((6, 2, 5), 3)]:
        mine, its = pg.ones(shape), torch.ones(shape)
        agree(nn.init.dirac_(mine, groups), T.init.dirac_(its, groups))
    agree(nn.init.eye_(pg.ones(3, 5)), T.init.eye_(torch.ones(3, 5)))


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (3, 2, 4), (7, 2, 3)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    w = nn.init.orthogonal_(pg.zeros(shape), gain=2.0, generator=pg.Generator(1)).numpy().reshape(shape[0], -1)
    small = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(small, 4 * np.eye(len(small)), atol=1e-5)


def test_orthogonal_is_uniform_among_all() -> None:
    """Of a uniform rotation every entry has mean 0 and variance 1/n; QR alone gives a first row of one sign."""
    g = pg.Generator(2)
    q = np.stack([nn.init.orthogonal_(pg.zeros(3, 3), generator=g).numpy() for _ in range(2000)])
    np.testing.assert_allclose(q.mean(0), 0, atol=0.06)
    np.testing.assert_allclose(q.var(0), 1 / 3, atol=0.04)


def test_sparse_has_as_many_zeros_in_each_column_as_pytorchs() -> None:
    mine, its = pg.zeros(11, 7), torch.zeros(11, 7)
    nn.init.sparse_(mine, 0.3, std=2.0)
    T.init.sparse_(its, 0.3, std=2.0)
    assert ((mine.numpy() == 0).sum(0) == (its.numpy() == 0).sum(0)).all()
    assert float(mine.abs().max()) > 1.0
