"""Reductions, scans and order against PyTorch in float32: values, and gradients of a random weighting of the output."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
import torch

import plugrad as pg
from plugrad.testing.cases import order, reduce, scan, statistics
from plugrad.testing.draw import numbers

V = torch.linalg.vector_norm


def others(x):
    n = x.shape[-1]
    rest = [[j for j in range(n) if j != i] for i in range(n)]
    return torch.stack([x[..., r].prod(-1) for r in rest], -1) if n else x * 1


def scanned(x, y, axis, reverse):
    """z_k = y_k + x_k z_{k-1}, step by step."""
    rows = list(zip(x.unbind(axis), y.unbind(axis), strict=True))
    z, found = torch.zeros_like(rows[0][0]), []
    for a, b in rows[::-1] if reverse else rows:
        z = b + a * z
        found.append(z)
    return torch.stack(found[::-1] if reverse else found, axis)


def shifted(x, axis, step, fill=0.0):
    """x moved along an axis, `fill` where there is nothing."""
    n = x.shape[axis]
    gap = torch.full_like(x, fill).narrow(axis, 0, min(abs(step), n))
    kept = x.narrow(axis, max(-step, 0), max(n - abs(step), 0))
    return torch.cat([gap, kept] if step > 0 else [kept, gap], axis)


def norms(p, label):
    return {
        f"{label}": lambda x: V(x, p),
        f"{label} axis": lambda x: V(x, p, -2),
        f"{label} axes, keepdims": lambda x: V(x, p, (0, 2), keepdim=True),
        f"{label} zeros": lambda x: V(x, p, 1),
    }


def quantiles(how):
    return lambda x: torch.quantile(x, 0.4, 1, interpolation=how)


NORMS = {2: "2", 1: "1", 3: "3", 0.5: "1/2", -1: "-1", inf: "∞", -inf: "-∞", 0: "0"}
KINDS = {inf: "EdgeNorm", -inf: "EdgeNorm", 0: "ZeroNorm"}

#: name of the case → the same in PyTorch
ROWS = {
    "Sum": torch.sum,
    "Sum/axis": lambda x: x.sum(-1),
    "Sum/axes, keepdims": lambda x: x.sum((2, 0), keepdim=True),
    "Sum/0-d": torch.sum,
    "Sum/nothing": lambda x: x.sum(1),
    "Sum/integers": lambda x: x.sum(0),
    "Sum/bools": lambda x: x.sum(0),
    "Mean": torch.mean,
    "Mean/axis": lambda x: x.mean(-2),
    "Mean/axes, keepdims": lambda x: x.mean((0, -1), keepdim=True),
    "Mean/nothing": lambda x: x.mean(1),
    "Prod": torch.prod,
    "Prod/axis": lambda x: x.prod(1),
    "Prod/axes, keepdims": lambda x: x.prod(0, keepdim=True).prod(-1, keepdim=True),
    "Prod/zeros": lambda x: x.prod(-1),
    "Prod/a single zero": torch.prod,
    "Prod/nothing": lambda x: x.prod(0),
    "Prod/integers": torch.prod,
    "Max": torch.max,
    "Max/axis": lambda x: x.amax(-1),
    "Max/axes, keepdims": lambda x: x.amax((0, 2), keepdim=True),
    "Max/ties": lambda x: x.amax(1),
    "Max/integers": lambda x: x.amax(0),
    "Max/no rows": lambda x: x.amax(1),
    "Min": torch.min,
    "Min/axes": lambda x: x.amin((1, -3)),
    "Min/keepdims": lambda x: x.amin(0, keepdim=True),
    "Min/ties": lambda x: x.amin(1),
    "Min/integers": lambda x: x.amin(0),
    "Var": torch.var,
    "Var/axis": lambda x: x.var(-1, correction=0),
    "Var/axes, keepdims": lambda x: x.var((0, 2), keepdim=True),
    "Std": torch.std,
    "Std/axis": lambda x: x.std(0, correction=0.5),
    "Std/axes, keepdims": lambda x: x.std((0, 2), keepdim=True),
    "Norm/nothing": lambda x: V(x, 2, 1),
    "LogSumExp": lambda x: x.logsumexp((0, 1)),
    "LogSumExp/axis": lambda x: x.logsumexp(-2),
    "LogSumExp/axes": lambda x: x.logsumexp((0, 2), keepdim=True),
    "LogSumExp/nothing": lambda x: x.logsumexp(1),
    "CumSum": lambda x: x.cumsum(0),
    "CumSum/last axis": lambda x: x.cumsum(-1),
    "CumSum/with the initial 0": lambda x: torch.cat([torch.zeros(1), x]).cumsum(0),
    "CumSum/nothing": lambda x: x.cumsum(1),
    "CumSum/integers": lambda x: x.cumsum(0),
    "CumSum/bools": lambda x: x.cumsum(0),
    "CumProd": lambda x: x.cumprod(0),
    "CumProd/last axis": lambda x: x.cumprod(-1),
    "CumProd/zeros": lambda x: x.cumprod(1),
    "CumProd/with the initial 1": lambda x: torch.cat([torch.ones(1), x]).cumprod(0),
    "CumProd/integers": lambda x: x.cumprod(0),
    "Others": others,
    "Others/zeros": others,
    "Others/one number": others,
    "Others/nothing": others,
    "Recurrence": lambda x, y: scanned(x, y, 1, False),
    "Recurrence/reverse": lambda x, y: scanned(x, y, 0, True),
    "Lag": lambda x: shifted(x, 0, 1),
    "Lag/back": lambda x: shifted(x, 1, -2, fill=1.0),
    "Lag/out": lambda x: shifted(x, 0, 3),
    "Diff": torch.diff,
    "Diff/twice": lambda x: torch.diff(x, 2, 0),
    "Diff/one number": torch.diff,
    "Diff/integers": torch.diff,
    "Diff/prepend, append": lambda x, y: torch.diff(x, prepend=y, append=y),
    "Sort": lambda x: x.sort()[0],
    "Sort/descending": lambda x: x.sort(0, True)[0],
    "Sort/axis": lambda x: x.sort(-2)[0],
    "Sort/ties": lambda x: x.sort(stable=True)[0],
    "Sort/integers": lambda x: x.sort()[0],
    "Sort/NaN": lambda x: x.sort()[0],
    "ArgSort": torch.argsort,
    "ArgSort/ties, descending": lambda x: x.argsort(descending=True, stable=True),
    "ArgSort/ties, axis": lambda x: x.argsort(dim=0, stable=True),
    "TopK": lambda x: tuple(x.topk(2)),
    "TopK/smallest": lambda x: tuple(x.topk(3, 0, largest=False)),
    "Rank": torch.median,
    "Rank/lower of two": lambda x: x.median(-1, keepdim=True)[0],
    "Rank/axes": lambda x: x.transpose(0, 1).reshape(2, 6).median(-1)[0],
    "Rank/NaN": lambda x: x.median(1)[0],
    "Rank/integers": lambda x: x.median(0)[0],
    "Rank/quantile": lambda x: x.quantile(0.3),
    "Rank/quantiles": lambda x: x.quantile(torch.tensor([0.0, 0.4, 1.0]), 0),
    **{f"Rank/{how}": quantiles(how) for how in ("lower", "higher", "nearest")},
    **{f"{KINDS.get(p, 'Norm')}/{k}": f for p, label in NORMS.items() for k, f in norms(p, label).items()},
}
ROWS = {f"plugrad.{name}": f for name, f in ROWS.items()}
#: Rows that PyTorch has no function for, or answers otherwise: what these give is checked in packages/core/tests.
WITHOUT = {
    "plugrad.Sum/no axis": "sums over all axes",
    "plugrad.Mean/integers": "refuses integers",
    "plugrad.Max/NaN": "has no gradient there",
    "plugrad.Var/large mean": "rounds the mean in its gradient",
    "plugrad.Var/one number": "warns, and its gradient is NaN",
    "plugrad.Var/nothing": "warns",
    "plugrad.Var/integers": "refuses integers",
    "plugrad.Std/equal": "rounds the mean, so that equal numbers differ from it",
    "plugrad.Std/one number": "warns, and its gradient is NaN",
    "plugrad.Norm/far out": "overflows",
    "plugrad.LogSumExp/infinities": "its gradient is NaN",
    "plugrad.TopK/ties": "picks any of equals",
    "plugrad.TopK/integers": "picks any of equals",
    "plugrad.Rank/ties": "picks any of equals",
    "plugrad.Rank/quantiles, keepdims": "takes one axis",
}
CASES = {c.name: c for m in (reduce, statistics, scan, order) for c in m.ROWS if c.op.key != "plugrad.Survey"}


def test_every_case_has_its_row():
    assert set(CASES) - set(WITHOUT) == set(ROWS)


def drawn(spec, seed):
    """The numbers of a case as a NumPy array, floats as float32."""
    dtype = {"float": "float32", "int": "int64", "bool": "bool"}[spec.kind]
    made = np.asarray(numbers(spec, seed), dtype)
    return made if spec.values is not None else made.reshape(spec.shape)


@pytest.mark.parametrize("name", ROWS)
def test_values_and_gradients_are_pytorchs(name):
    c = CASES[name]
    arrays = [drawn(spec, i) for i, spec in enumerate(c.inputs)]
    ours = [pg.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    theirs = [torch.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    ys, ts = (y if isinstance(y, tuple) else (y,) for y in (c.f(*ours), ROWS[name](*theirs)))
    for y, t in zip(ys, ts, strict=True):
        assert (str(y.dtype), y.shape) == (str(t.dtype).removeprefix("torch."), tuple(t.shape))
        np.testing.assert_allclose(y.detach().numpy(), t.detach().numpy(), rtol=2e-5, atol=2e-6)
    live = [(y, t) for y, t in zip(ys, ts, strict=True) if y.requires_grad]
    assert [y.requires_grad for y in ys] == [t.requires_grad for t in ts]
    for y, t in live:
        g = np.random.default_rng(1).standard_normal(t.shape).astype("float32")
        y.backward(pg.tensor(g))
        t.backward(torch.tensor(g))
    for x, t in zip(ours, theirs, strict=True):
        if live:
            assert x.grad.dtype is pg.float32
            want = torch.zeros_like(t) if t.grad is None else t.grad  # None: of the norm of order 0
            np.testing.assert_allclose(x.grad.numpy(), want.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["all", "any", "argmax", "argmin", "count_nonzero"])
def test_what_has_no_gradient_is_pytorchs(name):
    x = np.float32([[0.0, 1.0, 1.0, 0.0], [2.0, 0.0, -3.0, 2.0], [0.0, 0.0, 0.0, 0.0]])
    for axis in (None, 0, -1):
        how = {} if axis is None else {"dim": axis}
        want = getattr(torch, name)(torch.tensor(x), **how)
        z = getattr(pg, name)(pg.tensor(x), axis=axis)
        assert (z.tolist(), str(z.dtype)) == (want.tolist(), str(want.dtype).removeprefix("torch."))


def test_ordinary_points_agree_to_second_order():
    x = np.random.default_rng(0).standard_normal((3, 4)).astype("float32")
    functions = {
        pg.prod: torch.prod, pg.std: torch.std, pg.norm: V, pg.logsumexp: lambda t: t.logsumexp((0, 1)),
        (lambda t: t.cumprod(1)): (lambda t: t.cumprod(1)),
    }  # fmt: skip
    for mine, his in functions.items():
        a, b = pg.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
        (g,) = pg.grad((mine(a) ** 2).sum(), a, create_graph=True)
        (h,) = torch.autograd.grad((his(b) ** 2).sum(), b, create_graph=True)
        (g**2).sum().backward()
        (h**2).sum().backward()
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-3, atol=1e-3)


def test_search_and_count_are_pytorchs():
    row, x = np.float32([-1.0, 0.0, 0.0, 2.0]), np.float32([[0.0, 5.0], [-2.0, 1.0]])
    for side in ("left", "right"):
        want = torch.searchsorted(torch.tensor(row), torch.tensor(x), side=side)
        assert pg.searchsorted(pg.tensor(row), pg.tensor(x), side=side).tolist() == want.tolist()
    v, j, n = torch.unique(torch.tensor(x), return_inverse=True, return_counts=True)
    found = pg.unique(pg.tensor(x), return_inverse=True, return_counts=True)
    assert [t.tolist() for t in found] == [v.tolist(), j.tolist(), n.tolist()]
    counts, edges = torch.histogram(torch.tensor(x), 3)
    mine = pg.histogram(pg.tensor(x), 3)
    assert (mine[0].tolist(), mine[1].tolist()) == (counts.tolist(), pytest.approx(edges.tolist()))
