"""Schedules of schedules: one after another, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from math import prod
from typing import TYPE_CHECKING, Any

from .plateau import ReduceLROnPlateau
from .scheduler import LRScheduler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..optimizer import Optimizer

__all__ = ["ChainedScheduler", "SequentialLR"]


class Composed(LRScheduler):
    """What they share: members that belong to one optimizer, and are saved and loaded along."""

    apart = ("optimizer", "_schedulers")

    def _members(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None) -> None:
        name = type(self).__name__
        if not schedulers:
            raise ValueError(f"{name}: there are no schedules to put together")
        for i, s in enumerate(schedulers):
            if isinstance(s, ReduceLROnPlateau):
                raise ValueError(f"{name}: schedule {i} is ReduceLROnPlateau, which goes by a metric; step it apart")
            if getattr(s, "optimizer", None) is not optimizer:
                raise ValueError(f"{name}: schedule {i}, {type(s).__name__}, belongs to another optimizer")
        self._schedulers = list(schedulers)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        states = state_dict["_schedulers"]
        if len(states) != len(self._schedulers):
            raise ValueError(
                f"{type(self).__name__}: a state of {len(states)} schedules for {len(self._schedulers)} schedules"
            )
        for s, state in zip(self._schedulers, states, strict=True):
            s.load_state_dict(state)
        super().load_state_dict(state_dict)


class SequentialLR(Composed):
    """One schedule after another: the next takes over at each milestone, and counts from there."""

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        self._members(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"SequentialLR: {len(schedulers)} schedules want one milestone less, there are {len(milestones)}"
            )
        self._milestones = list(milestones)
        super().__init__(optimizer, last_epoch)

    def _current(self) -> LRScheduler:
        i = bisect_right(self._milestones, self.last_epoch)
        member = self._schedulers[i]
        member.last_epoch = self.last_epoch - (self._milestones[i - 1] if i else 0)
        return member

    def get_lr(self) -> list[float]:
        return self._current().get_lr()

    def _set(self) -> None:
        self._current()._set()
        super()._set()


class ChainedScheduler(Composed):
    """All at once: the rate is what a group started with, times the factors of all.

    In PyTorch a schedule that is given in closed form (LambdaLR, CyclicLR, OneCycleLR, CosineAnnealingWarmRestarts)
    forgets those before it in the list; here it multiplies as well.
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        self._members(schedulers, optimizer or next((s.optimizer for s in schedulers), None))
        if len({s.last_epoch for s in schedulers}) > 1:
            raise ValueError(f"ChainedScheduler: the schedules are at steps {[s.last_epoch for s in schedulers]}")
        super().__init__(schedulers[0].optimizer, int(schedulers[0].last_epoch) - 1)

    def get_lr(self) -> list[float]:
        for s in self._schedulers:
            s.last_epoch = self.last_epoch
        rates = [s.get_lr() for s in self._schedulers]
        return [_product(base, [r[i] for r in rates]) for i, base in enumerate(self.base_lrs)]

    def _set(self) -> None:
        for s in self._schedulers:
            s.last_epoch = self.last_epoch
            s._set()
        super()._set()


def _product(base: float, rates: list[float]) -> float:
    return rates[0] * prod(rate / base for rate in rates[1:]) if base else 0.0
