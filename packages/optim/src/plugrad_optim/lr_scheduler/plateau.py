"""The schedule that waits for a metric to stop improving: the only one with a memory."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from .scheduler import LRScheduler, each_group

if TYPE_CHECKING:
    from ..optimizer import Optimizer

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor` when the metric has not improved for more than `patience` steps.

    An improvement is a metric below best (1 - threshold) with mode "min" and threshold_mode "rel", below best -
    threshold with "abs", and the like upwards with mode "max". After a reduction `cooldown` steps do not count. No rate
    goes below min_lr (one number, or one for each group), and none changes by less than `eps`. The rates are part of
    the state, as nothing else gives them back.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        if not 0 <= factor < 1:
            raise ValueError(f"ReduceLROnPlateau: factor is {factor}; it is from 0 to below 1")
        if mode not in ("min", "max"):
            raise ValueError(f"ReduceLROnPlateau: mode is {mode!r}; it is 'min' or 'max'")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"ReduceLROnPlateau: threshold_mode is {threshold_mode!r}; it is 'rel' or 'abs'")
        self.optimizer = optimizer
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.factor, self.patience, self.cooldown, self.eps = factor, patience, cooldown, eps
        self.min_lrs = min_lr
        each_group(self, "min_lr", min_lr)
        self.best = inf if mode == "min" else -inf
        self.num_bad_epochs = self.cooldown_counter = 0
        self.last_epoch = 0
        self._last_lr = self.get_last_lr()

    def step(self, metrics: Any, epoch: float | None = None) -> None:  # type: ignore[override]
        """Tell the metric of one more step (or epoch)."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        metric = float(metrics)
        better = self._better(metric)
        self.best = metric if better else self.best
        self.num_bad_epochs = 0 if better or self.in_cooldown else self.num_bad_epochs + 1
        self.cooldown_counter = max(self.cooldown_counter - 1, 0)
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self.get_last_lr()

    @property
    def in_cooldown(self) -> bool:
        return self.cooldown_counter > 0

    def _better(self, metric: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        if self.threshold_mode == "rel":
            return sign * metric < sign * self.best * (1 - sign * self.threshold)
        return sign * metric < sign * self.best - self.threshold

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        for group, least in zip(groups, each_group(self, "min_lr", self.min_lrs), strict=True):
            lr = max(float(group["lr"]) * self.factor, least)
            if group["lr"] - lr > self.eps:
                group["lr"] = lr

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        rates = state_dict["_last_lr"]
        if len(rates) != len(self.optimizer.param_groups):
            have, want = len(rates), len(self.optimizer.param_groups)
            raise ValueError(f"ReduceLROnPlateau: a state of {have} groups for an optimizer of {want}")
        vars(self).update({k: _own(v) for k, v in state_dict.items() if k in vars(self)})
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = lr


def _own(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value
