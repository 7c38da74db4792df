"""Connectionist temporal classification: by hand, and what is refused."""

from __future__ import annotations

from itertools import product
from math import exp, inf, log
from typing import Any

import pytest

import plugrad as pg
import plugrad_nn as nn
from plugrad.errors import AxisError, DTypeError, ShapeError
from plugrad_nn import functional as F

X = [[[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]], [[0.1, 0.5, 0.4], [0.3, 0.3, 0.4]], [[0.5, 0.25, 0.25], [0.1, 0.8, 0.1]]]
LOGS = [[[log(p) for p in row] for row in step] for step in X]
Y = [[1, 2], [1, 1]]


def merged(path: tuple[int, ...]) -> list[int]:
    return [c for i, c in enumerate(path) if c and (not i or path[i - 1] != c)]


def by_definition(sample: int, steps: int, labels: list[int]) -> float:
    total = 0.0
    for path in product(range(3), repeat=steps):
        p = 1.0
        for t, c in enumerate(path):
            p *= X[t][sample][c]
        total += p if merged(path) == labels else 0.0
    return -log(total) if total else inf


@pytest.mark.parametrize(
    ("steps", "counts"), [((3, 3), (2, 2)), ((3, 2), (1, 1)), ((2, 3), (2, 0)), ((3, 2), (2, 2)), ((0, 0), (0, 1))]
)
def test_it_is_the_sum_over_all_paths(steps: tuple[int, ...], counts: tuple[int, ...]) -> None:
    want = [by_definition(i, steps[i], Y[i][: counts[i]]) for i in range(2)]
    x, y = pg.tensor(LOGS), pg.tensor(Y)
    assert F.ctc_loss(x, y, steps, counts, reduction="none").tolist() == pytest.approx(want, rel=1e-5, abs=1e-6)
    flat = pg.tensor(Y[0][: counts[0]] + Y[1][: counts[1]], dtype="int64")
    assert F.ctc_loss(x, flat, steps, counts, reduction="none").tolist() == pytest.approx(want, rel=1e-5, abs=1e-6)
    mean = sum(v / max(n, 1) for v, n in zip(want, counts, strict=True)) / 2
    assert nn.CTCLoss()(x, y, pg.tensor(steps), pg.tensor(counts)).item() == pytest.approx(mean, rel=1e-5, abs=1e-6)


def test_one_sample() -> None:
    x = pg.tensor(LOGS)[:, 0]
    want = by_definition(0, 3, Y[0])
    for steps, count in ((3, 2), ((3,), (2,)), (pg.tensor(3), pg.tensor([2]))):
        loss = F.ctc_loss(x, pg.tensor(Y[0]), steps, count, reduction="none")
        assert loss.shape == ()
        assert loss.item() == pytest.approx(want, rel=1e-5)


def test_where_there_is_no_path_there_is_no_gradient() -> None:
    x = pg.tensor(LOGS, requires_grad=True)
    loss = F.ctc_loss(x, pg.tensor(Y), (3, 2), (2, 2), reduction="none", zero_infinity=True)
    assert loss.tolist() == pytest.approx([by_definition(0, 3, Y[0]), 0.0], rel=1e-5)
    loss.sum().backward()
    assert all(v == 0.0 for step in x.grad.tolist() for v in step[1])
    first = x.grad.tolist()
    x.grad = None
    F.ctc_loss(x, pg.tensor(Y), (3, 2), (2, 2), reduction="sum").backward()
    assert x.grad.tolist() == first


def test_the_gradient_says_how_surely_the_path_is_there() -> None:
    x = pg.tensor(LOGS, requires_grad=True)
    F.ctc_loss(x, pg.tensor(Y), (3, 2), (2, 1), reduction="sum").backward()
    sums = x.grad.sum(axis=2).tolist()
    assert sums[0] == pytest.approx([-1.0, -1.0], rel=1e-5)
    assert sums[2] == pytest.approx([-1.0, 0.0], rel=1e-5)


def test_classes_that_cannot_be_leave_no_nan() -> None:
    x = pg.tensor([[[log(0.5), log(0.5), -inf]], [[-inf, 0.0, -inf]]], requires_grad=True)
    loss = F.ctc_loss(x, pg.tensor([[1]]), (2,), (1,), reduction="sum")
    loss.backward()
    assert exp(-loss.item()) == pytest.approx(1.0)
    assert x.grad.tolist() == [[[pytest.approx(-0.5), pytest.approx(-0.5), 0.0]], [[0.0, pytest.approx(-1.0), 0.0]]]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x, y: F.ctc_loss(x, y, (4, 3), (2, 2)), ShapeError, "input_lengths has the entry 4; there are 3"),
        (lambda x, y: F.ctc_loss(x, y, (3, 3), (2, 3)), ShapeError, "target_lengths has the entry 3"),
        (lambda x, y: F.ctc_loss(x, y, (3, -1), (2, 2)), ShapeError, "entry -1"),
        (lambda x, y: F.ctc_loss(x, y, (3,), (2, 2)), ShapeError, "1 entries for 2 samples"),
        (lambda x, y: F.ctc_loss(x, y, pg.tensor([3.0, 3.0]), (2, 2)), DTypeError, "whole numbers"),
        (lambda x, y: F.ctc_loss(x, y + 1, (3, 3), (2, 2)), AxisError, "target 3 is out of range for 3 classes"),
        (lambda x, y: F.ctc_loss(x, y - 1, (3, 3), (2, 2)), AxisError, "target 0 is the blank"),
        (lambda x, y: F.ctc_loss(x, y, (3, 3), (2, 2), blank=3), AxisError, "blank 3"),
        (lambda x, y: F.ctc_loss(x, y.reshape(-1)[:3], (3, 3), (2, 2)), ShapeError, r"want \(2, S\) or \(4,\)"),
        (lambda x, y: F.ctc_loss(x, y.astype("float32"), (3, 3), (2, 2)), DTypeError, "astype"),
        (lambda x, y: F.ctc_loss(x[0, 0], y, (3, 3), (2, 2)), ShapeError, r"\(T, N, C\) or \(T, C\)"),
    ],
)
def test_refusals(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(pg.tensor(LOGS), pg.tensor(Y))


def test_places_that_do_not_count_may_hold_anything() -> None:
    x = pg.tensor(LOGS)
    a = F.ctc_loss(x, pg.tensor([[1, -1], [2, 99]]), (3, 3), (1, 1))
    assert a.item() == F.ctc_loss(x, pg.tensor([[1], [2]]), (3, 3), (1, 1)).item()
