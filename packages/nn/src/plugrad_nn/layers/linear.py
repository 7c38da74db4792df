"""Linear maps."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import plugrad as pg

from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["Identity", "Linear"]


class Identity(Module):
    """y = x, whatever it is built with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def forward(self, x: Any) -> Any:
        return x


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
