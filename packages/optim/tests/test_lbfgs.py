"""L-BFGS and its line search: minima that are found, states that go on, losses that are no numbers."""

from __future__ import annotations

from typing import Any

import pytest

import plugrad as pg
import plugrad_optim as optim
from plugrad_optim.line_search import Point, strong_wolfe


def rosenbrock(p: pg.Tensor) -> pg.Tensor:
    return 100.0 * (p[1] - p[0] ** 2) ** 2 + (1.0 - p[0]) ** 2


def closure(optimizer: optim.Optimizer, loss: Any) -> Any:
    def run() -> Any:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    return run


def start(**options: Any) -> tuple[pg.Tensor, optim.LBFGS, Any]:
    p = pg.tensor([-1.2, 1.0], dtype="float64", requires_grad=True)
    optimizer = optim.LBFGS([p], **options)
    return p, optimizer, closure(optimizer, lambda: rosenbrock(p))


def test_it_finds_the_minimum_of_rosenbrocks_valley() -> None:
    p, optimizer, run = start(line_search_fn="strong_wolfe", max_iter=50, tolerance_change=1e-14)
    first = optimizer.step(run)
    assert first.item() == pytest.approx(24.2)
    assert p.tolist() == pytest.approx([1.0, 1.0], abs=1e-6)
    state = optimizer.state[p]
    assert state["func_evals"] < 60
    done = state["n_iter"]
    optimizer.step(run)  # nothing is left to do
    assert state["n_iter"] <= done + 1


def test_several_parameters_of_any_shape_and_one_without_a_gradient() -> None:
    a, b, c, idle = (pg.zeros(shape).requires_grad_() for shape in ((2, 3), (), (0, 2), (2,)))
    optimizer = optim.LBFGS([a, b, c, idle])
    optimizer.step(closure(optimizer, lambda: ((a - 2.0) ** 2).sum() + (b + a.sum() - 1.0) ** 2 + c.sum()))
    assert a.tolist() == [pytest.approx([2.0] * 3, abs=1e-3)] * 2
    assert b.item() == pytest.approx(-11.0, abs=1e-3)
    assert idle.tolist() == [0.0, 0.0]


def test_loading_goes_on_as_if_nothing_had_happened() -> None:
    options = {"line_search_fn": "strong_wolfe", "max_iter": 4, "history_size": 3}
    p, never, run = start(**options)
    never.step(run)
    state, kept = never.state_dict(), p.tolist()
    never.step(run)
    q, second, again = start(**options)
    q.data = pg.tensor(kept, dtype="float64").data
    second.load_state_dict(state)
    second.step(again)
    assert q.tolist() == p.tolist()
    assert len(second.state[q]["old_dirs"]) == 3


def test_values_taken_before_stay() -> None:
    p, optimizer, run = start(max_iter=2, lr=1e-3)
    before = p.detach()
    optimizer.step(run)
    state = optimizer.state[p]
    assert before.tolist() == [-1.2, 1.0]
    assert len({id(a) for a in (p.data, p.grad.data, state["d"].data, state["prev_flat_grad"].data)}) == 4


def parabola(t: float) -> Point:
    """(t - 3)², from 0 with slope -6"""
    g = pg.tensor([2 * (t - 3)])
    return Point(t, (t - 3) ** 2, g, 2 * (t - 3))


@pytest.mark.parametrize("first", [1e-3, 0.1, 1.0, 3.0, 5.9, 100.0])
def test_the_point_found_meets_the_conditions(first: float) -> None:
    tried: list[float] = []

    def at(t: float) -> Point:
        tried.append(t)
        return parabola(t)

    best, count = strong_wolfe(at, parabola(0.0), first, 1.0, 25, 1e-9)
    assert count == len(tried)
    assert best.f <= 9 + 1e-4 * best.t * -6
    assert abs(best.slope) <= 0.9 * 6


def test_a_loss_that_is_no_number_is_too_high() -> None:
    def at(t: float) -> Point:
        return Point(t, float("nan"), pg.zeros(1), float("nan")) if t > 1 else parabola(t)

    best, _ = strong_wolfe(at, parabola(0.0), 8.0, 1.0, 25, 1e-9)
    assert 0 < best.t <= 1
    assert best.f < 9


def test_a_line_without_an_end_is_given_up() -> None:
    best, count = strong_wolfe(
        lambda t: Point(t, -t, pg.zeros(1), -1.0), Point(0.0, 0.0, pg.zeros(1), -1.0), 1.0, 1.0, 4, 1e-9
    )
    assert count == 5
    assert best.t > 1


@pytest.mark.parametrize(
    ("run", "error", "words"),
    [
        (lambda p: optim.LBFGS([p]).step(), TypeError, "closure"),
        (lambda p: optim.LBFGS([p], line_search_fn="x"), ValueError, "line_search_fn is 'x'"),
        (lambda p: optim.LBFGS([p], max_iter=0), ValueError, "max_iter is 0"),
        (lambda p: optim.LBFGS([p], history_size=0), ValueError, "history_size is 0"),
        (lambda p: optim.LBFGS([p], tolerance_grad=-1.0), ValueError, "tolerance_grad is -1.0"),
        (lambda p: optim.LBFGS([p], lr=-1.0), ValueError, "lr is -1.0"),
        (lambda p: optim.LBFGS([{"params": [p]}, {"params": []}]), ValueError, "one group"),
        (lambda p: optim.keep_master_weights(optim.LBFGS([p])), ValueError, "LBFGS keeps no master weights"),
    ],
)
def test_refusals(run: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        run(pg.tensor([1.0], requires_grad=True))
