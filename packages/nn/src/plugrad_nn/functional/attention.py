"""Attention as a function."""

from __future__ import annotations

from functools import reduce
from math import sqrt
from typing import TYPE_CHECKING, Any

from plugrad.apply import apply
from plugrad.dtypes import float32, promote
from plugrad.errors import DTypeError, ShapeError
from plugrad.ops.linear import spared

from .. import ops
from .dropout import dropout

if TYPE_CHECKING:
    from plugrad import Generator, Tensor

__all__ = ["attention_weights", "scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    offset: int = 0,
    generator: Generator | None = None,
) -> Tensor:
    """softmax(s Q Kᵀ + m) V        Q: (..., n, d)   K: (..., t, d)   V: (..., t, e)   result: (..., n, e)

    attn_mask     m, that broadcasts to (..., n, t): bool, True where a key takes part; or numbers, which learn
    dropout_p     the share of weights that is dropped, whenever it is not 0: pass 0 where a model is in use
    is_causal     query i takes part of keys 0 to offset + i only
    scale         s; default 1/√d
    enable_gqa    axis -3 of Q is a multiple of that of K and V: queries h·g to h·g + g - 1 share key h
    offset        how many keys come before the first query: with a cache of past keys, t - n
    generator     what is dropped is drawn from it; default: plugrad's default generator

    A query that no key is left to gives 0, and sends no gradient. What takes no part is not seen, even where it is NaN.
    """
    if enable_gqa:
        query, key, value, attn_mask = _grouped(query, key, value, attn_mask)
    op, m = _read("scaled_dot_product_attention", query, key, attn_mask, is_causal, scale, offset, value)
    if not dropout_p:
        z = apply(ops.Attention(*op), query, key, value, m)
    else:
        weights = apply(ops.AttentionWeights(*op), query, key, m)
        z = spared(dropout(weights, dropout_p, generator=generator), value)
    return z.flatten(-4, -3) if enable_gqa else z  # type: ignore[no-any-return]


def attention_weights(
    query: Tensor,
    key: Tensor,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    *,
    offset: int = 0,
) -> Tensor:
    """softmax(s Q Kᵀ + m), of shape (..., n, t), which `scaled_dot_product_attention` multiplies with the values."""
    op, m = _read("attention_weights", query, key, attn_mask, is_causal, scale, offset)
    return apply(ops.AttentionWeights(*op), query, key, m)  # type: ignore[no-any-return]


def _read(
    name: str, q: Tensor, k: Tensor, mask: Any, causal: bool, scale: float | None, offset: int, *v: Tensor
) -> tuple[tuple[float, int | None], Any]:
    """The op's settings, and its mask: True for none, numbers in the dtype of what they are added to."""
    if any(x.ndim < 2 for x in (q, k, *v)):
        shapes = ", ".join(str(x.shape) for x in (q, k, *v))
        raise ShapeError(f"{name}: shapes {shapes}; queries, keys and values have two axes at least, (..., n, d)")
    d, t = q.shape[-1], k.shape[-2]
    reach = offset if causal and offset < t - 1 else None  # else the first query sees all keys
    op = float(scale if scale is not None else 1 / sqrt(d or 1)), reach
    if mask is None:
        return op, True
    if mask.dtype.kind not in ("bool", "float"):
        raise DTypeError(f"{name}: attn_mask is {mask.dtype}; write mask != 0 for one that says True where to look")
    _fits(name, mask, q.shape[-2], t)
    return op, mask.astype(_common(q, k, *v)) if mask.dtype.kind == "float" else mask


def _fits(name: str, mask: Tensor, n: int, t: int) -> None:
    """A mask does not make more queries or keys than there are."""
    if any(have not in (1, want) for have, want in zip(mask.shape[:-3:-1], (t, n), strict=False)):
        raise ShapeError(f"{name}: {n} queries and {t} keys take a mask (..., {n}, {t}), not {mask.shape}")


def _common(*xs: Tensor) -> Any:
    """The dtype that the op computes in."""
    found = reduce(promote, [x.dtype for x in xs])
    return found if found.kind == "float" else float32


def _grouped(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Heads (..., h · g) of queries as (..., h, g), beside keys and values (..., h, 1): none is copied."""
    if min(x.ndim for x in (q, k, v)) < 3 or not k.shape[-3] or k.shape[-3] != v.shape[-3] or q.shape[-3] % k.shape[-3]:
        raise ShapeError(
            f"scaled_dot_product_attention: shapes {q.shape}, {k.shape} and {v.shape}: with enable_gqa axis -3 is "
            "that of the heads, as many of keys as of values, and of queries a multiple"
        )
    h, heads = k.shape[-3], q.shape[-3]
    if mask is not None and mask.ndim > 2:  # one for each head follows its head, one for all stays one
        mask = _apart(mask, h) if mask.shape[-3] == heads else mask.expand_dims(-3)
    return _apart(q, h), k.expand_dims(-3), v.expand_dims(-3), mask


def _apart(x: Tensor, h: int) -> Tensor:
    return x.reshape((*x.shape[:-3], h, x.shape[-3] // h, *x.shape[-2:]))
