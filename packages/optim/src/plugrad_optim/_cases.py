"""Case rows of the update rules. They run under no_grad: no gradient is asked of them."""

from __future__ import annotations

from typing import Any

from plugrad.apply import apply
from plugrad.testing.case import case, positive, real

from . import ops


def _with(op: Any) -> Any:
    return lambda *xs: apply(op, *xs)


P, G, M, V = real(3, 5), real(3, 5), real(3, 5), positive(3, 5)
NUMBERS = (positive(), positive(), positive())

ROWS = [
    case(ops.Descend, _with(ops.Descend(0.1)), P, G, positive(), order=0),
    case(ops.Momentum, _with(ops.Momentum(0.9, 0.5, False, 0.1)), P, G, M, positive(), order=0),
    case(ops.Momentum, _with(ops.Momentum(0.9, 0.0, True, 0.0)), P, G, M, positive(), order=0, label="nesterov"),
    case(ops.Adam, _with(ops.Adam(0.9, 0.99, 1e-8, 0.1)), P, G, M, V, *NUMBERS, order=0),
    case(ops.AMSGrad, _with(ops.AMSGrad(0.9, 0.99, 1e-8, 0.0)), P, G, M, V, V, *NUMBERS, order=0),
]
