"""Losses of classes and probabilities as layers; the functions of the same names say more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import functional as F
from ..module import Module

if TYPE_CHECKING:
    from plugrad import Tensor

    from ..functional.ctc import Lengths

__all__ = ["BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CrossEntropyLoss", "KLDivLoss", "NLLLoss"]


class Loss(Module):
    """What all losses have: how they are reduced."""

    def __init__(self, reduction: str = "mean") -> None:
        self.reduction = reduction

    def extra_repr(self) -> str:
        return f"reduction={self.reduction!r}"


class WeightedLoss(Loss):
    """A loss with weights, which are part of its state."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.register_buffer("weight", weight)
        self.weight: Tensor | None


class CrossEntropyLoss(WeightedLoss):
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


class NLLLoss(WeightedLoss):
    """-x_t for log-probabilities x and the right class t; see `F.nll_loss`"""

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(weight, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, self.weight, self.ignore_index, self.reduction)


class BCELoss(WeightedLoss):
    """-t log x - (1 - t) log(1 - x) for probabilities x; see `F.binary_cross_entropy`"""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, self.weight, self.reduction)


class BCEWithLogitsLoss(WeightedLoss):
    """-p t log σ(x) - (1 - t) log σ(-x) for logits x; see `F.binary_cross_entropy_with_logits`"""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None) -> None:
        super().__init__(weight, reduction)
        self.register_buffer("pos_weight", pos_weight)
        self.pos_weight: Tensor | None

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        how = (self.weight, self.reduction, self.pos_weight)
        return F.binary_cross_entropy_with_logits(input, target, *how)


class KLDivLoss(Loss):
    """t (log t - x) for log-probabilities x and probabilities t, or their logarithms; see `F.kl_div`"""

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, self.reduction, self.log_target)


class CTCLoss(Loss):
    """-log of the probability of labels in order, at whatever steps; see `F.ctc_loss`"""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths) -> Tensor:
        how = (self.blank, self.reduction, self.zero_infinity)
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, *how)
