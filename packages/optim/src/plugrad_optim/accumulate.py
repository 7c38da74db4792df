"""Gradients of several small batches for one step, as of one large batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad import no_grad

if TYPE_CHECKING:
    from plugrad import Tensor

    from .grad_scaler import GradScaler
    from .optimizer import Optimizer

__all__ = ["accumulate"]


class accumulate:
    """Adds up gradients over `every` losses, then makes one step with their mean and clears them.

        steps = optim.accumulate(optimizer, every=4)
        for x, y in batches:
            if steps.backward(loss(model(x), y)):
                schedule.step()
        steps.flush()

    `backward` says whether a step was made. `flush` makes it with what there is, at the end of the data. With a
    `scaler` losses are scaled and the step is the scaler's. The state holds the gradients gathered so far.
    """

    def __init__(self, optimizer: Optimizer, every: int, scaler: GradScaler | None = None) -> None:
        if every < 1:
            raise ValueError(f"accumulate: every is {every}; it counts losses, from 1")
        self.optimizer, self.every, self.scaler = optimizer, every, scaler
        self.gathered = 0

    def backward(self, loss: Tensor) -> bool:
        """Add the gradients of loss / every; at the last of them make the step."""
        share = loss / self.every
        (self.scaler.scale(share) if self.scaler else share).backward()
        self.gathered += 1
        return self.gathered == self.every and self.flush()

    def flush(self) -> bool:
        """Make the step now, with the mean of the losses so far; False where there are none."""
        if not self.gathered:
            return False
        if self.gathered < self.every:
            self._weigh(self.every / self.gathered)
        if self.scaler:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
        self.optimizer.zero_grad()
        self.gathered = 0
        return True

    def _weigh(self, factor: float) -> None:
        with no_grad():
            for p in self._params():
                if p.grad is not None:
                    p.grad = p.grad * factor

    def _params(self) -> list[Tensor]:
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def state_dict(self) -> dict[str, Any]:
        """How many losses are gathered, and the gradients of them."""
        return {"gathered": self.gathered, "gradients": [p.grad for p in self._params()] if self.gathered else []}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state; gradients that stand in the parameters are replaced."""
        params, gradients = self._params(), state_dict["gradients"] or [None] * len(self._params())
        if len(params) != len(gradients):
            raise ValueError(f"accumulate: a state of {len(gradients)} gradients for {len(params)} parameters")
        for p, g in zip(params, gradients, strict=True):
            p.grad = None if g is None else g.detach().to(device=p.device)
        self.gathered = state_dict["gathered"]
