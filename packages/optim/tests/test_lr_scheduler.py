"""Schedules that set an optimizer's rates: groups, states, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import plugrad as pg
import plugrad_optim as optim
from plugrad_optim import lr_scheduler, schedules
from plugrad_optim.lr_scheduler import LRScheduler, StepLR


def make(lr: float = 0.8, **options: Any) -> optim.SGD:
    return optim.SGD([pg.tensor([1.0], requires_grad=True)], lr=lr, **options)


def one_more(optimizer: optim.Optimizer, lr: float) -> None:
    optimizer.add_param_group({"params": [pg.tensor([1.0], requires_grad=True)], "lr": lr})


def test_the_wrapper_sets_every_group() -> None:
    optimizer = make()
    one_more(optimizer, 8.0)
    schedule, seen = StepLR(optimizer, 2, gamma=0.5), []
    for _ in range(4):
        seen.append(schedule.get_last_lr())
        optimizer.step()
        schedule.step()
    assert seen == [[0.8, 8.0], [0.8, 8.0], [0.4, 4.0], [0.4, 4.0]]


def test_a_group_that_comes_later_starts_from_its_own_rate() -> None:
    optimizer = make()
    schedule = StepLR(optimizer, 2, gamma=0.5)
    for _ in range(3):
        schedule.step()
    one_more(optimizer, 8.0)
    schedule.step()
    assert schedule.get_last_lr() == [0.2, 2.0]


def test_a_rate_set_by_hand_holds_until_the_next_step() -> None:
    optimizer = make()
    schedule = StepLR(optimizer, 2, gamma=0.5)
    optimizer.param_groups[0]["lr"] = 7.0
    assert schedule.get_last_lr() == [7.0]
    schedule.step()
    assert schedule.get_last_lr() == [0.8]
    schedule.base_lrs = [8.0]
    schedule.step()
    assert schedule.get_last_lr() == [4.0]


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


def test_a_state_is_of_its_own() -> None:
    schedule = lr_scheduler.MultiStepLR(make(), [3, 1])
    state = schedule.state_dict()
    state["milestones"].append(9)
    assert schedule.milestones == [1, 3]
    schedule.load_state_dict(state)
    state["base_lrs"].append(9)
    assert schedule.base_lrs == [0.8]


def test_going_on_from_a_last_epoch() -> None:
    optimizer = make()
    optimizer.param_groups[0]["initial_lr"] = 0.8
    assert StepLR(optimizer, 2, gamma=0.5, last_epoch=4).get_last_lr() == [0.2]
    with pytest.raises(ValueError, match="initial_lr"):
        StepLR(make(), 2, last_epoch=4)


def test_any_step_may_be_asked_for() -> None:
    optimizer = make()
    schedule = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=4)
    for t in (2.0, 6, 1.5, 0):
        schedule.step(t)
        assert schedule.get_last_lr() == [schedules.cosine_restarts(0.8, T_0=4)(t)]


def test_a_schedule_of_ones_own_writes_at_or_get_lr() -> None:
    class Halving(LRScheduler):
        def at(self, t: float, lr: float) -> float:
            return lr / 2**t

    class Same(LRScheduler):
        def get_lr(self) -> list[float]:
            return [lr / 2**self.last_epoch for lr in self.base_lrs]

    for kind in (Halving, Same):
        schedule = kind(make())
        schedule.step()
        assert schedule.get_last_lr() == [0.4]
    with pytest.raises(NotImplementedError, match=r"LRScheduler\.at"):
        LRScheduler(make())


def test_what_a_callable_object_remembers_is_saved() -> None:
    class Slope:
        def __init__(self, slope: float) -> None:
            self.slope = slope

        def __call__(self, t: int) -> float:
            return 1 - self.slope * t

    schedule = lr_scheduler.LambdaLR(make(), Slope(0.1))
    schedule.step()
    fresh = lr_scheduler.LambdaLR(make(), Slope(0.5))
    fresh.load_state_dict(schedule.state_dict())
    assert fresh.get_last_lr() == schedule.get_last_lr() == [0.8 * 0.9]
    assert lr_scheduler.LambdaLR(make(), lambda t: 1.0).state_dict()["lr_lambdas"] == [None]


def test_products_are_made_once_and_right_in_any_order() -> None:
    asked: list[int] = []

    def f(k: int) -> float:
        asked.append(k)
        return 0.5

    schedule = lr_scheduler.MultiplicativeLR(make(), f)
    for _ in range(5):
        schedule.step()
    assert asked == [1, 2, 3, 4, 5]
    schedule.step(2)
    assert schedule.get_last_lr() == [0.2]
    assert "_made" not in schedule.state_dict()


def test_schedules_nest() -> None:
    optimizer = make()
    first = [lr_scheduler.ConstantLR(optimizer, 0.5, 3), lr_scheduler.ExponentialLR(optimizer, 0.9)]
    inner = lr_scheduler.SequentialLR(optimizer, first, milestones=[5])
    chain = lr_scheduler.ChainedScheduler([StepLR(optimizer, 3, 0.5), lr_scheduler.ExponentialLR(optimizer, 0.99)])
    outer = lr_scheduler.SequentialLR(optimizer, [inner, chain], milestones=[17])
    ones = schedules.sequential([schedules.constant(0.8, 0.5, 3), schedules.exponential(0.8, 0.9)], [5])
    both = schedules.chained(schedules.step(0.8, 3, 0.5), schedules.exponential(1.0, 0.99))
    rate = schedules.sequential([ones, both], [17])
    for t in range(30):
        assert outer.get_last_lr() == pytest.approx([rate(t)], rel=1e-12)
        if t == 20:
            state = outer.state_dict()
            outer.step(3)
            outer.load_state_dict(state)
        outer.step()


def test_a_chain_goes_on_from_where_its_members_are() -> None:
    optimizer = make()
    member = lr_scheduler.ExponentialLR(optimizer, 0.5)
    member.step()
    chain = lr_scheduler.ChainedScheduler([member])
    assert chain.get_last_lr() == [0.4]
    chain.step()
    assert chain.get_last_lr() == [0.2]
    with pytest.raises(ValueError, match=r"at steps \[2, 0\]"):
        lr_scheduler.ChainedScheduler([member, lr_scheduler.ExponentialLR(optimizer, 0.5)])


def test_plateau_takes_tensors_and_saves_the_rate() -> None:
    optimizer = make()
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
    for metric in (3.0, 3.0, 3.0):
        schedule.step(pg.tensor(metric))
    assert schedule.get_last_lr() == [0.2]
    fresh = lr_scheduler.ReduceLROnPlateau(make(), factor=0.5, patience=0)
    fresh.load_state_dict(schedule.state_dict())
    fresh.step(4.0)
    assert fresh.get_last_lr() == [0.1]


def test_momentum_goes_the_other_way() -> None:
    optimizer = make(momentum=0.3)
    schedule = lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=10)
    seen = []
    for _ in range(10):
        seen.append(optimizer.param_groups[0]["momentum"])
        schedule.step()
    assert (max(seen), min(seen)) == (0.95, 0.85)
    assert seen.index(0.85) == 2


def two_groups() -> optim.SGD:
    optimizer = make()
    one_more(optimizer, 1.0)
    return optimizer


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda o: StepLR(o, 0), "step_size is 0"),
        (lambda o: lr_scheduler.ConstantLR(o, factor=1.5), "factor is 1.5"),
        (lambda o: lr_scheduler.LinearLR(o, start_factor=-0.5), "start_factor is -0.5"),
        (lambda o: lr_scheduler.CosineAnnealingLR(o, 0), "T_max is 0"),
        (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 5, 0), "T_mult is 0"),
        (lambda o: lr_scheduler.LambdaLR(o, [len, len]), "2 values of lr_lambda for an optimizer of 1 groups"),
        (lambda o: lr_scheduler.OneCycleLR(o, 0.1), "how long"),
        (lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=0), "total_steps is 0"),
        (lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=5, pct_start=2.0), "pct_start is 2.0"),
        (lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=5, anneal_strategy="x"), "anneal_strategy is 'x'"),
        (lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=5).step(6), "step 6 of a cycle of 5 steps"),
        (lambda o: lr_scheduler.CyclicLR(o, 0.1, 0.2, mode="x"), "mode is 'x'"),
        (
            lambda o: lr_scheduler.CyclicLR(optim.Adagrad(o.param_groups[0]["params"]), 1, 2),
            "neither momentum nor betas",
        ),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, factor=1.0), "factor is 1.0"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, mode="up"), "mode is 'up'"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, threshold_mode="x"), "threshold_mode is 'x'"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, min_lr=[1, 2]), "2 values of min_lr"),
        (lambda o: lr_scheduler.SequentialLR(o, [], []), "no schedules"),
        (lambda o: lr_scheduler.SequentialLR(o, [StepLR(o, 1)], [3]), "one milestone less"),
        (lambda o: lr_scheduler.ChainedScheduler([]), "no schedules"),
        (lambda o: lr_scheduler.ChainedScheduler([StepLR(o, 1), StepLR(make(), 1)]), "another optimizer"),
        (lambda o: lr_scheduler.ChainedScheduler([lr_scheduler.ReduceLROnPlateau(o)]), "goes by a metric"),
        (
            lambda o: StepLR(two_groups(), 1).load_state_dict(StepLR(o, 1).state_dict()),
            "1 groups for an optimizer of 2",
        ),
    ],
)
def test_refusals(build: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        build(make())


def test_a_function_of_the_step_is_wanted() -> None:
    with pytest.raises(TypeError, match="lr_lambda is a float"):
        lr_scheduler.LambdaLR(make(), 0.5)
