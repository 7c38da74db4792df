"""Normalisation layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg

from .. import functional as F
from ..module import Module
from ..parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Tensor

__all__ = ["LayerNorm"]


class LayerNorm(Module):
    """y = (x - μ) / √(σ² + ε) · w + b, with μ and σ² over the last axes, whose sizes are `normalized_shape`"""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        made = {"device": device, "dtype": dtype}
        self.weight = Parameter(pg.ones(self.normalized_shape, **made)) if elementwise_affine else None
        self.bias = Parameter(pg.zeros(self.normalized_shape, **made)) if elementwise_affine and bias else None

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
