"""Advanced indexing: repeated and negative indices, masks, and NumPy's places for the axes they leave."""

from ... import ops
from ...apply import apply
from ...ops import index
from ..case import bools, case, exactly, ints, real

MASK = exactly([[True, False, True], [False, False, True]], "bool")

ROWS = [
    case(index.Take, lambda x, i: x[i], real(3, 2), exactly([0, -1, 0, 2], "int")),
    case(index.Take, lambda x, i: x[i], real(3), ints(-3, 3, 2, 5), label="index of two axes"),
    case(index.Take, lambda x, i: x[i], real(3, 2), exactly(-2, "int"), label="0-d index"),
    case(index.Take, lambda x, i: x[i], real(3, 2), ints(0, 1, 0), label="no index"),
    case(index.Take, lambda x, i: x[:, i, ::-1], real(2, 3, 5), ints(-3, 3, 4), label="between slices"),
    case(
        index.Take,
        lambda x, i, j: x[i, j],
        real(2, 3, 2),
        exactly([0, 0, 1], "int"),
        exactly([1, -2, 0], "int"),
        label="pairs",
    ),
    case(index.Take, lambda x, i, j: x[:, i, j], real(2, 3, 5), ints(0, 3, 2, 1), ints(-5, 5, 3), label="grid"),
    case(index.Take, lambda x, i, j: x[i, :, j], real(2, 3, 5), ints(0, 2, 4), ints(-5, 5, 4), label="apart"),
    case(index.Take, lambda x, i: x[0, :, i], real(2, 3, 5), ints(0, 5, 2), label="apart from a number"),
    case(index.Take, lambda x, i: x[i, None, 1], real(2, 3, 5), ints(0, 2, 3), label="apart by a new axis"),
    case(index.Take, lambda x, m: x[m], real(2, 3, 2), MASK, label="mask"),
    case(index.Take, lambda x, m: x[:, m], real(2, 3), exactly([True, False, True], "bool"), label="mask of one axis"),
    case(index.Take, lambda x, m, i: x[m, i], real(2, 3, 5), MASK, exactly([4, 0, -1], "int"), label="mask and index"),
    case(index.Take, lambda x, m: x[m], real(), bools(), label="mask of no axis"),
    case(index.Take, lambda x: ops.take(x, [2, 0, 2], axis=1), real(2, 3), label="take"),
    case(index.Take, lambda x, i: ops.take(x, i), real(2, 3), ints(-6, 6, 4), label="take flattened"),
    case(index.Spread, lambda x, i: apply(index.Spread(0, 3), x, i), real(4, 2), exactly([0, -1, 0, 2], "int")),
    case(index.Spread, lambda x, i: apply(index.Spread(1, 5), x, i), real(2, 3, 2, 2), ints(0, 5, 3, 2), label="axis"),
    case(index.Spread, lambda x, i: apply(index.Spread(0, 2), x, i), real(0, 3), ints(0, 1, 0), label="empty"),
    case(index.Flat, lambda i, j: apply(index.Flat((2, 3), (0, 1)), i, j), ints(-2, 2, 4, 1), ints(-3, 3, 5), order=0),
]
