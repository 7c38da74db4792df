"""Sorting, the k largest, medians and quantiles: along any axis, either way round, with ties."""

from ... import ops
from ...ops import order
from ..case import case, exactly, ints, real

NAN = float("nan")
TIES = exactly([[2.0, 2.0, 1.0, 3.0, 1.0], [0.0, 5.0, 5.0, 5.0, 0.0]])

ROWS = [
    case(order.Sort, ops.sort, real(3, 5)),
    case(order.Sort, lambda x: ops.sort(x, axis=0, descending=True), real(5, 2), label="descending"),
    case(order.Sort, lambda x: ops.sort(x, axis=-2), real(2, 4, 3), label="axis"),
    case(order.Sort, ops.sort, TIES, order=0, label="ties"),
    case(order.Sort, ops.sort, ints(-9, 9, 7), order=0, label="integers"),
    case(order.Sort, ops.sort, exactly([3.0, NAN, 1.0]), order=0, label="NaN"),
    case(order.ArgSort, ops.argsort, real(3, 5), order=0),
    case(order.ArgSort, lambda x: ops.argsort(x, descending=True), TIES, order=0, label="ties, descending"),
    case(order.ArgSort, lambda x: ops.argsort(x, axis=0), ints(0, 3, 6, 2), order=0, label="ties, axis"),
    case(order.TopK, lambda x: ops.topk(x, 2), real(3, 5)),
    case(order.TopK, lambda x: ops.topk(x, 3, axis=0, largest=False), real(5, 2), label="smallest"),
    case(order.TopK, lambda x: ops.topk(x, 3), TIES, order=0, label="ties"),
    case(order.TopK, lambda x: ops.topk(x, 2, axis=-2), ints(0, 4, 3, 2), order=0, label="integers"),
    case(order.Rank, ops.median, real(5)),
    case(order.Rank, lambda x: ops.median(x, axis=-1, keepdims=True), real(3, 4), label="lower of two"),
    case(order.Rank, lambda x: ops.median(x, axis=(0, 2)), real(3, 2, 2), label="axes"),
    case(order.Rank, lambda x: ops.median(x, axis=1), TIES, order=0, label="ties"),
    case(order.Rank, lambda x: ops.median(x, axis=1), exactly([[1.0, NAN], [3.0, 1.0]]), order=0, label="NaN"),
    case(order.Rank, lambda x: ops.median(x, axis=0), ints(-9, 9, 6, 2), order=0, label="integers"),
    case(order.Rank, lambda x: ops.quantile(x, 0.3), real(2, 4), label="quantile"),
    case(order.Rank, lambda x: ops.quantile(x, [0.0, 0.4, 1.0], axis=0), real(5, 3), label="quantiles"),
    case(
        order.Rank, lambda x: ops.quantile(x, [0.7, 0.2], axis=(-1, 0), keepdims=True, interpolation="midpoint"),
        real(3, 2, 2), label="quantiles, keepdims",
    ),
    *(
        case(order.Rank, lambda x, how=how: ops.quantile(x, 0.4, axis=1, interpolation=how), real(2, 5), label=how)
        for how in ("lower", "higher", "nearest")
    ),
]  # fmt: skip
