"""Averages of weights and loss scaling against PyTorch."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import torch

import plugrad as pg
import plugrad_nn as nn
from plugrad_optim import SGD, GradScaler, SkippedStepWarning, swa_utils

theirs = torch.optim.swa_utils


def models() -> tuple[Any, Any]:
    """The same two layers with a batch norm between them."""
    its = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.BatchNorm1d(6), torch.nn.Linear(6, 2))
    mine = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Linear(6, 2))
    mine.load_state_dict({k: pg.tensor(v.numpy()) for k, v in its.state_dict().items()})
    return mine, its


def batches(n: int) -> list[np.ndarray]:
    source = np.random.default_rng(5)
    return [source.standard_normal((7, 4)).astype("float32") * 2 + 1 for _ in range(n)]


def train(mine: Any, its: Any, x: np.ndarray) -> None:
    for model, tensor, optimizer in ((mine, pg.tensor, SGD), (its, torch.tensor, torch.optim.SGD)):
        for p in model.parameters():
            p.grad = None
        (model(tensor(x)) ** 2).mean().backward()
        optimizer(model.parameters(), lr=0.1).step()


def agree(mine: Any, its: Any) -> None:
    ours, want = mine.state_dict(), its.state_dict()
    assert list(ours) == list(want)
    for name, t in want.items():
        np.testing.assert_allclose(ours[name].numpy(), t.numpy(), rtol=2e-5, atol=2e-6, err_msg=name)


AVERAGES: list[dict[str, Any]] = [
    {},
    {"use_buffers": True},
    {"avg_fn": ("get_ema_avg_fn", 0.8)},
    {"multi_avg_fn": ("get_ema_multi_avg_fn", 0.6), "use_buffers": True},
    {"avg_fn": ("get_swa_avg_fn",)},
    {"multi_avg_fn": ("get_swa_multi_avg_fn",)},
]


def made(module: Any, model: Any, options: dict[str, Any]) -> Any:
    functions = {k: getattr(module, v[0])(*v[1:]) if isinstance(v, tuple) else v for k, v in options.items()}
    return module.AveragedModel(model, **functions)


@pytest.mark.parametrize("options", AVERAGES, ids=lambda v: ",".join(v) or "mean")
def test_averaged_models(options: dict[str, Any]) -> None:
    mine, its = models()
    ours, want = made(swa_utils, mine, options), made(theirs, its, options)
    for x in batches(5):
        train(mine, its, x)
        ours.update_parameters(mine)
        want.update_parameters(its)
        agree(ours, want)
    agree(mine, its)


def test_update_bn() -> None:
    mine, its = models()
    ours, want = swa_utils.AveragedModel(mine), theirs.AveragedModel(its)
    train(mine, its, batches(1)[0])
    ours.update_parameters(mine)
    want.update_parameters(its)
    swa_utils.update_bn([(pg.tensor(x), 0) for x in batches(4)], ours.eval())
    theirs.update_bn([(torch.tensor(x), 0) for x in batches(4)], want.eval())
    agree(ours, want)
    assert not ours.training
    assert [m.momentum for m in ours.modules() if hasattr(m, "momentum")] == [0.1]


def test_a_state_of_pytorchs_loads() -> None:
    mine, its = models()
    want = theirs.AveragedModel(its)
    for x in batches(3):
        train(mine, its, x)
        want.update_parameters(its)
    ours = swa_utils.AveragedModel(mine)
    ours.load_state_dict({k: pg.tensor(v.numpy()) for k, v in want.state_dict().items()})
    ours.update_parameters(mine)
    want.update_parameters(its)
    agree(ours, want)


@pytest.mark.parametrize("name", ["AveragedModel", "SWALR", "update_bn", "get_ema_avg_fn", "get_ema_multi_avg_fn"])
def test_names_order_and_defaults_of_arguments(name: str) -> None:
    mine, its = (inspect.signature(getattr(m, name)).parameters for m in (swa_utils, theirs))
    assert {n: p.default for n, p in mine.items()} == {n: p.default for n, p in its.items()}
    assert list(mine) == list(its)


@pytest.mark.filterwarnings("ignore::plugrad_optim.SkippedStepWarning")
def test_the_scaler_finds_pytorchs_scales() -> None:
    options: dict[str, Any] = {"init_scale": 8.0, "growth_factor": 3.0, "backoff_factor": 0.25, "growth_interval": 3}
    mine, its = GradScaler(**options), torch.amp.GradScaler("cpu", **options)
    a, b = pg.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1.0, 2.0], requires_grad=True)
    ours, want = SGD([a], lr=0.1), torch.optim.SGD([b], lr=0.1)
    source = np.random.default_rng(0)
    for i in range(40):
        weight = source.standard_normal(2).astype("float32")
        weight[i % 2] = (np.inf, np.nan)[i % 2] if i in (3, 4, 15, 22) else weight[i % 2]
        for scaler, p, tensor, optimizer in ((mine, a, pg.tensor, ours), (its, b, torch.tensor, want)):
            optimizer.zero_grad()
            scaler.scale((p * tensor(weight)).sum()).backward()
            if i % 4 == 0:
                scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
        assert mine.get_scale() == its.get_scale()
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-6)
        state = mine.state_dict()
        assert state.pop("skipped") == sum(i >= k for k in (3, 4, 15, 22))
        assert state == its.state_dict()
        if i == 20:
            mine = GradScaler()
            mine.load_state_dict({**its.state_dict(), "skipped": 3})


def test_scaler_defaults() -> None:
    mine, its = inspect.signature(GradScaler).parameters, inspect.signature(torch.amp.GradScaler).parameters
    assert {n: p.default for n, p in mine.items()} == {n: p.default for n, p in its.items() if n != "device"}
    assert issubclass(SkippedStepWarning, UserWarning)
