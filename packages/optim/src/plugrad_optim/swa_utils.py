"""Averages of a model's weights: the mean of its path (SWA), or one that forgets (EMA)."""

from __future__ import annotations

from copy import deepcopy
from itertools import zip_longest
from math import cos, pi
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad import Tensor, no_grad
from plugrad.errors import ShapeError

from .lr_scheduler.scheduler import LRScheduler, each_group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .optimizer import Optimizer

    Average = Callable[[Tensor, Tensor, int], Tensor]
    Averages = Callable[[list[Tensor], list[Tensor], int], None]

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn",
    "update_bn",
]  # fmt: skip


def get_swa_avg_fn() -> Average:
    """a + (p - a) / (n + 1): the mean of all models, n of which are in already"""

    def average(a: Tensor, p: Tensor, n: int) -> Tensor:
        return a + (p - a) / (n + 1)

    return average


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """decay · a + (1 - decay) p"""
    if not 0 <= decay <= 1:
        raise ValueError(f"get_ema_avg_fn: decay is {decay}; it is from 0 to 1")

    def average(a: Tensor, p: Tensor, n: int) -> Tensor:
        return decay * a + (1 - decay) * p

    return average


def get_swa_multi_avg_fn() -> Averages:
    """`get_swa_avg_fn` for lists of tensors"""
    return _for_lists(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """`get_ema_avg_fn` for lists of tensors"""
    return _for_lists(get_ema_avg_fn(decay))


def _for_lists(average: Average) -> Averages:
    def averages(mine: list[Tensor], models: list[Tensor], n: int) -> None:
        for a, p in zip(mine, models, strict=True):
            _take(a, average(a, p, n))

    return averages


class AveragedModel:
    """A copy of a model whose parameters are an average of what the model's were        Izmailov et al. 2018

        average = swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.999))
        ...
        optimizer.step()
        average.update_parameters(model)
        ...
        average(x)

    avg_fn(a, p, n) gives the new average of one tensor, n models being in already; multi_avg_fn(as, ps, n) changes a
    list of them in place (`a += ...`). Without either it is the mean. The first model is copied. Buffers are averaged
    with use_buffers, else copied; see `update_bn` for the statistics of batch norms. The state is PyTorch's:
    "n_averaged", and the model's own with "module." before its names.
    """

    def __init__(
        self,
        model: Any,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Averages | None = None,
        use_buffers: bool = False,
    ) -> None:
        if avg_fn is not None and multi_avg_fn is not None:
            raise ValueError("AveragedModel: give avg_fn or multi_avg_fn, not both")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.averages = multi_avg_fn or _for_lists(avg_fn or get_swa_avg_fn())
        self.use_buffers = use_buffers
        self.n_averaged = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Any) -> None:
        """Take in the parameters that `model` has now."""
        mine, its = list(self.module.parameters()), _here(self.module.parameters(), model.parameters(), "parameters")
        copied = [] if self.use_buffers else list(self.module.buffers())
        buffers = _here(self.module.buffers(), model.buffers(), "buffers")
        with no_grad():
            for a, b in zip(copied, buffers, strict=False):
                _take(a, b)
            if self.use_buffers:
                mine, its = [*mine, *self.module.buffers()], [*its, *buffers]
            if self.n_averaged:
                self.averages(mine, its, self.n_averaged)
            else:
                for a, p in zip(mine, its, strict=True):
                    _take(a, p)
        self.n_averaged += 1

    def parameters(self) -> Iterable[Tensor]:
        return self.module.parameters()  # type: ignore[no-any-return]

    def buffers(self) -> Iterable[Tensor]:
        return self.module.buffers()  # type: ignore[no-any-return]

    def modules(self) -> Iterable[Any]:
        return self.module.modules()  # type: ignore[no-any-return]

    @property
    def training(self) -> bool:
        return self.module.training  # type: ignore[no-any-return]

    def train(self, mode: bool = True) -> AveragedModel:
        self.module.train(mode)
        return self

    def eval(self) -> AveragedModel:
        return self.train(False)

    def state_dict(self) -> dict[str, Any]:
        """How many models are in, and the average."""
        own = {"n_averaged": pg.tensor(self.n_averaged)}
        return {**own, **{f"module.{name}": t for name, t in self.module.state_dict().items()}}

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any:
        """Go on from a state; what the model's own `load_state_dict` says of its part is returned."""
        theirs = {k.removeprefix("module."): v for k, v in state_dict.items() if k.startswith("module.")}
        found = self.module.load_state_dict(theirs)
        self.n_averaged = int(state_dict["n_averaged"])
        return found


def _here(mine: Iterable[Tensor], its: Iterable[Tensor], what: str) -> list[Tensor]:
    """The values of a model's tensors, on the devices of the average's."""
    found = []
    for i, (a, p) in enumerate(zip_longest(mine, its)):
        shapes = [t if t is None else t.shape for t in (a, p)]
        if shapes[0] != shapes[1]:
            raise ShapeError(f"AveragedModel: {what} {i} has shape {shapes[0]} here and {shapes[1]} in the model")
        found.append(p.detach().to(device=a.device))
    return found


def _take(a: Tensor, value: Tensor) -> None:
    a.data = value.astype(a.dtype).data


def update_bn(loader: Iterable[Any], model: Any, device: Any = None) -> None:
    """Compute the statistics of the batch norms in `model` anew, as the mean over all batches of `loader`.

    Batches are inputs, or lists and tuples that begin with them. A batch norm is what has `reset_running_stats` and a
    momentum; `model` may be an AveragedModel.
    """
    norms = [m for m in model.modules() if hasattr(m, "reset_running_stats") and hasattr(m, "momentum")]
    if not norms:
        return
    momenta, was_training = [m.momentum for m in norms], model.training
    for m in norms:
        m.reset_running_stats()
        m.momentum = None
    model.train()
    try:
        with no_grad():
            for batch in loader:
                x = batch[0] if isinstance(batch, (list, tuple)) else batch
                model(x if device is None else x.to(device))
    finally:
        for m, momentum in zip(norms, momenta, strict=True):
            m.momentum = momentum
        model.train(was_training)


class SWALR(LRScheduler):
    """From the rate that holds at its first step to swa_lr, in anneal_epochs steps; then it stays there.

    Along half a cosine (anneal_strategy "cos") or a line ("linear"). Until its first step it leaves the rate to others;
    with anneal_epochs=0 it is swa_lr at once.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"SWALR: anneal_strategy is {anneal_strategy!r}; it is 'cos' or 'linear'")
        if anneal_epochs < 0:
            raise ValueError(f"SWALR: anneal_epochs is {anneal_epochs}; it counts steps, from 0")
        self.swa_lrs = each_group(self, "swa_lr", swa_lr, optimizer)
        self.anneal_epochs, self.anneal_strategy = anneal_epochs, anneal_strategy
        self.first_lrs: list[float] = []
        super().__init__(optimizer, last_epoch)

    def step(self, epoch: float | None = None) -> None:
        if not self.first_lrs:
            self.first_lrs = self.get_last_lr()
        super().step(epoch)

    def get_lr(self) -> list[float]:
        if not self.anneal_epochs:
            return list(self.swa_lrs)
        if not self.first_lrs:
            return self.get_last_lr()
        part = min(1.0, self.last_epoch / self.anneal_epochs)
        part = part if self.anneal_strategy == "linear" else (1 - cos(pi * part)) / 2
        return [swa * part + lr * (1 - part) for swa, lr in zip(self.swa_lrs, self.first_lrs, strict=True)]
