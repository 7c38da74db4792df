"""Schedules that go up and down, the momentum the other way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import schedules
from .scheduler import LRScheduler, each_group

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..optimizer import Optimizer

__all__ = ["CyclicLR", "OneCycleLR"]


class Cycle(LRScheduler):
    """What they share: rates and momenta from one number to another, each with its own for every group.

    The momentum is `momentum`, or the first of `betas`.
    """

    def _bounds(self, optimizer: Optimizer, cycle_momentum: bool, **bounds: Any) -> None:
        """Keep each bound as a list, `max_lr` as `max_lrs`."""
        for name, value in bounds.items():
            setattr(self, f"{name}s", each_group(self, name, value, optimizer))
        self.cycle_momentum = cycle_momentum
        if cycle_momentum and not {"momentum", "betas"} & optimizer.defaults.keys():
            raise ValueError(
                f"{type(self).__name__}: {type(optimizer).__name__} has neither momentum nor betas to cycle; "
                "give cycle_momentum=False"
            )

    def get_momentum(self) -> list[float]:
        """The momentum of each group after `last_epoch` steps."""
        raise NotImplementedError(f"{type(self).__name__}.get_momentum(self) is not written")

    def _set(self) -> None:
        super()._set()
        if not self.cycle_momentum:
            return
        for group, m in zip(self.optimizer.param_groups, self.get_momentum(), strict=True):
            if "betas" in group:
                group["betas"] = (m, *group["betas"][1:])
            else:
                group["momentum"] = m


class OneCycleLR(Cycle):
    """One cycle up to max_lr and down to almost nothing, momentum down to base_momentum and up: `schedules.one_cycle`.

    Over `total_steps`, or epochs · steps_per_epoch.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("OneCycleLR: how long is the cycle? Give total_steps, or epochs and steps_per_epoch")
        self.total_steps = epochs * steps_per_epoch if total_steps is None else total_steps  # type: ignore[operator]
        self.pct_start, self.anneal_strategy, self.three_phase = pct_start, anneal_strategy, three_phase
        self.div_factor, self.final_div_factor = div_factor, final_div_factor
        self._bounds(optimizer, cycle_momentum, max_lr=max_lr, base_momentum=base_momentum, max_momentum=max_momentum)
        for group, lr in zip(optimizer.param_groups, self.max_lrs, strict=True):
            group["initial_lr"] = lr / div_factor
        super().__init__(optimizer, last_epoch)

    max_lrs: list[float]
    base_momentums: list[float]
    max_momentums: list[float]

    def get_lr(self) -> list[float]:
        settings = (self.total_steps, self.pct_start, self.anneal_strategy, self.div_factor, self.final_div_factor)
        rates = each_group(self, "max_lr", self.max_lrs)
        return [schedules.one_cycle(lr, *settings, self.three_phase)(self.last_epoch) for lr in rates]

    def get_momentum(self) -> list[float]:
        ends = schedules.phases(self.total_steps, self.pct_start, self.three_phase)
        pairs = zip(self.base_momentums, self.max_momentums, strict=True)
        stops = [(most, least, most, most)[: len(ends)] for least, most in pairs]
        return [schedules.through(self.last_epoch, stop, ends, self.anneal_strategy) for stop in stops]


class CyclicLR(Cycle):
    """Up from base_lr to max_lr and down again, in cycles, momentum down from max_momentum and up: `schedules.cyclic`.

    A scale_fn is not part of the state.
    """

    apart = ("optimizer", "scale_fn")

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self.step_size_up, self.step_size_down = step_size_up, step_size_down
        self.mode, self.gamma, self.scale_fn, self.scale_mode = mode, gamma, scale_fn, scale_mode
        self._bounds(
            optimizer, cycle_momentum, base_lr=base_lr, max_lr=max_lr, base_momentum=base_momentum,
            max_momentum=max_momentum,
        )  # fmt: skip
        for group, lr in zip(optimizer.param_groups, self.base_lrs, strict=True):
            group["initial_lr"] = lr
        super().__init__(optimizer, last_epoch)

    max_lrs: list[float]
    base_momentums: list[float]
    max_momentums: list[float]

    def _through(self, low: list[float], high: list[float]) -> list[float]:
        settings = self.step_size_up, self.step_size_down, self.mode, self.gamma, self.scale_fn, self.scale_mode
        pairs = zip(low, each_group(self, "max_lr", high), strict=True)
        return [schedules.cyclic(a, b, *settings)(self.last_epoch) for a, b in pairs]

    def get_lr(self) -> list[float]:
        return self._through(self.base_lrs, self.max_lrs)

    def get_momentum(self) -> list[float]:
        return self._through(self.max_momentums, self.base_momentums)
