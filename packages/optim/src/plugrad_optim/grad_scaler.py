"""Loss scaling: gradients too small for half precision are made larger, and smaller again before they are used."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeVar

import plugrad as pg
from plugrad import Tensor, no_grad
from plugrad.errors import DTypeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .optimizer import Optimizer

    T = TypeVar("T")

__all__ = ["GradScaler", "SkippedStepWarning"]


class SkippedStepWarning(UserWarning):
    """A step was left out because a gradient was infinite or NaN."""


class GradScaler:
    """Multiplies the loss by a scale that it finds by itself: larger as long as that goes well        Micikevicius 2018

        for x, y in batches:
            optimizer.zero_grad()
            scaler.scale(loss(model(x), y)).backward()
            scaler.step(optimizer)
            scaler.update()

    `step` divides the gradients by the scale (in float32) and makes the step, or leaves it out where one of them is
    infinite or NaN: `skipped` counts these, and a SkippedStepWarning names the parameter. `update` then multiplies the
    scale by backoff_factor, or, after growth_interval steps in a row that went well, by growth_factor. To clip
    gradients, call `unscale_` first. Steps that are left out are no steps for a schedule either.
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if growth_factor <= 1:
            raise ValueError(f"GradScaler: growth_factor is {growth_factor}; it is above 1")
        if not 0 < backoff_factor < 1:
            raise ValueError(f"GradScaler: backoff_factor is {backoff_factor}; it is between 0 and 1")
        if not init_scale > 0:
            raise ValueError(f"GradScaler: init_scale is {init_scale}; it is above 0")
        self.growth_factor, self.backoff_factor, self.growth_interval = growth_factor, backoff_factor, growth_interval
        self.enabled = enabled
        self.skipped = 0
        self._scale, self._growth_tracker = float(init_scale), 0
        self._unscaled: dict[int, bool] = {}  # id of an optimizer → were its gradients finite?
        self._stepped: dict[int, bool] = {}

    def get_scale(self) -> float:
        """The scale that holds now; 1 where this is not enabled."""
        return self._scale if self.enabled else 1.0

    def is_enabled(self) -> bool:
        return self.enabled

    def scale(self, outputs: T) -> T:
        """A loss, or a list or tuple of losses, times the scale."""
        if not self.enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._scale  # type: ignore[return-value]
        if isinstance(outputs, (list, tuple)):
            return type(outputs)([self.scale(x) for x in outputs])
        raise DTypeError(f"GradScaler.scale: expected a tensor, or a list of tensors, got {type(outputs).__name__}")

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients by the scale now, to look at them or to clip them before `step`."""
        if not self.enabled:
            return
        self._fresh(optimizer, "unscale_")
        for where, p in _learning(optimizer):
            if p.grad is not None and p.grad.dtype.name == "float16":
                raise DTypeError(
                    f"GradScaler.unscale_: the gradient of {where} is float16, and would be lost unscaled; leave it to "
                    "`step`, and clip to the largest norm times get_scale()"
                )
        self._unscaled[id(optimizer)] = self._finite(optimizer)
        with no_grad():
            for _, p in _learning(optimizer):
                p.grad = p.grad / self._scale  # type: ignore[operator,assignment]

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """`optimizer.step()` on gradients divided by the scale; None, and no step, where one is not finite."""
        if not self.enabled:
            return optimizer.step(*args, **kwargs)
        if args or kwargs:
            raise ValueError("GradScaler.step: a closure would compute gradients that nobody has looked at")
        if id(optimizer) in self._stepped:
            raise RuntimeError("GradScaler.step: this optimizer has made its step; call update() before the next one")
        done = id(optimizer) in self._unscaled
        finite = self._unscaled[id(optimizer)] if done else self._finite(optimizer)
        self._stepped[id(optimizer)] = finite
        if not finite:
            self.skipped += 1
            return None
        optimizer.grad_scale = 1.0 if done else self._scale
        try:
            return optimizer.step()
        finally:
            optimizer.grad_scale = 1.0

    def update(self, new_scale: float | None = None) -> None:
        """Change the scale after the steps of all optimizers, as they went; or set it."""
        if not self.enabled:
            return
        seen = {**self._unscaled, **self._stepped}
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not seen:
            raise RuntimeError("GradScaler.update: no step was made since the last update; call step() first")
        elif not all(seen.values()):
            self._scale, self._growth_tracker = self._scale * self.backoff_factor, 0
        else:
            self._grow()
        self._unscaled.clear()
        self._stepped.clear()

    def _grow(self) -> None:
        self._growth_tracker += 1
        if self._growth_tracker == self.growth_interval:
            self._growth_tracker = 0
            if self._scale * self.growth_factor < 2.0**128:  # what float32 holds
                self._scale *= self.growth_factor

    def _fresh(self, optimizer: Optimizer, what: str) -> None:
        if id(optimizer) in self._stepped or id(optimizer) in self._unscaled:
            raise RuntimeError(f"GradScaler.{what}: it was called for this optimizer already; call update() first")

    def _finite(self, optimizer: Optimizer) -> bool:
        bad = [where for where, p in _learning(optimizer) if not pg.isfinite(p.grad).all()]
        if bad:
            warnings.warn(
                f"GradScaler: the gradient of {bad[0]} is infinite or NaN at the scale {self._scale:g}, and "
                f"{len(bad) - 1} more are; this step of {type(optimizer).__name__} is left out",
                SkippedStepWarning,
                stacklevel=3,
            )
        return not bad

    def state_dict(self) -> dict[str, Any]:
        """PyTorch's, and how many steps were skipped; empty where this is not enabled."""
        if not self.enabled:
            return {}
        return {
            "scale": self._scale, "growth_factor": self.growth_factor, "backoff_factor": self.backoff_factor,
            "growth_interval": self.growth_interval, "_growth_tracker": self._growth_tracker, "skipped": self.skipped,
        }  # fmt: skip

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state."""
        if not self.enabled:
            return
        if not state_dict:
            raise ValueError("GradScaler: the state is empty; was it saved by a scaler that was not enabled?")
        self._scale, self._growth_tracker = float(state_dict["scale"]), int(state_dict["_growth_tracker"])
        self.skipped = state_dict.get("skipped", 0)
        for name in ("growth_factor", "backoff_factor", "growth_interval"):
            setattr(self, name, state_dict[name])


def _learning(optimizer: Optimizer) -> Iterator[tuple[str, Tensor]]:
    """The parameters that have a gradient, and where they stand."""
    for i, group in enumerate(optimizer.param_groups):
        names = group.get("param_names") or [f"parameter {j}" for j in range(len(group["params"]))]
        for name, p in zip(names, group["params"], strict=True):
            if p.requires_grad and p.grad is not None:
                yield f"{name} of group {i}, shape {p.shape}", p
