"""A step length that meets the strong Wolfe conditions."""

from __future__ import annotations

from math import isfinite, sqrt
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from plugrad import Tensor

LESS, FLATTER = 1e-4, 0.9  # c₁: share of the promised descent that is enough; c₂: share of the slope that may remain


class Point(NamedTuple):
    """φ(t) = f(x + t d) at one t: its value, the gradient of f there, and the slope φ'(t)."""

    t: float
    f: float
    g: Tensor
    slope: float


def strong_wolfe(
    at: Callable[[float], Point], start: Point, t: float, length: float, most: int, tolerance: float
) -> tuple[Point, int]:
    """A point with φ(t) ≤ φ(0) + c₁ t φ'(0) and |φ'(t)| ≤ c₂ |φ'(0)|, and how often φ was computed.

    First the step grows until a minimum must lie before it, then that bracket shrinks (Nocedal & Wright 2006,
    algorithms 3.5 and 3.6). After `most` trials, or once the bracket (times `length`, the largest element of d) is
    below `tolerance`, it is the best point so far.
    """
    ends, tried = _bracket(at, start, t, most)
    if len(ends) == 1:
        return ends[0], tried + 1
    return _zoom(at, start, ends, tried, length, most, tolerance)


def _too_high(start: Point, p: Point) -> bool:
    return not p.f <= start.f + LESS * p.t * start.slope  # NaN is too high


def _flat_enough(start: Point, p: Point) -> bool:
    return abs(p.slope) <= -FLATTER * start.slope


def _bracket(at: Callable[[float], Point], start: Point, t: float, most: int) -> tuple[list[Point], int]:
    """Two points with a minimum between them, or the one that will do; and the number of growths."""
    before, now = start, at(t)
    for n in range(most):
        if _too_high(start, now) or (n > 1 and now.f >= before.f):
            return [before, now], n
        if _flat_enough(start, now):
            return [now], n
        if now.slope >= 0:
            return [before, now], n
        t = _cubic(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10)
        before, now = now, at(t)
    return [start, now], most


def _zoom(
    at: Callable[[float], Point], start: Point, ends: list[Point], tried: int, length: float, most: int, tol: float
) -> tuple[Point, int]:
    low, high = sorted(ends, key=_value)
    stuck = False
    while tried < most and abs(high.t - low.t) * length >= tol:
        t, stuck = _inside(low, high, _cubic(low, high, *sorted((low.t, high.t))), stuck)
        now, tried = at(t), tried + 1
        if _too_high(start, now) or now.f >= low.f:
            low, high = sorted((low, now), key=_value)
            continue
        if _flat_enough(start, now):
            return now, tried + 1
        low, high = now, low if now.slope * (high.t - low.t) >= 0 else high
    return low, tried + 1


def _value(p: Point) -> float:
    return p.f


def _inside(a: Point, b: Point, t: float, stuck: bool) -> tuple[float, bool]:
    """t, moved a tenth away from an end of the bracket where it lies there, or lay near there twice."""
    first, last = sorted((a.t, b.t))
    margin = 0.1 * (last - first)
    if min(last - t, t - first) >= margin:
        return t, False
    if not (stuck or t >= last or t <= first):
        return t, True
    return (last - margin if last - t < t - first else first + margin), False


def _cubic(a: Point, b: Point, least: float, most: float) -> float:
    """Where the cubic through two values and slopes has its minimum, within bounds; their middle where it has none."""
    a, b = (a, b) if a.t <= b.t else (b, a)
    middle = (least + most) / 2
    if a.t == b.t or not (isfinite(a.f) and isfinite(b.f)):
        return middle
    d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return middle
    d2 = sqrt(square)
    below = b.slope - a.slope + 2 * d2
    if not below:
        return middle
    return min(max(b.t - (b.t - a.t) * ((b.slope + d2 - d1) / below), least), most)
