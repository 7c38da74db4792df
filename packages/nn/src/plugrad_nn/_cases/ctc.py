"""Case rows of connectionist temporal classification: labels twice in a row, fewer steps, no labels, no path."""

from plugrad.testing.case import case, exactly, real

from .. import ops
from .door import through

op = ops.CTC
labels = exactly([[1, 1, 3], [2, 3, 1], [2, 0, 0], [0, 0, 0]], "int")
steps, lengths = exactly([6, 4, 5, 3], "int"), exactly([3, 2, 1, 0], "int")

ROWS = [
    case(op, through(op(0)), real(6, 4, 4), labels, steps, lengths),
    case(
        op,
        through(op(2)),
        real(5, 2, 3),
        exactly([[0, 1], [1, 0]], "int"),
        exactly([5, 2], "int"),
        exactly([2, 2], "int"),
        label="another blank",
    ),
    case(
        op,
        through(op(0)),
        real(4, 2, 3),
        exactly([[2, 2, 2], [1, 2, 1]], "int"),
        exactly([4, 2], "int"),
        exactly([3, 3], "int"),
        order=0,
        label="no path",
    ),
    case(
        op,
        through(op(0)),
        exactly([[[-0.5, -float("inf"), -1.0]], [[-200.0, -0.1, -300.0]], [[-1.0, -2.0, -float("inf")]]]),
        exactly([[1]], "int"),
        exactly([3], "int"),
        exactly([1], "int"),
        order=0,
        label="far out",
    ),
]
