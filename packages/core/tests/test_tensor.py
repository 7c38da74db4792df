"""The tensor as an object: protocols, conversions, printing, copying."""

import copy
import pickle

import pytest

import plugrad as pg
from plugrad.errors import DTypeError, GraphError, ShapeError


def test_what_it_is():
    x = pg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert (x.shape, x.ndim, x.size, x.numel(), x.nbytes, len(x)) == ((2, 3), 2, 6, 6, 24, 2)
    assert x.dtype is pg.float32
    assert x.device is pg.device()
    assert x.T.tolist() == x.mT.tolist() == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]


def test_tensors_are_not_made_by_calling_the_class():
    with pytest.raises(TypeError, match=r"pg\.tensor"):
        pg.Tensor([1.0])


def test_numbers_out():
    x = pg.tensor([[2.5]])
    assert x.item() == float(x) == 2.5
    assert int(x) == 2
    assert complex(x) == 2.5 + 0j
    assert bool(x) is True
    assert [10, 20, 30][pg.tensor(1)] == 20
    for call in (lambda: pg.ones(2).item(), lambda: float(pg.ones(2)), lambda: bool(pg.ones(2))):
        with pytest.raises(ShapeError, match=r"\(2,\)"):
            call()
    for wrong in (pg.tensor(1.0), pg.tensor([1])):
        with pytest.raises(TypeError, match="index"):
            [10, 20][wrong]


def test_iteration_and_membership():
    x = pg.tensor([[1, 2], [3, 4]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    assert 3 in x
    assert 7 not in x
    _, b = x
    assert b.tolist() == [3, 4]
    for call in (len, iter):
        with pytest.raises(TypeError, match="0-d"):
            call(pg.tensor(1.0))


def test_comparison_and_hash():
    x = pg.tensor([1.0, 2.0])
    assert (x == 1.0).tolist() == [True, False]
    assert (x != x).tolist() == [False, False]
    assert (x == None) is False  # noqa: E711
    assert {x: 1}[x] == 1


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: pg.tensor([1.0, -2.5, 0.25]), "[ 1.0000, -2.5000,  0.2500]"),
        (lambda: pg.tensor([1.0, 20.0]), "[ 1., 20.]"),
        (lambda: pg.tensor([[1, 20], [300, 4]]), "[[  1,  20],\n        [300,   4]]"),
        (lambda: pg.tensor([True, False]), "[ True, False]"),
        (lambda: pg.tensor([float("nan"), float("-inf"), 1.5]), "[   nan,   -inf, 1.5000]"),
        (lambda: pg.tensor(3.0), "3."),
        (lambda: pg.tensor([1e-10, 1.0]), "[1.0000e-10, 1.0000e+00]"),
        (lambda: pg.zeros(0), "[]"),
        (lambda: pg.zeros(2, 0), "[[], []], shape=(2, 0)"),
        (lambda: pg.arange(2000), "[   0,    1,    2, ..., 1997, 1998, 1999]"),
    ],
)
def test_repr(make, text):
    x = make()
    got = repr(x).replace("],\n        []", "], []")
    assert got == f"tensor({text}, device={str(x.device)!r})"


def test_repr_says_what_is_unusual():
    x = pg.tensor([1.0], dtype="float64", requires_grad=True)
    assert repr(x) == f"tensor([1.], dtype=float64, device={str(x.device)!r}, requires_grad=True)"
    assert "made by mul" in repr(x * 2.0)


def test_repr_of_large_tensors_is_short():
    text = repr(pg.zeros(40, 50))
    assert len(text.splitlines()) == 7
    assert "..." in text


def test_format():
    assert f"{pg.tensor(2.34567):.2f}" == "2.35"
    assert f"{pg.tensor([1.0])}".startswith("tensor(")


def test_copies():
    x = pg.tensor([1.0, 2.0], requires_grad=True)
    (x * 3.0).sum().backward()
    y = copy.deepcopy(x)
    assert y.tolist() == [1.0, 2.0]
    assert y.requires_grad
    assert y.grad.tolist() == [3.0, 3.0]
    with pg.no_grad():
        y += 1.0
        y.grad *= 0.0
    assert x.tolist() == [1.0, 2.0]
    assert x.grad.tolist() == [3.0, 3.0]
    a, b = copy.deepcopy([x, x])
    assert a is b
    assert copy.copy(x).node is x.node
    with pytest.raises(GraphError, match="made by an op"):
        copy.deepcopy(x * 2.0)


def test_pickling():
    for x in (pg.tensor([1.5, -2.0], requires_grad=True), pg.tensor([[1], [2]]), pg.zeros(2, 0), pg.tensor(True)):
        y = pickle.loads(pickle.dumps(x))
        assert y.tolist() == x.tolist()
        assert (y.shape, y.dtype, y.device, y.requires_grad) == (x.shape, x.dtype, x.device, x.requires_grad)
    with pytest.raises(GraphError, match="detach"):
        pickle.dumps(pg.ones(2, requires_grad=True) * 2.0)


def test_casts_and_moves():
    x = pg.tensor([1.6, -1.6], requires_grad=True)
    assert x.astype("int64").tolist() == [1, -1]
    assert x.to(pg.float64).dtype == x.to("float64").dtype == x.to(dtype="float64").dtype == pg.float64
    assert x.to(str(x.device)) is x
    assert x.to(x.device, "float32") is x
    assert x.to(pg.zeros(1, dtype="float64")).dtype == "float64"
    assert x.cpu().device is pg.device("cpu")
    x.to("float64").sum().backward()
    assert x.grad.dtype == "float32"
    with pytest.raises(DTypeError, match="float33"):
        x.astype("float33")


def test_clone_and_detach():
    x = pg.tensor([1.0, 2.0], requires_grad=True)
    (x.clone() * 2.0).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert not x.detach().requires_grad


def test_leaving_with_a_gradient_is_refused():
    x = pg.tensor([1.0], requires_grad=True)
    for call in (x.__array__, x.__dlpack__):
        with pytest.raises(GraphError, match=r"x\.detach\(\)"):
            call()


def test_errors_name_op_shapes_and_module():
    from plugrad.context import switch

    with (
        pytest.raises(ShapeError, match=r"add in net\.3: shapes \(2,\) and \(3,\) do not fit: axis -1"),
        switch(path=("net", "3")),
    ):
        pg.ones(2) + pg.ones(3)


def test_two_classes_of_tensor_meet():
    class Parameter(pg.Tensor):
        __slots__ = ()

    x = pg.tensor([1.0, 2.0])
    p = object.__new__(Parameter)
    p.data, p.device, p.node = x.data, x.device, None
    p.requires_grad_()
    y = p * x
    assert type(y) is pg.Tensor
    y.sum().backward()
    assert p.grad.tolist() == [1.0, 2.0]
    assert type(copy.deepcopy(p)) is Parameter


def test_array_namespace():
    assert pg.ones(1).__array_namespace__() is pg.array_api
    with pytest.raises(ValueError, match="follows 2024"):
        pg.ones(1).__array_namespace__(api_version="1999.01")
