"""Learning rates that change: pure functions of the step, and wrappers with PyTorch's names that hand them on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .optimizer import Optimizer

__all__ = ["LRScheduler", "StepLR", "step_lr"]


def step_lr(t: int, lr: float, step_size: int, gamma: float = 0.1) -> float:
    """lr · γ^⌊t / step_size⌋"""
    return lr * gamma ** (t // step_size)


class LRScheduler:
    """Sets the rate of every group from its first rate and the number of steps; subclasses write `at`.

    The rate depends on nothing else, so loading a state gives it back whatever was built or loaded before.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        if last_epoch >= 0 and any("initial_lr" not in group for group in optimizer.param_groups):
            raise ValueError(
                f"{type(self).__name__}: last_epoch={last_epoch}, but the optimizer's groups have no 'initial_lr'; "
                "load the optimizer's state first, or leave last_epoch out and load the schedule's state"
            )
        self.base_lrs: list[float] = [g["initial_lr" if "initial_lr" in g else "lr"] for g in optimizer.param_groups]
        self.last_epoch = max(last_epoch, 0)
        self._set()

    def at(self, t: int, lr: float) -> float:
        """The rate after `t` steps, of a group that started with `lr`."""
        raise NotImplementedError(f"{type(self).__name__}.at(self, t, lr) is not written")

    def step(self) -> None:
        """One step (or epoch) further."""
        self.last_epoch += 1
        self._set()

    def get_last_lr(self) -> list[float]:
        """The rates that hold now, one for each group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All but the optimizer."""
        return {k: list(v) if isinstance(v, list) else v for k, v in vars(self).items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state: the optimizer's rates are set as well."""
        if len(state_dict["base_lrs"]) != len(self.optimizer.param_groups):
            have, want = len(state_dict["base_lrs"]), len(self.optimizer.param_groups)
            raise ValueError(f"{type(self).__name__}: a state of {have} groups for an optimizer of {want}")
        vars(self).update({k: list(v) if isinstance(v, list) else v for k, v in state_dict.items() if k in vars(self)})
        self._set()

    def _set(self) -> None:
        for group, lr in zip(self.optimizer.param_groups, self.base_lrs, strict=True):
            group["initial_lr"], group["lr"] = lr, self.at(self.last_epoch, lr)


class StepLR(LRScheduler):
    """The rate times γ every `step_size` steps: `step_lr`."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        if step_size < 1:
            raise ValueError(f"StepLR: step_size is {step_size}; it counts steps, from 1")
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def at(self, t: int, lr: float) -> float:
        return step_lr(t, lr, self.step_size, self.gamma)
