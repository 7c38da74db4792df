"""Rows of a table, chosen by integers: one by one, or in bags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.errors import ShapeError

from .. import functional as F
from .. import init
from ..functional.embedding import row_of
from ..module import Module
from ..parameter import Parameter

if TYPE_CHECKING:
    from typing import Self, TypeVar

    from plugrad import Tensor

    T = TypeVar("T", bound="Table")

__all__ = ["Embedding", "EmbeddingBag"]


class Table(Module):
    """What both layers hold: the weight, and how its rows are used."""

    weight: Parameter
    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool

    def _start(self, num: int, dim: int, padding_idx: int | None, weight: Tensor | None, **place: Any) -> None:
        self.num_embeddings, self.embedding_dim = num, dim
        self.padding_idx = None if padding_idx is None else row_of(type(self).__name__, padding_idx, num)
        if weight is not None:
            self.weight = Parameter(weight)
            return
        self.weight = Parameter(pg.zeros(num, dim, **place))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the starting values anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with pg.no_grad():
                self.weight[self.padding_idx] = 0.0

    def extra_repr(self) -> str:
        usual: dict[str, Any] = {"padding_idx": None, "max_norm": None, "norm_type": 2.0, "scale_grad_by_freq": False}
        other = [f", {name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return f"{self.num_embeddings}, {self.embedding_dim}{''.join(other)}"


class Embedding(Table):
    """y = W[i]        i: integers, (...)   W: (num, dim)   y: (..., dim)

    W starts normal; row `padding_idx` starts at 0 and is never learned. The other options are those of `F.embedding`.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        _weight: Tensor | None = None,
    ) -> None:
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self._start(num_embeddings, embedding_dim, padding_idx, _weight, device=device, dtype=dtype)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
    ) -> Self:
        """Rows that are there already; learned further unless `freeze`."""
        how: Any = (padding_idx, max_norm, norm_type, scale_grad_by_freq)
        return _frozen(cls(*_sizes(embeddings), *how, _weight=embeddings), freeze)

    def forward(self, input: Tensor) -> Tensor:
        how = (self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq)
        return F.embedding(input, self.weight, *how)


class EmbeddingBag(Table):
    """y_b = the sum, mean or largest (`mode`) of W[i], i in bag b        W: (num, dim)   y: (bags, dim)

    W starts normal; row `padding_idx` starts at 0 and is left out. The other options are those of `F.embedding_bag`.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
        *,
        _weight: Tensor | None = None,
    ) -> None:
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.mode, self.include_last_offset = mode, include_last_offset
        self._start(num_embeddings, embedding_dim, padding_idx, _weight, device=device, dtype=dtype)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """Rows that are there already; learned further unless `freeze`."""
        how: Any = (max_norm, norm_type, scale_grad_by_freq, mode, include_last_offset, padding_idx)
        return _frozen(cls(*_sizes(embeddings), *how, _weight=embeddings), freeze)

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        how = (self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode)
        ends = (self.include_last_offset, self.padding_idx)
        return F.embedding_bag(input, self.weight, offsets, *how, per_sample_weights, *ends)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, mode={self.mode!r}"


def _sizes(embeddings: Tensor) -> tuple[int, int]:
    if embeddings.ndim != 2:
        raise ShapeError(f"from_pretrained: embeddings have shape {embeddings.shape}; a table is (rows, dim)")
    return embeddings.shape[0], embeddings.shape[1]


def _frozen(layer: T, freeze: bool) -> T:
    layer.weight.requires_grad_(not freeze)
    return layer
