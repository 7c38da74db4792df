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
    """Heads h = 1 ... num_heads, each softmax(Qₕ Kₕᵀ / √d) Vₕ, side by side, times W_oᵀ + b_o    Vaswani et al. 2017

    Q, K and V are query, key and value times W_qᵀ + b_q and so on, in heads of d = embed_dim / num_heads entries.
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

        whole = self.kdim == self.vdim == embed_dim
        self.in_proj_weight = made(3 * embed_dim, embed_dim) if whole else None
        self.q_proj_weight = None if whole else made(embed_dim, embed_dim)
        self.k_proj_weight = None if whole else made(embed_dim, self.kdim)
        self.v_proj_weight = None if whole else made(embed_dim, self.vdim)
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
        is_causal               query i looks at keys up to i only; an `attn_mask` that says so may be left out
        cache                   keys and values of the tokens before, in front of these: t counts them too

        A query that no key is left to gives b_o, and weights of 0.
        """
        self._check(query, key, value)
        q, k, v = (self._heads(x) for x in self._projected(query, key, value))
        if cache is not None:
            k, v = cache.append(k, v)
        n, t, more = q.shape[-2], k.shape[-2], self.add_zero_attn + (self.bias_k is not None)
        offset = 0 if cache is None else t - n
        mask = _merged(
            _padding(key_padding_mask, (q.shape[0], t)[3 - query.ndim :]), _each_head(attn_mask, q.shape[:2], n, t)
        )
        if more:
            seen = pg.tril(pg.ones(n, t, dtype="bool", device=q.device), offset) if is_causal else None
            mask, is_causal = _widened(_merged(mask, seen), more), False
            k, v = self._more(k, self.bias_k), self._more(v, self.bias_v)
        z, weights = self._attend(q, k, v, mask, is_causal, offset, need_weights)
        out = self.out_proj(self._joined(z, query.ndim))
        if weights is not None and average_attn_weights:
            weights = weights.mean(axis=1)
        return out, weights if weights is None or query.ndim == 3 else weights.squeeze(0)

    def _attend(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, offset: int, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        p = self.dropout if self.training else 0.0
        if not need_weights:
            return F.scaled_dot_product_attention(
                q, k, v, mask, p, causal, offset=offset, generator=self.generator
            ), None
        weights = F.attention_weights(q, k, mask, causal, offset=offset)
        weights = F.dropout(weights, p, generator=self.generator)
        return spared(weights, v), weights

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> Any:
        """Q, K and V: in one product where all come from one tensor."""
        whole, b = self.in_proj_weight, self.in_proj_bias
        if query is key is value and whole is not None:
            return F.linear(query, whole, b).chunk(3, axis=-1)
        apart = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        ws: Any = apart if whole is None else whole.chunk(3)
        bs: Any = (None,) * 3 if b is None else b.chunk(3)
        return [F.linear(x, w, b) for x, w, b in zip((query, key, value), ws, bs, strict=True)]

    def _heads(self, x: Tensor) -> Tensor:
        """(batch, num_heads, n, head_dim)"""
        x = x.reshape((*x.shape[:-1], self.num_heads, self.head_dim))
        if x.ndim == 3:
            return x.permute_dims((1, 0, 2)).expand_dims(0)
        return x.permute_dims((0, 2, 1, 3) if self.batch_first else (1, 2, 0, 3))

    def _joined(self, z: Tensor, ndim: int) -> Tensor:
        """The reverse, for inputs with so many axes."""
        z = z.permute_dims((0, 2, 1, 3) if self.batch_first or ndim == 2 else (2, 0, 1, 3))
        return z.reshape((*(z.shape[:2] if ndim == 3 else z.shape[1:2]), self.embed_dim))

    def _more(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """Keys or values, the learned one and the 0 behind them."""
        one = (*x.shape[:2], 1, self.head_dim)
        if bias is not None:
            x = pg.concat([x, bias.reshape((1, self.num_heads, 1, self.head_dim)).broadcast_to(one)], axis=-2)
        return pg.concat([x, x.new_zeros(one)], axis=-2) if self.add_zero_attn else x

    def _check(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        """Sizes as they were promised, the same batch, as many keys as values."""
        given, axis = (query, key, value), 0 if self.batch_first else -2
        batches = {x.shape[axis] if x.ndim == 3 else None for x in given}
        alike = query.ndim in (2, 3) and key.shape[:-1] == value.shape[:-1] and len(batches) == 1
        if not alike or [x.shape[-1] for x in given] != [self.embed_dim, self.kdim, self.vdim]:
            order = "batch, n" if self.batch_first else "n, batch"
            raise ShapeError(
                f"MultiheadAttention: query {query.shape}, key {key.shape}, value {value.shape}; it takes ({order}, "
                f"{self.embed_dim}), and with t for n ({self.kdim}) and ({self.vdim}) at the end, or all without batch"
            )


def _padding(mask: Tensor | None, shape: tuple[int, ...]) -> Tensor | None:
    """key_padding_mask, (batch, t) or without batch (t,), for all heads and queries."""
    if mask is None:
        return None
    if mask.shape != shape:
        raise ShapeError(f"MultiheadAttention: key_padding_mask {mask.shape}; it takes {shape}")
    return _kept("key_padding_mask", mask).reshape((*shape[:-1], 1, 1, shape[-1]))


def _each_head(mask: Tensor | None, batch: tuple[int, ...], n: int, t: int) -> Tensor | None:
    """attn_mask, for all heads or for each."""
    if mask is None:
        return None
    if mask.shape not in ((n, t), (batch[0] * batch[1], n, t)):
        raise ShapeError(
            f"MultiheadAttention: attn_mask {mask.shape}; it takes ({n}, {t}), or ({batch[0]} · {batch[1]}, {n}, {t})"
        )
    kept = _kept("attn_mask", mask)
    return kept if mask.ndim == 2 else kept.reshape((*batch, n, t))


def _kept(name: str, mask: Tensor) -> Tensor:
    """From True for what is masked to True for what is kept; numbers stay."""
    if mask.dtype.kind not in ("bool", "float"):
        raise DTypeError(f"MultiheadAttention: {name} is {mask.dtype}; it is bool (mask != 0), or numbers to be added")
    return ~mask if mask.dtype.kind == "bool" else mask


def _merged(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    """What both keep, or both add."""
    if a is None or b is None:
        return b if a is None else a
    if a.dtype.kind == b.dtype.kind:
        return a & b if a.dtype.kind == "bool" else a + b
    keep, added = (a, b) if a.dtype.kind == "bool" else (b, a)
    return pg.where(keep, added, -pg.inf)  # type: ignore[no-any-return]


def _widened(mask: Tensor | None, more: int) -> Tensor | None:
    """With columns for keys that everybody looks at."""
    if mask is None:
        return None
    shape = (*mask.shape[:-1], more)
    return pg.concat([mask, mask.new_ones(shape) if mask.dtype.kind == "bool" else mask.new_zeros(shape)], axis=-1)
