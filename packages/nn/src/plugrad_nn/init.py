"""Starting values. Each function fills a tensor and returns it; numbers come from plugrad's generators."""

from __future__ import annotations

from math import ceil, erf, prod, sqrt
from typing import TYPE_CHECKING

import plugrad as pg
from plugrad.errors import ShapeError

from .parameter import give

if TYPE_CHECKING:
    from plugrad import Generator, Tensor

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_",
    "orthogonal_", "sparse_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
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


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal, drawn again where it falls outside [a, b]: x = mean + std · √2 · erf⁻¹(u), u uniform between the ends"""
    low, high = (erf((end - mean) / (std * sqrt(2))) for end in (a, b))
    u = pg.uniform(low, high, tensor.shape, generator=generator, dtype=tensor.dtype, device=tensor.device)
    return give(tensor, (pg.erfinv(u) * (std * sqrt(2)) + mean).clip(a, b))


def eye_(tensor: Tensor) -> Tensor:
    """1 on the diagonal, 0 elsewhere: a linear layer that changes nothing"""
    if tensor.ndim != 2:
        raise ShapeError(f"eye_: a tensor of shape {tensor.shape} has no diagonal; it takes two axes")
    return give(tensor, pg.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """1 in the middle of filter i for channel i, in each group: a convolution that changes nothing"""
    out, field = tensor.shape[0] if tensor.ndim else 0, tensor.shape[2:]
    if not 3 <= tensor.ndim <= 5 or groups < 1 or out % groups:
        raise ShapeError(
            f"dirac_: shape {tensor.shape} with {groups} groups; it takes the weight of a convolution, (out, in, ...), "
            "with out a multiple of groups"
        )
    each = pg.eye(out // groups, tensor.shape[1], dtype=tensor.dtype, device=tensor.device)
    middle = pg.zeros_like(tensor)
    middle[(slice(None), slice(None), *[n // 2 for n in field])] = pg.concat([each] * groups)
    return give(tensor, middle)


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Rows (or columns, where they are fewer) at right angles, of length gain; axes behind the first are taken as one

    Q of a normal matrix, its signs set so that Q is uniform among all. Saxe et al. 2013, Mezzadri 2006.
    """
    if tensor.ndim < 2:
        raise ShapeError(f"orthogonal_: shape {tensor.shape}; it takes two axes, (out, in, ...)")
    rows, columns = tensor.shape[0], prod(tensor.shape[1:])
    if not tensor.size:
        return tensor
    wide = rows < columns
    shape = (columns, rows) if wide else (rows, columns)
    dtype = pg.float32 if tensor.dtype.bits == 16 else tensor.dtype
    q, r = pg.linalg.qr(pg.randn(shape, generator=generator, dtype=dtype, device=tensor.device))
    q = q * pg.where(pg.linalg.diagonal(r) < 0, -1.0, 1.0)
    return give(tensor, ((q.mT if wide else q) * gain).reshape(tensor.shape).astype(tensor.dtype))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Normal, but 0 in a share `sparsity` of each column, rounded up        Martens 2010"""
    if tensor.ndim != 2:
        raise ShapeError(f"sparse_: a tensor of shape {tensor.shape}; it takes two axes")
    rows, columns = tensor.shape
    made = pg.normal(0.0, std, tensor.shape, generator=generator, dtype=tensor.dtype, device=tensor.device)
    orders = [pg.randperm(rows, generator=generator, device=tensor.device) for _ in range(columns)]
    rank = pg.stack(orders, axis=1) if columns else pg.zeros((rows, 0), dtype="int64", device=tensor.device)
    return give(tensor, pg.where(rank < ceil(sparsity * rows), 0.0, made))


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
