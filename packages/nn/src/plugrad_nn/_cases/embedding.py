"""Case rows of tables of rows."""

from plugrad.testing.case import case, exactly, ints, real

from .. import ops
from .door import through

row, bag = ops.Embedding, ops.EmbeddingBag
twice = exactly([[0, 2, 2], [1, 0, 2]], "int")
ids, bags = exactly([3, 0, 3, 1, 3], "int"), exactly([0, 0, 2, 2, 2], "int")

ROWS = [
    case(row, through(row(4, None, False)), real(4, 3), ints(0, 4, 2, 5)),
    case(row, through(row(3, 2, False)), real(3, 4), twice, label="padding", order=0),
    case(row, through(row(3, None, True)), real(3, 4), twice, label="evened", order=0),
    case(row, through(row(4, None, False)), real(4, 3), ints(0, 4, 0), label="none"),
    case(row, through(row(4, None, False)), real(4, 3), exactly(2, "int"), label="one"),
    case(bag, through(bag(4, 3, False)), real(4, 2), ids, bags, real(5)),
    case(bag, through(bag(4, 3, True)), real(4, 2), ids, bags, real(5), label="evened", order=0),
    case(bag, through(bag(4, 2, False)), real(4, 2), ints(0, 4, 0), ints(0, 2, 0), real(0), label="none"),
]
