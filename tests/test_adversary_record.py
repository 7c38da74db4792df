"""Recorded programs against the function that they were recorded from."""

from __future__ import annotations

import pytest

import plugrad as pg


def T(*values: float) -> pg.Tensor:
    return pg.tensor([*values])


def test_one_tensor_for_two_arguments():
    g, x = pg.compile(lambda a, b: a - b), T(5.0)
    assert g(x, x).tolist() == [0.0]
    assert g(x, T(3.0)).tolist() == [2.0]
    assert g(x, x.detach()).tolist() == [0.0]


def test_an_argument_that_is_closed_over_too():
    w = T(2.0)
    g = pg.compile(lambda x: x * w)
    assert g(w).tolist() == [4.0]
    assert g(T(5.0)).tolist() == [10.0]


def test_a_returned_tensor_from_outside_is_read_anew():
    w = T(2.0)
    g = pg.compile(lambda x: w)
    g(T(1.0))
    w += 1
    assert g(T(1.0)).tolist() == [3.0]


def test_random_numbers_are_those_of_the_function():
    def f(x):
        return x + pg.rand(2)

    pg.manual_seed(0)
    want = [f(T(0.0)).tolist() for _ in range(3)]
    pg.manual_seed(0)
    g = pg.compile(f)
    assert [g(T(0.0)).tolist() for _ in range(3)] == want


def test_programs_inside_programs_draw_once():
    inner = pg.compile(lambda x: x + pg.rand(1))
    outer = pg.compile(lambda x: inner(x) * 2)
    pg.manual_seed(0)
    outer(T(0.0))
    outer(T(0.0))
    assert pg.get_rng_state()[1] == 2


def test_an_argument_may_not_be_changed():
    def f(x):
        x += 1
        return x * 2

    x = T(1.0)
    with pytest.raises(pg.errors.GraphError, match="argument"):
        pg.compile(f)(x)
    assert x.tolist() == [1.0]


def test_minus_zero_is_another_setting():
    g = pg.compile(lambda x, s: x * s)
    g(T(1.0), 0.0)
    assert str(g(T(1.0), -0.0).item()) == "-0.0"


def test_a_result_that_was_its_input_once_need_not_be_so_again():
    g = pg.compile(lambda u, x: pg.ops.select.mend(u, x) + x)
    g(T(1.0), T(1.0))
    assert pg.isnan(g(T(0.0), T(float("nan")))).all()


def test_a_module_recorded_in_training_evaluates_after_eval():
    drop = pg.nn.Dropout(0.5)
    g = pg.compile(drop)
    g(pg.ones(64))
    drop.eval()
    assert g(pg.ones(64)).tolist() == [1.0] * 64


def test_arguments_that_cannot_be_part_of_a_program_are_named():
    with pytest.raises(pg.errors.PlugradError, match="list"):
        pg.compile(lambda xs: xs[0])([T(1.0)])
