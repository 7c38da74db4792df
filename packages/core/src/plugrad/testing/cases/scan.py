"""Running sums and products, differences, and the recurrence behind the gradient of a running product."""

from ... import ops
from ...ops import scan
from ..case import bools, case, exactly, ints, real

ZEROS = exactly([[2.0, 0.0, 3.0, 4.0], [0.0, 5.0, 0.0, 1.0]])

ROWS = [
    case(scan.CumSum, lambda x: ops.cumsum(x, 0), real(5, 2)),
    case(scan.CumSum, lambda x: ops.cumsum(x, -1), real(2, 3, 7), label="last axis"),
    case(scan.CumSum, lambda x: ops.cumulative_sum(x, include_initial=True), real(4), label="with the initial 0"),
    case(scan.CumSum, lambda x: ops.cumsum(x, 1), real(2, 0), label="nothing"),
    case(scan.CumSum, lambda x: ops.cumsum(x, 0), ints(-3, 4, 6), order=0, label="integers"),
    case(scan.CumSum, lambda x: ops.cumsum(x, 0), bools(5), order=0, label="bools"),
    case(scan.CumProd, lambda x: ops.cumprod(x, 0), real(5, 2), order=3),
    case(scan.CumProd, lambda x: ops.cumprod(x, -1), real(2, 3, 4), label="last axis"),
    case(scan.CumProd, lambda x: ops.cumprod(x, 1), ZEROS, label="zeros"),
    case(scan.CumProd, lambda x: ops.cumulative_prod(x, include_initial=True), real(4), label="with the initial 1"),
    case(scan.CumProd, lambda x: ops.cumprod(x, 0), ints(1, 4, 5), order=0, label="integers"),
    case(scan.Others, scan.others, real(2, 5), order=3),
    case(scan.Others, scan.others, ZEROS, order=3, label="zeros"),
    case(scan.Others, scan.others, real(3, 1), label="one number"),
    case(scan.Others, scan.others, real(2, 0), label="nothing"),
    case(scan.Recurrence, lambda x, y: scan.recurrence(x, y, 1, False), real(2, 5), real(2, 5), order=3),
    case(scan.Recurrence, lambda x, y: scan.recurrence(x, y, 0, True), real(6, 2), real(6, 2), label="reverse"),
    case(scan.Lag, lambda x: scan.lag(x, 0, 1), real(3, 2)),
    case(scan.Lag, lambda x: scan.lag(x, 1, -2, fill=1), real(2, 5), label="back"),
    case(scan.Lag, lambda x: scan.lag(x, 0, 3), real(2), label="out"),
    case(scan.Diff, ops.diff, real(2, 5)),
    case(scan.Diff, lambda x: ops.diff(x, axis=0, n=2), real(4, 3), label="twice"),
    case(scan.Diff, ops.diff, real(3, 1), label="one number"),
    case(scan.Diff, ops.diff, ints(-5, 5, 4), order=0, label="integers"),
    case(scan.Diff, lambda x, y: ops.diff(x, prepend=y, append=y), real(2, 3), real(2, 1), label="prepend, append"),
]
