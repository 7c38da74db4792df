"""Schedules that multiply the rate a group started with."""

from __future__ import annotations

from copy import deepcopy
from types import FunctionType
from typing import TYPE_CHECKING, Any

from .. import schedules
from .scheduler import LRScheduler, each_group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..optimizer import Optimizer

    Factor = Callable[[Any], float]

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "ExponentialLR", "LambdaLR", "LinearLR",
    "MultiStepLR", "MultiplicativeLR", "PolynomialLR", "StepLR",
]  # fmt: skip


class LambdaLR(LRScheduler):
    """The rate times lr_lambda(t); with a list, one function for each group.

    Functions are not part of the state; of an object that can be called, its attributes are.
    """

    apart: tuple[str, ...] = ("optimizer", "lr_lambdas")

    def __init__(self, optimizer: Optimizer, lr_lambda: Factor | list[Factor], last_epoch: int = -1) -> None:
        self.lr_lambdas: list[Factor] = each_group(self, "lr_lambda", lr_lambda, optimizer)
        for f in self.lr_lambdas:
            if not callable(f):
                raise TypeError(f"{type(self).__name__}: lr_lambda is a {type(f).__name__}, not a function of the step")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        fs = each_group(self, "lr_lambda", self.lr_lambdas)
        return [lr * f(self.last_epoch) for lr, f in zip(self.base_lrs, fs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        kept = [None if isinstance(f, FunctionType) else getattr(f, "__dict__", None) for f in self.lr_lambdas]
        return {**super().state_dict(), "lr_lambdas": deepcopy(kept)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        for f, kept in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if kept:
                vars(f).update(deepcopy(kept))
        super().load_state_dict(state_dict)


class MultiplicativeLR(LambdaLR):
    """The rate times lr_lambda(1) · lr_lambda(2) · ... · lr_lambda(t); with a list, one function for each group."""

    apart = ("optimizer", "lr_lambdas", "_made")
    _made: tuple[int, list[float]] = (0, [])  # the step up to which the products are made; the products

    def get_lr(self) -> list[float]:
        t = int(self.last_epoch)
        fs = each_group(self, "lr_lambda", self.lr_lambdas)
        since, products = self._made if self._made[1] and self._made[0] <= t else (0, [1.0] * len(fs))
        for k in range(since + 1, t + 1):
            products = [x * f(k) for x, f in zip(products, fs, strict=True)]
        self._made = (t, products)
        return [lr * x for lr, x in zip(self.base_lrs, products, strict=True)]


class StepLR(LRScheduler):
    """The rate times γ every `step_size` steps: `schedules.step`."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def at(self, t: float, lr: float) -> float:
        return schedules.step(lr, self.step_size, self.gamma)(t)


class MultiStepLR(LRScheduler):
    """The rate times γ at each milestone: `schedules.multistep`."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def at(self, t: float, lr: float) -> float:
        return schedules.multistep(lr, self.milestones, self.gamma)(t)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        given = state_dict["milestones"]
        milestones = sorted(given.elements()) if hasattr(given, "elements") else given  # PyTorch counts them
        super().load_state_dict({**state_dict, "milestones": milestones})


class ConstantLR(LRScheduler):
    """The rate times `factor` for `total_iters` steps: `schedules.constant`."""

    def __init__(self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        _share(self, "factor", factor)
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def at(self, t: float, lr: float) -> float:
        return schedules.constant(lr, self.factor, self.total_iters)(t)


class LinearLR(LRScheduler):
    """The rate times what goes from start_factor to end_factor in `total_iters` steps: `schedules.linear`."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        _share(self, "start_factor", start_factor)
        _share(self, "end_factor", end_factor)
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def at(self, t: float, lr: float) -> float:
        return schedules.linear(lr, self.start_factor, self.end_factor, self.total_iters)(t)


class ExponentialLR(LRScheduler):
    """The rate times γᵗ: `schedules.exponential`."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def at(self, t: float, lr: float) -> float:
        return schedules.exponential(lr, self.gamma)(t)


class PolynomialLR(LRScheduler):
    """The rate times (1 - t / total_iters)^power, then 0: `schedules.polynomial`."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def at(self, t: float, lr: float) -> float:
        return schedules.polynomial(lr, self.total_iters, self.power)(t)


class CosineAnnealingLR(LRScheduler):
    """From the rate down to eta_min in `T_max` steps, along a half cosine: `schedules.cosine`."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def at(self, t: float, lr: float) -> float:
        return schedules.cosine(lr, self.T_max, self.eta_min)(t)


class CosineAnnealingWarmRestarts(LRScheduler):
    """From the rate down to eta_min again and again: `schedules.cosine_restarts`."""

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def at(self, t: float, lr: float) -> float:
        return schedules.cosine_restarts(lr, self.T_0, self.T_mult, self.eta_min)(t)


def _share(scheduler: LRScheduler, name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{type(scheduler).__name__}: {name} is {value}; it is a share of the rate, from 0 to 1")
