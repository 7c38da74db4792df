"""Softmax and its logarithm along each axis, with masked entries, and far out."""

from __future__ import annotations

import math

from ... import ops
from ...ops.softmax import LogSoftmax, Softmax
from ..case import case, exactly, real

MASKED = exactly([[0.5, -math.inf, 2.0], [-math.inf, 1.0, -math.inf]])
FAR = exactly([[1000.0, 999.0, -1000.0], [-1000.0, -1000.0, -1001.0]])
ROWS = [
    case(Softmax, ops.softmax, real(2, 5)),
    case(Softmax, lambda x: ops.softmax(x, axis=0), real(3, 2), label="axis"),
    case(Softmax, lambda x: ops.softmax(x, axis=-2), real(2, 5, 3), label="negative axis"),
    case(Softmax, ops.softmax, MASKED, order=0, label="masked"),
    case(Softmax, ops.softmax, FAR, label="far out"),
    case(Softmax, ops.softmin, real(2, 5), label="softmin"),
    case(Softmax, ops.softmax, real(0, 3), label="no rows"),
    case(Softmax, ops.softmax, real(3, 0), label="empty rows"),
    case(LogSoftmax, ops.log_softmax, real(2, 5)),
    case(LogSoftmax, lambda x: ops.log_softmax(x, axis=0), real(3, 2), label="axis"),
    case(LogSoftmax, lambda x: ops.log_softmax(x, axis=-2), real(2, 5, 3), label="negative axis"),
    case(LogSoftmax, ops.log_softmax, MASKED, order=0, label="masked"),
    case(LogSoftmax, ops.log_softmax, FAR, label="far out"),
    case(LogSoftmax, ops.log_softmax, real(3, 0), label="empty rows"),
]
