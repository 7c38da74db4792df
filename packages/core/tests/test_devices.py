"""Several devices of one backend: work happens under the guard of the tensor's own, and never moves by itself."""

from contextlib import contextmanager

import pytest

import plugrad as pg
from plugrad.backend import Device
from plugrad.errors import DeviceError
from plugrad.kernel import Kernel
from plugrad.op import Op


class Two(type(pg.device().backend)):
    """The installed backend, as if it had two devices and worked on the one that was chosen last."""

    name = "two"
    chosen = None

    def devices(self):
        return 2

    @contextmanager
    def guard(self, index):
        before, Two.chosen = Two.chosen, index
        try:
            yield
        finally:
            Two.chosen = before


class Where(Op):
    """z = x, and where it was computed"""

    seen = []

    def forward(self, xp, x, y=None):
        Where.seen.append(Two.chosen)
        return x * 2

    def dx(self, g):
        return pg.apply(Where(), g)


def pair(kernel=None):
    backend = Two()
    return [Device(backend, i, lambda name, op: kernel if op is Where else None) for i in (0, 1)]


@pytest.mark.parametrize("door", ["apply", "unary", "binary"])
@pytest.mark.parametrize("index", [0, 1])
def test_every_door_works_under_the_guard(door, index):
    from plugrad import apply as general
    from plugrad.apply import binary, unary

    device = pair()[index]
    x = pg.tensor([1.0, 2.0], device=device, requires_grad=True)
    Where.seen.clear()
    y = {
        "apply": lambda: general(Where(), x),
        "unary": lambda: unary(Where(), x),
        "binary": lambda: binary(Where(), x, x),
    }[door]()
    y.sum().backward()
    assert set(Where.seen) == {index}
    assert y.tolist() == [2.0, 4.0]
    assert Two.chosen is None


def test_kernels_and_creation_work_under_the_guard():
    seen = []

    def kernel(op, x):
        seen.append(Two.chosen)
        return x

    device = pair(Kernel(kernel))[1]
    pg.apply(Where(), pg.ones(2, device=device))
    assert seen == [1]
    assert pg.rand(2, device=device).device is device


def test_two_devices_do_not_meet():
    first, second = pair()
    assert (str(first), str(second)) == ("two:0", "two:1")
    with pytest.raises(DeviceError, match=r"add: inputs live on two:0 and two:1; move one of them: x.to\('two:0'\)"):
        pg.ones(2, device=first) + pg.ones(2, device=second)
