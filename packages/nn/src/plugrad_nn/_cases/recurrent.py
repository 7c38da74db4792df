"""Case rows of recurrent layers over a whole sequence."""

from plugrad.testing.case import between, bools, case, exactly, real

from .. import ops
from .door import through


def small(*shape):
    return between(-0.9, 0.9, *shape)


def whole(op):
    """The op on sequences of which every step is there."""
    call = through(op)
    return lambda *xs: call(*xs, True)


tanh, relu, gru, lstm, short = ops.RNN("tanh"), ops.RNN("relu"), ops.GRU(), ops.LSTM(), ops.ProjectedLSTM()
#: Sequences of lengths 3, 1 and 2, and one that starts late.
lengths = exactly([[True, True, True, False], [True, False, True, False], [True, False, False, True]], "bool")

RNN = real(3, 4, 2), small(4, 2), small(2, 2)
GRU = real(3, 4, 6), small(4, 2), small(6, 2), small(6)
LSTM = real(3, 4, 8), small(4, 2), small(4, 2), small(8, 2)
PROJECTED = real(3, 4, 12), small(4, 2), small(4, 3), small(12, 2), small(2, 3)

ROWS = [
    case(ops.RNN, whole(tanh), *RNN),
    case(ops.RNN, through(tanh), *RNN, lengths, label="lengths"),
    case(ops.RNN, whole(relu), *RNN, label="relu"),
    case(ops.RNN, through(relu), *RNN, lengths, label="relu, lengths"),
    case(ops.RNN, whole(tanh), real(1, 5, 3), small(5, 3), small(3, 3), label="one step"),
    case(ops.RNN, whole(tanh), real(2, 0, 3), small(0, 3), small(3, 3), label="no sequence"),
    case(ops.GRU, whole(gru), *GRU),
    case(ops.GRU, through(gru), *GRU, lengths, label="lengths"),
    case(ops.GRU, lambda x, h, w: through(gru)(x, h, w, 0.0, True), *GRU[:3], label="no bias"),
    case(ops.GRU, whole(gru), real(2, 0, 6), small(0, 2), small(6, 2), small(6), label="no sequence"),
    case(ops.LSTM, whole(lstm), *LSTM),
    case(ops.LSTM, through(lstm), *LSTM, lengths, label="lengths"),
    case(ops.LSTM, through(lstm), *LSTM, bools(3, 4), label="any mask"),
    case(ops.LSTM, whole(lstm), real(2, 0, 8), small(0, 2), small(0, 2), small(8, 2), label="no sequence"),
    case(ops.ProjectedLSTM, whole(short), *PROJECTED),
    case(ops.ProjectedLSTM, through(short), *PROJECTED, lengths, label="lengths"),
]
