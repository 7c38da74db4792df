"""Numbers come in and go out unharmed, in memory of their own."""

from __future__ import annotations

import copy
import pickle
import warnings
from array import array

import numpy as np
import pytest

import plugrad as pg
from plugrad.errors import DTypeError

DTYPES = [
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
]  # fmt: skip
device = pg.device("numpy")


@pytest.fixture(autouse=True)
def strict():
    """Any warning is an error here, whoever runs this file."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_comes_in_and_goes_out(name):
    host = np.array([[0, 1, 1], [1, 0, 1]]).astype(name)
    x = pg.tensor(host, device=device)
    assert x.dtype == name
    assert x.tolist() == host.tolist()
    assert x.numpy().dtype == host.dtype


@pytest.mark.parametrize("name", [n for n in DTYPES if np.dtype(n).itemsize > 1])
@pytest.mark.parametrize("order", "<>")
def test_byte_order_is_made_native(name, order):
    host = np.array([1, 2, 3]).astype(np.dtype(name).newbyteorder(order))
    x = pg.tensor(host, device=device)
    assert x.data.dtype.isnative
    assert (x + 0).tolist() == host.tolist()


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.T, lambda a: a[::-1], lambda a: a[:, ::2], lambda a: a[:, ::-3], lambda a: a[1:1],
        lambda a: np.broadcast_to(a[0], (4, 7)), np.asfortranarray, lambda a: a[2, 3], lambda a: a.view(np.matrix),
    ],
)  # fmt: skip
def test_any_strides_are_copied_in_order(view):
    host = view(np.arange(35.0).reshape(5, 7))
    x = pg.tensor(host, device=device)
    assert type(x.data) is np.ndarray
    assert x.data.flags.c_contiguous
    assert not np.shares_memory(x.data, host)
    assert x.tolist() == host.tolist()


def test_nothing_is_shared_with_the_caller():
    host = np.ones(3)
    x = pg.tensor(host, device=device)
    out = x.numpy()
    host[0], out[1] = 7, 8
    assert x.tolist() == [1, 1, 1]
    inside = pg.asarray(host, device=device)
    host[0] = 9
    assert inside.tolist() == [7, 1, 1]


def test_read_only_inputs_are_welcome():
    host = np.arange(3.0)
    host.flags.writeable = False
    x = pg.tensor(host, device=device, requires_grad=True)
    y = pg.asarray(host, device=device, copy=False)
    (x * y).sum().backward()
    assert x.grad.tolist() == [0, 1, 2]
    y += 1
    assert host.tolist() == [0, 1, 2]


def test_buffers_and_scalars():
    assert pg.tensor(memoryview(array("d", [1.5, 2.5])), device=device).tolist() == [1.5, 2.5]
    assert pg.tensor(np.float32(1.5), device=device).dtype is pg.float32
    assert pg.tensor([np.int8(3), 4], device=device).tolist() == [3, 4]


def test_what_does_not_fit_float32_is_infinite_without_a_warning():
    assert pg.tensor([1e300, -1e300], device=device).tolist() == [float("inf"), float("-inf")]
    assert pg.tensor([1e300], dtype="float64", device=device).astype("float32").item() == float("inf")


def test_integers_that_do_not_fit_are_refused():
    with pytest.raises(DTypeError, match="300 does not fit uint8; use a wider dtype"):
        pg.tensor([300], dtype="uint8", device=device)


def test_a_mask_is_not_lost_in_silence():
    masked = np.ma.masked_array([1.0, 2.0], mask=[True, False])
    for how in (pg.tensor, pg.asarray, lambda a, device: pg.asarray(a, device=device, copy=False)):
        with pytest.raises(TypeError, match="filled"):
            how(masked, device=device)


def test_sharing_is_real_and_refused_where_it_cannot_be():
    host = np.arange(4.0)
    x = pg.asarray(host, device=device, copy=False)
    assert np.shares_memory(x.data, host)
    buffer = array("f", [1, 2])
    assert pg.asarray(buffer, device=device, copy=False).tolist() == [1, 2]
    with pytest.raises(ValueError, match="copy"):
        pg.asarray([1.0, 2.0], device=device, copy=False)
    with pytest.raises(ValueError, match="byte order"):
        pg.asarray(host.astype(">f8"), device=device, copy=False)
    with pytest.raises(pg.errors.DTypeError, match="complex"):
        pg.asarray(host.astype("complex64"), device=device, copy=False)


@pytest.mark.parametrize("name", DTYPES)
def test_pickle_and_copy(name):
    x = pg.tensor(np.array([[1, 0, 1]]).astype(name), device=device)
    for y in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert y.dtype is x.dtype
        assert y.device is x.device
        assert y.tolist() == x.tolist()


def test_pickle_keeps_empty_shapes_and_leaves():
    x = pg.zeros(0, 3, device=device, requires_grad=True)
    y = pickle.loads(pickle.dumps(x))
    assert y.shape == (0, 3)
    assert y.requires_grad


def test_reductions_to_one_number_are_tensors_like_any_other():
    x = pg.tensor([1.0, 2.0], device=device)
    s = x.sum()
    assert s.shape == ()
    assert (s * x).tolist() == [3, 6]
    assert s.reshape(1, 1).tolist() == [[3]]
    assert s.astype("float64").astype("float32").item() == 3
    assert np.from_dlpack(s).shape == ()


def test_backward_does_not_warn_about_infinities():
    x = pg.tensor([0.0, 4.0], device=device, requires_grad=True)
    x.sqrt().sum().backward()
    assert x.grad.tolist() == [float("inf"), 0.25]
