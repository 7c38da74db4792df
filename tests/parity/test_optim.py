"""Optimizers against PyTorch: the same path over 50 steps, and the same state by the same names."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import torch
from optim_problems import Pair, random, tensors, wide

import plugrad as pg
import plugrad_optim as optim

SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 1e-3}),
    ("SGD", {"lr": 1e-3, "weight_decay": 0.1}),
    ("SGD", {"lr": 5e-4, "momentum": 0.9}),
    ("SGD", {"lr": 5e-4, "momentum": 0.8, "dampening": 0.5, "weight_decay": 0.01}),
    ("SGD", {"lr": 3e-4, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("SGD", {"lr": 3e-4, "momentum": 0.9, "maximize": True, "weight_decay": 0.01}),
    ("Adam", {}),
    ("Adam", {"lr": 0.03, "betas": (0.7, 0.8), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.03, "amsgrad": True, "betas": (0.5, 0.6)}),
    ("Adam", {"lr": 0.01, "maximize": True, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.03, "weight_decay": 0.2, "decoupled_weight_decay": True}),
    ("AdamW", {}),
    ("AdamW", {"lr": 0.03, "weight_decay": 0.3}),
    ("AdamW", {"lr": 0.03, "amsgrad": True, "betas": (0.5, 0.6)}),
    ("AdamW", {"lr": 0.01, "maximize": True}),
    ("NAdam", {}),
    ("NAdam", {"lr": 3e-3, "betas": (0.8, 0.9), "eps": 1e-2, "weight_decay": 0.1, "momentum_decay": 0.05}),
    ("NAdam", {"lr": 0.02, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("NAdam", {"maximize": True}),
    ("RAdam", {}),
    ("RAdam", {"lr": 3e-4, "betas": (0.8, 0.9), "eps": 1e-4, "weight_decay": 0.1}),
    ("RAdam", {"lr": 5e-4, "betas": (0.8, 0.95), "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"maximize": True}),
    ("Adamax", {}),
    ("Adamax", {"lr": 0.02, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adamax", {"maximize": True}),
    ("RMSprop", {}),
    ("RMSprop", {"lr": 0.01, "alpha": 0.9, "eps": 1e-3, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 1e-3, "momentum": 0.8, "eps": 1e-2}),
    ("RMSprop", {"lr": 0.01, "centered": True, "eps": 1e-1}),
    ("RMSprop", {"lr": 1e-3, "centered": True, "eps": 1e-1, "momentum": 0.5, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 1e-3, "maximize": True}),
    ("Adagrad", {}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "eps": 1e-3}),
    ("Adagrad", {"lr": 0.1, "initial_accumulator_value": 0.3}),
    ("Adagrad", {"maximize": True}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.8, "eps": 1e-4, "weight_decay": 0.1}),
    ("Adadelta", {"maximize": True}),
    ("Adafactor", {}),
    ("Adafactor", {"lr": 0.05, "beta2_decay": -0.5, "eps": (1e-5, 1e-2), "d": 2.0, "weight_decay": 0.1}),
    ("Adafactor", {"maximize": True}),
    ("ASGD", {"lr": 1e-3}),
    ("ASGD", {"lr": 1e-3, "lambd": 0.1, "alpha": 0.5, "t0": 5, "weight_decay": 0.01}),
    ("ASGD", {"lr": 1e-3, "maximize": True}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.05, "etas": (0.3, 1.5), "step_sizes": (1e-3, 0.1)}),
    ("Rprop", {"lr": 1e-3, "maximize": True, "step_sizes": (1e-6, 0.01)}),
    ("Muon", {}),
    ("Muon", {"lr": 0.02, "weight_decay": 0.3, "momentum": 0.8, "nesterov": False, "ns_steps": 3}),
    ("Muon", {"lr": 0.02, "adjust_lr_fn": "match_rms_adamw", "ns_coefficients": (2.0, -1.5, 0.5), "eps": 1e-3}),
    ("Muon", {"lr": 0.02, "adjust_lr_fn": "original"}),
]
NAMES = sorted({name for name, _ in SETTINGS})
RELICS = {"foreach", "capturable", "differentiable", "fused"}
settings = pytest.mark.parametrize(
    ("name", "options"), SETTINGS, ids=lambda v: v if isinstance(v, str) else ",".join(v) or "defaults"
)


@pytest.fixture(autouse=True)
def _muon_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's Muon makes x orthogonal in bfloat16; the formula is compared in the dtype of the parameters."""
    monkeypatch.setattr(torch.Tensor, "bfloat16", torch.Tensor.clone)


def kinds(name: str) -> tuple[Any, Any]:
    return getattr(optim, name), getattr(torch.optim, name)


def agree(mine: list[Any], its: list[Any], rtol: float = 1e-5, atol: float = 2e-6) -> None:
    for p, t in zip(mine, its, strict=True):
        np.testing.assert_allclose(p.detach().numpy(), t.detach().numpy(), rtol=rtol, atol=atol)


@pytest.mark.parametrize("problem", ["quadratic", "rosenbrock", "network"])
@settings
def test_the_path_is_pytorchs_to_rounding(name: str, options: dict[str, Any], problem: str) -> None:
    pair = Pair(problem, matrices=name == "Muon").with_(*kinds(name), **options)
    for t in range(50):
        pair.step()
        assert pair.error() < 4e-6 * (t + 5), t


@pytest.mark.parametrize("problem", ["quadratic", "rosenbrock", "network"])
@settings
def test_the_path_is_pytorchs_in_float64(name: str, options: dict[str, Any], problem: str) -> None:
    with wide():
        pair = Pair(problem, "float64", matrices=name == "Muon").with_(*kinds(name), **options)
        for _ in range(50):
            pair.step()
        assert pair.error() < 1e-10


def given(name: str, **options: Any) -> tuple[Any, Any, list[Any], list[Any]]:
    """An optimizer of each for matrices, and for others where it takes others."""
    empty = [] if name == "Adafactor" else [(0, 4)]  # PyTorch's divides by the number of elements
    mine, its = tensors(random((3, 5), (2, 1), *empty, *([] if name == "Muon" else [(4,), (), (2, 3, 2)])))
    ours, theirs = kinds(name)
    return ours(mine, **options), theirs(its, **options), mine, its


def walk(ours: Any, theirs: Any, mine: list[Any], its: list[Any], steps: range, holes: bool = False) -> None:
    """Gradients of changing size, the same for both; with holes, of some parameters in some steps only."""
    for step in steps:
        for i, (p, t) in enumerate(zip(mine, its, strict=True)):
            g = np.random.default_rng([step, i]).standard_normal(p.shape).astype("float32") * (0.1 if step % 3 else 3.0)
            there = not (holes and (step + i) % 3 == 0)
            p.grad, t.grad = (pg.tensor(g), torch.tensor(g)) if there else (None, None)
        ours.step()
        theirs.step()


@settings
def test_parameters_without_a_gradient_in_some_steps(name: str, options: dict[str, Any]) -> None:
    ours, theirs, mine, its = given(name, **options)
    for step in range(12):
        walk(ours, theirs, mine, its, range(step, step + 1), holes=True)
        agree(mine, its)


@settings
def test_a_state_of_pytorchs_loads(name: str, options: dict[str, Any]) -> None:
    ours, theirs, mine, its = given(name, **options)
    walk(ours, theirs, mine, its, range(4))
    state = theirs.state_dict()
    fresh = getattr(optim, name)(mine)
    fresh.load_state_dict({"state": plugrad_of(state["state"]), "param_groups": state["param_groups"]})
    have, want = ({i: set(s) for i, s in given["state"].items()} for given in (fresh.state_dict(), state))
    assert have == {i: {k for k in keys if state["state"][i][k] is not None} for i, keys in want.items()}
    walk(fresh, theirs, mine, its, range(4, 10))
    agree(mine, its)


@settings
def test_pytorch_loads_the_state(name: str, options: dict[str, Any]) -> None:
    ours, theirs, mine, its = given(name, **options)
    walk(ours, theirs, mine, its, range(4))
    state = torch_of(ours.state_dict())
    theirs.load_state_dict({**theirs.state_dict(), "state": state["state"]})
    walk(ours, theirs, mine, its, range(4, 10))
    agree(mine, its)


def plugrad_of(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: plugrad_of(v) for k, v in value.items()}
    return pg.tensor(value.numpy()) if isinstance(value, torch.Tensor) else value


def torch_of(value: Any, key: Any = None) -> Any:
    if isinstance(value, dict):
        return {k: torch_of(v, k) for k, v in value.items()}
    if isinstance(value, pg.Tensor):
        return torch.tensor(value.numpy())
    return torch.tensor(float(value)) if key in ("step", "mu_product", "eta", "mu") else value


@pytest.mark.parametrize("name", NAMES)
def test_groups_and_rates_that_change(name: str) -> None:
    mine, its = tensors(random((3, 5), (4, 2), (2, 2)))
    ours, theirs = (
        kind([{"params": [ps[0]]}, {"params": [ps[1]], "lr": 0.05}], lr=0.01)
        for kind, ps in zip(kinds(name), (mine, its), strict=True)
    )
    walk(ours, theirs, mine[:2], its[:2], range(3))
    for optimizer in (ours, theirs):
        optimizer.param_groups[0]["lr"] = 0.002
        optimizer.param_groups[1]["weight_decay" if name != "Rprop" else "step_sizes"] = (
            0.1 if name != "Rprop" else (1e-3, 0.1)
        )
    walk(ours, theirs, mine[:2], its[:2], range(3, 6))
    if name == "Adagrad":  # PyTorch has no state for a group that is added later
        mine, its = mine[:2], its[:2]
    else:
        ours.add_param_group({"params": mine[2], "lr": 0.03})
        theirs.add_param_group({"params": its[2], "lr": 0.03})
    walk(ours, theirs, mine, its, range(6, 9))
    agree(mine, its)


@pytest.mark.parametrize("name", NAMES)
def test_names_order_and_defaults_of_arguments(name: str) -> None:
    mine, its = (inspect.signature(kind).parameters for kind in kinds(name))
    left_out = RELICS | ({"decoupled_weight_decay"} if name == "AdamW" else set())
    assert [n for n in its if n not in left_out] == [n for n in mine if n in its]
    assert set(mine) <= set(its)
    for n, p in mine.items():
        assert p.default == its[n].default, n
        assert p.kind == its[n].kind or (p.kind == p.KEYWORD_ONLY) == (its[n].kind == p.KEYWORD_ONLY), n


def test_muon_beside_pytorchs_in_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    pair = Pair("network", matrices=True).with_(*kinds("Muon"), lr=0.02)
    for _ in range(50):
        pair.step()
    assert 1e-4 < pair.error() < 0.1


LBFGS = [
    {},
    {"lr": 0.9, "max_iter": 7},
    {"lr": 0.5, "history_size": 2, "max_iter": 4, "max_eval": 30},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "history_size": 3, "max_iter": 5, "lr": 0.7},
    {"line_search_fn": "strong_wolfe", "max_eval": 3, "max_iter": 9},
    {"lr": 0.5, "tolerance_grad": 0.3, "tolerance_change": 1e-3},
]
lbfgs = pytest.mark.parametrize("options", LBFGS, ids=lambda v: ",".join(v) or "defaults")


@lbfgs
@pytest.mark.parametrize("problem", ["quadratic", "rosenbrock", "network"])
def test_lbfgs_goes_pytorchs_path(problem: str, options: dict[str, Any]) -> None:
    if problem == "rosenbrock" and not options.get("line_search_fn"):
        options = {**options, "lr": options.get("lr", 1.0) * 1e-2}
    with wide():
        pair = Pair(problem, "float64").with_(*kinds("LBFGS"), **options)
        for _ in range(4):
            pair.step()
            assert pair.error() < 1e-7
        counts = [
            s[k] for k in ("func_evals", "n_iter") for s in (*pair.ours.state.values(), *pair.theirs.state.values())
        ]
        assert counts[0] == counts[1]
        assert counts[2] == counts[3]


@lbfgs
def test_lbfgs_in_float32(options: dict[str, Any]) -> None:
    pair = Pair("network").with_(*kinds("LBFGS"), **options)
    pair.step()
    assert pair.error() < 2e-3


def test_a_state_of_lbfgs_loads() -> None:
    with wide():
        pair = Pair("rosenbrock", "float64").with_(*kinds("LBFGS"), line_search_fn="strong_wolfe", max_iter=4)
        pair.step()
        state = pair.theirs.state_dict()
        entries = {k: plugrad_lists(v) for k, v in state["state"][0].items() if k != "al"}
        pair.ours = optim.LBFGS(pair.mine)
        pair.ours.load_state_dict({"state": {0: entries}, "param_groups": state["param_groups"]})
        pair.step()
        assert pair.error() < 1e-7


def plugrad_lists(value: Any) -> Any:
    return [plugrad_of(v) for v in value] if isinstance(value, list) else plugrad_of(value)
