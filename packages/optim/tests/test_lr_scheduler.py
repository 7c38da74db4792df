"""Schedules: functions of the step, and nothing else."""

from __future__ import annotations

import pytest

import plugrad as pg
import plugrad_optim as optim
from plugrad_optim.lr_scheduler import LRScheduler, StepLR, step_lr


def make(lr: float = 0.8) -> optim.SGD:
    return optim.SGD([pg.tensor([1.0], requires_grad=True)], lr=lr)


def test_step_lr_is_a_function_of_the_step() -> None:
    assert [step_lr(t, 0.8, 2, 0.5) for t in range(6)] == [0.8, 0.8, 0.4, 0.4, 0.2, 0.2]


def test_the_wrapper_sets_every_group() -> None:
    optimizer = make()
    optimizer.add_param_group({"params": [pg.tensor([1.0], requires_grad=True)], "lr": 8.0})
    schedule, seen = StepLR(optimizer, 2, gamma=0.5), []
    for _ in range(4):
        seen.append(schedule.get_last_lr())
        optimizer.step()
        schedule.step()
    assert seen == [[0.8, 8.0], [0.8, 8.0], [0.4, 4.0], [0.4, 4.0]]


def test_loading_gives_the_rate_back_in_either_order() -> None:
    optimizer = make()
    schedule = StepLR(optimizer, 1, gamma=0.5)
    for _ in range(3):
        schedule.step()
    states = optimizer.state_dict(), schedule.state_dict()
    for order in ((0, 1), (1, 0)):
        fresh = make(lr=77.0)
        parts = fresh, StepLR(fresh, 5)
        for i in order:
            parts[i].load_state_dict(states[i])
        assert fresh.param_groups[0]["lr"] == 0.1
        parts[1].step()
        assert fresh.param_groups[0]["lr"] == 0.05
    assert states[1] == {"base_lrs": [0.8], "last_epoch": 3, "step_size": 1, "gamma": 0.5}


def test_going_on_from_a_last_epoch() -> None:
    optimizer = make()
    optimizer.param_groups[0]["initial_lr"] = 0.8
    assert StepLR(optimizer, 2, gamma=0.5, last_epoch=4).get_last_lr() == [0.2]
    with pytest.raises(ValueError, match="initial_lr"):
        StepLR(make(), 2, last_epoch=4)


def test_refusals() -> None:
    with pytest.raises(ValueError, match="step_size"):
        StepLR(make(), 0)
    with pytest.raises(NotImplementedError, match=r"LRScheduler\.at"):
        LRScheduler(make())
    two = make()
    two.add_param_group({"params": [pg.tensor([1.0], requires_grad=True)]})
    with pytest.raises(ValueError, match="1 groups for an optimizer of 2"):
        StepLR(two, 1).load_state_dict(StepLR(make(), 1).state_dict())
