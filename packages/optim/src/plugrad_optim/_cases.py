"""Case rows of the update rules. They run under no_grad: no gradient is asked of them."""

from __future__ import annotations

from typing import Any

from plugrad.apply import apply
from plugrad.testing.case import case, exactly, positive, real

from . import ops


def _with(op: Any) -> Any:
    return lambda *xs: apply(op, *xs)


def _each(rule: Any, count: int, *numbers: float) -> Any:
    return _with(ops.Each(rule, count, numbers))


def _twice(*widths: str) -> tuple[Any, ...]:
    """Two parameters of unequal shapes, each with its inputs: "g" any number, "v" positive."""
    return tuple((positive if kind == "v" else real)(*shape) for shape in ((3, 5), (4,)) for kind in widths)


P, G, M, V = real(3, 5), real(3, 5), real(3, 5), positive(3, 5)
ETA = positive()
TURNS = (exactly([1.0, 2.0, 0.0, -1.5]), exactly([0.5, -0.5, 0.25, 0.0]), exactly([0.1, 2.0, 0.5, 0.01]))
NS = (3.4445, -4.7750, 2.0315)

ROWS = [
    case(ops.Descend, _with(ops.Descend(0.1)), P, G, ETA, order=0),
    case(ops.Momentum, _with(ops.Momentum(0.9, 0.5, False, 0.1)), P, G, M, ETA, order=0),
    case(ops.Momentum, _with(ops.Momentum(0.9, 0.0, True, 0.0)), P, G, M, ETA, order=0, label="nesterov"),
    case(ops.Averaged, _with(ops.Averaged(0.1, 0.2)), P, G, M, ETA, ETA, order=0),
    case(ops.Lion, _with(ops.Lion(0.9, 0.99)), P, G, M, ETA, ETA, order=0),
    case(ops.Rprop, _with(ops.Rprop((0.5, 1.5), (0.02, 2.5))), real(4), *TURNS, order=0),
    case(ops.Adam, _with(ops.Adam(0.9, 0.99, 1e-8, 0.1)), P, G, M, V, ETA, ETA, ETA, order=0),
    case(ops.AMSGrad, _with(ops.AMSGrad(0.9, 0.99, 1e-8, 0.0)), P, G, M, V, V, ETA, ETA, ETA, order=0),
    case(ops.NAdam, _with(ops.NAdam(0.9, 0.99, 1e-8, 0.1)), P, G, M, V, ETA, ETA, ETA, ETA, order=0),
    case(ops.RAdam, _with(ops.RAdam(0.9, 0.99, 1e-8, 0.1, True)), P, G, M, V, ETA, ETA, order=0),
    case(ops.RAdam, _with(ops.RAdam(0.9, 0.99, 1e-8, 0.0, False)), P, G, M, V, ETA, ETA, order=0, label="early"),
    case(ops.Adamax, _with(ops.Adamax(0.9, 0.99, 1e-8, 0.1)), P, G, M, V, ETA, order=0),
    case(ops.RMSprop, _with(ops.RMSprop(0.9, 1e-8, 0.1, 0.0)), P, G, V, ETA, order=0),
    case(ops.RMSprop, _with(ops.RMSprop(0.9, 1e-8, 0.0, 0.5)), P, G, V, M, ETA, order=0, label="momentum"),
    case(ops.Centered, _with(ops.Centered(0.9, 1e-8, 0.1, 0.0)), P, G, V, real(3, 5), ETA, order=0),
    case(ops.Centered, _with(ops.Centered(0.5, 0.1, 0.0, 0.9)), P, G, V, M, M, ETA, order=0, label="momentum"),
    case(ops.Adagrad, _with(ops.Adagrad(1e-8, 0.1)), P, G, V, ETA, order=0),
    case(ops.Adadelta, _with(ops.Adadelta(0.9, 1e-6, 0.1)), P, G, V, V, ETA, order=0),
    case(ops.Adafactor, _with(ops.Adafactor(1e-4, 1e-3, 1.0)), P, G, V, ETA, ETA, ETA, order=0),
    case(ops.Factored, _with(ops.Factored(1e-4, 1e-3, 1.5)), real(2, 3, 5), real(2, 3, 5), positive(2, 3, 1),
         positive(2, 1, 5), ETA, ETA, ETA, order=0),
    case(ops.Muon, _with(ops.Muon(0.9, True, NS, 1e-7, 2)), P, G, M, ETA, ETA, order=0),
    case(ops.Muon, _with(ops.Muon(0.9, False, NS, 1e-7, 1)), real(5, 3), real(5, 3), real(5, 3), ETA, ETA, order=0,
         label="tall"),
    case(ops.Each, _each(ops.Descend(0.1), 2, 0.5), *_twice("g", "g"), order=0),
    case(ops.Each, _each(ops.Descend(0.0), 2, 0.5), *_twice("g", "g"), order=0, label="descend without decay"),
    case(ops.Each, _each(ops.Momentum(0.9, 0.5, False, 0.1), 2, 0.5), *_twice("g", "g", "g"), order=0,
         label="momentum"),
    case(ops.Each, _each(ops.Momentum(0.9, 0.0, True, 0.0), 2, 0.5), *_twice("g", "g", "g"), order=0,
         label="nesterov"),
    case(ops.Each, _each(ops.Adam(0.9, 0.99, 1e-8, 0.1), 2, 0.5, 0.3, 1.0), *_twice("g", "g", "g", "v"), order=0,
         label="adam"),
    case(ops.Each, _each(ops.Adam(0.9, 0.99, 1e-8, 0.0), 2, 0.5, 0.3, 0.9), *_twice("g", "g", "g", "v"), order=0,
         label="decay apart"),
    case(ops.Each, _each(ops.AMSGrad(0.9, 0.99, 1e-8, 0.1), 2, 0.5, 0.3, 0.9), *_twice("g", "g", "g", "v", "v"),
         order=0, label="amsgrad"),
    case(ops.Each, _each(ops.Lion(0.9, 0.99), 2, 0.5, 0.9), *_twice("g", "g", "g"), order=0, label="lion"),
]  # fmt: skip
