"""Activations: those that shrink, and a bias with what follows it in one pass."""

from __future__ import annotations

from plugrad import Op
from plugrad.apply import unary
from plugrad.op import Z
from plugrad.ops import activation, exponential, rectifier, tanh, trigonometric, where
from plugrad.ops.numbers import number

__all__ = ["BiasActivation", "Hardshrink", "Softshrink", "Tanhshrink"]

#: What may follow a bias: name → the op.
ACTIVATIONS = {
    "gelu": activation.Gelu(),
    "gelu_tanh": activation.GeluTanh(),
    "hardswish": rectifier.Hardswish(),
    "mish": activation.Mish(),
    "relu": rectifier.Relu(),
    "sigmoid": exponential.Sigmoid(),
    "silu": activation.Silu(),
    "tanh": trigonometric.Tanh(),
}


class BiasActivation(Op):
    """z = a(x + b), a the activation called `kind`

    ∂L/∂x = ∂L/∂b = g a'(x + b)
    """

    kind: str
    elementwise = scales = floats = True

    def forward(self, xp, x, b):
        return ACTIVATIONS[self.kind].forward(xp, x + b)

    def dx(self, g, x, b):
        return _back(ACTIVATIONS[self.kind], g, x + b)

    db = dx


class Hardshrink(Op):
    """z = 0 where -λ ≤ x ≤ λ, else x

    ∂L/∂x = 0 where -λ ≤ x ≤ λ, else g
    """

    lambd: float
    elementwise = selects = floats = True

    def forward(self, xp, x):
        return xp.where((x >= -self.lambd) & (x <= self.lambd), number(xp, 0, x), x)

    def dx(self, g, x):
        return where((x >= -self.lambd) & (x <= self.lambd), 0, g)


class Softshrink(Op):
    """z = x - λ where x > λ, x + λ where x < -λ, else 0

    ∂L/∂x = 0 where -λ ≤ x ≤ λ, else g
    """

    lambd: float
    elementwise = selects = floats = True

    def forward(self, xp, x):
        held = xp.maximum(xp.minimum(x, number(xp, self.lambd, x)), number(xp, -self.lambd, x))
        return xp.where((x >= -self.lambd) & (x <= self.lambd), number(xp, 0, x), x - held)

    def dx(self, g, x):
        return where((x >= -self.lambd) & (x <= self.lambd), 0, g)


class Tanhshrink(Op):
    """z = x - tanh x

    ∂L/∂x = g tanh² x
    """

    elementwise = scales = floats = True

    def forward(self, xp, x):
        return x - xp.tanh(x)

    def dx(self, g, x):
        t = tanh(x)
        return g * (t * t)


def _back(act, g, y):
    """What comes back through an activation of `y`: its own gradient, given the output where it names that."""
    method, places = act.gradients[0]
    return method(act, g, *[unary(act, y) if which == Z else y for _, which in places])
