"""The Transformer: attention and two linear maps, in layers, in stacks, and as a whole."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.errors import ShapeError

from .. import functional as F
from .. import init
from ..containers import ModuleList
from ..module import Module
from .attention import MultiheadAttention
from .dropout import Dropout
from .linear import Linear
from .norm import LayerNorm

if TYPE_CHECKING:
    from collections.abc import Callable

    from plugrad import Tensor

    Activation = str | Callable[[Tensor], Tensor]

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer",
]  # fmt: skip


class _Layer(Module):
    """What the two kinds of layer share: a block is x + f(norm(x)) with `norm_first`, else norm(x + f(x))."""

    norm_first: bool

    def _build(
        self, d_model: int, dim_feedforward: int, dropout: float, activation: Activation, bias: bool, made: Any
    ) -> None:
        """The two linear maps, with what stands between them."""
        self.linear1 = Linear(d_model, dim_feedforward, bias, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **made)
        self.activation = _activation(activation)

    def _block(self, x: Tensor, norm: Module, f: Callable[[Tensor], Tensor], dropout: Module) -> Tensor:
        if self.norm_first:
            return x + dropout(f(norm(x)))  # type: ignore[no-any-return]
        return norm(x + dropout(f(x)))  # type: ignore[no-any-return]

    def _feed(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))  # type: ignore[no-any-return]


class TransformerEncoderLayer(_Layer):
    """Self-attention, then linear2(activation(linear1(x))); each is added to what came in, and normalised

    With `norm_first` what goes into each is normalised, not what comes out. `activation` is "relu", "gelu" or a
    function. Masks are those of MultiheadAttention: True where nobody looks.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        made = {"device": device, "dtype": dtype}
        self.norm_first = norm_first
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **made)
        self._build(d_model, dim_feedforward, dropout, activation, bias, made)
        self.norm1, self.norm2 = (LayerNorm(d_model, layer_norm_eps, bias=bias, **made) for _ in range(2))
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            return self.self_attn(x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal)[0]  # type: ignore[no-any-return]

        x = self._block(src, self.norm1, attend, self.dropout1)
        return self._block(x, self.norm2, self._feed, self.dropout2)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the memory, then linear2(activation(linear1(x))); the rest as in the encoder's"""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        made = {"device": device, "dtype": dtype}
        self.norm_first = norm_first
        self.self_attn, self.multihead_attn = (
            MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **made) for _ in range(2)
        )
        self._build(d_model, dim_feedforward, dropout, activation, bias, made)
        self.norm1, self.norm2, self.norm3 = (LayerNorm(d_model, layer_norm_eps, bias=bias, **made) for _ in range(3))
        self.dropout1, self.dropout2, self.dropout3 = (Dropout(dropout) for _ in range(3))

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            return self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal)[0]  # type: ignore[no-any-return]

        def recall(x: Tensor) -> Tensor:
            return self.multihead_attn(  # type: ignore[no-any-return]
                x, memory, memory, memory_key_padding_mask, False, memory_mask, is_causal=memory_is_causal
            )[0]

        x = self._block(tgt, self.norm1, attend, self.dropout1)
        x = self._block(x, self.norm2, recall, self.dropout2)
        return self._block(x, self.norm3, self._feed, self.dropout3)


class TransformerEncoder(Module):
    """`num_layers` copies of a layer, which start equal, one after another, and then `norm`."""

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self.layers = ModuleList(deepcopy(encoder_layer) for _ in range(num_layers))
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=bool(is_causal))
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """`num_layers` copies of a layer, which start equal, one after another, and then `norm`."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self.layers = ModuleList(deepcopy(decoder_layer) for _ in range(num_layers))
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        for layer in self.layers:
            tgt = layer(
                tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=bool(tgt_is_causal),
                memory_is_causal=memory_is_causal,
            )  # fmt: skip
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder, and a decoder that looks at what the encoder made of the source        Vaswani et al. 2017

    Source (n, batch, d_model), target (m, batch, d_model), batch first if `batch_first`; the result is like the target.
    Matrices start uniform as by Glorot. `custom_encoder` and `custom_decoder` stand in for the stacks of layers.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        made = {"device": device, "dtype": dtype}
        how = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, **made)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*how, **made), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*how, **made), num_decoder_layers, norm()
        )
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the matrices anew."""
        for p in self.parameters():
            if p.ndim > 1:
                init.xavier_uniform_(p)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        axis = 0 if self.batch_first else -2
        batches = {x.shape[axis] if x.ndim == 3 else None for x in (src, tgt)}
        if len(batches) > 1 or src.shape[-1:] + tgt.shape[-1:] != (self.d_model, self.d_model):
            raise ShapeError(
                f"Transformer: source {src.shape} and target {tgt.shape}; both have the same batch, "
                f"and {self.d_model} entries (d_model) on the last axis"
            )
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(  # type: ignore[no-any-return]
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal,
            memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """(sz, sz): 0 on and below the diagonal, -∞ above it."""
        return pg.triu(pg.full((sz, sz), -pg.inf, device=device, dtype=dtype), 1)


def _activation(given: Activation) -> Callable[[Tensor], Tensor]:
    found = {"relu": F.relu, "gelu": F.gelu}.get(given) if isinstance(given, str) else given
    if found is None:
        raise ValueError(f"Transformer: activation {given!r} is none of 'relu', 'gelu'; a function will do as well")
    return found
