"""Layers as functions: `import plugrad_nn.functional as F`. PyTorch's names, plugrad's `axis`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.apply import apply
from plugrad.errors import AxisError, DTypeError, ShapeError
from plugrad.ops import (
    celu,
    elu,
    gelu,
    glu,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softmax,
    softplus,
    softsign,
    tanh,
    threshold,
)
from plugrad.ops import one_hot as _one_hot

from . import ops
from .losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    l1_loss,
    mse_loss,
    nll_loss,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Generator, Tensor

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "celu", "cosine_similarity", "cross_entropy", "dropout",
    "elu", "embedding", "gelu", "glu", "hardsigmoid", "hardswish", "hardtanh", "l1_loss", "layer_norm", "leaky_relu",
    "linear", "log_softmax", "logsigmoid", "mish", "mse_loss", "nll_loss", "normalize", "one_hot", "pad", "prelu",
    "relu", "relu6", "selu", "sigmoid", "silu", "softmax", "softplus", "softsign", "tanh", "threshold",
]  # fmt: skip

_linear = ops.Linear()


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x Wᵀ + b        x: (..., n)   W: (m, n)   b: (m,)"""
    if bias is None:
        plain: Tensor = input @ weight.mT
        return plain
    return apply(_linear, input, weight, bias)  # type: ignore[no-any-return]


def dropout(input: Tensor, p: float = 0.5, training: bool = True, *, generator: Generator | None = None) -> Tensor:
    """In training 0 with probability p, else x / (1 - p), so that the mean stays; otherwise x, and nothing is drawn."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout: p is a probability, from 0 to 1, not {p}")
    if not training or p == 0.0:
        return input
    keep = pg.rand(input.shape, generator=generator, device=input.device) >= p
    kept: Tensor = pg.where(keep, input * (1 / (1 - p) if p < 1 else 0.0), 0.0)
    return kept


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int] | int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - μ) / √(σ² + ε) · w + b, with μ and σ² over the last axes, whose sizes are `normalized_shape`."""
    sizes = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not sizes or input.shape[-len(sizes) :] != sizes:
        raise ShapeError(f"layer_norm: the last axes of input {input.shape} are not normalized_shape {sizes}")
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and t.shape != sizes:
            raise ShapeError(f"layer_norm: {name} has shape {t.shape}, normalized_shape is {sizes}")
    op = ops.LayerNorm(tuple(range(-len(sizes), 0)), float(eps))
    return apply(op, input, 1.0 if weight is None else weight, 0.0 if bias is None else bias)  # type: ignore[no-any-return]


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Rows of the weight: w[i] for each integer i of the input. Row `padding_idx` receives no gradient."""
    if input.dtype.kind not in ("int", "uint"):
        raise DTypeError(f"embedding: input is {input.dtype}; rows are chosen by integers: input.astype('int64')")
    rows: Tensor = weight[input]
    if padding_idx is None:
        return rows
    padding = (input == row_of("embedding", padding_idx, weight.shape[0])).reshape(*input.shape, 1)
    rows = pg.where(padding, rows.detach(), rows)
    return rows


def row_of(name: str, padding_idx: int, rows: int) -> int:
    """`padding_idx` counted from the front."""
    if not -rows <= padding_idx < rows:
        raise AxisError(f"{name}: padding_idx {padding_idx} is out of range for {rows} rows")
    return padding_idx % rows


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """1 at the class, 0 elsewhere, on a new last axis; as many classes as the largest needs, unless told."""
    return _one_hot(input, int(input.max()) + 1 if num_classes < 0 else num_classes)


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Entries before and after, last axis first: `pad(x, (1, 2, 0, 3))` adds 1 and 2 along axis -1, 0 and 3 along -2.

    mode    "constant" (of `value`, default 0), "reflect", "replicate" or "circular"; negative sizes cut off
    """
    if len(pad) % 2 or len(pad) > 2 * input.ndim:
        raise ShapeError(
            f"pad: {len(pad)} sizes {tuple(pad)} for {input.ndim} axes; pass (before, after) for each, last axis first"
        )
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    whole = [(0, 0)] * (input.ndim - len(pairs)) + pairs[::-1]
    return pg.pad(input, tuple(whole), mode=mode, value=0.0 if value is None else value)


def normalize(input: Tensor, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Tensor:
    """x / max(‖x‖ₚ, ε) along an axis."""
    return input / pg.maximum(input.norm(p, axis=axis, keepdims=True), eps)


def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """x₁ · x₂ / (max(‖x₁‖, ε) · max(‖x₂‖, ε)) along an axis."""
    lengths: Any = [pg.maximum(x.norm(axis=axis, keepdims=True), eps) for x in (x1, x2)]
    cosine: Tensor = ((x1 / lengths[0]) * (x2 / lengths[1])).sum(axis=axis)
    return cosine
