"""Schedules against PyTorch: the same rates, momenta and betas over 60 steps, and after loading."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

import plugrad as pg
from plugrad_optim import SGD, Adam, lr_scheduler, schedules, swa_utils

STEPS = 60


def falling(t: int) -> float:
    return 0.9**t + 0.1


def shaking(t: int) -> float:
    return 1.0 + 0.1 * (-1) ** t / t


SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("LambdaLR", {"lr_lambda": falling}),
    ("LambdaLR", {"lr_lambda": [falling, lambda t: 1 / (1 + t)]}),
    ("MultiplicativeLR", {"lr_lambda": shaking}),
    ("StepLR", {"step_size": 7, "gamma": 0.6}),
    ("MultiStepLR", {"milestones": [5, 30, 5, 31], "gamma": 0.5}),
    ("ConstantLR", {}),
    ("ConstantLR", {"factor": 0.3, "total_iters": 11}),
    ("LinearLR", {}),
    ("LinearLR", {"start_factor": 0.2, "end_factor": 0.6, "total_iters": 17}),
    ("ExponentialLR", {"gamma": 0.93}),
    ("PolynomialLR", {}),
    ("PolynomialLR", {"total_iters": 43, "power": 2.3}),
    ("CosineAnnealingLR", {"T_max": 100}),
    ("CosineAnnealingLR", {"T_max": 13, "eta_min": 0.02}),
    ("CosineAnnealingWarmRestarts", {"T_0": 7}),
    ("CosineAnnealingWarmRestarts", {"T_0": 5, "T_mult": 3, "eta_min": 0.02}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": STEPS + 1}),
    ("OneCycleLR", {"max_lr": [0.5, 2.0], "epochs": 16, "steps_per_epoch": 4, "pct_start": 0.4, "three_phase": True}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 70, "anneal_strategy": "linear", "cycle_momentum": False}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 70, "div_factor": 5.0, "final_div_factor": 50.0,
                    "base_momentum": 0.5, "max_momentum": [0.8, 0.9]}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 7}),
    ("CyclicLR", {"base_lr": [0.01, 0.1], "max_lr": [0.2, 1.0], "step_size_up": 5, "step_size_down": 9,
                  "mode": "triangular2"}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 5, "mode": "exp_range", "gamma": 0.97,
                  "base_momentum": 0.5, "max_momentum": 0.7}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 5, "scale_fn": falling, "scale_mode": "iterations"}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 5, "scale_fn": falling, "cycle_momentum": False}),
]  # fmt: skip
NAMES = sorted({name for name, _ in SETTINGS})
settings = pytest.mark.parametrize(
    ("name", "options"), SETTINGS, ids=lambda v: v if isinstance(v, str) else ",".join(v) or "defaults"
)
optimizers = pytest.mark.parametrize("adam", [False, True], ids=["momentum", "betas"])


def pair(adam: bool = False) -> tuple[Any, Any]:
    """An optimizer of each, with two groups of their own rates."""
    made = []
    for kinds, tensor in (((SGD, Adam), pg.tensor), ((torch.optim.SGD, torch.optim.Adam), torch.tensor)):
        groups = [{"params": [tensor([1.0], requires_grad=True)], "lr": lr} for lr in (0.3, 1.2)]
        made.append(kinds[1](groups) if adam else kinds[0](groups, momentum=0.7))
    return made[0], made[1]


def seen(optimizer: Any) -> list[Any]:
    return [(g["lr"], g["betas"][0] if "betas" in g else g["momentum"]) for g in optimizer.param_groups]


def alike(ours: Any, theirs: Any) -> None:
    for mine, its in zip(seen(ours), seen(theirs), strict=True):
        assert mine == pytest.approx(its, rel=1e-6, abs=1e-9)


def both(name: str, options: dict[str, Any], ours: Any, theirs: Any) -> tuple[Any, Any]:
    return getattr(lr_scheduler, name)(ours, **options), getattr(torch.optim.lr_scheduler, name)(theirs, **options)


@optimizers
@settings
def test_rates_and_momenta(name: str, options: dict[str, Any], adam: bool) -> None:
    ours, theirs = pair(adam)
    a, b = both(name, options, ours, theirs)
    alike(ours, theirs)
    for _ in range(STEPS):
        theirs.step()
        a.step()
        b.step()
        alike(ours, theirs)
        assert a.get_last_lr() == pytest.approx(b.get_last_lr(), rel=1e-6, abs=1e-9)


@settings
def test_a_loaded_schedule_goes_on(name: str, options: dict[str, Any]) -> None:
    """Into a fresh one, of an optimizer that was loaded or not, before or after."""
    whole, _ = pair()
    first = getattr(lr_scheduler, name)(whole, **options)
    for _ in range(23):
        first.step()
    states = whole.state_dict(), first.state_dict()
    fresh = []
    for order in ((0, 1), (1, 0), (1,)):
        optimizer, _ = pair()
        parts = optimizer, getattr(lr_scheduler, name)(optimizer, **options)
        for i in order:
            parts[i].load_state_dict(states[i])
        fresh.append(parts)
    for _ in range(20):
        for optimizer, schedule in fresh:
            assert seen(optimizer) == seen(whole)
            schedule.step()
        first.step()


@settings
def test_a_state_of_pytorchs_loads(name: str, options: dict[str, Any]) -> None:
    ours, theirs = pair()
    a, b = both(name, options, ours, theirs)
    for _ in range(23):
        theirs.step()
        b.step()
    a.load_state_dict(b.state_dict())
    alike(ours, theirs)


def test_going_on_after_a_last_epoch() -> None:
    for name, options in SETTINGS:
        if name in ("LambdaLR", "StepLR", "MultiStepLR", "CosineAnnealingLR", "ExponentialLR", "CyclicLR"):
            ours, theirs = pair()
            a, b = both(name, options, ours, theirs)
            for _ in range(9):
                theirs.step()
                a.step()
                b.step()
            both(name, {**options, "last_epoch": b.last_epoch - 1}, ours, theirs)
            alike(ours, theirs)


@pytest.mark.parametrize("name", [*NAMES, "ReduceLROnPlateau", "SequentialLR", "ChainedScheduler"])
def test_names_order_and_defaults_of_arguments(name: str) -> None:
    mine, its = (inspect.signature(getattr(m, name)).parameters for m in (lr_scheduler, torch.optim.lr_scheduler))
    assert {n: p.default for n, p in mine.items()} == {n: p.default for n, p in its.items()}
    assert list(mine) == list(its)


def sequences(module: Any, optimizer: Any) -> Any:
    warm = module.LinearLR(optimizer, start_factor=0.1, total_iters=6)
    parts = [warm, module.CosineAnnealingLR(optimizer, T_max=15, eta_min=0.01), module.ExponentialLR(optimizer, 0.9)]
    return module.SequentialLR(optimizer, parts, milestones=[6, 21])


def chains(module: Any, optimizer: Any) -> Any:
    parts = [
        module.ConstantLR(optimizer, factor=0.1, total_iters=4), module.ExponentialLR(optimizer, gamma=0.95),
        module.StepLR(optimizer, 8, gamma=0.5), module.CosineAnnealingLR(optimizer, T_max=70),
    ]  # fmt: skip
    return module.ChainedScheduler(parts)


def cycles(module: Any, optimizer: Any) -> Any:
    parts = [module.OneCycleLR(optimizer, 0.9, total_steps=20), module.ConstantLR(optimizer, 0.5, 7)]
    return module.SequentialLR(optimizer, parts, milestones=[20])


@pytest.mark.parametrize("build", [sequences, chains, cycles])
def test_schedules_of_schedules(build: Any) -> None:
    ours, theirs = pair()
    a, b = build(lr_scheduler, ours), build(torch.optim.lr_scheduler, theirs)
    alike(ours, theirs)
    for t in range(STEPS):
        theirs.step()
        a.step()
        b.step()
        alike(ours, theirs)
        if t == 25:
            ours, _ = pair()
            state, a = a.state_dict(), build(lr_scheduler, ours)
            a.load_state_dict(state)
            alike(ours, theirs)


METRICS = [5.0, 4.0, 4.1, 3.99, 3.999, 4.2, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.6, 3.49, 3.3, 9.0, float("nan"), 3.31] * 4
PLATEAUS: list[dict[str, Any]] = [
    {"patience": 1},
    {"patience": 2, "factor": 0.5, "cooldown": 3, "threshold": 0.01},
    {"patience": 0, "threshold_mode": "abs", "threshold": 0.2, "min_lr": [0.01, 0.3]},
    {"mode": "max", "patience": 3, "min_lr": 0.001, "factor": 0.3},
    {"mode": "max", "patience": 1, "threshold_mode": "abs", "threshold": 0.05, "eps": 0.1},
]


@pytest.mark.parametrize("options", PLATEAUS, ids=lambda v: ",".join(v))
def test_plateau(options: dict[str, Any]) -> None:
    ours, theirs = pair()
    a, b = both("ReduceLROnPlateau", options, ours, theirs)
    for t, metric in enumerate(METRICS):
        a.step(metric)
        b.step(metric)
        alike(ours, theirs)
        assert (a.best, a.num_bad_epochs, a.cooldown_counter) == (b.best, b.num_bad_epochs, b.cooldown_counter)
        if t == 20:
            ours, _ = pair()
            state, a = a.state_dict(), lr_scheduler.ReduceLROnPlateau(ours, **options)
            a.load_state_dict(state)
            alike(ours, theirs)
        if t == 30:
            a.load_state_dict(b.state_dict())


@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("epochs", [0, 1, 7])
def test_swalr(strategy: str, epochs: int) -> None:
    ours, theirs = pair()
    options: dict[str, Any] = {"swa_lr": [0.05, 0.2], "anneal_epochs": epochs, "anneal_strategy": strategy}
    falls = lr_scheduler.ExponentialLR(ours, 0.9), torch.optim.lr_scheduler.ExponentialLR(theirs, 0.9)
    swa = swa_utils.SWALR(ours, **options), torch.optim.swa_utils.SWALR(theirs, **options)
    alike(ours, theirs)
    start = 6 if epochs else 0  # without steps in between it holds at once
    for t in range(20):
        theirs.step()
        for s in falls if t < start else swa:
            s.step()
        alike(ours, theirs)
        if t == 9:
            ours, _ = pair()
            fresh = swa_utils.SWALR(ours, **options)
            fresh.load_state_dict(swa[0].state_dict())
            swa = fresh, swa[1]
            alike(ours, theirs)


def test_a_schedule_is_what_the_wrapper_sets() -> None:
    ours, _ = pair()
    rate = schedules.warmup(5, then=schedules.cosine(0.4, T_max=20))
    schedule = lr_scheduler.ScheduleLR(ours, [rate, schedules.step(1.0, 3)])
    theirs = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.4)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(theirs, T_max=20)
    for t in range(25):
        want = 0.4 * t / 5 if t < 5 else cosine.get_last_lr()[0]
        assert schedule.get_last_lr() == pytest.approx([want, 0.1 ** (t // 3)], rel=1e-6, abs=1e-9)
        schedule.step()
        if t >= 5:
            theirs.step()
            cosine.step()
