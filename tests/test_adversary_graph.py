"""The way back, taken apart: subgraphs, freed graphs, checkpoints, mutation under no_grad, threads."""

from __future__ import annotations

import threading
from sys import getswitchinterval, setswitchinterval

import numpy as np
import pytest

import plugrad as pg


def leaf(*values: float) -> pg.Tensor:
    return pg.tensor([*values], requires_grad=True)


def test_grad_leaves_the_way_behind_its_inputs_alone():
    x = leaf(3.0)
    y = x * x
    (g,) = pg.grad(y.exp().sum(), y)
    y.backward(g)
    assert x.grad.tolist() == pytest.approx([6 * 8103.0839], rel=1e-5)


@pytest.mark.parametrize("options", [{"allow_unused": True}, {"materialize_grads": True}, {}])
def test_a_freed_graph_is_told_and_not_taken_for_unused(options):
    x = leaf(3.0)
    y = x * x
    y.backward()
    with pytest.raises(pg.errors.GraphError, match="already walked"):
        pg.grad(y, x, **options)


def test_checkpoint_of_a_value_that_an_op_made():
    x = leaf(3.0)
    y = pg.checkpoint(lambda a: a * a, x * 2)
    pg.checkpoint(lambda a: a * 2, y).backward()
    assert x.grad.tolist() == [48.0]


def test_checkpoint_replays_every_generator():
    x, g = leaf(2.0), pg.Generator(3)
    y = pg.checkpoint(lambda a: a * pg.rand(1, generator=g), x)
    y.backward()
    assert x.grad.item() * 2 == pytest.approx(y.item())


def test_checkpoint_notices_a_changed_parameter():
    x, w = leaf(3.0), leaf(2.0)
    y = pg.checkpoint(lambda a: a * w * w, x)
    with pg.no_grad():
        w += 10
    with pytest.raises(pg.errors.GraphError, match="checkpoint"):
        y.backward()


def test_checkpoint_notices_a_changed_closure():
    x = leaf(3.0)
    h = x * 2
    y = pg.checkpoint(lambda a: a * h * h, pg.tensor([1.0]))
    h += 1
    with pytest.raises(pg.errors.GraphError, match="checkpoint"):
        y.backward()


def test_checkpointed_function_may_change_its_argument_each_time_anew():
    x = leaf(3.0)

    def f(a):
        a += 1
        return a * a

    y = pg.checkpoint(f, x * 1)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [16.0]


@pytest.mark.parametrize("change", [lambda y: y.__imul__(3), lambda y: y.__setitem__(0, 9.0)], ids=["*=", "y[0]="])
def test_change_under_no_grad_does_not_cut_the_way_back(change):
    x = leaf(1.0)
    y = x * 2
    with pg.no_grad():
        change(y)
    assert y.requires_grad
    (y + x).sum().backward()
    assert x.grad.tolist() == [3.0]


@pytest.mark.parametrize("bad", [lambda g: 1.0, lambda g: g.sum(), lambda g: g.astype("float64")])
def test_what_a_hook_returns_has_to_fit(bad):
    x = leaf(1.0, 2.0)
    x.register_hook(bad)
    with pytest.raises(pg.errors.PlugradError, match="hook"):
        (x * 2).sum().backward()


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64"])
def test_grad_has_the_dtype_of_its_value(dtype):
    with pytest.raises(pg.errors.DTypeError):
        leaf(1.0).grad = pg.tensor([1], dtype=dtype)


@pytest.mark.parametrize("on", [1, np.bool_(True)])
def test_requires_grad_takes_any_truth(on):
    assert pg.tensor([1.0]).requires_grad_(on).requires_grad


def test_threads_lose_no_gradient():
    w, before = pg.zeros(1, requires_grad=True), getswitchinterval()
    work = [threading.Thread(target=lambda: [(w * 1).sum().backward() for _ in range(300)]) for _ in range(4)]
    setswitchinterval(1e-6)
    try:
        for t in work:
            t.start()
        for t in work:
            t.join()
    finally:
        setswitchinterval(before)
    assert w.grad.tolist() == [1200.0]


@pytest.mark.parametrize("f", [pg.sqrt, pg.log, lambda x: x**0.5], ids=["sqrt", "log", "power"])
def test_jvp_where_the_slope_is_infinite(f):
    assert pg.jvp(f, pg.tensor(0.0), pg.tensor(1.0))[1].item() == float("inf")
    assert pg.jvp(lambda x: pg.where(x > 0, f(x), 0.0), pg.tensor(0.0), pg.tensor(1.0))[1].item() == 0


def test_a_generator_that_outlives_a_device_block_leaks_no_device():
    def run():
        with pg.no_grad():
            yield

    it, home = run(), pg.device()
    with pg.device("numpy"):
        next(it)
    next(it, None)
    assert pg.context.current.get().devices == ()
    assert pg.device() is home


def test_one_no_grad_object_in_many_threads():
    off, failed, barrier = pg.no_grad(), [], threading.Barrier(4)

    def work():
        try:
            for _ in range(20):
                with off:
                    barrier.wait(5)
                    assert not pg.is_grad_enabled()
                assert pg.is_grad_enabled()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failed == []


@pytest.mark.parametrize(
    "product", [lambda a, w: a @ w, lambda a, w: a @ w[:, 0], lambda a, w: w[:, 0] @ a.mT], ids=["mat", "vec", "row"]
)
def test_a_masked_row_of_a_product_leaks_no_nan(product):
    a = pg.tensor([[float("inf"), 1.0], [1.0, 2.0]])
    w = pg.ones(2, 2, requires_grad=True)
    z = product(a, w)
    keep = pg.tensor([False, True]).reshape(2, *[1] * (z.ndim - 1))
    pg.where(keep, z, 0.0).sum().backward()
    assert pg.isfinite(w.grad).all()
