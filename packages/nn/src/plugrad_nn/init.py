"""Starting values. Each function fills a tensor and returns it; numbers come from plugrad's generators."""

from __future__ import annotations

from math import prod, sqrt
from typing import TYPE_CHECKING

import plugrad as pg
from plugrad.errors import ShapeError

from .parameter import give

if TYPE_CHECKING:
    from plugrad import Generator, Tensor

__all__ = [
    "calculate_gain", "constant_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "uniform_",
    "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip

GAINS = {"tanh": 5 / 3, "relu": sqrt(2), "selu": 3 / 4}
PLAIN = ("linear", "sigmoid", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform in [a, b)"""
    return give(tensor, pg.uniform(a, b, tensor.shape, generator=generator, dtype=tensor.dtype, device=tensor.device))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal"""
    return give(
        tensor, pg.normal(mean, std, tensor.shape, generator=generator, dtype=tensor.dtype, device=tensor.device)
    )


def constant_(tensor: Tensor, val: float) -> Tensor:
    """`val` everywhere"""
    return give(tensor, pg.full_like(tensor, val))


def zeros_(tensor: Tensor) -> Tensor:
    """0 everywhere"""
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """1 everywhere"""
    return constant_(tensor, 1.0)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform in ±gain · √(6 / (fan_in + fan_out))        Glorot & Bengio 2010"""
    a = gain * sqrt(6 / sum(fans(tensor)))
    return uniform_(tensor, -a, a, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal, std = gain · √(2 / (fan_in + fan_out))        Glorot & Bengio 2010"""
    return normal_(tensor, 0.0, gain * sqrt(2 / sum(fans(tensor))), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform in ±gain · √(3 / fan)        He et al. 2015; `a`: the slope of leaky_relu"""
    bound = calculate_gain(nonlinearity, a) * sqrt(3 / _fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal, std = gain / √fan        He et al. 2015; `a`: the slope of leaky_relu"""
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / sqrt(_fan(tensor, mode)), generator)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """What makes up for the variance that a nonlinearity takes away."""
    if nonlinearity in PLAIN:
        return 1.0
    if nonlinearity == "leaky_relu":
        return sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in GAINS:
        raise ValueError(f"calculate_gain: {nonlinearity!r} is none of {', '.join([*PLAIN, 'leaky_relu', *GAINS])}")
    return GAINS[nonlinearity]


def fans(tensor: Tensor) -> tuple[int, int]:
    """(fan_in, fan_out) of a weight (out, in, ...)."""
    if tensor.ndim < 2:
        raise ShapeError(f"init: a weight of shape {tensor.shape} has no fan; it needs two axes, (out, in, ...)")
    field = prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _fan(tensor: Tensor, mode: str) -> int:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"init: mode {mode!r} is none of 'fan_in', 'fan_out'")
    return fans(tensor)[mode == "fan_out"]
