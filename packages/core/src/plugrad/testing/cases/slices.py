"""Basic indexing: steps of both signs, nothing, new axes; and what is made of it."""

from ... import ops
from ...apply import unary
from ...ops import slices
from ..case import case, real

ROWS = [
    case(slices.Slice, lambda x: x[1], real(3, 2)),
    case(slices.Slice, lambda x: x[-1, 1:, 2], real(2, 3, 5), label="numbers and slices"),
    case(slices.Slice, lambda x: x[::-2, 3:0:-1], real(3, 5), label="negative steps"),
    case(slices.Slice, lambda x: x[1:5:3][1:], real(7), label="stepped twice"),
    case(slices.Slice, lambda x: x[2:2:2], real(3, 2), label="nothing"),
    case(slices.Slice, lambda x: x[..., None, -1], real(3, 2), label="new axis"),
    case(slices.Slice, lambda x: x[()], real(), label="0-d"),
    case(slices.Slice, ops.diagonal, real(3, 3), label="diagonal"),
    case(slices.Slice, lambda x: ops.diagonal(x, 1, -1, 0), real(3, 2, 5), label="diagonal of axes"),
    case(slices.Slice, lambda x: ops.diagonal(x, -2), real(5, 3, 2), label="diagonal below"),
    case(slices.Slice, lambda x: ops.diagonal(x, 3), real(2, 3), label="diagonal outside"),
    case(slices.Place, lambda x: unary(slices.Place(((1, None, -1), 2), (3, 4), 0), x), real(2)),
    case(slices.Place, lambda x: ops.dilate(x, 1, 3), real(2, 3), label="dilate"),
    case(slices.Place, lambda x: ops.dilate(x, (0, -1), 2), real(2, 0, 3), label="dilate empty"),
    case(slices.Place, lambda x: ops.pad(x, ((1, 2), (0, 3)), value=1.5), real(2, 3), label="pad"),
    case(slices.Place, lambda x: ops.pad(x, ((-1, 2), (1, -2))), real(2, 3), label="pad by less than nothing"),
    case(slices.Assign, lambda x, v: ops.setitem(x, 1, v), real(3, 2), real(2)),
    case(
        slices.Assign, lambda x, v: ops.setitem(x, (slice(None, None, -2), 0), v), real(3, 2), real(), label="0-d value"
    ),
    case(slices.Assign, lambda x, v: ops.setitem(x, (..., slice(1, 3)), v), real(2, 3), real(2, 1), label="broadcast"),
    case(
        slices.Assign, lambda x, v: ops.setitem(x, (slice(None), None), v), real(2, 3), real(1, 1, 3), label="new axis"
    ),
    case(slices.Assign, lambda x, v: ops.setitem(x, 0, v), real(2, 3), real(1, 1, 3), label="leading ones"),
    case(slices.Assign, lambda x: ops.setitem(x, slice(1, 1), 5.0), real(3), label="nothing"),
    case(slices.Flip, ops.flip, real(2, 3)),
    case(slices.Flip, lambda x: ops.flip(x, -1), real(2, 3), label="axis"),
    case(slices.Flip, lambda x: ops.flip(x, (0, 2)), real(2, 3, 5), label="axes"),
    case(slices.Flip, ops.flip, real(2, 0), label="empty"),
]
