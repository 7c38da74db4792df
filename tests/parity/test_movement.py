"""Movement, joining and indexing against PyTorch in float32: values, and gradients of a random weighting of the output.

Not here, for PyTorch does otherwise: numbers among advanced indices (it does not count them when it places axes), and
equal places in an assignment (it hands the gradient to values that were overwritten).
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import plugrad as pg
from plugrad.testing.cases import assign, index, join, scatter, shape, slices, tile, windows
from plugrad.testing.draw import numbers


def assigned(*key):
    """x[key] = v, where `...` in the key stands for the index."""

    def f(x, i, v):
        z = x.clone()
        z[tuple(i if k is ... else k for k in key)] = v
        return z

    return f


def put(key):
    def f(x, v):
        z = x.clone()
        z[key] = v
        return z

    return f


def added(*at):
    """Rows of x added at places of zeros with five numbers."""
    return lambda x: torch.zeros(5).index_put((torch.tensor(at),), x.reshape(-1), accumulate=True)


def spread(n, axis):
    """Slices of x added along an axis of size n."""

    def f(x, i):
        y = x.flatten(axis, axis + i.ndim - 1)
        return torch.zeros(*y.shape[:axis], n, *y.shape[axis + 1 :]).index_add(axis, i.flatten() % n, y)

    return f


def gathered(axis):
    return lambda x, i: torch.gather(x, axis, i % x.shape[axis])


#: name of the case → the same in PyTorch
ROWS = {
    "Reshape": lambda x: x.reshape(3, -1),
    "Reshape/empty": lambda x: x.reshape(0, 3),
    "Reshape/to 0-d": lambda x: x.reshape(()),
    "Reshape/view": lambda x: x.view(6),
    "Reshape/flatten": lambda x: x.flatten(1, -2),
    "Reshape/unflatten": lambda x: x.unflatten(-1, (3, -1)),
    "Reshape/squeeze": torch.squeeze,
    "Reshape/squeeze axes": lambda x: x.squeeze((-1, 0)),
    "Reshape/expand_dims": lambda x: x.unsqueeze(-1),
    "Reshape/expand_dims axes": lambda x: x[None, :, None],
    "Permute": lambda x: x.permute(2, 0, 1),
    "Permute/negative axes": lambda x: x.permute(-1, 0, -2),
    "Permute/transpose": lambda x: x.transpose(0, -1),
    "Permute/swapaxes": lambda x: x.swapaxes(1, 2),
    "Permute/moveaxis": lambda x: x.moveaxis((0, -1), (-1, 0)),
    "Permute/matrix_transpose": lambda x: x.mT,
    "Expand": lambda x: x.expand(5, -1, 3),
    "Expand/broadcast_to": lambda x: x.broadcast_to(2, 3),
    "Expand/to nothing": lambda x: x.broadcast_to(2, 0),
    "Expand/broadcast_arrays": torch.broadcast_tensors,
    "SumTo": lambda x: x.sum_to_size(3, 1),
    "SumTo/to 0-d": torch.sum,
    "SumTo/same shape": lambda x: x.sum_to_size(2, 3),
    "SumTo/empty": lambda x: x.sum_to_size(1, 3),
    "Slice": lambda x: x[1],
    "Slice/numbers and slices": lambda x: x[-1, 1:, 2],
    "Slice/negative steps": lambda x: x.flip(0, 1)[::2, 1:4],
    "Slice/stepped twice": lambda x: x[1:5:3][1:],
    "Slice/nothing": lambda x: x[2:2:2],
    "Slice/new axis": lambda x: x[..., None, -1],
    "Slice/0-d": lambda x: x[()],
    "Slice/diagonal": torch.diagonal,
    "Slice/diagonal of axes": lambda x: x.diagonal(1, -1, 0),
    "Slice/diagonal below": lambda x: x.diagonal(-2),
    "Slice/diagonal outside": lambda x: x.diagonal(3),
    "Place": lambda x: put((torch.tensor([1, 0]), 2))(torch.zeros(3, 4), x),
    "Place/dilate": lambda x: put((slice(None), slice(None, None, 3)))(torch.zeros(2, 7), x),
    "Place/pad": lambda x: F.pad(x, (0, 3, 1, 2), value=1.5),
    "Place/pad by less than nothing": lambda x: F.pad(x, (1, -2, -1, 2)),
    "Assign": put(1),
    "Assign/0-d value": put((torch.tensor([2, 0]), 0)),
    "Assign/broadcast": put((..., slice(1, 3))),
    "Assign/new axis": put((slice(None), None)),
    "Assign/leading ones": put(0),
    "Flip": lambda x: x.flip(0, 1),
    "Flip/axis": lambda x: x.flip(-1),
    "Flip/axes": lambda x: x.flip(0, 2),
    "AsStrided": lambda x: x.as_strided((3, 2), (1, 2), 1),
    "AsStrided/0-d": lambda x: x.as_strided((), (), 2),
    "AsStrided/empty": lambda x: x.as_strided((0, 3), (1, 1)),
    "AddStrided": added(1, 2, 3, 2, 3, 4),
    "Unfold": lambda x: x.unfold(0, 3, 1),
    "Unfold/step": lambda x: x.unfold(-2, 2, 3),
    "Fold": lambda x: F.fold(x.mT, (1, 4), (1, 2)).reshape(2, 4),
    "Fold/gaps": lambda x: put((torch.tensor([0, 1, 3, 4]),))(torch.zeros(6), x.reshape(-1)),
    "Band": torch.tril,
    "Band/tril below": lambda x: x.tril(-1),
    "Band/triu": torch.triu,
    "Band/triu above": lambda x: x.triu(2),
    "Band/empty": torch.tril,
    "Concat": lambda *xs: torch.cat(xs),
    "Concat/axis": lambda *xs: torch.cat(xs, -1),
    "Concat/flattened": lambda x, y: torch.cat([x.flatten(), y.flatten()]),
    "Concat/one": lambda x: torch.cat([x]),
    "Concat/the same twice": lambda x: torch.cat([x, x]),
    "Concat/floats and integers": lambda *xs: torch.cat(xs),
    "Stack": lambda *xs: torch.stack(xs),
    "Stack/axis": lambda *xs: torch.stack(xs, -1),
    "Stack/0-d": lambda *xs: torch.stack(xs),
    "Split": lambda x: x.split(2),
    "Split/sizes": lambda x: x.split((1, 0, 2), -1),
    "Split/chunk": lambda x: x.chunk(3, 1),
    "Split/one part used": lambda x: x.split((2, 3))[1],
    "Unstack": torch.unbind,
    "Unstack/axis": lambda x: x.unbind(-1),
    "Unstack/one slice used": lambda x: x.unbind()[1],
    "Tile": lambda x: x.tile(2, 3),
    "Tile/fewer": lambda x: x.tile(2),
    "Tile/more": lambda x: x.repeat(2, 1, 3),
    "Tile/none": lambda x: x.repeat(0, 2),
    "Tile/repeat": lambda x: x.repeat_interleave(3, -1),
    "Tile/repeat flattened": lambda x: x.repeat_interleave(2),
    "Roll": lambda x: x.roll(1, 0),
    "Roll/axes": lambda x: x.roll((-2, 7), (-1, 0)),
    "Roll/flattened": lambda x: x.roll(4),
    "Roll/empty": lambda x: x.roll(1, 1),
    "Take": lambda x, i: x[i],
    "Take/index of two axes": lambda x, i: x[i],
    "Take/0-d index": lambda x, i: x[i],
    "Take/no index": lambda x, i: x[i],
    "Take/between slices": lambda x, i: x[:, i].flip(-1),
    "Take/pairs": lambda x, i, j: x[i, j],
    "Take/grid": lambda x, i, j: x[:, i, j],
    "Take/apart": lambda x, i, j: x[i, :, j],
    "Take/mask": lambda x, m: x[m],
    "Take/mask of one axis": lambda x, m: x[:, m],
    "Take/mask and index": lambda x, m, i: x[m, i],
    "Take/mask of no axis": lambda x, m: x[m],
    "Take/take": lambda x: x[:, [2, 0, 2]],
    "Take/take flattened": lambda x, i: x.take(i),
    "Take/repeat by counts": lambda x: x.repeat_interleave(torch.tensor([0, 2, 1]), 0),
    "Take/pad reflect": lambda x: F.pad(x[None], (2, 0, 1, 2), "reflect")[0],
    "Take/pad replicate": lambda x: F.pad(x[None], (1, 0, 0, 2), "replicate")[0][:, :3],
    "Take/gather": gathered(0),
    "Take/gather along the last": gathered(-1),
    "Take/take_along_axis": lambda x, i: torch.take_along_dim(x, i % 3, -1),
    "Take/take_along_axis broadcast": lambda x, i: torch.take_along_dim(x, i, 0),
    "Take/masked_select": torch.masked_select,
    "Spread": spread(3, 0),
    "Spread/axis": spread(5, 1),
    "Spread/empty": spread(2, 0),
    "Put": assigned(...),
    "Put/axis": assigned(slice(None), ...),
    "Put/mask": assigned(...),
    "Put/scatter": lambda x, i, v: x.scatter(1, i % 3, v),
    "PutAdd": lambda x, i, v: x.scatter_add(1, i % 3, v),
    "PutAdd/part": lambda x, i, v: x.scatter_add(0, i, v[:2, :1]),
    "IndexAdd": lambda x, i, v: x.index_add(0, i % 3, v),
    "IndexAdd/axis": lambda x, i, v: x.index_add(-1, i, v),
    "IndexAdd/empty": lambda x, i, v: x.index_add(0, i, v),
    "OneHot": F.one_hot,
    "OneHot/size": lambda x: F.one_hot(x, 5),
}

CASES = {
    c.name.removeprefix("plugrad."): c
    for m in (shape, slices, windows, join, tile, index, assign, scatter)
    for c in m.ROWS
}


def arrays(case):
    kinds = {"float": np.float32, "int": np.int64, "bool": np.bool_}
    made = [np.array(numbers(s, i), kinds[s.kind]) for i, s in enumerate(case.inputs)]
    return [a if s.values is not None else a.reshape(s.shape) for a, s in zip(made, case.inputs, strict=True)]


def outputs(z):
    return list(z) if isinstance(z, (tuple, list)) else [z]


@pytest.mark.parametrize("name", ROWS)
def test_values_and_gradients_are_pytorchs(name):
    case = CASES[name]
    data = arrays(case)
    floating = [a.dtype.kind == "f" and case.order > 0 for a in data]
    xs = [pg.tensor(a, requires_grad=f) for a, f in zip(data, floating, strict=True)]
    ts = [torch.tensor(a, requires_grad=f) for a, f in zip(data, floating, strict=True)]
    zs, ws = outputs(case.f(*xs)), outputs(ROWS[name](*ts))
    assert [z.shape for z in zs] == [tuple(w.shape) for w in ws]
    assert [str(z.dtype) for z in zs] == [str(w.dtype).removeprefix("torch.") for w in ws]
    for z, w in zip(zs, ws, strict=True):
        np.testing.assert_allclose(z.detach().numpy(), w.detach().numpy(), rtol=1e-6)
    if any(floating):
        weights = [np.random.default_rng(7).standard_normal(z.shape).astype(np.float32) for z in zs]
        mine = pg.grad(zs, [x for x in xs if x.requires_grad], [pg.tensor(v) for v in weights])
        theirs = torch.autograd.grad(ws, [t for t in ts if t.requires_grad], [torch.tensor(v) for v in weights])
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6, atol=1e-6)


def test_every_row_of_the_table_is_a_case():
    assert ROWS.keys() <= CASES.keys()
