"""Case rows of the ops of nn."""

from __future__ import annotations

import math
from typing import Any

from plugrad.apply import apply, binary
from plugrad.testing.case import between, case, exactly, ints, positive, real

from . import functional as F
from . import ops

INF = math.inf


def _with(op: Any) -> Any:
    """The door with an op in it: what a case row calls."""
    return lambda *xs: apply(op, *xs)


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _bce_logits(x: float, t: float, p: float) -> float:
    return p * t * _softplus(-x) + (1 - t) * _softplus(x)


def _bce(x: float, t: float) -> float:
    return -t * (math.log(x) if x else -100) - (1 - t) * (math.log(1 - x) if x < 1 else -100)


norm, hard, soft, logits = ops.LayerNorm, ops.CrossEntropy, ops.SoftCrossEntropy, ops.BCEWithLogits
flat, row = _with(norm((-1,), 1e-5)), _with(norm((-1,), 0.1))
along_0, along_1, soft_1 = _with(hard(0)), _with(hard(1)), _with(soft(1))
sigmoid, plain = _with(logits()), lambda x, t: binary(ops.BinaryCrossEntropy(), x, t)
constant_row = exactly([[3.0] * 4, [1.0, 2.0, 4.0, 8.0]])
far_out = exactly([[0.0, -INF, 1.0], [-INF, 500.0, -500.0]])
tails = [exactly(v) for v in ([40.0, -40.0, 100.0, 0.0], [1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 2.0, 3.0])]
ends = exactly([0.0, 1.0, 0.0, 1.0]), exactly([0.0, 1.0, 1.0, 0.0])

ROWS = [
    case(ops.Linear, F.linear, real(3, 5), real(2, 5), real(2)),
    case(ops.Linear, F.linear, real(2, 3, 5), real(4, 5), real(4), label="batches"),
    case(ops.Linear, F.linear, real(5), real(2, 5), real(2), label="vector"),
    case(ops.Linear, F.linear, real(0, 5), real(2, 5), real(2), label="no rows"),
    case(norm, flat, real(3, 5), positive(5), real(5)),
    case(norm, _with(norm((-2, -1), 1e-2)), real(2, 3, 5), positive(3, 5), real(3, 5), label="axes"),
    case(norm, row, constant_row, positive(4), real(4), label="constant row"),
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
