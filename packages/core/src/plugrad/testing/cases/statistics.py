"""Spread, length and sums of exponentials: also of one number, of equal numbers, of zeros and of infinities."""

from functools import partial

from ... import ops
from ...ops import statistics
from ..case import Case, case, exactly, ints, positive, real

INF = float("inf")
LARGE = [[32768.0 + 0.25 * i * i for i in range(5)], [5e4, 5e4 + 1, 5e4 - 2, 5e4, 5e4 + 3]]
EQUAL = [[0.1] * 5, [1.0, 2.0, 3.0, 5.0, 8.0]]
FAR = [[1e30, 1e30], [1e-30, 2e-30]]
ENDLESS = [[-INF, -INF], [-INF, 2.0], [INF, 900.0], [INF, INF], [800.0, 802.0]]
ZEROS = exactly([[0.0, 0.0], [3.0, 0.0], [-3.0, 3.0]])


def lengths(ord: float, label: str) -> list[Case]:
    """Rows of a norm of one order."""
    op = statistics.Norm if abs(ord) not in (0, INF) else statistics.EdgeNorm if ord else statistics.ZeroNorm
    f = partial(ops.norm, ord=ord)
    return [
        case(op, f, real(2, 3), label=label),
        case(op, lambda x: f(x, axis=-2), positive(3, 4, 2), label=f"{label} axis"),
        case(op, lambda x: f(x, axis=(0, 2), keepdims=True), real(2, 3, 2), label=f"{label} axes, keepdims"),
        case(op, lambda x: f(x, axis=1), ZEROS, order=0, label=f"{label} zeros"),
    ]


ROWS = [
    case(statistics.Var, ops.var, real(2, 3)),
    case(statistics.Var, lambda x: ops.var(x, axis=-1, correction=0), real(3, 5), label="axis"),
    case(statistics.Var, lambda x: ops.var(x, axis=(0, 2), keepdims=True), real(3, 2, 4), label="axes, keepdims"),
    case(statistics.Var, lambda x: ops.var(x, axis=1), exactly(LARGE), order=0, label="large mean"),
    case(statistics.Var, lambda x: ops.var(x, axis=1), real(3, 1), order=0, label="one number"),
    case(statistics.Var, lambda x: ops.var(x, axis=0), real(0, 2), order=0, label="nothing"),
    case(statistics.Var, lambda x: ops.var(x, axis=1), ints(0, 9, 2, 5), order=0, label="integers"),
    case(statistics.Std, ops.std, real(2, 3)),
    case(statistics.Std, lambda x: ops.std(x, axis=0, correction=0.5), real(4, 2), label="axis"),
    case(statistics.Std, lambda x: ops.std(x, axis=(0, 2), keepdims=True), real(3, 2, 4), label="axes, keepdims"),
    case(statistics.Std, lambda x: ops.std(x, axis=1), exactly(EQUAL), order=0, label="equal"),
    case(statistics.Std, lambda x: ops.std(x, axis=1), real(3, 1), order=0, label="one number"),
    *lengths(2, "2"),
    *lengths(1, "1"),
    *lengths(3, "3"),
    *lengths(0.5, "1/2"),
    *lengths(-1, "-1"),
    *lengths(INF, "∞"),
    *lengths(-INF, "-∞"),
    *lengths(0, "0"),
    case(statistics.Norm, lambda x: ops.norm(x, axis=1), exactly(FAR), order=0, label="far out"),
    case(statistics.Norm, lambda x: ops.norm(x, axis=1), real(3, 0), label="nothing"),
    case(statistics.LogSumExp, ops.logsumexp, real(2, 3)),
    case(statistics.LogSumExp, lambda x: ops.logsumexp(x, axis=-2), real(3, 4, 2), label="axis"),
    case(statistics.LogSumExp, lambda x: ops.logsumexp(x, axis=(0, 2), keepdims=True), real(3, 2, 4), label="axes"),
    case(statistics.LogSumExp, lambda x: ops.logsumexp(x, axis=1), exactly(ENDLESS), order=0, label="infinities"),
    case(statistics.LogSumExp, lambda x: ops.logsumexp(x, axis=1), real(2, 0), order=0, label="nothing"),
]
