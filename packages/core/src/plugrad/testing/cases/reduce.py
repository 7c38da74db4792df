"""Reductions over one axis, several, all and none; ties, zeros, and nothing to reduce."""

from ... import ops
from ...ops import reduce
from ..case import Case, between, bools, case, exactly, ints, real

NAN, INF = float("nan"), float("inf")
ZEROS = exactly([[2.0, 0.0, 3.0], [0.0, 0.0, 5.0]])


def searches(name: str) -> list[Case]:
    """Rows of a reduction without a gradient: as it is, along an axis, with the axis kept."""
    f = getattr(ops, name)
    return [
        case(reduce.Survey, f, ints(0, 3, 2, 3), order=0, label=name),
        case(reduce.Survey, lambda x: f(x, axis=-2), real(3, 2, 4), order=0, label=f"{name} axis"),
        case(reduce.Survey, lambda x: f(x, axis=1, keepdims=True), bools(2, 5), order=0, label=f"{name} keepdims"),
        case(reduce.Survey, f, exactly([1.0, NAN, 0.0, NAN]), order=0, label=f"{name} NaN"),
    ]


ROWS = [
    case(reduce.Sum, ops.sum, real(2, 3)),
    case(reduce.Sum, lambda x: ops.sum(x, axis=-1), real(3, 2, 5), label="axis"),
    case(reduce.Sum, lambda x: ops.sum(x, axis=(2, 0), keepdims=True), real(3, 2, 4), label="axes, keepdims"),
    case(reduce.Sum, lambda x: ops.sum(x, axis=()), real(2, 3), label="no axis"),
    case(reduce.Sum, ops.sum, real(), label="0-d"),
    case(reduce.Sum, lambda x: ops.sum(x, axis=1), real(3, 0), label="nothing"),
    case(reduce.Sum, lambda x: ops.sum(x, axis=0), ints(-5, 5, 3, 2), order=0, label="integers"),
    case(reduce.Sum, lambda x: ops.sum(x, axis=0), bools(5, 2), order=0, label="bools"),
    case(reduce.Mean, ops.mean, real(2, 3)),
    case(reduce.Mean, lambda x: ops.mean(x, axis=-2), real(3, 2, 5), label="axis"),
    case(reduce.Mean, lambda x: ops.mean(x, axis=(0, -1), keepdims=True), real(3, 2, 4), label="axes, keepdims"),
    case(reduce.Mean, lambda x: ops.mean(x, axis=1), real(3, 0), order=0, label="nothing"),
    case(reduce.Mean, lambda x: ops.mean(x, axis=1), ints(0, 9, 2, 3), order=0, label="integers"),
    case(reduce.Prod, ops.prod, real(2, 3), order=3),
    case(reduce.Prod, lambda x: ops.prod(x, axis=1), real(2, 4, 3), label="axis"),
    case(reduce.Prod, lambda x: ops.prod(x, axis=(0, -1), keepdims=True), real(2, 3, 2), label="axes, keepdims"),
    case(reduce.Prod, lambda x: ops.prod(x, axis=-1), ZEROS, order=3, label="zeros"),
    case(reduce.Prod, ops.prod, exactly([0.0]), label="a single zero"),
    case(reduce.Prod, lambda x: ops.prod(x, axis=0), real(0, 2), label="nothing"),
    case(reduce.Prod, ops.prod, ints(1, 4, 5), order=0, label="integers"),
    case(reduce.Max, ops.max, real(2, 3)),
    case(reduce.Max, lambda x: ops.max(x, axis=-1), real(3, 2, 5), label="axis"),
    case(reduce.Max, lambda x: ops.amax(x, axis=(0, 2), keepdims=True), real(3, 2, 4), label="axes, keepdims"),
    case(reduce.Max, lambda x: ops.max(x, axis=1), exactly([[3.0, 1.0, 3.0], [INF, INF, 2.0]]), order=0, label="ties"),
    case(reduce.Max, lambda x: ops.max(x, axis=0), exactly([[1.0, NAN], [2.0, 1.0]]), order=0, label="NaN"),
    case(reduce.Max, lambda x: ops.max(x, axis=0), ints(-9, 9, 4, 3), order=0, label="integers"),
    case(reduce.Max, lambda x: ops.max(x, axis=1), real(0, 3), label="no rows"),
    case(reduce.Min, ops.min, real(2, 3)),
    case(reduce.Min, lambda x: ops.amin(x, axis=(1, -3)), real(3, 2, 5), label="axes"),
    case(reduce.Min, lambda x: ops.min(x, axis=0, keepdims=True), between(-1, 1, 4, 3), label="keepdims"),
    case(reduce.Min, lambda x: ops.min(x, axis=1), exactly([[1.0, 1.0, 3.0], [-INF, 4.0, 2.0]]), order=0, label="ties"),
    case(reduce.Min, lambda x: ops.min(x, axis=0), ints(-9, 9, 4, 3), order=0, label="integers"),
    *(row for name in ("all", "any", "argmax", "argmin", "count_nonzero") for row in searches(name)),
]
