"""Linear maps, no map at all, and what goes around one."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.errors import ShapeError

from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from plugrad import Tensor

__all__ = ["Bilinear", "CosineSimilarity", "Identity", "Linear", "PairwiseDistance", "Residual"]


class Identity(Module):
    """y = x, whatever it is built with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def forward(self, x: Any) -> Any:
        return x


class Residual(Module):
    """y = x + f(x), f a module or a function that keeps the shape        He et al. 2016"""

    def __init__(self, module: Callable[..., Any]) -> None:
        self.module = module

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        y: Tensor = self.module(x, *args, **kwargs)
        if y.shape != x.shape:
            raise ShapeError(
                f"Residual: x has shape {x.shape}, f(x) {y.shape}; they are added, so f has to keep the shape"
            )
        return x + y


class Linear(Module):
    """y = x Wᵀ + b        x: (..., in)   W: (out, in)   b: (out,)

    W and b start uniform in ±1/√in.
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(pg.zeros(out_features, in_features, device=device, dtype=dtype))
        self.bias = Parameter(pg.zeros(out_features, device=device, dtype=dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the starting values anew."""
        bound = 1 / sqrt(self.in_features) if self.in_features else 0.0
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """y_k = x₁ᵀ W_k x₂ + b_k        x₁: (..., in1)   x₂: (..., in2)   W: (out, in1, in2)   b: (out,)

    W and b start uniform in ±1/√in1.
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if in1_features < 1:
            raise ValueError(f"Bilinear: in1_features is 1 or more, not {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(pg.zeros(out_features, in1_features, in2_features, device=device, dtype=dtype))
        self.bias = Parameter(pg.zeros(out_features, device=device, dtype=dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the starting values anew."""
        bound = 1 / sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}"
        return f"{sizes}, out_features={self.out_features}, bias={self.bias is not None}"


class CosineSimilarity(Module):
    """y = x₁ · x₂ / (max(‖x₁‖, ε) · max(‖x₂‖, ε)) along an axis"""

    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        self.axis, self.eps = axis, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.axis, self.eps)


class PairwiseDistance(Module):
    """y = ‖x₁ - x₂ + ε‖ₚ along the last axis"""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
