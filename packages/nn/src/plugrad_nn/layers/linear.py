"""Linear maps, and layers that only reshape or look up."""

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

__all__ = ["Embedding", "Flatten", "Identity", "Linear"]


class Identity(Module):
    """y = x, whatever it is built with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def forward(self, x: Any) -> Any:
        return x


class Flatten(Module):
    """y = x with the axes from `start_axis` to `end_axis` made one"""

    def __init__(self, start_axis: int = 1, end_axis: int = -1) -> None:
        self.start_axis, self.end_axis = start_axis, end_axis

    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(self.start_axis, self.end_axis)

    def extra_repr(self) -> str:
        return f"start_axis={self.start_axis}, end_axis={self.end_axis}"


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


class Embedding(Module):
    """y = W[x]        x: integers, (...)   W: (num, dim)   y: (..., dim)

    W starts normal; row `padding_idx` starts at 0 and is never learned.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else F.row_of("Embedding", padding_idx, num_embeddings)
        self.weight = Parameter(pg.zeros(num_embeddings, embedding_dim, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the starting values anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with pg.no_grad():
                self.weight[self.padding_idx] = 0.0

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None) -> Embedding:
        """Rows that are there already; learned further unless `freeze`."""
        layer = cls(embeddings.shape[0], embeddings.shape[1], padding_idx)
        layer.weight = Parameter(embeddings, requires_grad=not freeze)
        return layer

    def forward(self, x: Tensor) -> Tensor:
        return F.embedding(x, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"
