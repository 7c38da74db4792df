"""Gathering and scattering: equal places add up, or the last counts."""

from ... import ops
from ...apply import apply
from ...ops import index
from ...ops.assign import Put
from ...ops.scatter import Along, IndexAdd, OneHot, PutAdd
from ..case import case, exactly, ints, real

ROWS = [
    case(Along, lambda i: apply(Along((2, 3), 1), i), ints(-3, 3, 2, 4), order=0),
    case(index.Take, lambda x, i: ops.gather(x, 0, i), real(3, 5), ints(0, 3, 4, 2), label="gather"),
    case(index.Take, lambda x, i: ops.gather(x, -1, i), real(2, 3), ints(-3, 3, 2, 5), label="gather along the last"),
    case(index.Take, ops.take_along_axis, real(2, 3), ints(-3, 3, 2, 5), label="take_along_axis"),
    case(
        index.Take,
        lambda x, i: ops.take_along_axis(x, i, axis=0),
        real(3, 1),
        ints(0, 3, 2, 4),
        label="take_along_axis broadcast",
    ),
    case(index.Take, ops.masked_select, real(3), exactly([[True], [False]], "bool"), label="masked_select"),
    case(
        Put,
        lambda x, i, v: ops.scatter(x, 1, i, v),
        real(2, 3),
        exactly([[0, 2], [1, -3]], "int"),
        real(2, 2),
        label="scatter",
    ),
    case(Put, lambda x, i: ops.scatter(x, 0, i, 1.5), real(3, 2), ints(0, 3, 1, 2), label="scatter a number"),
    case(PutAdd, lambda x, i, v: ops.scatter_add(x, 1, i, v), real(2, 3), ints(-3, 3, 2, 5), real(2, 5)),
    case(PutAdd, lambda x, i, v: ops.scatter_add(x, 0, i, v), real(3, 3), ints(0, 3, 2, 1), real(4, 3), label="part"),
    case(IndexAdd, lambda x, i, v: ops.index_add(x, 0, i, v), real(3, 2), exactly([2, 0, -1, 2], "int"), real(4, 2)),
    case(IndexAdd, lambda x, i, v: ops.index_add(x, -1, i, v), real(2, 3), ints(0, 3, 5), real(2, 5), label="axis"),
    case(IndexAdd, lambda x, i, v: ops.index_add(x, 0, i, v), real(3, 2), ints(0, 1, 0), real(0, 2), label="empty"),
    case(OneHot, ops.one_hot, exactly([[2, 0], [1, 3]], "int"), order=0),
    case(OneHot, lambda x: ops.one_hot(x, 5), ints(0, 5, 3), order=0, label="size"),
]
