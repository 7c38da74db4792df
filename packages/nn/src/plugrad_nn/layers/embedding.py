"""Rows of a table, chosen by integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg

from .. import functional as F
from .. import init
from ..functional.embedding import row_of
from ..module import Module
from ..parameter import Parameter

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["Embedding"]


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
        self.padding_idx = None if padding_idx is None else row_of("Embedding", padding_idx, num_embeddings)
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
