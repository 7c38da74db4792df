"""Losses that ask for a margin as layers; the functions of the same names say more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import functional as F
from .loss import Loss, WeightedLoss

if TYPE_CHECKING:
    from collections.abc import Callable

    from plugrad import Tensor

__all__ = [
    "CosineEmbeddingLoss", "HingeEmbeddingLoss", "MarginRankingLoss", "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss", "MultiMarginLoss", "SoftMarginLoss", "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]  # fmt: skip


class HingeEmbeddingLoss(Loss):
    """x where t = 1, max(0, margin - x) where t = -1, for distances x"""

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, self.margin, self.reduction)


class MarginRankingLoss(Loss):
    """max(0, margin - t (x₁ - x₂))"""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class SoftMarginLoss(Loss):
    """log(1 + e⁻ᵗˣ)"""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, self.reduction)


class CosineEmbeddingLoss(Loss):
    """1 - cos(x₁, x₂) where t = 1, max(0, cos(x₁, x₂) - margin) where t = -1"""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, self.margin, self.reduction)


class TripletMarginLoss(Loss):
    """max(0, margin + ‖a - p‖ - ‖a - n‖); see `F.triplet_margin_loss`"""

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        how = (self.margin, self.p, self.eps, self.swap, self.reduction)
        return F.triplet_margin_loss(anchor, positive, negative, *how)


class TripletMarginWithDistanceLoss(Loss):
    """max(0, margin + d(a, p) - d(a, n)) with a distance d of one's own"""

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction)
        self.distance_function, self.margin, self.swap = distance_function, margin, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class MultiMarginLoss(WeightedLoss):
    """1 / C Σ_{i ≠ y} max(0, margin - x_y + x_i)ᵖ; see `F.multi_margin_loss`"""

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(weight, reduction)
        self.p, self.margin = p, margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(input, target, self.p, self.margin, self.weight, self.reduction)


class MultiLabelMarginLoss(Loss):
    """1 / C Σ_j Σ_i max(0, 1 - x_{y_j} + x_i); see `F.multilabel_margin_loss`"""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, self.reduction)


class MultiLabelSoftMarginLoss(WeightedLoss):
    """-1 / C Σ_c (t_c log σ(x_c) + (1 - t_c) log σ(-x_c))"""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, self.weight, self.reduction)
