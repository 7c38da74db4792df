"""Case rows of losses of classes and probabilities."""

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


def _kl(x: float, t: float) -> float:
    return t * (math.log(t) - x) if t else 0.0


def _kl_logs(x: float, t: float) -> float:
    return math.exp(t) * (t - x) if t > -INF else 0.0


hard, soft, logits = ops.CrossEntropy, ops.SoftCrossEntropy, ops.BCEWithLogits
along_0, along_1, soft_1 = through(hard(0, 0.0)), through(hard(1, 0.0)), through(soft(1))
smooth = through(hard(1, 0.2))
likely, kl, kl_logs = ops.NLL, through(ops.KLDiv(False)), through(ops.KLDiv(True))
sigmoid, plain = through(logits()), lambda x, t: binary(ops.BinaryCrossEntropy(), x, t)
far_out = exactly([[0.0, -INF, 1.0], [-INF, 500.0, -500.0]])
tails = [exactly(v) for v in ([40.0, -40.0, 100.0, 0.0], [1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 2.0, 3.0])]
ends = exactly([0.0, 1.0, 0.0, 1.0]), exactly([0.0, 1.0, 1.0, 0.0])

ROWS = [
    case(hard, along_1, real(3, 5), ints(0, 5, 3)),
    case(hard, along_0, real(5), exactly(2, "int"), label="vector"),
    case(hard, along_1, real(2, 3, 5), ints(0, 3, 2, 5), label="places"),
    case(hard, along_1, far_out, exactly([0, 1], "int"), order=0, label="far out"),
    case(hard, smooth, real(2, 3, 5), ints(0, 3, 2, 5), label="smooth"),
    case(hard, smooth, far_out, exactly([2, 1], "int"), order=0, label="smooth far out"),
    case(likely, through(likely(1, (3, 5))), real(3, 5), ints(0, 5, 3)),
    case(likely, through(likely(0, (5,))), real(5), exactly(2, "int"), label="vector"),
    case(likely, through(likely(1, (2, 3, 4, 5))), real(2, 3, 4, 5), ints(0, 3, 2, 4, 5), label="images"),
    case(likely, through(likely(1, (2, 3))), far_out, exactly([0, 1], "int"), order=0, label="far out"),
    case(soft, soft_1, real(3, 5), positive(3, 5)),
    case(soft, soft_1, real(2, 3, 5), positive(2, 3, 5), label="places"),
    case(soft, soft_1, far_out, exactly([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), order=0, label="far out"),
    case(logits, sigmoid, real(3, 5), between(0.0, 1.0, 3, 5), positive(5), closed=_bce_logits),
    case(logits, sigmoid, *tails, closed=_bce_logits, order=0, label="far out"),
    case(ops.BinaryCrossEntropy, plain, between(0.1, 0.9, 3, 5), between(0.0, 1.0, 3, 5), closed=_bce),
    case(ops.BinaryCrossEntropy, plain, *ends, closed=_bce, order=0, label="cut off"),
    case(ops.KLDiv, kl, between(-3.0, 0.0, 3, 5), between(0.1, 0.9, 3, 5), closed=_kl),
    case(ops.KLDiv, kl, exactly([-INF, -1.0, -2.0]), exactly([0.0, 0.0, 1.0]), closed=_kl, order=0, label="nothing"),
    case(ops.KLDiv, kl_logs, between(-3.0, 0.0, 3, 5), between(-3.0, 0.0, 3, 5), closed=_kl_logs, label="logs"),
    case(
        ops.KLDiv, kl_logs, exactly([-INF, -1.0]), exactly([-INF, -INF]), closed=_kl_logs, order=0, label="log nothing"
    ),
]
