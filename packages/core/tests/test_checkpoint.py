"""checkpoint: the same gradients, less kept, the same random numbers."""

import pytest

import plugrad as pg


def block(x):
    return (x.exp() * 0.1).sin()


def leaf(data):
    return pg.tensor(data, dtype="float64", requires_grad=True)


def test_same_value_and_gradients():
    x, y = leaf([0.5, 1.0]), leaf([0.5, 1.0])
    a, b = (pg.checkpoint(block, x) * 2.0).sum(), (block(y) * 2.0).sum()
    a.backward()
    b.backward()
    assert a.tolist() == b.tolist()
    assert x.grad.tolist() == y.grad.tolist()


def test_closed_over_parameters_get_their_gradients():
    w, b = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([0.1, 0.2])
    x = pg.tensor([[1.0, -1.0]], dtype="float64")  # no input wants a gradient
    pg.checkpoint(lambda x: (x @ w + b).tanh(), x).sum().backward()
    got = w.grad.tolist(), b.grad.tolist()
    w.grad = b.grad = None
    (x @ w + b).tanh().sum().backward()
    assert got == (w.grad.tolist(), b.grad.tolist())


def test_nothing_in_between_is_kept():
    x = leaf([0.5, 1.0])
    with pg.live_tensors() as live:
        y = pg.checkpoint(lambda x: block(block(block(x))), x)
        kept = live.count
    assert kept == 0  # the output itself was wrapped anew
    assert y.node.parents == (x.node,)
    assert y.node.saved == ()


def test_random_numbers_are_replayed():
    def drop(x):
        return x * (pg.rand_like(x) > 0.5).astype("float64")

    pg.manual_seed(3)
    x = leaf([1.0] * 20)
    y = pg.checkpoint(drop, x)
    state = pg.get_rng_state()
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    assert pg.get_rng_state() == state
    g = pg.Generator(1)
    x.grad = None
    y = pg.checkpoint(lambda x: x * pg.rand(20, generator=g, dtype="float64"), x)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_several_outputs_and_other_arguments():
    x = leaf([1.0, 2.0])
    a, b, c = pg.checkpoint(lambda x, n: (x * n, x * x, x.detach()), x, 3.0)
    assert not c.requires_grad
    (a.sum() + (b * b).sum()).backward()
    assert x.grad.tolist() == [7.0, 35.0]


def test_second_order_and_nesting():
    x = leaf([0.3, -0.2])
    assert pg.gradcheck(lambda x: pg.checkpoint(block, x), [x.detach()], order=2)
    assert pg.gradcheck(lambda x: pg.checkpoint(lambda x: pg.checkpoint(block, x) * x, x), [x.detach()], order=2)


def test_hooks_run_once():
    x, seen = leaf([1.0]), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    pg.checkpoint(lambda x: x * 2.0, x).backward()
    assert seen == [[2.0]]


def test_walked_once():
    y = pg.checkpoint(block, leaf([1.0]))
    y.backward()
    with pytest.raises(pg.errors.GraphError, match="freed"):
        y.backward()


def test_without_recording_it_is_a_plain_call():
    with pg.no_grad():
        assert not pg.checkpoint(block, leaf([1.0])).requires_grad
