"""Where tensors come from: kinds, shapes, copies, errors."""

import pytest

import plugrad as pg
from plugrad.errors import DeviceError, DTypeError, GraphError, ShapeError


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (True, "bool", ()),
        (3, "int64", ()),
        (2.5, "float32", ()),
        ([1, 2.5], "float32", (2,)),
        ([True, 2], "int64", (2,)),
        ([[1], [2], [3]], "int64", (3, 1)),
        ((1.0, 2.0), "float32", (2,)),
        (range(3), "int64", (3,)),
        ([], "float32", (0,)),
        ([[], []], "float32", (2, 0)),
    ],
)
def test_numbers_and_lists(data, dtype, shape):
    x = pg.tensor(data)
    assert x.dtype == dtype
    assert x.shape == shape


def test_values_arrive():
    assert pg.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert pg.tensor(True).item() is True
    assert pg.tensor([0.1], dtype="float64").item() == 0.1
    assert pg.tensor([float("inf"), float("-inf")]).tolist() == [float("inf"), float("-inf")]
    assert pg.tensor([pg.tensor(1.0), 2]).tolist() == [1.0, 2.0]


def test_what_is_no_grid_of_numbers_is_refused():
    with pytest.raises(ShapeError, match=r"row 0 has shape \(2,\), row 1 has shape \(3,\)"):
        pg.tensor([[1, 2], [1, 2, 3]])
    with pytest.raises(ShapeError, match=r"row 1 has shape \(\)"):
        pg.tensor([[1, 2], 3])
    for wrong in ("12", {"a": 1}, None, [None], ["a"], 1j, object()):
        with pytest.raises(DTypeError):
            pg.tensor(wrong)
    with pytest.raises(GraphError, match=r"pg\.stack"):
        pg.tensor([pg.ones(2, requires_grad=True), pg.ones(2)])


def test_a_tensor_of_a_tensor_is_a_copy_without_a_way_back():
    x = pg.tensor([1.0, 2.0], requires_grad=True)
    y = pg.tensor(x)
    assert y is not x
    assert not y.requires_grad
    assert pg.tensor(x, dtype="float64").dtype == "float64"
    assert pg.tensor(x, requires_grad=True).is_leaf


def test_asarray():
    x = pg.tensor([1.0, 2.0], requires_grad=True)
    assert pg.asarray(x) is x
    assert pg.asarray(x, copy=True) is not x
    assert pg.asarray(x, copy=True).requires_grad
    assert pg.asarray(x, dtype="float64").dtype == "float64"
    with pytest.raises(DeviceError, match="copy=False"):
        pg.asarray(x, dtype="float64", copy=False)
    assert pg.asarray([1, 2]).tolist() == [1, 2]


@pytest.mark.parametrize("make", [pg.zeros, pg.ones, pg.empty])
def test_shapes_may_be_given_either_way(make):
    assert make(2, 3).shape == make((2, 3)).shape == make([2, 3]).shape == (2, 3)
    assert make(4).shape == (4,)
    assert make(()).shape == make().shape == ()
    assert make(2, 0, dtype="int64").dtype == "int64"
    with pytest.raises(ShapeError, match="-1"):
        make(-1)
    with pytest.raises(TypeError):
        make(2.0)


def test_patterns():
    assert pg.full((2,), 7.0).tolist() == [7.0, 7.0]
    assert pg.full((), True).dtype == "bool"
    assert pg.full((1,), 3, dtype="float64").dtype == "float64"
    assert pg.arange(4).tolist() == [0, 1, 2, 3]
    assert pg.arange(1, 7, 2).tolist() == [1, 3, 5]
    assert pg.arange(3, 0, -1).tolist() == [3, 2, 1]
    assert pg.arange(0.0, 1.0, 0.25).dtype == "float32"
    assert pg.linspace(0.0, 1.0, 5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert pg.linspace(0.0, 1.0, 4, endpoint=False).tolist() == [0.0, 0.25, 0.5, 0.75]
    assert pg.linspace(2.0, 3.0, 1).tolist() == [2.0]
    assert pg.eye(2, 3).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert pg.eye(2, k=1).tolist() == [[0.0, 1.0], [0.0, 0.0]]


def test_likes():
    x = pg.tensor([[1, 2, 3]], dtype="float64")
    for make, value in [(pg.zeros_like, 0.0), (pg.ones_like, 1.0), (pg.empty_like, 0.0)]:
        assert make(x).tolist() == [[value] * 3]
        assert make(x).dtype == "float64"
        assert make(x, dtype="int64").dtype == "int64"
    assert pg.full_like(x, 5).tolist() == [[5.0] * 3]
    assert x.new_zeros(2).dtype == "float64"
    assert x.new_ones((1, 2), dtype="int64").tolist() == [[1, 1]]


def test_requires_grad():
    for x in (pg.zeros(2, requires_grad=True), pg.rand(2, requires_grad=True), pg.tensor(1.0, requires_grad=True)):
        assert x.requires_grad
        assert x.is_leaf
    with pytest.raises(DTypeError, match="int64"):
        pg.arange(3, requires_grad=True)


def test_unknown_devices_are_refused():
    with pytest.raises(LookupError, match="no plugin 'tpu'"):
        pg.zeros(2, device="tpu")
    with pytest.raises(DeviceError, match="there are 1"):
        pg.zeros(2, device=f"{pg.device()}:7")
    with pytest.raises(DeviceError, match="'cuda:1'"):
        pg.device("numpy:x")


def test_mistakes_are_answered_in_words():
    for f, told in (
        (lambda: pg.full((2,)), r"full: fill_value is missing: pg\.full\(\(2,\), 0\.0\)"),
        (lambda: pg.full(2, "a"), "full: 'a' is no number"),
        (lambda: pg.zeros(2.5), r"zeros: size 2\.5 is no whole number"),
        (lambda: pg.zeros("a"), "zeros: size 'a' is no whole number"),
        (lambda: pg.rand((2, None)), "rand: size None is no whole number"),
        (lambda: pg.full((2,), 300, dtype="uint8"), "full: 300 to 300 do not fit uint8"),
        (lambda: pg.linspace(0, 1, 2.5), r"linspace: num 2\.5 is no whole number"),
        (lambda: pg.eye(2.5), r"eye: size 2\.5 is no whole number"),
        (lambda: pg.tensor([2**63]), "tensor: 9223372036854775808 does not fit int64; dtype='uint64' or a float"),
        (lambda: pg.tensor([[1], [-300]], dtype="uint8"), "tensor: -300 does not fit uint8; use a wider dtype"),
        (lambda: pg.arange("3"), "arange: '3' is no number"),
        (lambda: pg.arange(300, dtype="uint8"), "arange: 0 to 299 do not fit uint8, which holds 0 to 255"),
    ):
        with pytest.raises(DTypeError, match=told):
            f()
    with pytest.raises(ValueError, match="arange: step is 0, and 5 is never reached"):
        pg.arange(0, 5, 0)


def test_from_dlpack_keeps_gradients_from_being_lost():
    with pytest.raises(GraphError, match="detach"):
        pg.from_dlpack(pg.ones(1, requires_grad=True))


def test_ranges_of_tensors():
    assert pg.arange(pg.tensor(3)).dtype == "int64"
    assert pg.arange(pg.tensor(3.0)).dtype == "float32"
    assert pg.arange(5, 0, pg.tensor(-2)).tolist() == [5, 3, 1]
