"""compile: the same numbers without the function's Python."""

import pytest

import plugrad as pg
from plugrad.errors import GraphError


def test_a_program_runs_without_the_function():
    calls = []

    @pg.compile
    def f(x, y):
        calls.append(1)
        return (x * y + 1.0).sum(), x - y

    for a, b in [([1.0, 2.0], [3.0, 4.0]), ([5.0, 6.0], [7.0, 8.0])]:
        x, y = pg.tensor(a), pg.tensor(b)
        s, d = f(x, y)
        assert s.tolist() == (x * y + 1.0).sum().tolist()
        assert d.tolist() == (x - y).tolist()
    assert len(calls) == 1
    assert "Mul()" in str(next(iter(f.programs.values())))


def test_a_signature_each():
    f = pg.compile(lambda x, n: x * n)
    f(pg.ones(2), 2.0)
    f(pg.ones(2), 3.0)
    f(pg.ones(3), 2.0)
    f(pg.ones(3, dtype="float64"), 2.0)
    assert f(pg.ones(2), 3.0).tolist() == [3.0, 3.0]
    assert len(f.programs) == 4


def test_gradients_inside():
    w = pg.tensor([1.0, 2.0], requires_grad=True)

    @pg.compile
    def slope(x):
        return pg.grad((w * w * x).sum(), w)

    assert slope(pg.tensor([1.0, 10.0]))[0].tolist() == [2.0, 40.0]
    with pg.no_grad():
        w += 1.0  # read anew at each run
    assert slope(pg.tensor([1.0, 10.0]))[0].tolist() == [4.0, 60.0]


def test_random_ops_draw_anew_as_eager_does():
    f = pg.compile(lambda x: x + pg.rand(3))
    x = pg.zeros(3)
    pg.manual_seed(1)
    f(x)
    pg.manual_seed(5)
    got = [f(x).tolist(), f(x).tolist()]
    pg.manual_seed(5)
    assert got == [pg.rand(3).tolist(), pg.rand(3).tolist()]


def test_several_outputs_and_constants():
    f = pg.compile(lambda x: (x.sort(), pg.ones(2), x))
    a, b, c = f(pg.tensor([3.0, 1.0]))
    assert (a.tolist(), b.tolist(), c.tolist()) == ([1.0, 3.0], [1.0, 1.0], [3.0, 1.0])


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (lambda x: x * (x + 1.0).sum().item(), "cannot look at numbers"),
        (lambda x: x if x.sum() > 0 else -x, "cannot look at numbers"),
        (lambda x: x.tolist(), "cannot look at numbers"),
        (lambda x: 3.0, "must return tensors, not float"),
    ],
)
def test_what_cannot_be_recorded_raises(f, what):
    with pytest.raises(GraphError, match=what):
        pg.compile(f)(pg.ones(2))


def test_changing_a_tensor_from_outside_raises():
    state = pg.zeros(2)

    def f(x):
        nonlocal state
        y = state + x
        state += x
        return y

    with pytest.raises(GraphError, match=r"cannot change a tensor from outside; at .*test_record\.py"):
        pg.compile(f)(pg.ones(2))


def test_a_result_with_a_way_back_raises():
    w = pg.ones(2, requires_grad=True)
    f = pg.compile(lambda x: w * x)
    with pytest.raises(GraphError, match="no_grad"):
        f(pg.ones(2))
    with pg.no_grad():
        assert f(pg.ones(2)).tolist() == [1.0, 1.0]
