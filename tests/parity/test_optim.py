"""Optimizers and schedules against PyTorch: the same path, step by step, and the same state by the same names."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import torch

import plugrad as pg
import plugrad_optim as optim

SETTINGS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "maximize": True, "weight_decay": 0.01}),
    ("Adam", {}),
    ("Adam", {"lr": 0.1, "betas": (0.7, 0.8), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True, "betas": (0.5, 0.6)}),
    ("Adam", {"lr": 0.1, "maximize": True, "weight_decay": 0.1}),
    ("AdamW", {}),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.3}),
    ("AdamW", {"lr": 0.1, "amsgrad": True, "betas": (0.5, 0.6)}),
    ("AdamW", {"lr": 0.1, "maximize": True}),
]
SHAPES = [(3, 5), (2,), ()]


def pair(name: str, options: dict[str, Any]) -> tuple[Any, Any, list[Any], list[Any]]:
    starts = [np.random.default_rng(i).standard_normal(s).astype("float32") for i, s in enumerate(SHAPES)]
    mine = [pg.tensor(a, requires_grad=True) for a in starts]
    its = [torch.tensor(a, requires_grad=True) for a in starts]
    return getattr(optim, name)(mine, **options), getattr(torch.optim, name)(its, **options), mine, its


def walk(ours: Any, theirs: Any, mine: list[Any], its: list[Any], steps: range) -> None:
    for step in steps:
        for i, (p, t) in enumerate(zip(mine, its, strict=True)):
            g = np.random.default_rng([step, i]).standard_normal(p.shape).astype("float32") * (0.1 if step % 3 else 3.0)
            p.grad, t.grad = pg.tensor(g), torch.tensor(g)
        ours.step()
        theirs.step()


def agree(mine: list[Any], its: list[Any]) -> None:
    for p, t in zip(mine, its, strict=True):
        np.testing.assert_allclose(p.detach().numpy(), t.detach().numpy(), rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize(("name", "options"), SETTINGS, ids=lambda v: v if isinstance(v, str) else ",".join(v))
def test_the_path_is_pytorchs(name: str, options: dict[str, Any]) -> None:
    ours, theirs, mine, its = pair(name, options)
    for step in range(20):
        walk(ours, theirs, mine, its, range(step, step + 1))
        agree(mine, its)


@pytest.mark.parametrize(("name", "options"), SETTINGS, ids=lambda v: v if isinstance(v, str) else ",".join(v))
def test_a_state_of_pytorchs_loads(name: str, options: dict[str, Any]) -> None:
    ours, theirs, mine, its = pair(name, options)
    walk(ours, theirs, mine, its, range(4))
    state = theirs.state_dict()
    converted = {i: {k: _plain(k, v) for k, v in s.items() if v is not None} for i, s in state["state"].items()}
    fresh = getattr(optim, name)(mine)
    settings = fresh.param_groups[0].keys()
    groups = [{k: v for k, v in g.items() if k in settings} for g in state["param_groups"]]
    fresh.load_state_dict({"state": converted, "param_groups": groups})
    assert {i: set(s) for i, s in fresh.state_dict()["state"].items()} == {i: set(s) for i, s in converted.items()}
    walk(fresh, theirs, mine, its, range(4, 10))
    agree(mine, its)


def _plain(key: str, value: Any) -> Any:
    return int(value) if key == "step" else pg.tensor(value.numpy())


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_names_order_and_defaults_of_arguments(name: str) -> None:
    mine = inspect.signature(getattr(optim, name)).parameters
    its = inspect.signature(getattr(torch.optim, name)).parameters
    assert [n for n in its if n in mine] == list(mine)
    assert set(its) - set(mine) <= {"foreach", "capturable", "differentiable", "fused", "decoupled_weight_decay"}
    for n, p in mine.items():
        assert (p.default, p.kind) == (its[n].default, its[n].kind), n


def test_step_lr() -> None:
    ours, theirs, _, its = pair("SGD", {"lr": 0.3})
    a, b = optim.lr_scheduler.StepLR(ours, 3, gamma=0.7), torch.optim.lr_scheduler.StepLR(theirs, 3, gamma=0.7)
    for t in its:
        t.grad = torch.zeros_like(t)
    for _ in range(11):
        assert a.get_last_lr() == pytest.approx(b.get_last_lr(), rel=1e-12)
        theirs.step()
        a.step()
        b.step()
