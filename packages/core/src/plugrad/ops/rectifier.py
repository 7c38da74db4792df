"""Activations with kinks; the gradients at the kinks are PyTorch's."""

from __future__ import annotations

from ..apply import binary, unary
from ..errors import ShapeError
from ..op import Op
from .exponential import exp
from .extreme import clip
from .numbers import number
from .select import where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = [
    "celu", "elu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "prelu", "relu", "relu6", "selu", "threshold",
]  # fmt: skip

SELU = 1.6732632423543772, 1.0507009873554805  # α and λ that keep mean 0 and variance 1


class Gate(Op):
    """z = 0 where u ≤ 0, else x

    ∂L/∂x = 0 where u ≤ 0, else g
    """

    elementwise = storage = True

    def forward(self, xp, x, u):
        return xp.where(u <= 0, number(xp, 0, x), x)

    def dx(self, g, u):
        return gate(g, u)


class Relu(Op):
    """z = max(x, 0)

    ∂L/∂x = 0 where z ≤ 0, else g
    """

    elementwise = True

    def forward(self, xp, x):
        return xp.maximum(x, number(xp, 0, x))

    def dx(self, g, z):
        return gate(g, z)


class LeakyRelu(Op):
    """z = x where x > 0, else a x

    ∂L/∂x = g where x > 0, else a g
    """

    slope: float
    elementwise = floats = True

    def forward(self, xp, x):
        return xp.where(x > 0, x, x * self.slope)

    def dx(self, g, x):
        return where(x > 0, g, g * self.slope)


class Prelu(Op):
    """z = x where x > 0, else w x

    ∂L/∂x = g where x > 0, else g w        ∂L/∂w = 0 where x > 0, else g x
    """

    elementwise = scales = floats = True

    def forward(self, xp, x, w):
        return xp.where(x > 0, x, x * w)

    def dx(self, g, x, w):
        return where(x > 0, g, g * w)

    def dw(self, g, x):
        return where(x > 0, 0, g * x)


class Threshold(Op):
    """z = v where x ≤ t, else x

    ∂L/∂x = 0 where x ≤ t, else g
    """

    threshold: float
    value: float
    elementwise = selects = floats = True

    def forward(self, xp, x):
        return xp.where(x <= self.threshold, number(xp, self.value, x), x)

    def dx(self, g, x):
        return where(x <= self.threshold, 0, g)


class Elu(Op):
    """z = λ x where x > 0, else λ α (e^κx - 1): elu, selu (α, λ) and celu (κ = 1/α)

    ∂L/∂x = λ g where x > 0, else λ α κ g e^κx
    """

    alpha: float
    scale: float
    rate: float
    elementwise = scales = floats = True

    def forward(self, xp, x):
        low = xp.minimum(x, number(xp, 0, x)) * self.rate
        return xp.where(x > 0, x, self.alpha * xp.expm1(low)) * self.scale

    def dx(self, g, x):
        low = exp(clip(x, max=0) * self.rate) * (self.alpha * self.rate)
        return g * self.scale * where(x > 0, 1, low)


class Hardtanh(Op):
    """z = x between low and high

    ∂L/∂x = 0 where x ≤ low or x ≥ high, else g
    """

    low: float
    high: float
    elementwise = floats = True

    def forward(self, xp, x):
        return xp.minimum(xp.maximum(x, number(xp, self.low, x)), number(xp, self.high, x))

    def dx(self, g, x):
        return where((x <= self.low) | (x >= self.high), 0, g)


class Hardsigmoid(Op):
    """z = (x + 3) / 6 between 0 and 1

    ∂L/∂x = g / 6 where -3 < x < 3, else 0
    """

    elementwise = floats = True

    def forward(self, xp, x):
        return xp.minimum(xp.maximum(x + 3, number(xp, 0, x)), number(xp, 6, x)) / 6

    def dx(self, g, x):
        return where((x > -3) & (x < 3), g / 6, 0)


class Hardswish(Op):
    """z = x h(x), h(x) = (x + 3) / 6 between 0 and 1

    ∂L/∂x = g (x/3 + 1/2) where -3 < x < 3, 0 below, g above
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        x = xp.maximum(x, number(xp, -3, x))
        return x * xp.minimum(x + 3, number(xp, 6, x)) / 6

    def dx(self, g, x):
        return where(x <= -3, 0, where(x < 3, g * (x / 3 + 0.5), g))


_gate, _relu, _prelu, _hardsigmoid, _hardswish = Gate(), Relu(), Prelu(), Hardsigmoid(), Hardswish()


def gate(x, u):
    """x, but 0 where u ≤ 0: what comes back through relu"""
    return binary(_gate, x, u)


def relu(x: Tensor) -> Tensor:
    """max(x, 0)"""
    return unary(_relu, x)  # type: ignore[no-any-return]


def relu6(x: Tensor) -> Tensor:
    """min(max(x, 0), 6)"""
    return unary(Hardtanh(0.0, 6.0), x)  # type: ignore[no-any-return]


def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    """x where x > 0, else `negative_slope` x"""
    return unary(LeakyRelu(float(negative_slope)), x)  # type: ignore[no-any-return]


def prelu(x: Tensor, weight: Tensor) -> Tensor:
    """x where x > 0, else w x; the weight has one number, or one for each entry of axis 1"""
    n, channels = weight.size, x.shape[1] if x.ndim > 1 else 1
    if n not in (1, channels) or weight.ndim > 1:
        raise ShapeError(f"prelu: weight {weight.shape} for input {x.shape}; it takes 1 or {channels} numbers")
    w = weight.reshape(n, *[1] * (x.ndim - 2)) if x.ndim > 1 else weight.reshape(())
    return binary(_prelu, x, w)  # type: ignore[no-any-return]


def threshold(x: Tensor, threshold: float, value: float) -> Tensor:
    """x where x > `threshold`, else `value`"""
    return unary(Threshold(float(threshold), float(value)), x)  # type: ignore[no-any-return]


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where x > 0, else α (eˣ - 1)"""
    return unary(Elu(float(alpha), 1.0, 1.0), x)  # type: ignore[no-any-return]


def selu(x: Tensor) -> Tensor:
    """λ x where x > 0, else λ α (eˣ - 1): keeps mean 0 and variance 1"""
    return unary(Elu(*SELU, 1.0), x)  # type: ignore[no-any-return]


def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where x > 0, else α (e^(x/α) - 1)"""
    return unary(Elu(float(alpha), 1.0, 1 / alpha), x)  # type: ignore[no-any-return]


def hardtanh(x: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x between `min_val` and `max_val`; unlike `clip`, no gradient at the bounds themselves"""
    if not min_val <= max_val:
        raise ValueError(f"hardtanh: min_val {min_val} is above max_val {max_val}")
    return unary(Hardtanh(float(min_val), float(max_val)), x)  # type: ignore[no-any-return]


def hardsigmoid(x: Tensor) -> Tensor:
    """(x + 3) / 6 between 0 and 1"""
    return unary(_hardsigmoid, x)  # type: ignore[no-any-return]


def hardswish(x: Tensor) -> Tensor:
    """x (x + 3) / 6, with (x + 3) / 6 held between 0 and 1"""
    return unary(_hardswish, x)  # type: ignore[no-any-return]
