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


def _bce(x: float, t: float, p: float) -> float:
    return p * t * _softplus(-x) + (1 - t) * _softplus(x)


ROWS = [
    case(ops.Linear, F.linear, real(3, 5), real(2, 5), real(2)),
    case(ops.Linear, F.linear, real(2, 3, 5), real(4, 5), real(4), label="batches"),
    case(ops.Linear, F.linear, real(5), real(2, 5), real(2), label="vector"),
    case(ops.Linear, F.linear, real(0, 5), real(2, 5), real(2), label="no rows"),
    case(ops.LayerNorm, _with(ops.LayerNorm((-1,), 1e-5)), real(3, 5), positive(5), real(5)),
    case(ops.LayerNorm, _with(ops.LayerNorm((-2, -1), 1e-2)), real(2, 3, 5), positive(3, 5), real(3, 5), label="axes"),
    case(ops.LayerNorm, _with(ops.LayerNorm((-1,), 0.1)), exactly([[3.0] * 4, [1.0, 2.0, 4.0, 8.0]]), positive(4), real(4), label="constant row"),
    case(ops.CrossEntropy, _with(ops.CrossEntropy(1)), real(3, 5), ints(0, 5, 3)),
    case(ops.CrossEntropy, _with(ops.CrossEntropy(0)), real(5), exactly(2, "int"), label="vector"),
    case(ops.CrossEntropy, _with(ops.CrossEntropy(1)), real(2, 3, 5), ints(0, 3, 2, 5), label="places"),
    case(ops.CrossEntropy, _with(ops.CrossEntropy(1)), exactly([[0.0, -INF, 1.0], [-INF, 500.0, -500.0]]), exactly([0, 1], "int"), order=0, label="far out"),
    case(ops.SoftCrossEntropy, _with(ops.SoftCrossEntropy(1)), real(3, 5), positive(3, 5)),
    case(ops.SoftCrossEntropy, _with(ops.SoftCrossEntropy(1)), real(2, 3, 5), positive(2, 3, 5), label="places"),
    case(ops.BCEWithLogits, _with(ops.BCEWithLogits()), real(3, 5), between(0.0, 1.0, 3, 5), positive(5), closed=_bce),
    case(ops.BCEWithLogits, _with(ops.BCEWithLogits()), exactly([40.0, -40.0, 100.0, 0.0]), exactly([1.0, 0.0, 0.0, 1.0]), exactly([1.0, 1.0, 2.0, 3.0]), closed=_bce, order=0, label="far out"),
    case(ops.BinaryCrossEntropy, lambda x, t: binary(ops.BinaryCrossEntropy(), x, t), between(0.1, 0.9, 3, 5), between(0.0, 1.0, 3, 5), closed=lambda x, t: -t * math.log(x) - (1 - t) * math.log(1 - x)),
    case(ops.BinaryCrossEntropy, lambda x, t: binary(ops.BinaryCrossEntropy(), x, t), exactly([0.0, 1.0, 0.0, 1.0]), exactly([0.0, 1.0, 1.0, 0.0]), closed=lambda x, t: 100.0 * abs(x - t), order=0, label="cut off"),
]
