"""Losses as layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import functional as F
from ..module import Module

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "L1Loss", "MSELoss", "NLLLoss"]


class _Loss(Module):
    def __init__(self, reduction: str = "mean") -> None:
        self.reduction = reduction

    def extra_repr(self) -> str:
        return f"reduction={self.reduction!r}"


class _WeightedLoss(_Loss):
    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.weight: Tensor | None


class MSELoss(_Loss):
    """mean (x - t)²"""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, self.reduction)


class L1Loss(_Loss):
    """mean |x - t|"""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """-log softmax(x)_t of the right class t, or -Σ q log softmax(x) for probabilities q; see `F.cross_entropy`"""

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        how = (self.weight, self.ignore_index, self.reduction, self.label_smoothing)
        return F.cross_entropy(input, target, *how)


class NLLLoss(_WeightedLoss):
    """-x_t for log-probabilities x and the right class t; see `F.nll_loss`"""

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(weight, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, self.weight, self.ignore_index, self.reduction)


class BCELoss(_WeightedLoss):
    """-t log x - (1 - t) log(1 - x) for probabilities x; see `F.binary_cross_entropy`"""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, self.weight, self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """-p t log σ(x) - (1 - t) log σ(-x) for logits x; see `F.binary_cross_entropy_with_logits`"""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None) -> None:
        super().__init__(weight, reduction)
        self.register_buffer("pos_weight", pos_weight)
        self.pos_weight: Tensor | None

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        how = (self.weight, self.reduction, self.pos_weight)
        return F.binary_cross_entropy_with_logits(input, target, *how)
