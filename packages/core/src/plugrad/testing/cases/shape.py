"""Movement: shapes and orders of axes, with negative axes, -1 for a size, and nothing in an axis."""

from ... import ops
from ...ops import shape
from ..case import case, real

ROWS = [
    case(shape.Reshape, lambda x: ops.reshape(x, 3, -1), real(2, 3, 5)),
    case(shape.Reshape, lambda x: ops.reshape(x, (0, 3)), real(2, 0), label="empty"),
    case(shape.Reshape, lambda x: ops.reshape(x, ()), real(1, 1), label="to 0-d"),
    case(shape.Reshape, lambda x: ops.view(x, (6,)), real(3, 2), label="view"),
    case(shape.Reshape, lambda x: ops.flatten(x, 1, -2), real(2, 3, 2, 2), label="flatten"),
    case(shape.Reshape, lambda x: ops.unflatten(x, -1, (3, -1)), real(2, 6), label="unflatten"),
    case(shape.Reshape, ops.squeeze, real(1, 3, 1), label="squeeze"),
    case(shape.Reshape, lambda x: ops.squeeze(x, (-1, 0)), real(1, 3, 1), label="squeeze axes"),
    case(shape.Reshape, lambda x: ops.expand_dims(x, -1), real(2, 3), label="expand_dims"),
    case(shape.Reshape, lambda x: ops.expand_dims(x, (0, 2)), real(2, 3), label="expand_dims axes"),
    case(shape.Permute, lambda x: ops.permute(x, 2, 0, 1), real(2, 3, 5)),
    case(shape.Permute, lambda x: ops.permute_dims(x, (-1, 0, -2)), real(2, 3, 5), label="negative axes"),
    case(shape.Permute, lambda x: ops.transpose(x, 0, -1), real(2, 3, 5), label="transpose"),
    case(shape.Permute, lambda x: ops.swapaxes(x, 1, 2), real(2, 3, 5), label="swapaxes"),
    case(shape.Permute, lambda x: ops.moveaxis(x, (0, -1), (-1, 0)), real(2, 3, 5), label="moveaxis"),
    case(shape.Permute, ops.matrix_transpose, real(2, 3, 5), label="matrix_transpose"),
    case(shape.Expand, lambda x: ops.expand(x, 5, -1, 3), real(2, 1)),
    case(shape.Expand, lambda x: ops.broadcast_to(x, (2, 3)), real(3), label="broadcast_to"),
    case(shape.Expand, lambda x: ops.broadcast_to(x, (2, 0)), real(1), label="to nothing"),
    case(shape.Expand, ops.broadcast_arrays, real(2, 1), real(3), label="broadcast_arrays"),
    case(shape.SumTo, lambda x: ops.sum_to(x, (3, 1)), real(2, 3, 5)),
    case(shape.SumTo, lambda x: ops.sum_to(x, ()), real(2, 3), label="to 0-d"),
    case(shape.SumTo, lambda x: ops.sum_to(x, (2, 3)), real(2, 3), label="same shape"),
    case(shape.SumTo, lambda x: ops.sum_to(x, (1, 3)), real(0, 3), label="empty"),
]
