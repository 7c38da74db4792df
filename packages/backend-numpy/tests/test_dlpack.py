"""DLPack in and out: without a copy unless one is asked for, or needed to keep a read-only array from being written."""

from __future__ import annotations

import numpy as np
import pytest

import plugrad as pg

device = pg.device("numpy")
DTYPES = [
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
]  # fmt: skip


class Exporter:
    """Another library's array: nothing but the two methods of the protocol."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Forced(Exporter):
    """A reader that asks for a copy."""

    def __dlpack__(self, **how):
        return self.array.__dlpack__(**{**how, "copy": True})


@pytest.mark.parametrize("name", DTYPES)
def test_in_and_out_without_a_copy(name):
    host = np.array([[1, 0], [1, 1]]).astype(name)
    x, y = pg.from_dlpack(Exporter(host)), pg.tensor(host, device=device)
    back = np.from_dlpack(y)
    assert x.device is device
    assert back.dtype == host.dtype
    assert x.tolist() == back.tolist() == np.from_dlpack(x).tolist() == host.tolist()
    assert np.shares_memory(x.data, host)
    assert np.shares_memory(back, y.data)


def test_copy_on_request():
    host = np.arange(3.0)
    assert not np.shares_memory(pg.from_dlpack(Exporter(host), copy=True).data, host)
    x = pg.tensor(host, device=device)
    assert not np.shares_memory(np.from_dlpack(Forced(x)), x.data)


def test_strides_survive():
    host = np.arange(12.0).reshape(3, 4)[::-1, ::2].T
    x = pg.from_dlpack(Exporter(host))
    assert x.tolist() == host.tolist()
    assert np.shares_memory(x.data, host)


def test_read_only_arrays_go_out_as_a_copy_or_are_marked():
    x = pg.ones(1, device=device).expand(3)
    assert not x.data.flags.writeable
    old = device.backend.dlpack(x.data)
    assert "dltensor" in repr(old)
    with pytest.raises(BufferError, match="read only"):
        device.backend.dlpack(x.data, copy=False)
    seen = np.from_dlpack(x)
    assert seen.tolist() == [1, 1, 1]


def test_a_tensor_that_requires_a_gradient_is_refused():
    x = pg.ones(2, device=device, requires_grad=True)
    with pytest.raises(pg.errors.GraphError, match="detach"):
        np.from_dlpack(x)


def test_bfloat16_says_that_it_cannot():
    pytest.importorskip("ml_dtypes")
    x = pg.ones(2, dtype="bfloat16", device=device)
    with pytest.raises(BufferError, match="bfloat16"):
        np.from_dlpack(x)


def test_device_number():
    assert pg.ones(2, device=device).__dlpack_device__() == (1, 0)
