"""Activations as functions: those of core under their usual names, and those that only networks use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad import ops as core
from plugrad.apply import binary, unary
from plugrad.errors import AxisError, ShapeError
from plugrad.ops import (
    celu,
    elu,
    gelu,
    glu,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softplus,
    softsign,
    tanh,
    threshold,
)
from plugrad.ops.axes import one_axis
from plugrad.ops.rectifier import Prelu
from plugrad.ops.softmax import LogSoftmax, Softmax

from .. import ops
from ..ops.activation import ACTIVATIONS

if TYPE_CHECKING:
    from plugrad import Generator, Tensor

__all__ = [
    "bias_activation", "celu", "elu", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "leaky_relu", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "rrelu", "selu", "sigmoid",
    "silu", "softmax", "softmin", "softplus", "softshrink", "softsign", "swiglu", "tanh", "tanhshrink", "threshold",
]  # fmt: skip

LEAST = 2.0**-25  # half of the smallest number that `rand` gives above 0


def softmax(input: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """eˣ / Σ eˣ along `axis`, computed in `dtype` where that is given

    A row of nothing but -∞ gives NaN, and 0 in the gradient. Vectors and matrices may leave the axis out: the last.
    """
    return unary(Softmax(_axis("softmax", input, axis)), input if dtype is None else input.astype(dtype))  # type: ignore[no-any-return]


def log_softmax(input: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """x - log Σ eˣ along `axis`; otherwise as `softmax`"""
    return unary(LogSoftmax(_axis("log_softmax", input, axis)), input if dtype is None else input.astype(dtype))  # type: ignore[no-any-return]


def softmin(input: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """e⁻ˣ / Σ e⁻ˣ along `axis`; otherwise as `softmax`"""
    floats = dtype or (input.dtype if input.dtype.is_floating_point else "float32")  # -x of unsigned integers wraps
    return unary(Softmax(_axis("softmin", input, axis)), -input.astype(floats))  # type: ignore[no-any-return]


def gumbel_softmax(
    logits: Tensor,
    tau: float = 1,
    hard: bool = False,
    eps: float = 1e-10,
    axis: int = -1,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """softmax((x + G) / τ) along `axis`, G = -log E with E from the exponential distribution

    A draw from the classes with chances softmax(x), the sharper the smaller τ (Jang et al. 2017). With `hard` one-hot,
    with the gradient of the soft draw. `eps` stands in PyTorch's place and is not used.
    """
    wide = logits.dtype if logits.dtype.bits > 16 else "float32"
    u = pg.rand(logits.shape, generator=generator, dtype=wide, device=logits.device)
    race = -pg.log(-pg.log1p(-pg.clip(u, min=LEAST)))
    soft = core.softmax((logits + race.astype(logits.dtype)) / tau, axis)
    if not hard:
        return soft
    i = one_axis("gumbel_softmax", axis, logits.ndim)
    chosen = core.one_hot(soft.argmax(axis=i), soft.shape[i]).moveaxis(-1, i).astype(soft.dtype)
    return chosen - soft.detach() + soft


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """x where x > 0, else a x; in training each a is uniform in [lower, upper), else their mean (Xu et al. 2015)"""
    if not lower <= upper:
        raise ValueError(f"rrelu: lower {lower} is above upper {upper}")
    if not training:
        return leaky_relu(input, (lower + upper) / 2)
    how = {"generator": generator, "dtype": input.dtype, "device": input.device}
    return binary(Prelu(), input, pg.uniform(lower, upper, input.shape, **how))  # type: ignore[no-any-return, arg-type]


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """0 where -λ ≤ x ≤ λ, else x"""
    return unary(ops.Hardshrink(float(lambd)), input)  # type: ignore[no-any-return]


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x - λ where x > λ, x + λ where x < -λ, else 0"""
    if not lambd >= 0:
        raise ValueError(f"softshrink: lambd is 0 or more, not {lambd}")
    return unary(ops.Softshrink(float(lambd)), input)  # type: ignore[no-any-return]


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh x"""
    return unary(_tanhshrink, input)  # type: ignore[no-any-return]


def swiglu(input: Tensor, axis: int = -1) -> Tensor:
    """silu(a) · b, where a and b are the halves of x along `axis` (Shazeer 2020)"""
    i = one_axis("swiglu", axis, input.ndim)
    n = input.shape[i]
    if n % 2:
        raise ShapeError(f"swiglu: axis {axis} of shape {input.shape} has {n} entries; an even number makes halves")
    before = (slice(None),) * i
    return silu(input[(*before, slice(0, n // 2))]) * input[(*before, slice(n // 2, n))]


def bias_activation(input: Tensor, bias: Tensor, kind: str = "relu", axis: int = -1) -> Tensor:
    """a(x + b), a one of gelu, gelu_tanh, hardswish, mish, relu, sigmoid, silu, tanh; b: (n,), along `axis`"""
    if kind not in ACTIVATIONS:
        raise ValueError(f"bias_activation: kind {kind!r} is none of {', '.join(ACTIVATIONS)}")
    i = one_axis("bias_activation", axis, input.ndim)
    if bias.shape != input.shape[i : i + 1]:
        raise ShapeError(f"bias_activation: bias {bias.shape} does not lie along axis {axis} of input {input.shape}")
    b = bias if i == input.ndim - 1 else bias.reshape(-1, *[1] * (input.ndim - 1 - i))
    return binary(ops.BiasActivation(kind), input, b)  # type: ignore[no-any-return]


_tanhshrink = ops.Tanhshrink()


def _axis(name: str, x: Tensor, axis: int | None) -> int:
    """`axis`, or the only one that is meant where there are no more than two."""
    if axis is None and x.ndim > 2:
        raise AxisError(f"{name}: shape {x.shape} has {x.ndim} axes; say which one, as in axis=-1")
    return one_axis(name, -1 if axis is None else axis, x.ndim)
