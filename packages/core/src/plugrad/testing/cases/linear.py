"""Products of matrices and vectors, in every form of shapes that they take."""

from __future__ import annotations

from ... import linalg, ops
from ...ops import linear
from ..case import case, real

ROWS = [
    case(linear.MatMul, ops.matmul, real(2, 3), real(3, 5)),
    case(linear.MatMul, ops.matmul, real(2, 1, 3, 4), real(5, 4, 2), label="batch"),
    case(linear.MatMul, ops.matmul, real(2, 3), real(4, 3, 5), label="shared left"),
    case(linear.MatMul, ops.rmatmul, real(3, 5), real(2, 3), label="reflected"),
    case(linear.MatMul, ops.matmul, real(3, 0), real(0, 2), label="k = 0"),
    case(linear.MatMulShared, ops.matmul, real(2, 4, 3), real(3, 5)),
    case(linear.MatMulShared, ops.matmul, real(2, 0, 3), real(3, 5), label="empty"),
    case(linear.MatMulShared, ops.matmul, real(2, 3, 0), real(0, 5), label="k = 0"),
    case(linear.MatVec, ops.matmul, real(2, 3), real(3)),
    case(linear.MatVec, ops.matmul, real(5, 2, 3), real(3), label="batch"),
    case(linear.VecMat, ops.matmul, real(3), real(3, 2)),
    case(linear.VecMat, ops.matmul, real(3), real(5, 3, 2), label="batch"),
    case(linear.VecDot, ops.matmul, real(5), real(5)),
    case(linear.VecDot, ops.dot, real(3), real(3), label="dot"),
    case(linear.VecDot, ops.vecdot, real(2, 1, 3), real(4, 3), label="broadcast"),
    case(linear.VecDot, lambda x, y: ops.vecdot(x, y, axis=-2), real(2, 3, 4), real(3, 1), label="axis"),
    case(linear.VecDot, ops.vecdot, real(2, 0), real(2, 0), label="empty"),
    case(linear.Spared, linear.spared, real(2, 3), real(3, 5)),
    case(linear.Spared, linear.spared, real(2, 1, 3, 4), real(5, 4, 2), label="batch"),
    case(linear.Cross, linalg.cross, real(2, 3), real(3)),
    case(linear.Cross, lambda x, y: linalg.cross(x, y, axis=0), real(3, 2), real(3, 2), label="axis"),
]
