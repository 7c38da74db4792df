"""Copies, pickles, shared memory, and messages for mistakes that users make."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import plugrad as pg


def test_devices_and_what_holds_them_are_pickled_by_name():
    d = pg.device("numpy")
    assert pickle.loads(pickle.dumps(d)) is d
    op = pg.ops.random.Uniform(d, pg.Generator(1), (2,), pg.float32)
    assert pickle.loads(pickle.dumps(op)).device is d


def test_a_namespace_says_no_as_python_expects():
    xp = pg.device("numpy").xp
    assert not hasattr(xp, "nonsense")
    assert copy.copy(xp).backend is xp.backend


def test_memory_that_dlpack_lends_is_read_only():
    x = pg.tensor([1.0, 2.0])
    view = np.from_dlpack(x)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 9
    assert x.tolist() == [1.0, 2.0]


def test_from_dlpack_of_a_tensor_that_wants_a_gradient_raises():
    with pytest.raises(pg.errors.GraphError):
        pg.from_dlpack(pg.tensor([1.0], requires_grad=True))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.cumsum(0), lambda x: x.prod(), lambda x: pg.full((2,), 1e300), lambda x: pg.linspace(0, 1e300, 3),
        lambda x: pg.linalg.det(pg.eye(2) * 1e30),
    ],
)  # fmt: skip
def test_infinities_come_without_a_warning_of_numpy(f):
    x = pg.tensor([3e38, 3e38])
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="plugrad")
        f(x)
    assert [str(w.message) for w in heard] == []


MISTAKES = {
    "backward": lambda x: (x * 2).backward(2.0),
    "backward: ": lambda x: (x * 2).backward([1.0, 1.0]),
    "grad: ": lambda x: pg.grad(1.0, x),
    "grad": lambda x: pg.grad([], x),
    "grad_outputs": lambda x: pg.grad([x.sum(), x.sum()], x, [None]),
    "sum: .*axis": lambda x: x.sum(axis=1.0),
    "softmax: .*0-d|softmax: .*no axes": lambda x: pg.tensor(3.0).softmax(axis=1),
    "jacobian": lambda x: pg.jacobian(lambda y: 1.0, x.detach()),
    "tensor": lambda x: pg.tensor([2**63]),
    "tensor: ": lambda x: pg.tensor([300], dtype="uint8"),
    "concat": lambda x: pg.concat(x, x),
    "solve.*singular|solve.*pinv": lambda x: pg.linalg.solve(pg.ones(2, 2), pg.ones(2)),
    "zeros": lambda x: pg.zeros(2.5),
    "zeros: ": lambda x: pg.zeros("a"),
    "arange.*step": lambda x: pg.arange(0, 5, 0),
    "bernoulli": lambda x: pg.bernoulli(pg.tensor([1])),
    "multinomial": lambda x: pg.multinomial(pg.tensor([1, 2]), 1),
}


@pytest.mark.parametrize("told", MISTAKES)
def test_a_mistake_is_answered_with_the_name_of_the_function(told):
    with pytest.raises((pg.errors.PlugradError, ValueError, TypeError), match=told):
        MISTAKES[told](pg.tensor([1.0, 2.0], requires_grad=True))
