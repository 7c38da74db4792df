"""Losses of numbers as layers; the functions of the same names say more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import functional as F
from .loss import Loss

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["GaussianNLLLoss", "HuberLoss", "L1Loss", "MSELoss", "PoissonNLLLoss", "SmoothL1Loss"]


class MSELoss(Loss):
    """mean (x - t)²"""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, self.reduction)


class L1Loss(Loss):
    """mean |x - t|"""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, self.reduction)


class SmoothL1Loss(Loss):
    """d² / 2β where d = |x - t| < β, else d - β / 2"""

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, self.reduction, self.beta)


class HuberLoss(Loss):
    """d² / 2 where d = |x - t| < δ, else δ (d - δ / 2)"""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, self.reduction, self.delta)


class PoissonNLLLoss(Loss):
    """r - t · log r for counts t and rates r; see `F.poisson_nll_loss`"""

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(log_input, target, self.log_input, self.full, self.eps, self.reduction)


class GaussianNLLLoss(Loss):
    """½ (log v + (x - t)² / v) for variances v; see `F.gaussian_nll_loss`"""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)
