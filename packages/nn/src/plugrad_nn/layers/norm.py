"""Normalisation layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.errors import ShapeError

from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Tensor

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d",
    "LayerNorm", "LocalResponseNorm", "RMSNorm",
]  # fmt: skip


class _Affine(Module):
    """A weight and a bias of one shape, or None."""

    weight: Parameter | None
    bias: Parameter | None

    def _make(self, shape: tuple[int, ...], weight: bool, bias: bool, **made: Any) -> None:
        self.weight = Parameter(pg.ones(shape, **made)) if weight else None
        self.bias = Parameter(pg.zeros(shape, **made)) if weight and bias else None

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class _Tracking(_Affine):
    """Channels with a weight, a bias, and running statistics as buffers."""

    axes: tuple[str, ...] = ()  # what the input may be, each axis a letter
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def _keep(self, n: int, eps: float, momentum: float | None, track: bool, device: Any, dtype: Any) -> None:
        self.num_features, self.eps, self.momentum, self.track_running_stats = n, eps, momentum, track
        self.register_buffer("running_mean", pg.zeros(n, device=device, dtype=dtype) if track else None)
        self.register_buffer("running_var", pg.ones(n, device=device, dtype=dtype) if track else None)
        self.register_buffer("num_batches_tracked", pg.zeros((), device=device, dtype="int64") if track else None)

    def reset_running_stats(self) -> None:
        """Mean 0, variance 1, nothing seen."""
        if self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            self.num_batches_tracked *= 0

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, running statistics as at the start."""
        self.reset_running_stats()
        super().reset_parameters()

    def _running(self) -> tuple[Tensor | None, Tensor | None]:
        """The running statistics, where they are to be used or moved."""
        if self.training and not self.track_running_stats:
            return None, None
        return self.running_mean, self.running_var

    def _check(self, x: Tensor) -> None:
        if x.ndim not in map(len, self.axes):
            wanted = " or ".join(f"({', '.join(letters)})" for letters in self.axes)
            raise ShapeError(f"{type(self).__name__}: input {x.shape} has {x.ndim} axes; it takes {wanted}")

    def extra_repr(self) -> str:
        affine = f"affine={self.weight is not None}, bias={self.bias is not None}"
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, {affine}, "
            f"track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_Tracking):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        self._make((num_features,), affine, bias, device=device, dtype=dtype)
        self._keep(num_features, eps, momentum, track_running_stats, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        self._check(x)
        learns = self.training or self.running_mean is None
        mean, var = self._running()
        y = F.batch_norm(x, mean, var, self.weight, self.bias, learns, self._step(), self.eps)
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked += 1
        return y

    def _step(self) -> float:
        """How far the statistics move; for momentum=None so that they become the mean over all batches."""
        if self.momentum is not None:
            return self.momentum
        if not self.training or self.num_batches_tracked is None:
            return 0.0
        return 1.0 / (int(self.num_batches_tracked) + 1)


class BatchNorm1d(_BatchNorm):
    """y = (x - μ) / √(v + ε) · w + b for each channel        x: (N, C) or (N, C, L)

    Training takes μ and v from the batch, and moves the running statistics, which `eval` uses, towards them by
    `momentum` (None: they become the mean over all batches). See `F.batch_norm`.
    """

    axes = ("NC", "NCL")


class BatchNorm2d(_BatchNorm):
    """y = (x - μ) / √(v + ε) · w + b for each channel        x: (N, C, H, W); otherwise as BatchNorm1d"""

    axes = ("NCHW",)


class BatchNorm3d(_BatchNorm):
    """y = (x - μ) / √(v + ε) · w + b for each channel        x: (N, C, D, H, W); otherwise as BatchNorm1d"""

    axes = ("NCDHW",)


class _InstanceNorm(_Tracking):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        self._make((num_features,), affine, bias, device=device, dtype=dtype)
        self._keep(num_features, eps, momentum, track_running_stats, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        self._check(x)
        alone = x.ndim == len(self.axes[0])
        batch: Any = x.expand_dims(0) if alone else x
        if batch.shape[1] != self.num_features:
            raise ShapeError(
                f"{type(self).__name__}: input {x.shape} has {batch.shape[1]} channels, num_features is "
                f"{self.num_features}"
            )
        learns = self.training or self.running_mean is None
        mean, var = self._running()
        y = F.instance_norm(batch, mean, var, self.weight, self.bias, learns, self.momentum or 0.0, self.eps)
        return y.squeeze(0) if alone else y


class InstanceNorm1d(_InstanceNorm):
    """y = (x - μ) / √(v + ε) · w + b for each channel of each sample        x: (N, C, L) or (C, L)

    With `track_running_stats` running statistics are kept in training, and used by `eval`. See `F.instance_norm`.
    """

    axes = ("CL", "NCL")


class InstanceNorm2d(_InstanceNorm):
    """y = (x - μ) / √(v + ε) · w + b for each channel of each sample        x: (N, C, H, W) or (C, H, W)"""

    axes = ("CHW", "NCHW")


class InstanceNorm3d(_InstanceNorm):
    """y = (x - μ) / √(v + ε) · w + b for each channel of each sample        x: (N, C, D, H, W) or (C, D, H, W)"""

    axes = ("CDHW", "NCDHW")


class GroupNorm(_Affine):
    """y = (x - μ) / √(v + ε) · w + b for each group of channels of each sample        x: (N, C, ...)"""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(f"GroupNorm: num_channels={num_channels} do not split into num_groups={num_groups}")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._make((num_channels,), affine, bias, device=device, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        return F.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine = f"affine={self.affine}, bias={self.bias is not None}"
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, {affine}"


class LayerNorm(_Affine):
    """y = (x - μ) / √(v + ε) · w + b, with μ and v over the last axes, whose sizes are `normalized_shape`"""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._make(self.normalized_shape, elementwise_affine, bias, device=device, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine = f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        return f"{self.normalized_shape}, eps={self.eps}, {affine}"


class RMSNorm(_Affine):
    """y = x / √(mean(x²) + ε) · w, the mean over the last axes, whose sizes are `normalized_shape`

    eps=None stands for the distance from 1 to the next number of the dtype computed in.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._make(self.normalized_shape, elementwise_affine, False, device=device, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class LocalResponseNorm(Module):
    """y = x / (k + α · mean(x²))^β, the mean over the `size` neighbouring channels        x: (N, C, ...)"""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, x: Tensor) -> Tensor:
        return F.local_response_norm(x, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
