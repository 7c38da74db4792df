"""Case rows of losses that ask for a margin."""

from __future__ import annotations

import math

from plugrad.testing.case import case, exactly, ints, positive, real

from .. import ops
from .door import through


def _hinge(x: float, t: float) -> float:
    return (x if t != -1 else 0.0) + (max(0.0, 1.5 - x) if t != 1 else 0.0)


def _ranking(x: float, y: float, t: float) -> float:
    return max(0.0, 0.3 - t * (x - y))


def _triplet(p: float, n: float) -> float:
    return max(0.0, 0.8 + p - n)


def _cosine(c: float, t: float) -> float:
    return 1 - c if t == 1 else max(0.0, c - 0.2) if t == -1 else 0.0


def _soft(x: float, t: float) -> float:
    return max(-t * x, 0.0) + math.log1p(math.exp(-abs(t * x)))


hinge, ranking, triplet = ops.HingeEmbedding(1.5), ops.MarginRanking(0.3), ops.TripletMargin(0.8)
cosine, soft, one = ops.CosineEmbedding(0.2), ops.SoftMargin(), ops.MultiMargin
first, second, many = through(one(1, 0.9)), through(one(2, 1.1)), ops.MultiLabelMargin
sides = exactly([[1, -1, 1, -1, 0], [-1, 1, -1, -1, 1]], "int")
far_out = exactly([200.0, -200.0, 30.0, -30.0]), exactly([1.0, 1.0, -1.0, -1.0])
labels = exactly([[0, 2, -1, 0], [-1, 1, 2, 3], [3, 3, 1, -1]], "int")

ROWS = [
    case(ops.HingeEmbedding, through(hinge), real(2, 5), sides, closed=_hinge),
    case(ops.MarginRanking, through(ranking), real(2, 5), real(2, 5), real(2, 5), closed=_ranking),
    case(ops.TripletMargin, through(triplet), positive(3, 5), positive(3, 5), closed=_triplet),
    case(ops.CosineEmbedding, through(cosine), real(2, 5), sides, closed=_cosine),
    case(ops.SoftMargin, through(soft), real(3, 5), real(3, 5), closed=_soft),
    case(ops.SoftMargin, through(soft), *far_out, closed=_soft, order=0, label="far out"),
    case(one, first, real(3, 5), ints(0, 5, 3)),
    case(one, second, real(3, 5), ints(0, 5, 3), label="squared"),
    case(one, first, real(5), exactly(3, "int"), label="vector"),
    case(many, through(many()), real(3, 4), labels),
    case(many, through(many()), real(4), exactly([2, 0, -1, 1], "int"), label="vector"),
]
