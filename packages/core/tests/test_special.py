"""The error functions beside Python's own, and beside their inverse."""

from __future__ import annotations

import math

import pytest

import plugrad as pg

NUMBERS = [-5.9, -3.0, -1.0000001, -1.0, -0.99, -0.5, -1e-300, 0.0, 1e-20, 0.1, 0.8, 1.0, 1.7, 4.0, 6.5, 20.0, 26.0]


def test_erf_to_the_last_digits():
    x = pg.tensor(NUMBERS, dtype="float64")
    assert pg.erf(x).tolist() == pytest.approx([math.erf(v) for v in NUMBERS], rel=1e-15, abs=0)
    assert pg.erfc(x).tolist() == pytest.approx([math.erfc(v) for v in NUMBERS], rel=3e-15, abs=0)


def test_in_single_precision():
    x = pg.tensor([-3.0, -0.3, 0.7, 1.5, 5.0])
    assert pg.erf(x).tolist() == pytest.approx([math.erf(v) for v in x.tolist()], rel=3e-7)
    assert pg.erfc(x).tolist() == pytest.approx([math.erfc(v) for v in x.tolist()], rel=1e-6)


def test_ends():
    x = pg.tensor([math.inf, -math.inf, math.nan])
    assert pg.erf(x).tolist()[:2] == [1, -1]
    assert pg.erfc(x).tolist()[:2] == [0, 2]
    assert math.isnan(pg.erf(x).tolist()[2])
    assert math.isnan(pg.erfc(x).tolist()[2])
    z = pg.erfinv(pg.tensor([1.0, -1.0, 1.5])).tolist()
    assert z[:2] == [math.inf, -math.inf]
    assert math.isnan(z[2])


def test_erfinv_undoes_erf():
    y = [-1 + 1e-12, -0.9, -0.5, -1e-10, 0.0, 1e-300, 0.3, 0.75, 0.999, 1 - 1e-14]
    z = pg.erfinv(pg.tensor(y, dtype="float64")).tolist()
    assert [math.erf(v) for v in z] == pytest.approx(y, rel=4e-16, abs=0)


def test_gradient_of_erfinv_at_the_ends_behind_a_mask():
    x = pg.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    pg.where(abs(x) < 1, pg.erfinv(x), 0.0).sum().backward()
    assert x.grad.tolist() == pytest.approx([0, math.sqrt(math.pi) / 2, 0])
