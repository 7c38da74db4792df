"""Numbers that are easily wrong: long scans, wide ranges, half precision, random numbers, plain numbers of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import plugrad as pg

HALF = ["float16", "bfloat16"]


def test_long_scans_round_as_little_as_sums():
    assert pg.full((1 << 20,), 0.1).cumsum(0)[-1].item() == pytest.approx(104857.6, rel=1e-6)
    assert pg.full((1 << 17,), 1.0001).cumprod(0)[100000].item() == pytest.approx(22054.22, rel=1e-4)


def test_gradient_of_a_product_of_small_and_large():
    x = pg.tensor([1e-20, 1e-20, 1e20, 1e20], requires_grad=True)
    x.prod().backward()
    assert x.grad.tolist() == pytest.approx([1e20, 1e20, 1e-20, 1e-20], rel=1e-4)


@pytest.mark.parametrize("value", [256, -1, 10**30])
def test_comparisons_with_numbers_outside_the_dtype_have_an_answer(value):
    x = pg.tensor([1, 255], dtype="uint8")
    n = np.array([1, 255], dtype=np.uint8)
    assert (x < value).tolist() == (n < value).tolist()
    assert (x == value).tolist() == [False, False]
    assert (x != value).tolist() == [True, True]
    assert (x >= value).tolist() == (n >= value).tolist()


def test_powers_of_bools_are_no_int8():
    with pytest.raises(pg.errors.DTypeError):
        pg.tensor([True]) ** pg.tensor([True])


@pytest.mark.parametrize("f", [lambda x: -x, lambda x: x - x])
def test_bools_have_no_minus(f):
    with pytest.raises(pg.errors.DTypeError, match=r"~|logical_not|\^"):
        f(pg.tensor([True]))


def test_whole_numbers_of_numpy_count_as_whole():
    assert pg.arange(np.int64(3)).dtype is pg.int64
    assert pg.arange(pg.tensor(3)).dtype is pg.int64


@pytest.mark.parametrize("bounds", [(0, 300), (-5, 5)])
def test_randint_refuses_what_the_dtype_cannot_hold(bounds):
    with pytest.raises(pg.errors.DTypeError):
        pg.randint(*bounds, (10,), dtype="uint8")


@pytest.mark.parametrize("dtype", HALF)
def test_uniform_stays_below_its_upper_end(dtype):
    assert pg.uniform(1, 2, (100_000,), dtype=dtype).max().item() < 2


@pytest.mark.parametrize("dtype", HALF)
def test_rare_events_in_half_precision_are_rare(dtype):
    p = pg.full((1_000_000,), 2.0**-13, dtype=dtype)
    assert pg.bernoulli(p).astype("float32").mean().item() == pytest.approx(2.0**-13, rel=0.3)


@pytest.mark.parametrize("p", [[1.5], [-0.1], [float("nan")]])
def test_bernoulli_refuses_what_is_no_probability(p):
    with pytest.raises(ValueError, match="bernoulli"):
        pg.bernoulli(pg.tensor(p))


def test_multinomial_never_draws_what_has_probability_zero():
    assert {pg.multinomial(pg.tensor([0.0, 1e-40]), 1).item() for _ in range(20)} == {1}


def test_multinomial_of_huge_weights_stays_inside():
    assert pg.multinomial(pg.tensor([3e38, 3e38]), 100, True).max().item() <= 1


def test_multinomial_of_half_precision_reaches_every_class():
    drawn = pg.multinomial(pg.ones(8192, dtype="float16"), 20_000, True)
    assert drawn.max().item() < 8192
    assert len({*drawn.tolist()}) > 7000


@pytest.mark.parametrize("seed", [1.5, "a"])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises((TypeError, ValueError), match="seed"):
        pg.Generator(seed)


def test_a_state_is_refused_where_it_is_set():
    g = pg.Generator(1)
    with pytest.raises(ValueError, match="offset"):
        g.set_state((1, -5))


def test_quantile_of_a_tensor_of_shares():
    x, q = pg.arange(11.0), pg.tensor(0.1)
    assert pg.quantile(x, q, interpolation="higher").item() == 1


def test_second_order_at_the_origin_of_hypot_is_finite_and_zero():
    x = pg.tensor([0.0], requires_grad=True)
    (g,) = pg.grad(pg.hypot(x, x).sum(), x, create_graph=True)
    (h,) = pg.grad(g.sum(), x, allow_unused=True, materialize_grads=True)
    assert (g.item(), h.item()) == (0, 0)


def test_logaddexp_shares_infinity():
    x, y = (pg.tensor([float("inf")], requires_grad=True) for _ in "xy")
    pg.logaddexp(x, y).sum().backward()
    assert (x.grad.item(), y.grad.item()) == (0.5, 0.5)


def test_full_without_a_value_is_told():
    with pytest.raises((TypeError, pg.errors.PlugradError)):
        pg.full((2,))
