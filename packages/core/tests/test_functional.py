"""vjp, jvp, jacobian, hessian, hvp against closed forms."""

import pytest

import plugrad as pg
from plugrad.errors import ShapeError


def vec(*values):
    return pg.tensor(list(values), dtype="float64")


def cubic(x):
    return (x * x * x).sum()


def test_vjp_and_jvp():
    x, v = vec(1.0, 2.0), vec(10.0, 1.0)
    y, g = pg.vjp(lambda x: x * x, x, v)
    assert y.tolist() == [1.0, 4.0]
    assert g.tolist() == [20.0, 4.0]
    assert not y.requires_grad
    y, d = pg.jvp(lambda x: x * x * x, x, v)
    assert d.tolist() == [30.0, 12.0]
    y, g = pg.vjp(cubic, x)
    assert g.tolist() == [3.0, 12.0]


def test_several_inputs_and_outputs():
    x, y = vec(1.0, 2.0), vec(3.0)
    _, (gx, gy) = pg.vjp(lambda x, y: (x * y, y * y), (x, y), (vec(1.0, 1.0), vec(2.0)))
    assert gx.tolist() == [3.0, 3.0]
    assert gy.tolist() == [15.0]
    _, (da, db) = pg.jvp(lambda x, y: (x * y, y * y), (x, y), (vec(1.0, 0.0), vec(1.0)))
    assert da.tolist() == [4.0, 2.0]
    assert db.tolist() == [6.0]


def test_what_does_not_depend_gives_zeros():
    x, y = vec(1.0, 2.0), vec(3.0)
    assert pg.vjp(lambda x, y: x * 2.0, (x, y), vec(1.0, 1.0))[1][1].tolist() == [0.0]
    assert pg.jvp(lambda x: pg.ones_like(x), x, x)[1].tolist() == [0.0, 0.0]
    assert pg.hessian(lambda x: x.sum(), x).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert pg.hvp(lambda x: x.sum(), x, x)[1].tolist() == [0.0, 0.0]


def test_jacobian():
    x = vec(1.0, 2.0, 3.0)
    j = pg.jacobian(lambda x: pg.stack([x.sum(), (x * x).sum()]), x)
    assert j.tolist() == [[1.0, 1.0, 1.0], [2.0, 4.0, 6.0]]
    w = pg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype="float64")
    jx, jw = pg.jacobian(lambda x, w: w @ x, (x, w))
    assert jx.tolist() == w.tolist()
    assert jw.shape == (2, 2, 3)
    assert jw[0].tolist() == [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]


def test_hessian_and_hvp():
    x, v = vec(1.0, 2.0), vec(1.0, 10.0)
    assert pg.hessian(cubic, x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    y, h = pg.hvp(cubic, x, v)
    assert y.item() == 9.0
    assert h.tolist() == [6.0, 120.0]
    ((hxx, hxy), (hyx, hyy)) = pg.hessian(lambda x, y: (x * x).sum() * y.sum(), (x, vec(3.0)))
    assert hxx.tolist() == [[6.0, 0.0], [0.0, 6.0]]
    assert hxy.tolist() == [[2.0], [4.0]]
    assert hyx.tolist() == [[2.0, 4.0]]
    assert hyy.tolist() == [[0.0]]


def test_create_graph_lets_gradients_through():
    x = vec(2.0).requires_grad_()
    _, g = pg.vjp(cubic, x, create_graph=True)
    g.sum().backward()
    assert x.grad.tolist() == [12.0]


def test_wrong_directions_are_named():
    with pytest.raises(ShapeError, match=r"jvp: v needs the shapes \[\(2,\)\]"):
        pg.jvp(cubic, vec(1.0, 2.0), vec(1.0))
    with pytest.raises(ShapeError, match="hessian: f must return one number"):
        pg.hessian(lambda x: x, vec(1.0, 2.0))


def test_inside_no_grad_too():
    with pg.no_grad():
        assert pg.vjp(cubic, vec(2.0))[1].tolist() == [12.0]
