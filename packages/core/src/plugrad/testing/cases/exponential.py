"""Exponentials and logarithms: where they are ordinary, and far out."""

from __future__ import annotations

import math

from ... import ops
from ...ops import exponential
from ..case import between, case, exactly, positive, real


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def _xlogy(x: float, y: float) -> float:
    return x * math.log(y) if x else 0.0


FAR = exactly([-700.0, -90.0, -20.0, 0.0, 20.0, 90.0, 700.0])
INF = math.inf
ROWS = [
    case(exponential.Exp, ops.exp, real(2, 3), closed=math.exp),
    case(exponential.Exp, ops.exp, exactly([-INF, 0.0, INF]), closed=math.exp, order=0, label="infinite"),
    case(exponential.Exp2, ops.exp2, real(2, 3), closed=lambda x: 2**x),
    case(exponential.Expm1, ops.expm1, real(2, 3), closed=math.expm1),
    case(exponential.Expm1, ops.expm1, exactly([-1e-12, 1e-12, -40.0]), closed=math.expm1, order=1, label="near 0"),
    case(exponential.Log, ops.log, positive(2, 3), closed=math.log),
    case(exponential.Log2, ops.log2, positive(2, 3), closed=math.log2),
    case(exponential.Log2, ops.log2, exactly([0.125, 1.0, 8.0]), closed=math.log2, label="whole"),
    case(exponential.Log10, ops.log10, positive(2, 3), closed=math.log10),
    case(exponential.Log10, ops.log10, exactly([0.1, 1.0, 1000.0]), closed=math.log10, label="whole"),
    case(exponential.Log1p, ops.log1p, between(-0.5, 2, 2, 3), closed=math.log1p),
    case(exponential.Log1p, ops.log1p, exactly([-1e-12, 1e-12]), closed=math.log1p, label="near 0"),
    case(
        exponential.Logaddexp, ops.logaddexp, real(2, 3), real(3),
        closed=lambda x, y: math.log(math.exp(x) + math.exp(y)),
    ),
    case(
        exponential.Logaddexp, ops.logaddexp, exactly([-INF, -INF, 800.0, -800.0, INF, INF]),
        exactly([-INF, 1.0, 800.0, -800.0, 1.0, INF]), order=0, label="far out",
        closed=lambda x, y: max(x, y) + (_softplus(-abs(x - y)) if math.isfinite(x - y) else 0.0),
    ),
    case(exponential.Sigmoid, ops.sigmoid, real(2, 3), closed=_sigmoid),
    case(exponential.Sigmoid, ops.sigmoid, FAR, closed=_sigmoid, label="far out"),
    case(exponential.LogSigmoid, ops.logsigmoid, real(2, 3), closed=lambda x: -_softplus(-x)),
    case(exponential.LogSigmoid, ops.logsigmoid, FAR, closed=lambda x: -_softplus(-x), label="far out"),
    case(exponential.Softplus, ops.softplus, real(2, 3), closed=_softplus),
    case(
        exponential.Softplus, ops.softplus, FAR, order=0, label="far out",
        closed=lambda x: x if x > 20 else _softplus(x),
    ),
    case(
        exponential.Softplus, lambda x: ops.softplus(x, 2.5, 1.0), exactly([-1.0, 0.1, 0.6, 3.0]), label="settings",
        closed=lambda x: x if 2.5 * x > 1 else _softplus(2.5 * x) / 2.5,
    ),
    case(exponential.Xlogy, ops.xlogy, real(2, 3), positive(3), closed=_xlogy),
    case(
        exponential.Xlogy, ops.xlogy, exactly([0.0, 0.0, 2.0]), exactly([0.0, INF, 1.0]), closed=_xlogy, order=0,
        label="zero",
    ),
]  # fmt: skip
