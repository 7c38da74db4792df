"""Case rows of losses of numbers."""

from __future__ import annotations

import math

from plugrad.apply import binary
from plugrad.testing.case import between, case, exactly, positive, real

from .. import ops
from .door import through


def _huber(x: float, t: float, delta: float = 0.7) -> float:
    d = abs(x - t)
    return d * d / 2 if d < delta else delta * (d - delta / 2)


def _smooth(x: float, t: float) -> float:
    return _huber(x, t, 0.5) / 0.5


def _stirling(t: float) -> float:
    return t * math.log(t) - t + math.log(2 * math.pi * t) / 2 if t > 1 else 0.0


def _poisson_logs(x: float, t: float) -> float:
    return math.exp(x) - t * x


def _poisson_full(x: float, t: float) -> float:
    return x - t * math.log(x + 0.01) + _stirling(t)


def _gaussian(x: float, t: float, v: float) -> float:
    v = max(v, 0.25)
    return (math.log(v) + (x - t) ** 2 / v) / 2


def _gaussian_full(x: float, t: float, v: float) -> float:
    return _gaussian(x, t, v) + math.log(2 * math.pi) / 2


squared = lambda x, t: binary(ops.SquaredError(), x, t)  # noqa: E731
absolute = lambda x, t: binary(ops.AbsoluteError(), x, t)  # noqa: E731
huber, smooth = through(ops.Huber(0.7, 1.0)), through(ops.Huber(0.5, 2.0))
logs, full = through(ops.PoissonNLL(True, False, 1e-8)), through(ops.PoissonNLL(False, True, 0.01))
gauss, gauss_full = through(ops.GaussianNLL(False, 0.25)), through(ops.GaussianNLL(True, 0.25))
kinks = exactly([0.0, 0.7, -0.7, math.inf]), exactly([0.0, 0.0, 0.0, 0.0])
counts = exactly([0.0, 1.0, 2.0, 7.0])

ROWS = [
    case(ops.SquaredError, squared, real(3, 5), real(3, 5), closed=lambda x, t: (x - t) ** 2),
    case(ops.SquaredError, squared, real(2, 3), real(3), closed=lambda x, t: (x - t) ** 2, label="broadcast"),
    case(ops.AbsoluteError, absolute, real(3, 5), real(3, 5), closed=lambda x, t: abs(x - t)),
    case(ops.AbsoluteError, absolute, *kinks, closed=lambda x, t: abs(x - t), order=0, label="kinks"),
    case(ops.Huber, huber, real(3, 5), real(3, 5), closed=_huber),
    case(ops.Huber, huber, *kinks, closed=_huber, order=0, label="kinks"),
    case(ops.Huber, smooth, real(3, 5), real(3, 5), closed=_smooth, label="smooth"),
    case(ops.PoissonNLL, logs, real(3, 5), positive(3, 5), closed=_poisson_logs),
    case(ops.PoissonNLL, full, positive(3, 5), between(1.5, 4.0, 3, 5), closed=_poisson_full, label="full"),
    case(ops.PoissonNLL, full, positive(4), counts, closed=_poisson_full, order=0, label="few"),
    case(ops.GaussianNLL, gauss, real(3, 5), real(3, 5), positive(3, 5), closed=_gaussian),
    case(ops.GaussianNLL, gauss_full, real(3, 5), real(3, 5), positive(3, 1), closed=_gaussian_full, label="full"),
    case(
        ops.GaussianNLL, gauss, real(4), real(4), exactly([0.0, 0.1, 0.25, 1.0]), closed=_gaussian, order=0,
        label="held",
    ),
]  # fmt: skip
