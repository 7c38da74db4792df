"""Learning rates as functions of the step: `rate = cosine(0.1, T_max=100)`, then `lr = rate(t)` for t = 0, 1, ...

They remember nothing, so that t alone gives the rate, in any order, after any interruption. They print, compare, copy
and pickle as what they were made of. `lr_scheduler` sets an optimizer's rates with them.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import wraps
from inspect import Signature, signature
from itertools import pairwise
from math import cos, floor, pi, prod
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "Schedule", "chained", "constant", "cosine", "cosine_restarts", "cyclic", "exponential", "factor", "linear",
    "multiplicative", "multistep", "one_cycle", "polynomial", "schedule", "sequential", "step", "warmup",
]  # fmt: skip

P = ParamSpec("P")


class Schedule:
    """A rate for each step: call it with the number of steps made so far."""

    def __init__(self, make: Callable[..., Schedule], f: Callable[..., float], args: Any, named: Any) -> None:
        self.make, self.f, self.args, self.named = make, f, args, named

    def __call__(self, t: float) -> float:
        return self.f(t, *self.args, **self.named)

    def __repr__(self) -> str:
        given = [*map(repr, self.args), *[f"{k}={v!r}" for k, v in self.named.items()]]
        return f"{self.f.__name__}({', '.join(given)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.make, self.args, self.named)


def _again(make: Callable[..., Schedule], args: Any, named: Any) -> Schedule:
    return make(*args, **named)


def schedule(f: Callable[Concatenate[float, P], float]) -> Callable[P, Schedule]:
    """Decorator: from `f(t, settings...)` to a function of the settings that returns a Schedule."""

    @wraps(f)
    def make(*args: P.args, **named: P.kwargs) -> Schedule:
        made = Schedule(make, f, args, named)
        made(0)  # settings that make no sense are told here
        return made

    _, *settings = signature(f).parameters.values()
    make.__signature__ = Signature(settings, return_annotation="Schedule")  # type: ignore[attr-defined]
    return make


# -- shapes ---------------------------------------------------------------------------------------------------------


@schedule
def constant(t: float, lr: float, factor: float = 1.0, total_iters: int = 0) -> float:
    """lr · factor for `total_iters` steps, then lr"""
    return lr * factor if t < total_iters else lr


@schedule
def step(t: float, lr: float, step_size: int, gamma: float = 0.1) -> float:
    """lr · γ^⌊t / step_size⌋"""
    _counts("step", step_size=step_size)
    return float(lr * gamma ** (t // step_size))


@schedule
def multistep(t: float, lr: float, milestones: Sequence[int], gamma: float = 0.1) -> float:
    """lr · γⁿ, with n the milestones that t has reached"""
    return lr * gamma ** sum(t >= m for m in milestones)


@schedule
def exponential(t: float, lr: float, gamma: float) -> float:
    """lr · γᵗ"""
    return float(lr * gamma**t)


@schedule
def linear(t: float, lr: float, start_factor: float = 1 / 3, end_factor: float = 1.0, total_iters: int = 5) -> float:
    """From lr · start_factor to lr · end_factor in `total_iters` steps, along a line"""
    return lr * (start_factor + (end_factor - start_factor) * _part(t, total_iters))


@schedule
def polynomial(t: float, lr: float, total_iters: int = 5, power: float = 1.0) -> float:
    """lr · (1 - t / total_iters)^power, then 0"""
    return float(lr * (1.0 - _part(t, total_iters)) ** power)


@schedule
def cosine(t: float, lr: float, T_max: int, eta_min: float = 0.0) -> float:
    """η_min + ½ (lr - η_min) (1 + cos(π t / T_max)), down to η_min and up again        Loshchilov & Hutter 2017"""
    _counts("cosine", T_max=T_max)
    return eta_min + (lr - eta_min) * (1 + cos(pi * t / T_max)) / 2


@schedule
def cosine_restarts(t: float, lr: float, T_0: int, T_mult: int = 1, eta_min: float = 0.0) -> float:
    """As cosine, from lr to η_min again and again; the first time in T_0 steps, then each time in T_mult as many"""
    _counts("cosine_restarts", T_0=T_0, T_mult=T_mult)
    length = T_0
    while T_mult > 1 and t >= length:
        t, length = t - length, length * T_mult
    return eta_min + (lr - eta_min) * (1 + cos(pi * (t % length) / length)) / 2


@schedule
def one_cycle(
    t: float,
    max_lr: float,
    total_steps: int,
    pct_start: float = 0.3,
    anneal_strategy: str = "cos",
    div_factor: float = 25.0,
    final_div_factor: float = 1e4,
    three_phase: bool = False,
) -> float:
    """From max_lr / div_factor up to max_lr in pct_start of all steps, and down to the start / final_div_factor

    Smith & Topin 2017. With `three_phase`, down to the start in as many steps as up, and on to the end in the rest.
    """
    start = max_lr / div_factor
    middle = [max_lr, start] if three_phase else [max_lr]
    rates = [start, *middle, start / final_div_factor]
    return through(t, rates, phases(total_steps, pct_start, three_phase), anneal_strategy)


@schedule
def cyclic(
    t: float,
    base_lr: float,
    max_lr: float,
    step_size_up: float = 2000,
    step_size_down: float | None = None,
    mode: str = "triangular",
    gamma: float = 1.0,
    scale_fn: Callable[[float], float] | None = None,
    scale_mode: str = "cycle",
) -> float:
    """From base_lr up to max_lr in `step_size_up` steps and down again in `step_size_down`, in cycles        Smith 2015

    The height is the same in each cycle ("triangular"), half the one before ("triangular2"), or times γᵗ ("exp_range");
    or times scale_fn(number of the cycle, from 1), or of the step with scale_mode="iterations".
    """
    if scale_fn is None and mode not in HEIGHTS:
        raise ValueError(f"cyclic: mode is {mode!r}; it is one of {', '.join(HEIGHTS)}, or give a scale_fn")
    total = step_size_up + (step_size_up if step_size_down is None else step_size_down)
    cycle = floor(1 + t / total)
    x, rise = 1.0 + t / total - cycle, step_size_up / total
    height = (max_lr - base_lr) * (x / rise if x <= rise else (x - 1) / (rise - 1))
    scale = HEIGHTS[mode](gamma, cycle, t) if scale_fn is None else scale_fn(cycle if scale_mode == "cycle" else t)
    return base_lr + height * scale


HEIGHTS: dict[str, Callable[[float, int, float], float]] = {
    "triangular": lambda gamma, cycle, t: 1.0,
    "triangular2": lambda gamma, cycle, t: 1 / 2.0 ** (cycle - 1),
    "exp_range": lambda gamma, cycle, t: float(gamma**t),
}


@schedule
def factor(t: float, lr: float, f: Callable[[float], float]) -> float:
    """lr · f(t)"""
    return lr * f(t)


@schedule
def multiplicative(t: float, lr: float, f: Callable[[int], float]) -> float:
    """lr · f(1) · f(2) · ... · f(t)"""
    return lr * prod(f(k) for k in range(1, int(t) + 1))


# -- of others ------------------------------------------------------------------------------------------------------


@schedule
def warmup(t: float, steps: int, then: Callable[[float], float], start_factor: float = 0.0) -> float:
    """From start_factor of what `then` starts with up to all of it in `steps` steps; `then` counts from there"""
    if t >= steps:
        return then(t - steps)
    return then(0) * (start_factor + (1 - start_factor) * t / steps)


@schedule
def chained(t: float, *schedules: Callable[[float], float]) -> float:
    """The product of all: one schedule with the rate, the others with lr=1 as factors"""
    return prod(f(t) for f in schedules)


@schedule
def sequential(t: float, schedules: Sequence[Callable[[float], float]], milestones: Sequence[int]) -> float:
    """schedules[0] up to the first milestone, then schedules[1], ...; each counts from where it takes over"""
    if len(milestones) != len(schedules) - 1:
        raise ValueError(f"sequential: {len(schedules)} schedules want one milestone less, there are {len(milestones)}")
    i = bisect_right(milestones, t)
    return schedules[i](t - (milestones[i - 1] if i else 0))


# -- what they share ------------------------------------------------------------------------------------------------


def phases(total_steps: int, pct_start: float, three_phase: bool) -> list[float]:
    """The steps between which one_cycle goes from one of its numbers to the next."""
    _counts("one_cycle", total_steps=total_steps)
    if not 0 <= pct_start <= 1:
        raise ValueError(f"one_cycle: pct_start is {pct_start}; it is a share, from 0 to 1")
    second = [float(2 * pct_start * total_steps) - 2] if three_phase else []
    return [0.0, float(pct_start * total_steps) - 1, *second, total_steps - 1.0]


def through(t: float, values: Sequence[float], ends: Sequence[float], strategy: str) -> float:
    """From each value to the next, between one end and the next, along a half cosine or a line."""
    if t > ends[-1] + 1:
        raise ValueError(f"one_cycle: step {t} of a cycle of {ends[-1] + 1:g} steps; give it more total_steps")
    if strategy not in ("cos", "linear"):
        raise ValueError(f"one_cycle: anneal_strategy is {strategy!r}; it is 'cos' or 'linear'")
    spans = list(pairwise(ends))
    i = next((i for i, (_, end) in enumerate(spans) if t <= end), len(spans) - 1)
    first, last = spans[i]
    part = (t - first) / (last - first) if last > first else 1.0
    if strategy == "linear":
        return values[i] + (values[i + 1] - values[i]) * part
    return values[i + 1] + (values[i] - values[i + 1]) / 2 * (1 + cos(pi * part))


def _part(t: float, total: float) -> float:
    return min(t / total, 1.0) if total > 0 else 1.0


def _counts(name: str, **numbers: int) -> None:
    for what, n in numbers.items():
        if n < 1:
            raise ValueError(f"{name}: {what} is {n}; it counts steps, from 1")
