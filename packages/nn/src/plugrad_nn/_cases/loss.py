"""Case rows of losses."""

from __future__ import annotations

import math

from plugrad.apply import binary
from plugrad.testing.case import between, case, exactly, ints, positive, real

from .. import ops
from .door import through

INF = math.inf


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _bce_logits(x: float, t: float, p: float) -> float:
    return p * t * _softplus(-x) + (1 - t) * _softplus(x)


def _bce(x: float, t: float) -> float:
    return -t * (math.log(x) if x else -100) - (1 - t) * (math.log(1 - x) if x < 1 else -100)


hard, soft, logits = ops.CrossEntropy, ops.SoftCrossEntropy, ops.BCEWithLogits
along_0, along_1, soft_1 = through(hard(0)), through(hard(1)), through(soft(1))
sigmoid, plain = through(logits()), lambda x, t: binary(ops.BinaryCrossEntropy(), x, t)
far_out = exactly([[0.0, -INF, 1.0], [-INF, 500.0, -500.0]])
tails = [exactly(v) for v in ([40.0, -40.0, 100.0, 0.0], [1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 2.0, 3.0])]
ends = exactly([0.0, 1.0, 0.0, 1.0]), exactly([0.0, 1.0, 1.0, 0.0])

ROWS = [
    case(hard, along_1, real(3, 5), ints(0, 5, 3)),
    case(hard, along_0, real(5), exactly(2, "int"), label="vector"),
    case(hard, along_1, real(2, 3, 5), ints(0, 3, 2, 5), label="places"),
    case(hard, along_1, far_out, exactly([0, 1], "int"), order=0, label="far out"),
    case(soft, soft_1, real(3, 5), positive(3, 5)),
    case(soft, soft_1, real(2, 3, 5), positive(2, 3, 5), label="places"),
    case(soft, soft_1, far_out, exactly([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), order=0, label="far out"),
    case(logits, sigmoid, real(3, 5), between(0.0, 1.0, 3, 5), positive(5), closed=_bce_logits),
    case(logits, sigmoid, *tails, closed=_bce_logits, order=0, label="far out"),
    case(ops.BinaryCrossEntropy, plain, between(0.1, 0.9, 3, 5), between(0.0, 1.0, 3, 5), closed=_bce),
    case(ops.BinaryCrossEntropy, plain, *ends, closed=_bce, order=0, label="cut off"),
]
