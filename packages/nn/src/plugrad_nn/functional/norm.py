"""Normalisation."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.apply import apply
from plugrad.errors import ShapeError
from plugrad.values import become

from .. import ops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Tensor

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm"]


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """(x - μ) / √(v + ε) · w + b for each channel (axis 1)        Ioffe & Szegedy 2015

    In training μ and v are the mean and variance of the channel here, over all other axes, and the running statistics,
    where given, move towards them: r ← (1 - momentum) r + momentum · μ, and the same with v · n / (n - 1). Otherwise μ
    and v are the running statistics. The result has the dtype of the input; half precision is computed in float32.
    """
    _channels("batch_norm", input, 2, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    axes = (0, *range(2, input.ndim))
    if not training:
        return _by_running("batch_norm", input, running_mean, running_var, weight, bias, eps)
    n = _several("batch_norm", input, axes, "value for each channel")
    w, b = _affine(input, weight, bias)
    z, m, v = apply(ops.BatchNorm(axes, float(eps)), _wide(input), w, b)
    if n:
        _move(running_mean, m, momentum)
        _move(running_var, v * (n / (n - 1)), momentum)
    return _narrow(z, input)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """(x - μ) / √(v + ε) · w + b for each channel of each sample        Ulyanov et al. 2016

    μ and v are over the axes from 2 on; running statistics, where given, move towards their mean over the samples.
    With `use_input_stats=False` μ and v are the running statistics. Dtypes as in `batch_norm`.
    """
    _channels("instance_norm", input, 3, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    axes = tuple(range(2, input.ndim))
    if not use_input_stats:
        return _by_running("instance_norm", input, running_mean, running_var, weight, bias, eps)
    n = _several("instance_norm", input, axes, "spatial element")
    w, b = _affine(input, weight, bias)
    if running_mean is None and running_var is None:
        return _narrow(apply(ops.LayerNorm(axes, float(eps)), _wide(input), w, b), input)
    z, m, v = apply(ops.BatchNorm(axes, float(eps)), _wide(input), w, b)
    if input.size:
        _move(running_mean, m.mean(axis=0), momentum)
        _move(running_var, v.mean(axis=0) * (n / (n - 1)), momentum)
    return _narrow(z, input)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """(x - μ) / √(v + ε) · w + b for each group of channels (axis 1) of each sample        Wu & He 2018

    A group is C / `num_groups` neighbouring channels with all their places; w and b have one number for each channel.
    """
    _channels("group_norm", input, 2, weight=weight, bias=bias)
    samples, c, *places = input.shape
    if num_groups < 1 or c % num_groups:
        raise ShapeError(f"group_norm: {c} channels do not split into num_groups={num_groups} groups of equal size")
    x = input.reshape(samples, num_groups, c // num_groups, *places)
    axes = tuple(range(2, x.ndim))
    if samples == 1:
        _several("group_norm", x, axes, "value for each group")
    w, b = [t if t is None else t.reshape(num_groups, -1, *[1] * len(places)) for t in (weight, bias)]
    return _layer(x, axes, w, b, eps).reshape(input.shape)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int] | int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - μ) / √(v + ε) · w + b, with μ and v over the last axes, whose sizes are `normalized_shape`

    (Ba et al. 2016)
    """
    return _layer(input, _last("layer_norm", input, normalized_shape, weight=weight, bias=bias), weight, bias, eps)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int] | int, weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """x / √(mean(x²) + ε) · w, the mean over the last axes, whose sizes are `normalized_shape`

    (Zhang & Sennrich 2019). eps=None stands for the distance from 1 to the next number of the dtype computed in.
    """
    axes = _last("rms_norm", input, normalized_shape, weight=weight)
    if eps is None:
        eps = 2.0**-52 if input.dtype is pg.float64 else 2.0**-23
    return apply(ops.RMSNorm(axes, float(eps)), input, 1.0 if weight is None else weight)  # type: ignore[no-any-return]


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """x / (k + α · mean(x²))^β, the mean over the `size` neighbouring channels (axis 1), beyond the edge 0

    (Krizhevsky et al. 2012)
    """
    if input.ndim < 3 or size < 1:
        raise ShapeError(f"local_response_norm: input {input.shape}, size {size}; it takes (N, C, ...), size 1 or more")
    samples, _, *places = input.shape
    edges = [input.new_zeros((samples, n, *places)) for n in (size // 2, (size - 1) // 2)]
    around = pg.concat([edges[0], input * input, edges[1]], axis=1).unfold(1, size, 1)
    return input / (around.mean(axis=-1) * alpha + k) ** beta


def _layer(input: Tensor, axes: tuple[int, ...], weight: Tensor | None, bias: Tensor | None, eps: float) -> Tensor:
    w, b = 1.0 if weight is None else weight, 0.0 if bias is None else bias
    return apply(ops.LayerNorm(axes, float(eps)), input, w, b)  # type: ignore[no-any-return]


def _last(name: str, input: Tensor, shape: Sequence[int] | int, **given: Tensor | None) -> tuple[int, ...]:
    """The last axes, which must have the sizes `shape`, and so must what else is given."""
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not sizes or input.shape[-len(sizes) :] != sizes:
        raise ShapeError(f"{name}: the last axes of input {input.shape} are not normalized_shape {sizes}")
    for what, t in given.items():
        if t is not None and t.shape != sizes:
            raise ShapeError(f"{name}: {what} has shape {t.shape}, normalized_shape is {sizes}")
    return tuple(range(input.ndim - len(sizes), input.ndim))


def _channels(name: str, input: Tensor, least: int, **given: Tensor | None) -> None:
    """An input (N, C, ...), and one number for each channel in what else is given."""
    if input.ndim < least:
        raise ShapeError(f"{name}: input {input.shape} has {input.ndim} axes; it takes {least} or more, (N, C, ...)")
    for what, t in given.items():
        if t is not None and t.shape != (input.shape[1],):
            raise ShapeError(f"{name}: {what} has shape {t.shape}, input {input.shape} has {input.shape[1]} channels")


def _several(name: str, input: Tensor, axes: tuple[int, ...], what: str) -> int:
    """How many numbers there are over `axes`; one alone has no spread."""
    n = prod(input.shape[i] for i in axes)
    if n == 1:
        raise ShapeError(f"{name}: more than 1 {what} is needed for a variance, and input {input.shape} has just one")
    return n


def _affine(input: Tensor, weight: Tensor | None, bias: Tensor | None) -> list[Any]:
    """w and b so that they broadcast along the channels."""
    shape = (-1, *[1] * (input.ndim - 2))
    return [1.0 if weight is None else weight.reshape(shape), 0.0 if bias is None else bias.reshape(shape)]


def _is_half(x: Tensor) -> bool:
    return x.dtype.bits == 16 and x.dtype.is_floating_point


def _wide(x: Tensor) -> Tensor:
    """Half precision as float32, so that the statistics keep that."""
    return x.astype("float32") if _is_half(x) else x


def _narrow(z: Tensor, x: Tensor) -> Tensor:
    """z, which came from `_wide(x)`, in half precision again if x is."""
    return z.astype(x.dtype) if _is_half(x) else z


def _by_running(
    name: str, input: Tensor, m: Tensor | None, v: Tensor | None, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    if m is None or v is None:
        raise ValueError(f"{name}: without statistics of the input, running_mean and running_var are needed")
    shape = (-1, *[1] * (input.ndim - 2))
    known = m.reshape(shape), v.reshape(shape), *_affine(input, weight, bias)
    return _narrow(apply(ops.Rescale(float(eps)), _wide(input), *known), input)


def _move(running: Tensor | None, value: Tensor, momentum: float) -> None:
    """r ← (1 - momentum) r + momentum · value, outside the graph."""
    if running is not None:
        with pg.no_grad():
            moved = running * (1 - momentum) + value.reshape(running.shape) * momentum
            become(running, moved.astype(running.dtype), "running statistics")
