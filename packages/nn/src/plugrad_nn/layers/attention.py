"""Attention with several heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.errors import DTypeError, ShapeError
from plugrad.ops.linear import spared

from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter
from .linear import Linear

if TYPE_CHECKING:
    from plugrad import Generator, Tensor

    from .cache import KVCache

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Heads h = 1 ... num_heads, each softmax(Qₕ Kₕᵀ / √d) Vₕ, side by side, times W_oᵀ + b_o        Vaswani et al. 2017

    Q, K and V are query, key and value times W_qᵀ + b_q and so on, cut into heads of d = embed_dim / num_heads entries.
    W_q, W_k and W_v are one parameter, in_proj_weight, unless kdim or vdim differ from embed_dim.

    add_bias_kv      one more key and value, which are learned
    add_zero_attn    one more key and value, which are 0
    generator        what dropout is drawn from; default: plugrad's default generator
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        generator: Generator | None = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ShapeError(f"MultiheadAttention: {embed_dim} entries do not make {num_heads} heads of equal size")
        if not 0.0 <= dropout <= 1.0:
            raise ValueError(f"MultiheadAttention: dropout is a probability, from 0 to 1, not {dropout}")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        self.generator = generator

        def made(*shape: int) -> Parameter:
            return Parameter(pg.zeros(shape, device=device, dtype=dtype))

        if self.kdim == self.vdim == embed_dim:
            self.in_proj_weight = made(3 * embed_dim, embed_dim)
        else:
            self.q_proj_weight = made(embed_dim, embed_dim)
            self.k_proj_weight = made(embed_dim, self.kdim)
            self.v_proj_weight = made(embed_dim, self.vdim)
        self.in_proj_bias = made(3 * embed_dim) if bias else None
        self.bias_k = made(1, 1, embed_dim) if add_bias_kv else None
        self.bias_v = made(1, 1, embed_dim) if add_bias_kv else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the starting values anew."""
        self.out_proj.reset_parameters()
        for name, p in self.named_parameters(recurse=False):
            if name.endswith("weight"):
                init.xavier_uniform_(p)
            elif name != "in_proj_bias":
                init.xavier_normal_(p)
        for b in (self.in_proj_bias, self.out_proj.bias):
            if b is not None:
                init.zeros_(b)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
        *,
        cache: KVCache | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """query: (n, batch, embed_dim)   key: (t, batch, kdim)   value: (t, batch, vdim), batch first if `batch_first`,
        or all without batch; returns the output, like query, and the weights (batch, n, t), or None

        key_padding_mask        (batch, t): True where a key is *not* looked at; or numbers, added to the scores
        need_weights            return the weights? Without them it is faster
        attn_mask               (n, t), or (batch · num_heads, n, t): the same for each query, or each query and head
        average_attn_weights    weights as the mean over the heads, or (batch, num_heads, n, t)
        is_causal               query i looks at keys up to i only: as an `attn_mask` would say it, which may be left out
        cache                   keys and values of the tokens before, in front of these: t counts them too

        A query that no key is left to gives b_o, and weights of 0.
        """
        batched = query.ndim == 3
        self._check(query, key, value)
        heads = [self._heads(x, batched) for x in self._projected(query, key, value)]
        q, k, v = heads if cache is None else (heads[0], *cache.append(*heads[1:]))
        n, t = q.shape[-2], k.shape[-2]
        mask = self._mask(key_padding_mask, attn_mask, q.shape[0], n, t)
        k, v = self._more(k), self._more(v, bias=False)
        ...
