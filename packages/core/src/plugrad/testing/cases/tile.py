"""Copies, rolling, and padding that reads from the tensor."""

from ... import ops
from ...ops import index
from ...ops.tile import Roll, Tile
from ..case import case, real

ROWS = [
    case(Tile, lambda x: ops.tile(x, 2, 3), real(3, 2)),
    case(Tile, lambda x: ops.tile(x, (2,)), real(3, 2), label="fewer"),
    case(Tile, lambda x: ops.tile(x, (2, 1, 3)), real(2, 3), label="more"),
    case(Tile, lambda x: ops.tile(x, (0, 2)), real(2, 3), label="none"),
    case(Tile, lambda x: ops.repeat(x, 3, axis=-1), real(3, 2), label="repeat"),
    case(Tile, lambda x: ops.repeat(x, 2), real(3, 2), label="repeat flattened"),
    case(Roll, lambda x: ops.roll(x, 1, axis=0), real(3, 2)),
    case(Roll, lambda x: ops.roll(x, (-2, 7), axis=(-1, 0)), real(3, 5), label="axes"),
    case(Roll, lambda x: ops.roll(x, 4), real(2, 3), label="flattened"),
    case(Roll, lambda x: ops.roll(x, 1, axis=1), real(2, 0), label="empty"),
    case(index.Take, lambda x: ops.repeat(x, (0, 2, 1), axis=0), real(3, 2), label="repeat by counts"),
    case(index.Take, lambda x: ops.pad(x, ((1, 2), (2, 0)), "reflect"), real(3, 3), label="pad reflect"),
    case(index.Take, lambda x: ops.pad(x, (4, 5), "reflect"), real(3), label="pad reflect far"),
    case(index.Take, lambda x: ops.pad(x, ((0, 2), (1, -1)), "replicate"), real(2, 3), label="pad replicate"),
    case(index.Take, lambda x: ops.pad(x, ((3, 0), (1, 1)), "circular"), real(2, 3), label="pad circular"),
]
