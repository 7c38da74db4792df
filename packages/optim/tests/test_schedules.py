"""Schedules: functions of the step, and nothing else."""

from __future__ import annotations

import copy
import inspect
import pickle
from math import cos, pi

import pytest

from plugrad_optim import schedules as s

ALL = [
    s.constant(0.8), s.constant(0.8, 0.5, 3), s.step(0.8, 2, 0.5), s.multistep(0.8, [2, 5]), s.exponential(0.8, 0.9),
    s.linear(0.8, 0.1, 0.5, 7), s.polynomial(0.8, 6, 2.0), s.cosine(0.8, T_max=5, eta_min=0.1),
    s.cosine_restarts(0.8, 3, 2), s.one_cycle(0.8, 12), s.cyclic(0.1, 0.8, 3), s.factor(0.8, float),
    s.multiplicative(0.8, float), s.warmup(4, then=s.cosine(0.8, 9)),
    s.chained(s.step(0.8, 3), s.exponential(1.0, 0.9)),
    s.sequential([s.constant(0.8), s.step(0.8, 2)], [5]),
]  # fmt: skip
every = pytest.mark.parametrize("schedule", ALL, ids=str)


def rates(schedule: s.Schedule, n: int) -> list[float]:
    return [schedule(t) for t in range(n)]


@every
def test_the_step_alone_gives_the_rate(schedule: s.Schedule) -> None:
    forth = rates(schedule, 12)
    assert [schedule(t) for t in reversed(range(12))] == forth[::-1]
    assert all(isinstance(rate, float) for rate in forth)


@every
def test_it_is_a_value(schedule: s.Schedule) -> None:
    for twin in (copy.deepcopy(schedule), pickle.loads(pickle.dumps(schedule))):
        assert rates(twin, 12) == rates(schedule, 12)
        assert twin == schedule
        assert hash(twin) == hash(schedule)
    assert sum(schedule == other for other in ALL) == 1


def test_it_prints_as_it_was_made() -> None:
    assert repr(s.warmup(4, then=s.cosine(0.1, T_max=9))) == "warmup(4, then=cosine(0.1, T_max=9))"
    assert list(inspect.signature(s.cosine).parameters) == ["lr", "T_max", "eta_min"]


def test_the_rates() -> None:
    assert rates(s.constant(0.8, 0.5, 2), 4) == [0.4, 0.4, 0.8, 0.8]
    assert rates(s.step(0.8, 2, 0.5), 6) == [0.8, 0.8, 0.4, 0.4, 0.2, 0.2]
    assert rates(s.multistep(0.8, [3, 1, 3], 0.5), 5) == [0.8, 0.4, 0.4, 0.1, 0.1]
    assert rates(s.exponential(0.8, 0.5), 4) == [0.8, 0.4, 0.2, 0.1]
    assert rates(s.linear(0.8, 0.25, 0.5, 2), 4) == pytest.approx([0.2, 0.3, 0.4, 0.4])
    assert rates(s.polynomial(0.8, 2, 2.0), 4) == pytest.approx([0.8, 0.2, 0.0, 0.0])
    assert rates(s.cosine(0.8, 2, 0.2), 5) == pytest.approx([0.8, 0.5, 0.2, 0.5, 0.8])
    third = [0.4 * (1 + cos(pi * t / 4)) for t in range(4)]
    assert rates(s.cosine_restarts(0.8, 2, 2), 7) == pytest.approx([0.8, 0.4, *third, 0.8])
    assert rates(s.cyclic(0.0, 1.0, 2, 1), 5) == pytest.approx([0.0, 0.5, 1.0, 0.0, 0.5])
    assert rates(s.factor(0.5, lambda t: t), 3) == [0.0, 0.5, 1.0]
    assert rates(s.multiplicative(0.5, lambda t: t), 4) == [0.5, 0.5, 1.0, 3.0]


def test_restarts_are_exact_after_very_many_steps() -> None:
    rate = s.cosine_restarts(0.8, 3, 3)
    starts = [3 * (3**n - 1) // 2 for n in range(25)]
    assert [rate(t) for t in starts] == [0.8] * 25


def test_composition() -> None:
    assert rates(s.warmup(2, then=s.step(0.8, 2, 0.5)), 6) == [0.0, 0.4, 0.8, 0.8, 0.4, 0.4]
    assert rates(s.warmup(2, s.constant(0.8), 0.5), 3) == pytest.approx([0.4, 0.6, 0.8])
    assert rates(s.chained(s.step(0.8, 2, 0.5), s.exponential(1.0, 0.5)), 3) == [0.8, 0.4, 0.1]
    assert rates(s.sequential([s.constant(9.0), s.exponential(0.8, 0.5)], [2]), 4) == [9.0, 9.0, 0.8, 0.4]
    assert s.warmup(5, lambda t: 1.0)(5) == 1.0


def test_one_of_ones_own() -> None:
    assert halving(0.8)(2) == 0.2
    assert pickle.loads(pickle.dumps(halving(0.8))) == halving(0.8)


@s.schedule
def halving(t: float, lr: float) -> float:
    """lr / 2ᵗ"""
    return float(lr / 2**t)


def test_settings_are_looked_at_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="step: step_size is 0"):
        s.step(0.1, 0)
    with pytest.raises(ValueError, match="sequential: 1 schedules want one milestone less, there are 2"):
        s.sequential([s.constant(0.1)], [1, 2])
    with pytest.raises(ValueError, match="one_cycle: step 7 of a cycle of 6"):
        s.one_cycle(0.1, 6)(7)
