"""Movement: what it gives, what it refuses, and that assigning to a view is refused."""

from __future__ import annotations

import pytest

import plugrad as pg
from plugrad.errors import AxisError, InPlaceError, ShapeError


def counted(*shape):
    n = 1
    for k in shape:
        n *= k
    return pg.arange(n).reshape(shape).clone()


def test_shapes_are_worked_out():
    x = counted(2, 3, 4)
    assert x.reshape(-1).shape == (24,)
    assert x.reshape(4, -1, 3).shape == x.view((4, -1, 3)).shape == (4, 2, 3)
    assert pg.reshape(x, shape=(6, 4)).shape == (6, 4)
    assert x.flatten(1).shape == (2, 12)
    assert x.flatten(0, -2).shape == (6, 4)
    assert pg.tensor(1.0).flatten().shape == (1,)
    assert x.unflatten(2, (2, -1)).shape == (2, 3, 2, 2)
    assert x.unsqueeze(-1).squeeze(-1).shape == x.shape
    assert pg.expand_dims(x, (0, -1)).shape == (1, 2, 3, 4, 1)
    assert pg.zeros(1, 3, 1).squeeze().shape == (3,)
    assert pg.zeros(0, 3).reshape(3, 0, 5).shape == (3, 0, 5)


def test_orders_of_axes():
    x = counted(2, 3, 4)
    assert x.permute(2, 0, 1).shape == pg.permute_dims(x, axes=(2, 0, 1)).shape == (4, 2, 3)
    assert x.transpose(0, -1)[3, 2, 1].item() == x[1, 2, 3].item()
    assert x.mT.shape == (2, 4, 3)
    assert x.moveaxis(0, -1).shape == (3, 4, 2)
    assert pg.moveaxis(x, (0, 1), (-1, 0)).shape == (3, 4, 2)


def test_broadcasting():
    assert pg.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    assert pg.broadcast_shapes() == ()
    assert pg.broadcast_shapes((0, 1), (1, 4)) == (0, 4)
    a, b = pg.broadcast_arrays(counted(2, 1), counted(3))
    assert (a.tolist(), b.tolist()) == ([[0] * 3, [1] * 3], [[0, 1, 2]] * 2)
    assert pg.tensor([1, 2]).expand(3, -1).tolist() == [[1, 2]] * 3
    assert pg.sum_to(counted(2, 3), (3,)).tolist() == [3, 5, 7]


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: x.reshape(4, -1), r"reshape: \(2, 3\) holds 6 numbers, which do not fill \(4, -1\)"),
        (lambda x: x.view(-1, -1), r"view: \(-1, -1\) leaves more than one answer"),
        (lambda x: x[:0].reshape(0, -1), r"reshape: \(0, -1\) leaves more than one answer"),
        (lambda x: x.unflatten(1, (2, -1)), r"unflatten: \(3,\) holds 3 numbers"),
        (lambda x: x.squeeze(0), r"squeeze: axis 0 of shape \(2, 3\) has size 2"),
        (lambda x: x.expand(2), r"expand: shape \(2, 3\) does not stretch to \(2,\)"),
        (lambda x: x.broadcast_to((2, 4)), r"broadcast_to: shape \(2, 3\)"),
        (lambda x: pg.broadcast_shapes(x.shape, (4,)), r"axis -1 has sizes 3 and 4"),
        (lambda x: x.permute(0), r"permute: \(0,\) names 1 axes"),
        (lambda x: x[0].mT, r"matrix_transpose: shape \(3,\)"),
        (lambda x: x.flatten(1, 0), r"flatten: start 1 is behind end 0"),
        (lambda x: x.moveaxis((0, 1), 0), r"moveaxis: 2 axes"),
    ],
)
def test_what_does_not_fit_is_said(f, words):
    with pytest.raises(ShapeError, match=words):
        f(counted(2, 3))


@pytest.mark.parametrize("f", [lambda x: x.transpose(0, 2), lambda x: x.permute(0, 0), lambda x: x.unsqueeze(4)])
def test_axes_are_checked(f):
    with pytest.raises(AxisError):
        f(counted(2, 3))


VIEWS = {
    "reshape": lambda x: x.reshape(-1),
    "view": lambda x: x.view(6),
    "flatten": lambda x: x.flatten(),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "mT": lambda x: x.mT,
    "permute": lambda x: x.permute(1, 0),
    "expand": lambda x: x.expand(1, 2, 3),
    "slice": lambda x: x[0],
    "whole slice": lambda x: x[:],
    "0-d index": lambda x: x[pg.tensor(0)],
    "diagonal": lambda x: x.diagonal(),
    "unfold": lambda x: x.unfold(1, 2),
    "as_strided": lambda x: x.as_strided((3,), (1,)),
    "split": lambda x: x.split(1)[0],
    "chunk": lambda x: x.chunk(2)[1],
    "unstack": lambda x: x.unstack()[0],
}
OWN = {
    "clone": lambda x: x.mT.clone(),
    "reshape copy": lambda x: pg.reshape(x, -1, copy=True),
    "index": lambda x: x[pg.tensor([0, 1])],
    "mask": lambda x: x[x > 1],
    "flip": lambda x: x.flip(0),
    "roll": lambda x: x.roll(1),
    "tile": lambda x: x.tile(2),
    "repeat": lambda x: x.repeat(2),
    "concat": lambda x: pg.concat([x]),
    "stack": lambda x: pg.stack([x]),
    "pad": lambda x: x.pad(1),
    "pad replicate": lambda x: x.pad(0, "replicate"),
    "tril": lambda x: x.tril(),
    "take": lambda x: x.take(pg.tensor([0]), axis=1),
    "gather": lambda x: x.gather(0, pg.tensor([[0]])),
    "scatter": lambda x: x.scatter(0, pg.tensor([[0]]), 5),
    "setitem": lambda x: pg.ops.setitem(x, pg.tensor([0]), 5),
}


@pytest.mark.parametrize("name", VIEWS)
def test_assigning_to_a_view_is_refused_with_the_way_out(name):
    x = counted(2, 3)
    view = VIEWS[name](x)
    with pytest.raises(InPlaceError, match="lost on the tensor behind it"):
        view[0] = 9
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("name", OWN)
def test_what_is_a_value_of_its_own_may_be_assigned_to(name):
    x = counted(2, 3)
    own = OWN[name](x)
    own[0] = 9
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert 9 in own
