"""Case rows of activations."""

import math

from plugrad.testing.case import case, exactly, real

from .. import functional as F
from .. import ops
from .door import through


def phi(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def sigma(x):
    return 1 / (1 + math.exp(-x))


def cube(x):
    return math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)


ACTIVATIONS = {
    "gelu": lambda x: x * phi(x),
    "gelu_tanh": lambda x: x * (1 + math.tanh(cube(x))) / 2,
    "hardswish": lambda x: x * min(max(x + 3, 0), 6) / 6,
    "mish": lambda x: x * math.tanh(math.log1p(math.exp(x))),
    "relu": lambda x: max(x, 0.0),
    "sigmoid": sigma,
    "silu": lambda x: x * sigma(x),
    "tanh": math.tanh,
}


def after_sum(f):
    return lambda x, b: f(x + b)


def hardshrink(x):
    return 0.0 if -0.5 <= x <= 0.5 else x


def softshrink(x):
    return x - max(min(x, 0.5), -0.5)


bias = ops.BiasActivation
edge = exactly([-0.5, 0.0, 0.5])

ROWS = [
    *[case(bias, through(bias(kind)), real(3, 5), real(5), closed=after_sum(f), label=kind)
      for kind, f in ACTIVATIONS.items()],
    case(bias, through(bias("relu")), real(2, 3, 4), real(3, 1), closed=after_sum(ACTIVATIONS["relu"]), label="axis"),
    case(ops.Hardshrink, F.hardshrink, real(3, 4), closed=hardshrink),
    case(ops.Hardshrink, F.hardshrink, edge, closed=hardshrink, order=0, label="edge"),
    case(ops.Softshrink, F.softshrink, real(3, 4), closed=softshrink),
    case(ops.Softshrink, F.softshrink, edge, closed=softshrink, order=0, label="edge"),
    case(ops.Tanhshrink, F.tanhshrink, real(3, 4), closed=lambda x: x - math.tanh(x)),
]  # fmt: skip
