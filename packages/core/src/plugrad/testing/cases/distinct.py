"""Different values and how often they occur; places in a sorted row."""

from ... import ops
from ...ops import distinct
from ..case import bools, case, exactly, ints, real

NAN, INF = float("nan"), float("inf")
ODD = exactly([0.0, -1.0, 9.0, INF, -INF, NAN])
ROW = exactly([-1.0, 0.0, 0.0, 1.5, INF])
WHOLE = exactly([1, 3, 3, 7], "int")

ROWS = [
    case(distinct.Unique, ops.unique_all, ints(0, 4, 3, 4), order=0),
    case(distinct.Unique, ops.unique_all, exactly([2.0, NAN, 1.0, 2.0, NAN, -INF]), order=0, label="NaN"),
    case(distinct.Unique, ops.unique_all, real(0), order=0, label="nothing"),
    case(distinct.Unique, ops.unique_all, bools(7), order=0, label="bools"),
    case(distinct.SearchSorted, ops.searchsorted, ROW, real(2, 3), order=0),
    case(distinct.SearchSorted, ops.searchsorted, ROW, ODD, order=0, label="left"),
    case(distinct.SearchSorted, lambda x, y: ops.searchsorted(x, y, side="right"), ROW, ODD, order=0, label="right"),
    case(distinct.SearchSorted, ops.searchsorted, real(0), real(3), order=0, label="empty row"),
    case(distinct.SearchSorted, ops.searchsorted, WHOLE, ints(0, 9, 5), order=0, label="integers"),
]
