"""Activations as layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import plugrad as pg
from plugrad.errors import ShapeError

from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter
from .linear import Linear

if TYPE_CHECKING:
    from plugrad import Generator, Tensor

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "SELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU",
    "LogSigmoid", "LogSoftmax", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SiLU", "Sigmoid", "Softmax", "Softmax2d",
    "Softmin", "Softplus", "Softshrink", "Softsign", "SwiGLU", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip


class _Plain(Module):
    """A function without settings."""

    function: ClassVar[Any]

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = type(self).function(x)
        return y


class _Set(_Plain):
    """A function with settings: the attributes that `settings` names, in its order."""

    settings: ClassVar[tuple[str, ...]]

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = type(self).function(x, *[getattr(self, name) for name in self.settings])
        return y

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self.settings)


class ReLU(_Plain):
    """y = max(x, 0)"""

    function = F.relu


class ReLU6(_Plain):
    """y = min(max(x, 0), 6)"""

    function = F.relu6


class SELU(_Plain):
    """y = λ x where x > 0, else λ α (eˣ - 1): keeps mean 0 and variance 1 (Klambauer et al. 2017)"""

    function = F.selu


class Sigmoid(_Plain):
    """y = 1 / (1 + e⁻ˣ)"""

    function = F.sigmoid


class LogSigmoid(_Plain):
    """y = log(1 / (1 + e⁻ˣ))"""

    function = F.logsigmoid


class Tanh(_Plain):
    """y = tanh x"""

    function = F.tanh


class Tanhshrink(_Plain):
    """y = x - tanh x"""

    function = F.tanhshrink


class Softsign(_Plain):
    """y = x / (1 + |x|)"""

    function = F.softsign


class Hardsigmoid(_Plain):
    """y = (x + 3) / 6 between 0 and 1"""

    function = F.hardsigmoid


class Hardswish(_Plain):
    """y = x (x + 3) / 6, with (x + 3) / 6 held between 0 and 1"""

    function = F.hardswish


class SiLU(_Plain):
    """y = x σ(x)"""

    function = F.silu


class Mish(_Plain):
    """y = x tanh(log(1 + eˣ))"""

    function = F.mish


class LeakyReLU(_Set):
    """y = x where x > 0, else negative_slope · x"""

    function, settings = F.leaky_relu, ("negative_slope",)

    def __init__(self, negative_slope: float = 0.01) -> None:
        self.negative_slope = negative_slope


class ELU(_Set):
    """y = x where x > 0, else α (eˣ - 1)"""

    function, settings = F.elu, ("alpha",)

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha


class CELU(_Set):
    """y = x where x > 0, else α (e^(x/α) - 1)"""

    function, settings = F.celu, ("alpha",)

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha


class GELU(_Set):
    """y = x · Φ(x), Φ the normal distribution; with approximate="tanh" Hendrycks and Gimpel's formula"""

    function, settings = F.gelu, ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate


class Softplus(_Set):
    """y = log(1 + e^(βx)) / β, and x where βx > threshold"""

    function, settings = F.softplus, ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self.beta, self.threshold = beta, threshold


class Hardtanh(_Set):
    """y = x between `min_val` and `max_val`"""

    function, settings = F.hardtanh, ("min_val", "max_val")

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        if not min_val < max_val:
            raise ValueError(f"Hardtanh: min_val {min_val} is not below max_val {max_val}")
        self.min_val, self.max_val = min_val, max_val


class Threshold(_Set):
    """y = x where x > `threshold`, else `value`"""

    function, settings = F.threshold, ("threshold", "value")

    def __init__(self, threshold: float, value: float) -> None:
        self.threshold, self.value = threshold, value


class Hardshrink(_Set):
    """y = 0 where -λ ≤ x ≤ λ, else x"""

    function, settings = F.hardshrink, ("lambd",)

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Softshrink(Hardshrink):
    """y = x - λ where x > λ, x + λ where x < -λ, else 0"""

    function = F.softshrink


class GLU(_Set):
    """y = a σ(b), where a and b are the halves of x along an axis (Dauphin et al. 2017)"""

    function, settings = F.glu, ("axis",)

    def __init__(self, axis: int = -1) -> None:
        self.axis = axis


class Softmax(_Set):
    """y = eˣ / Σ eˣ along an axis"""

    function, settings = F.softmax, ("axis",)

    def __init__(self, axis: int | None = None) -> None:
        self.axis = axis


class Softmin(Softmax):
    """y = e⁻ˣ / Σ e⁻ˣ along an axis"""

    function = F.softmin


class LogSoftmax(Softmax):
    """y = x - log Σ eˣ along an axis"""

    function = F.log_softmax


class Softmax2d(Module):
    """y = eˣ / Σ eˣ over the channels at each place        x: (N, C, H, W) or (C, H, W)"""

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim not in (3, 4):
            raise ShapeError(f"Softmax2d: input {x.shape} has {x.ndim} axes; it takes (N, C, H, W) or (C, H, W)")
        return F.softmax(x, -3)


class PReLU(Module):
    """y = x where x > 0, else w x; w is learned, one number or one for each channel (axis 1)        He et al. 2015"""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(pg.full((num_parameters,), float(init), device=device, dtype=dtype))

    def reset_parameters(self) -> None:
        """Every w as at the start."""
        init.constant_(self.weight, self.init)

    def forward(self, x: Tensor) -> Tensor:
        return F.prelu(x, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """y = x where x > 0, else a x; in training each a is uniform in [lower, upper), in use their mean

    generator    what the a are drawn from; default: plugrad's default generator
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, *, generator: Generator | None = None) -> None:
        self.lower, self.upper, self.generator = lower, upper, generator

    def forward(self, x: Tensor) -> Tensor:
        return F.rrelu(x, self.lower, self.upper, self.training, generator=self.generator)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}"


class SwiGLU(Module):
    """y = (silu(x Wᵀ) · x Vᵀ) Uᵀ        x: (..., in)   W, V: (hidden, in)   U: (out, hidden)

    The gated feed-forward block of Shazeer 2020, "GLU Variants Improve Transformer", without biases unless asked for.
    W is `gate_proj`, V `up_proj`, U `down_proj`; by default out = in.
    """

    def __init__(
        self,
        in_features: int,
        hidden_features: int,
        out_features: int | None = None,
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        out = in_features if out_features is None else out_features
        self.gate_proj = Linear(in_features, hidden_features, bias, device, dtype)
        self.up_proj = Linear(in_features, hidden_features, bias, device, dtype)
        self.down_proj = Linear(hidden_features, out, bias, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))
        return y
