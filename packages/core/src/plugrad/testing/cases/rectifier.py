"""Activations with kinks: on both sides, and on the kinks themselves."""

from __future__ import annotations

import math
from functools import partial

from ... import ops
from ...apply import binary
from ...ops import rectifier
from ..case import between, case, exactly, ints, real

KINKS = exactly([-4.0, -3.0, -1.0, 0.0, 1.0, 3.0, 6.0, 7.0])


def _elu(x: float, alpha: float = 1.0, scale: float = 1.0, rate: float = 1.0) -> float:
    return scale * (x if x > 0 else alpha * math.expm1(rate * x))


def _six(x: float) -> float:
    return min(max(x + 3, 0.0), 6.0) / 6


ROWS = [
    case(rectifier.Gate, lambda x, u: rectifier.gate(x, u.detach()), real(2, 5), real(2, 5),
         closed=lambda x, u: x if u > 0 else 0.0),
    case(rectifier.Relu, ops.relu, real(2, 5), closed=lambda x: max(x, 0.0)),
    case(rectifier.Relu, ops.relu, KINKS, closed=lambda x: max(x, 0.0), order=0, label="kinks"),
    case(rectifier.Relu, ops.relu, ints(-5, 5, 5), closed=lambda x: max(x, 0), order=0, label="integers"),
    case(rectifier.LeakyRelu, ops.leaky_relu, real(2, 5), closed=lambda x: x if x > 0 else 0.01 * x),
    case(rectifier.LeakyRelu, lambda x: ops.leaky_relu(x, -0.5), KINKS, order=0, label="kinks",
         closed=lambda x: x if x > 0 else -0.5 * x),
    case(rectifier.Prelu, lambda x, w: binary(rectifier.Prelu(), x, w), real(2, 5), between(0.1, 0.5, 5),
         closed=lambda x, w: x if x > 0 else w * x),
    case(rectifier.Threshold, lambda x: ops.threshold(x, 0.3, -7), real(2, 5), closed=lambda x: x if x > 0.3 else -7.0),
    case(rectifier.Threshold, lambda x: ops.threshold(x, 3, 20), KINKS, closed=lambda x: x if x > 3 else 20.0, order=0,
         label="kinks"),
    case(rectifier.Elu, lambda x: ops.elu(x, 1.3), real(2, 5), closed=partial(_elu, alpha=1.3)),
    case(rectifier.Elu, ops.selu, real(2, 5), closed=lambda x: _elu(x, *rectifier.SELU), label="selu"),
    case(rectifier.Elu, lambda x: ops.celu(x, 2.0), real(2, 5), closed=lambda x: _elu(x, 2.0, 1.0, 0.5), label="celu"),
    case(rectifier.Elu, ops.elu, exactly([-1000.0, 0.0, 1000.0]), closed=_elu, order=0, label="far out"),
    case(rectifier.Hardtanh, ops.hardtanh, real(2, 5), closed=lambda x: min(max(x, -1.0), 1.0)),
    case(rectifier.Hardtanh, ops.relu6, KINKS, closed=lambda x: min(max(x, 0.0), 6.0), order=0, label="relu6"),
    case(rectifier.Hardsigmoid, ops.hardsigmoid, between(-5, 5, 2, 5), closed=_six),
    case(rectifier.Hardsigmoid, ops.hardsigmoid, KINKS, closed=_six, order=0, label="kinks"),
    case(rectifier.Hardswish, ops.hardswish, between(-5, 5, 2, 5), closed=lambda x: x * _six(x)),
    case(rectifier.Hardswish, ops.hardswish, KINKS, closed=lambda x: x * _six(x), order=0, label="kinks"),
]  # fmt: skip
