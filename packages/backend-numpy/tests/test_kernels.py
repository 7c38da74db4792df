"""The fused kernels: same numbers as the formulas, fewer passes, and they decline what they do not handle."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pytest

import plugrad as pg
from plugrad_numpy import _plugin
from plugrad_numpy.kernels.mend import has_nan

device = pg.device("numpy")
INF, NAN = math.inf, math.nan


def both(f):
    """What `f` gives with kernels, and by the formulas alone."""
    with pg.kernels("prefer"):
        fused = f()
    with pg.kernels("off"):
        return fused, f()


def gradient(f, x, dtype="float64"):
    x = pg.tensor(x, dtype=dtype, device=device, requires_grad=True)
    f(x).backward()
    return x.grad.tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("view", [lambda a: a, lambda a: a[::2], lambda a: a[::-1], lambda a: a.reshape(4, 3).T])
@pytest.mark.parametrize("hole", [None, NAN, INF, -INF])
def test_has_nan(dtype, view, hole):
    x = np.linspace(-60000, 60000, 12).astype(dtype)
    if hole is not None:
        x[4] = hole
        x[5] = -hole
    with np.errstate(all="ignore"):
        assert has_nan(view(x)) == bool(np.isnan(view(x)).any())
    assert not has_nan(x[:0])


def test_mend_returns_its_input_where_there_is_nothing_to_mend():
    kernel = device.kernels[pg.Op.catalogue["plugrad.Mend"]]
    u, x = np.zeros(3), np.array([1.0, INF, -INF])
    assert kernel.run(None, [u, x]) is x
    u, x = np.array([0.0, 1.0]), np.array([NAN, NAN])
    assert np.array_equal(kernel.run(None, [u, x]), [0, NAN], equal_nan=True)
    assert np.isnan(x).all()
    assert kernel.run(None, [u, np.zeros((2, 2))]) is NotImplemented
    assert "shapes" in kernel.reason(None, [u, np.zeros((2, 2))])
    assert "int64" in kernel.reason(None, [u, np.array([1, 2])])


def test_mended_gradients_are_the_same_without_the_kernel():
    def f(x):
        return pg.where(x > 0, x.sqrt(), x * 0).sum()

    fused, plain = both(lambda: gradient(f, [0.0, 4.0, 9.0]))
    assert fused == plain == [0, 0.25, 1 / 6]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_softmax_and_its_logarithms(name, axis, dtype):
    host = np.random.default_rng(1).normal(size=(5, 7, 3)) * 30
    weights = pg.tensor(np.random.default_rng(2).normal(size=(5, 7, 3)), dtype=dtype, device=device)

    def f(x):
        return (getattr(pg, name)(x, axis=axis) * weights.sum(axis=axis, keepdims=name != "logsumexp")).sum()

    close = {"float32": 2e-6, "float64": 1e-14}[dtype]
    value, formula = both(lambda: getattr(pg, name)(pg.tensor(host, dtype=dtype, device=device), axis=axis).numpy())
    assert value.dtype == formula.dtype == dtype
    assert np.abs(value - formula).max() <= close * max(1, np.abs(formula).max())
    fused, plain = both(lambda: gradient(f, host, dtype))
    assert np.abs(np.array(fused) - plain).max() <= 20 * close


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
@pytest.mark.parametrize("row", [[-INF, -INF], [INF, 0.0], [INF, INF], [NAN, 0.0], [-INF, 0.0]])
def test_odd_rows_are_as_the_formula_says_and_leave_their_neighbours_alone(name, row):
    x = pg.tensor([row, [0.0, 1.0]], device=device)

    def gradient_of_the_first_column():
        leaf = x.clone().requires_grad_()
        with device.backend.quiet():
            z = getattr(pg, name)(leaf, axis=-1)
            (z[:, 0] if z.ndim == 2 else z).sum().backward()
        return np.concatenate([z.numpy().reshape(-1) for z in (z.detach(), leaf.grad)])

    fused, plain = both(gradient_of_the_first_column)
    np.testing.assert_allclose(fused, plain, rtol=1e-6, atol=1e-7)
    assert np.isfinite(fused[-2:]).all()


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_kernels_do_not_warn_about_what_they_handle(name):
    x = pg.tensor([[-INF, -INF], [INF, 0.0]], device=device)
    op = {"logsumexp": "log_sum_exp"}.get(name, name)
    with warnings.catch_warnings(), pg.kernels("force", op):
        warnings.simplefilter("error")
        assert getattr(pg, name)(x, axis=-1).shape[0] == 2


def test_masked_entries_do_not_disturb_the_kernel():
    x = pg.tensor([[-INF, 0.0, 0.0]], device=device, requires_grad=True)
    with pg.kernels("force", "softmax"):
        z = x.softmax(axis=-1)
    assert z.tolist() == [[0, 0.5, 0.5]]
    (z * pg.tensor([[5.0, 1.0, 3.0]], device=device)).sum().backward()
    assert x.grad.tolist() == [[0, -0.5, 0.5]]


def test_softmax_second_order_goes_by_the_formula():
    x = pg.tensor([[0.3, -1.0, 2.0]], dtype="float64", device=device)
    assert pg.testing.gradcheck(lambda x: x.softmax(axis=-1), [x], order=2)


def test_half_precision_is_left_to_the_formula():
    x = pg.tensor([[1.0, 2.0]], dtype="float16", device=device)
    with pg.kernels("force", "softmax"), pytest.raises(pg.errors.KernelError, match="float16"):
        x.softmax(axis=-1)
    assert x.softmax(axis=-1).dtype is pg.float16


def test_every_registered_kernel_loads_and_belongs_to_an_op():
    there = {op for op in _plugin.KERNELS if find_spec(op.partition(".")[0])}  # plugrad-nn may not be installed
    for op in there:
        assert device.kernels[pg.Op.catalogue[op]].forward is not None
    assert any(op.startswith("plugrad.") for op in there)


def test_kernels_are_imported_only_when_their_op_runs():
    code = (
        "import sys, plugrad as pg; x = pg.ones(2, device='numpy') + 1; "
        "print([m for m in sys.modules if m.startswith('plugrad_numpy.kernels')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
