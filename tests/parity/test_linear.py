"""Products and linear algebra against PyTorch in float32: values, and gradients of a random weighting of the output."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import plugrad as pg
from plugrad.testing.cases import decompose, linear
from plugrad.testing.draw import numbers

T = torch.linalg


def regular(x):
    return x + 6 * torch.eye(x.shape[-1])


def definite(x):
    y = x @ x.mT
    return y + torch.eye(y.shape[-1])


def symmetric(x):
    return x + x.mT + 10 * torch.diag(torch.arange(1.0, x.shape[-1] + 1))


def first(x):
    u, s, vt = T.svd(x, full_matrices=False)
    return s, u[..., :1] @ vt[..., :1, :]


def last(x):
    w, v = T.eigh(symmetric(x))
    return w, v[..., -1:] @ v[..., -1:].mT


def unsigned(x, mode="reduced"):
    q, r = T.qr(x, mode=mode)
    sign = r.diagonal(0, -2, -1).sign().detach()
    return q * sign[..., None, :], r * sign[..., None]


def cofactor(x):
    """At regular matrices."""
    return T.det(x)[..., None, None] * T.inv(x).mT


def solve(x, y):
    return T.solve(regular(x), y)


#: name of the case → the same in PyTorch
ROWS = {
    "plugrad.Spared": torch.matmul,
    "plugrad.Spared/batch": torch.matmul,
    "plugrad.MatMul": torch.matmul,
    "plugrad.MatMul/batch": torch.matmul,
    "plugrad.MatMul/shared left": torch.matmul,
    "plugrad.MatMul/reflected": lambda x, y: y @ x,
    "plugrad.MatMul/k = 0": torch.matmul,
    "plugrad.MatMulShared": torch.matmul,
    "plugrad.MatMulShared/empty": torch.matmul,
    "plugrad.MatMulShared/k = 0": torch.matmul,
    "plugrad.MatVec": torch.matmul,
    "plugrad.MatVec/batch": torch.matmul,
    "plugrad.VecMat": torch.matmul,
    "plugrad.VecMat/batch": torch.matmul,
    "plugrad.VecDot": torch.matmul,
    "plugrad.VecDot/dot": torch.dot,
    "plugrad.VecDot/broadcast": T.vecdot,
    "plugrad.VecDot/axis": lambda x, y: (x * y[..., None, :, :] if y.ndim > 2 else x * y).sum(-2),
    "plugrad.VecDot/empty": T.vecdot,
    "plugrad.Cross": lambda x, y: T.cross(x, y.expand(x.shape)),
    "plugrad.Cross/axis": lambda x, y: T.cross(x, y, dim=0),
    "plugrad.Solve": solve,
    "plugrad.Solve/vector": lambda x, y: T.solve(regular(x), y[:, None])[..., 0],
    "plugrad.Solve/batch": solve,
    "plugrad.Inv": lambda x: T.inv(regular(x)),
    "plugrad.Inv/batch": lambda x: T.inv(regular(x)),
    "plugrad.Pinv": T.pinv,
    "plugrad.Pinv/wide, batch": T.pinv,
    "plugrad.Det": T.det,
    "plugrad.Det/batch": T.det,
    "plugrad.Cofactor": cofactor,
    "plugrad.SlogDet": lambda x: tuple(T.slogdet(regular(x))),
    "plugrad.SlogDet/batch": lambda x: tuple(T.slogdet(-regular(x))),
    "plugrad.Cholesky": lambda x: T.cholesky(definite(x)),
    "plugrad.Cholesky/upper": lambda x: T.cholesky(definite(x), upper=True),
    "plugrad.Qr": unsigned,
    "plugrad.Qr/square, batch": unsigned,
    "plugrad.Qr/wide": unsigned,
    "plugrad.Qr/complete": lambda x: unsigned(x, "complete"),
    "plugrad.Eigh": last,
    "plugrad.Eigh/batch": last,
    "plugrad.Eigh/values": lambda x: T.eigvalsh(symmetric(x)),
    "plugrad.Svd": first,
    "plugrad.Svd/wide, batch": first,
    "plugrad.Svd/values": T.svdvals,
    "plugrad.Svd/full": lambda x: T.svd(x)[1],
}
CASES = {c.name: c for c in (*linear.ROWS, *decompose.ROWS)}
#: At singular matrices PyTorch gives the gradient 0; tests/test_linalg.py compares with the cofactors.
WITHOUT = {"plugrad.Det/singular", "plugrad.Det/rank 1", "plugrad.Cofactor/singular"}


def test_every_case_has_its_row():
    assert set(CASES) - WITHOUT == set(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_values_and_gradients_are_pytorchs(name):
    c = CASES[name]
    arrays = [np.asarray(numbers(s, i), "float32") for i, s in enumerate(c.inputs)]
    arrays = [a if s.values is not None else a.reshape(s.shape) for a, s in zip(arrays, c.inputs, strict=True)]
    ours = [pg.tensor(a, requires_grad=True) for a in arrays]
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    ys, ts = (y if isinstance(y, tuple) else (y,) for y in (c.f(*ours), ROWS[name](*theirs)))
    gs = [np.random.default_rng(i).standard_normal(t.shape).astype("float32") for i, t in enumerate(ts)]
    for y, t in zip(ys, ts, strict=True):
        assert (y.dtype, y.shape) == (pg.float32, tuple(t.shape))
        np.testing.assert_allclose(y.detach().numpy(), t.detach().numpy(), rtol=2e-4, atol=2e-5)
    sum((y * pg.tensor(g)).sum() for y, g in zip(ys, gs, strict=True)).backward()
    sum((t * torch.tensor(g)).sum() for t, g in zip(ts, gs, strict=True)).backward()
    for x, t in zip(ours, theirs, strict=True):
        assert x.grad.dtype is pg.float32
        np.testing.assert_allclose(x.grad.numpy(), t.grad.numpy(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("iij->j", [(3, 3, 2)]),
        ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
        ("...i->i", [(2, 3, 4)]),
        ("ab,bc,cd->", [(2, 3), (3, 4), (4, 2)]),
        ("ij,jk->ik", [(2, 1), (3, 4)]),
    ],
)
def test_einsum_is_pytorchs(subscripts, shapes):
    arrays = [np.random.default_rng(i).standard_normal(s).astype("float32") for i, s in enumerate(shapes)]
    ours = [pg.tensor(a, requires_grad=True) for a in arrays]
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    y, t = pg.einsum(subscripts, *ours), torch.einsum(subscripts, *theirs)
    np.testing.assert_allclose(y.detach().numpy(), t.detach().numpy(), rtol=1e-5, atol=1e-5)
    (y * y).sum().backward()
    (t * t).sum().backward()
    for x, u in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(x.grad.numpy(), u.grad.numpy(), rtol=1e-4, atol=1e-4)
