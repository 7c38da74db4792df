"""What every schedule does: count the steps, set the rate of every group, save and load."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..optimizer import Optimizer

__all__ = ["LRScheduler", "ScheduleLR"]


class LRScheduler:
    """Sets the rate of every group from its first rate and the number of steps; subclasses write `at` (or `get_lr`).

    The rate depends on nothing else: loading a state gives it back, whatever was built or loaded before and in
    whichever order. A rate that is set by hand (`optimizer.param_groups[0]["lr"] = 0.1`) holds until the next `step`;
    to change the whole schedule set `base_lrs`. A group added later starts from its own rate. `last_epoch` is the last
    step that was made before, for schedules that go on without a state.
    """

    apart: tuple[str, ...] = ("optimizer",)  # what is not part of the state

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        if last_epoch >= 0 and any("initial_lr" not in group for group in optimizer.param_groups):
            raise ValueError(
                f"{type(self).__name__}: last_epoch={last_epoch}, but the optimizer's groups have no 'initial_lr'; "
                "load the optimizer's state first, or leave last_epoch out and load the schedule's state"
            )
        self.base_lrs: list[float] = []
        self.last_epoch: float = last_epoch + 1
        self._set()

    def at(self, t: float, lr: float) -> float:
        """The rate after `t` steps, of a group that started with `lr`."""
        raise NotImplementedError(f"{type(self).__name__}.at(self, t, lr) is not written")

    def get_lr(self) -> list[float]:
        """The rate of each group after `last_epoch` steps."""
        return [self.at(self.last_epoch, lr) for lr in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """One step (or epoch) further, or to that very one, which may lie between two."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._set()

    def get_last_lr(self) -> list[float]:
        """The rates that hold now, one for each group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All but the optimizer and functions."""
        return deepcopy({k: v for k, v in vars(self).items() if k not in self.apart})

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state: the optimizer's rates are set as well."""
        have, want = len(state_dict.get("base_lrs", self.base_lrs)), len(self.optimizer.param_groups)
        if have != want:
            raise ValueError(f"{type(self).__name__}: a state of {have} groups for an optimizer of {want}")
        known = {k: v for k, v in state_dict.items() if k in vars(self) and k not in self.apart}
        vars(self).update(deepcopy(known))
        self._set()

    def _set(self) -> None:
        groups = self.optimizer.param_groups
        self.base_lrs += [g["initial_lr"] if "initial_lr" in g else g["lr"] for g in groups[len(self.base_lrs) :]]
        for group, base, lr in zip(groups, self.base_lrs, self.get_lr(), strict=True):
            group["initial_lr"], group["lr"] = base, lr


class ScheduleLR(LRScheduler):
    """The rate is schedule(t), whatever the optimizer started with; with a list, one schedule for each group.

    ScheduleLR(optimizer, schedules.warmup(100, then=schedules.cosine(0.1, T_max=1000)))
    """

    apart = ("optimizer", "schedule")

    def __init__(
        self,
        optimizer: Optimizer,
        schedule: Callable[[float], float] | list[Callable[[float], float]],
        last_epoch: int = -1,
    ) -> None:
        self.schedule = schedule
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return [f(self.last_epoch) for f in each_group(self, "schedule", self.schedule)]


def each_group(scheduler: LRScheduler, name: str, value: Any, optimizer: Optimizer | None = None) -> list[Any]:
    """`value` for each group: the same for all, or a list of as many."""
    n = len((optimizer or scheduler.optimizer).param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * n
    if len(value) != n:
        raise ValueError(f"{type(scheduler).__name__}: {len(value)} values of {name} for an optimizer of {n} groups")
    return list(value)
