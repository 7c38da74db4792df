"""Case rows of normalisation."""

from plugrad.testing.case import between, case, exactly, positive, real

from .. import ops
from .door import through

layer, batch, rms, rescale = ops.LayerNorm, ops.BatchNorm, ops.RMSNorm, ops.Rescale
constant_row = exactly([[3.0] * 4, [1.0, 2.0, 4.0, 8.0]])
constant_channel = exactly([[[7.0, 7.0], [1.0, 2.0]], [[7.0, 7.0], [4.0, 8.0]], [[7.0, 7.0], [0.5, 1.0]]])
channels = positive(3, 1), real(3, 1)


def rescaled(x, m, v, w, b):
    return (x - m) / (v + 0.1) ** 0.5 * w + b


ROWS = [
    case(layer, through(layer((1,), 1e-5)), real(3, 5), positive(5), real(5)),
    case(layer, through(layer((1, 2), 1e-2)), real(2, 3, 5), positive(3, 5), real(3, 5), label="axes"),
    case(layer, through(layer((1,), 0.1)), constant_row, positive(4), real(4), label="constant row"),
    case(layer, through(layer((2, 3), 0.1)), real(2, 2, 3, 4), positive(2, 3, 1), real(2, 3, 1), label="groups"),
    case(layer, through(layer((2,), 0.1)), real(3, 2, 4), positive(2, 1), real(2, 1), label="channels"),
    case(layer, through(layer((0,), 0.1)), real(4, 3), positive(3), real(3), label="columns"),
    case(layer, through(layer((1,), 0.1)), real(3, 5), exactly(1.5), exactly(0.5), label="two numbers"),
    case(layer, through(layer((1,), 0.1)), real(0, 5), positive(5), real(5), label="no rows"),
    case(batch, through(batch((0, 2), 1e-2)), real(4, 3, 2), *channels),
    case(batch, through(batch((0,), 0.1)), real(4, 3), positive(3), real(3), label="columns"),
    case(batch, through(batch((0, 2, 3), 0.1)), real(2, 3, 2, 4), positive(3, 1, 1), real(3, 1, 1), label="images"),
    case(batch, through(batch((0, 2), 0.1)), constant_channel, positive(2, 1), real(2, 1), label="constant channel"),
    case(batch, through(batch((2,), 0.1)), real(2, 3, 4), *channels, label="each sample"),
    case(batch, through(batch((0, 2), 0.1)), real(4, 3, 2), exactly(1.5), exactly(0.5), label="two numbers"),
    case(batch, through(batch((0, 2), 0.1)), real(0, 3, 2), *channels, label="no samples"),
    case(
        rescale, through(rescale(0.1)), real(4, 3, 2), real(3, 1), between(0.2, 2.0, 3, 1), *channels, closed=rescaled
    ),
    case(
        rescale, through(rescale(0.1)), real(4, 3), real(3), positive(3), positive(3), real(3), closed=rescaled,
        label="columns",
    ),
    case(rms, through(rms((1,), 1e-3)), real(3, 5), positive(5)),
    case(rms, through(rms((1, 2), 1e-2)), real(2, 3, 5), positive(3, 5), label="axes"),
    case(rms, through(rms((1,), 0.1)), exactly([[0.0] * 4, [1.0, -2.0, 0.0, 8.0]]), positive(4), label="a row of 0"),
    case(rms, through(rms((0,), 0.1)), real(4, 3), positive(3), label="columns"),
    case(rms, through(rms((1,), 0.1)), real(3, 5), exactly(1.5), label="a number"),
    case(rms, through(rms((1,), 0.1)), real(0, 5), positive(5), label="no rows"),
]  # fmt: skip
