"""Joining and taking apart, empty parts included."""

from ... import ops
from ...ops import join
from ..case import case, ints, real

ROWS = [
    case(join.Concat, lambda x, y: ops.concat((x, y)), real(2, 3), real(5, 3)),
    case(join.Concat, lambda x, y, z: ops.concat([x, y, z], axis=-1), real(2, 1), real(2, 0), real(2, 3), label="axis"),
    case(join.Concat, lambda x, y: ops.concat((x, y), axis=None), real(2, 3), real(), label="flattened"),
    case(join.Concat, lambda x: ops.concat([x]), real(2, 3), label="one"),
    case(join.Concat, lambda x: ops.concat([x, x]), real(2, 3), label="the same twice"),
    case(join.Concat, lambda x, y: ops.concat((x, y)), real(2), ints(-3, 3, 3), label="floats and integers"),
    case(join.Stack, lambda x, y, z: ops.stack((x, y, z)), real(2, 3), real(2, 3), real(2, 3)),
    case(join.Stack, lambda x, y: ops.stack((x, y), axis=-1), real(2, 3), real(2, 3), label="axis"),
    case(join.Stack, lambda x, y: ops.stack((x, y)), real(), real(), label="0-d"),
    case(join.Split, lambda x: ops.split(x, 2), real(5, 3)),
    case(join.Split, lambda x: ops.split(x, (1, 0, 2), axis=-1), real(2, 3), label="sizes"),
    case(join.Split, lambda x: ops.chunk(x, 3, axis=1), real(2, 7), label="chunk"),
    case(join.Split, lambda x: ops.split(x, (2, 3))[1], real(5), label="one part used"),
    case(join.Unstack, ops.unstack, real(3, 2)),
    case(join.Unstack, lambda x: ops.unstack(x, axis=-1), real(2, 3), label="axis"),
    case(join.Unstack, lambda x: ops.unstack(x)[1], real(3, 2), label="one slice used"),
]
