"""Assignment by integer tensors and masks: of equal places the last counts, in the gradient too."""

from ... import ops
from ...apply import apply
from ...ops import assign, select
from ..case import case, exactly, ints, real

TWICE = exactly([1, 0, -2, 1], "int")

HOLES = exactly([[True, False], [True, True]], "bool")


def at(*key):
    """Assignment at a key of which `...` stands for the tensor of indices."""
    return lambda x, i, v: ops.setitem(x, tuple(i if k is ... else k for k in key), v)


ROWS = [
    case(assign.Put, lambda x, i, v: ops.setitem(x, i, v), real(3, 2), exactly([2, 0], "int"), real(2, 2)),
    case(assign.Put, lambda x, i, v: ops.setitem(x, i, v), real(3), TWICE, real(4), label="equal places"),
    case(assign.Put, at(slice(None), ...), real(2, 3), exactly([2, -3], "int"), real(2, 1), label="axis"),
    case(assign.Put, at(..., slice(None, None, -1)), real(3, 2), ints(0, 3, 1), real(), label="0-d value"),
    case(assign.Put, lambda x, i: ops.setitem(x, i, 2.5), real(3, 2), TWICE, label="number"),
    case(assign.Put, lambda x, m, v: ops.setitem(x, m, v), real(2, 2), HOLES, real(3), label="mask"),
    case(select.Where, lambda x: ops.setitem(x, x > 0.25, 1.5), real(2, 3), label="assigned by a mask"),
    case(assign.Lasting, lambda i: apply(assign.Lasting(3), i), exactly([1, 0, 1, 2], "int"), order=0),
]
