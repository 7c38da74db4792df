"""Smooth activations: near 0 and in both tails."""

from __future__ import annotations

import math

from ... import ops
from ...ops import activation
from ..case import case, exactly, real


def _silu(x: float) -> float:
    return x / (1 + math.exp(-x))


def _gelu_tanh(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


TAILS = exactly([-30.0, -6.0, -1e-6, 0.0, 1e-6, 6.0, 30.0])
ROWS = [
    case(activation.Gelu, ops.gelu, real(2, 5), closed=lambda x: x * math.erfc(-x / math.sqrt(2)) / 2),
    case(activation.Gelu, ops.gelu, TAILS, closed=lambda x: x * math.erfc(-x / math.sqrt(2)) / 2, label="tails"),
    case(activation.GeluTanh, lambda x: ops.gelu(x, "tanh"), real(2, 5), closed=_gelu_tanh),
    case(activation.Silu, ops.silu, real(2, 5), closed=_silu),
    case(activation.Silu, ops.silu, TAILS, closed=_silu, label="tails"),
    case(activation.Mish, ops.mish, real(2, 5), closed=lambda x: x * math.tanh(math.log1p(math.exp(x)))),
    case(activation.Mish, ops.mish, TAILS, closed=lambda x: x * math.tanh(math.log1p(math.exp(x))), label="tails"),
    case(activation.Softsign, ops.softsign, real(2, 5), closed=lambda x: x / (1 + abs(x))),
    case(activation.Softsign, ops.softsign, TAILS, closed=lambda x: x / (1 + abs(x)), order=1, label="tails"),
]  # fmt: skip
