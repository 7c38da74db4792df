"""Maximum, minimum and clip: away from ties, on ties, on the bounds, with bounds as numbers and as tensors."""

from __future__ import annotations

from ... import ops
from ...ops import extreme
from ..case import case, exactly, ints, real

A, B = exactly([1.0, 2.0, -3.0, 0.0]), exactly([2.0, 2.0, -3.0, -1.0])
ROWS = [
    case(extreme.Maximum, ops.maximum, real(2, 3), real(3), closed=max),
    case(extreme.Maximum, ops.maximum, A, B, closed=max, order=0, label="ties"),
    case(extreme.Maximum, ops.maximum, ints(-5, 5, 5), ints(-5, 5, 5), closed=max, order=0, label="integers"),
    case(extreme.Minimum, ops.minimum, real(2, 1), real(2, 3), closed=min),
    case(extreme.Minimum, ops.minimum, A, B, closed=min, order=0, label="ties"),
    case(extreme.Minimum, ops.minimum, ints(-5, 5, 5), ints(-5, 5, 5), closed=min, order=0, label="integers"),
    case(extreme.Clip, lambda x: ops.clip(x, -0.5, 1), real(2, 5), closed=lambda x: min(max(x, -0.5), 1.0)),
    case(extreme.Clip, lambda x: ops.clip(x, min=0), real(2, 5), closed=lambda x: max(x, 0.0), label="from below"),
    case(extreme.Clip, lambda x: ops.clip(x, max=0), real(2, 5), closed=lambda x: min(x, 0.0), label="from above"),
    case(extreme.Clip, lambda x: ops.clip(x, -2, 1), A, closed=lambda x: min(max(x, -2.0), 1.0), order=0,
         label="bounds"),
    case(extreme.Clip, lambda x: ops.clip(x, -2, 2), ints(-5, 5, 5), closed=lambda x: min(max(x, -2), 2), order=0,
         label="integers"),
    case(extreme.Clip, lambda x: ops.clip(x), real(2, 3), closed=lambda x: x, label="no bounds"),
    case(extreme.ClipLow, lambda x, low: ops.clip(x, min=low), real(2, 5), real(5), closed=max),
    case(extreme.ClipLow, lambda x, low: ops.clip(x, low), A, B, closed=max, order=0, label="ties"),
    case(extreme.ClipHigh, lambda x, high: ops.clip(x, max=high), real(2, 5), real(2, 1), closed=min),
    case(extreme.ClipHigh, lambda x, high: ops.clip(x, max=high), A, B, closed=min, order=0, label="ties"),
]  # fmt: skip
