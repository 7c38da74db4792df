"""Windows and triangles: overlapping places add up on the way back."""

from ... import ops
from ...apply import unary
from ...ops import windows
from ..case import case, real

ROWS = [
    case(windows.AsStrided, lambda x: ops.as_strided(x, (3, 2), (1, 2), 1), real(2, 3)),
    case(
        windows.AsStrided, lambda x: ops.as_strided(x, (2, 3), (0, -1), 4), real(5), label="zero and negative strides"
    ),
    case(windows.AsStrided, lambda x: ops.as_strided(x, (), (), 2), real(5), label="0-d"),
    case(windows.AsStrided, lambda x: ops.as_strided(x, (0, 3), (1, 1)), real(2), label="empty"),
    case(windows.AddStrided, lambda x: unary(windows.AddStrided((2, 3), (1, 1), 1, (5,)), x), real(2, 3)),
    case(windows.Unfold, lambda x: ops.unfold(x, 0, 3), real(5)),
    case(windows.Unfold, lambda x: ops.unfold(x, -2, 2, 3), real(2, 7, 3), label="step"),
    case(windows.Unfold, lambda x: ops.unfold(x, 1, 0), real(2, 3), label="windows of nothing"),
    case(windows.Fold, lambda x: unary(windows.Fold(1, 2, 1, (2, 4)), x), real(2, 3, 2)),
    case(windows.Fold, lambda x: unary(windows.Fold(0, 2, 3, (6,)), x), real(2, 2), label="gaps"),
    case(windows.Band, ops.tril, real(3, 5)),
    case(windows.Band, lambda x: ops.tril(x, -1), real(2, 3, 3), label="tril below"),
    case(windows.Band, ops.triu, real(5, 3), label="triu"),
    case(windows.Band, lambda x: ops.triu(x, 2), real(2, 3, 5), label="triu above"),
    case(windows.Band, ops.tril, real(0, 3), label="empty"),
]
