"""Three frames at most from the user's line to the formula, forward and backward, for every op."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import plugrad as pg
from plugrad.testing.cases import every
from plugrad.testing.rows import tensors

MOST = 3


def walked(upto):
    """Functions on the stack, from the one that asks outwards to (not including) the frame `upto`; both as frames."""
    frames, frame = [], sys._getframe(2)
    while frame is not None and frame is not upto:
        frames.append(f"{frame.f_code.co_filename.rpartition('plugrad')[2]}:{frame.f_code.co_name}")
        frame = frame.f_back
    return frames[::-1]


class Stacks:
    """The stacks under which the methods of one op class ran."""

    def __init__(self, cls, line):
        self.cls, self.line = cls, line
        self.forward, self.gradients = [], []

    def user(self):
        """The frame of the user's line: the row's function where it is a line of its own, else the test's."""
        frame, found = sys._getframe(2), None
        while frame is not None and frame.f_code is not USER:
            if frame.f_code is self.line:
                found = frame
            frame = frame.f_back
        return found or frame

    def watch(self, method, stacks):
        def wrapped(*args, **kwargs):
            if self.depth() == 0:
                stacks.append([*walked(self.user()), method.__qualname__])
            return method(*args, **kwargs)

        return wrapped

    def depth(self):
        """How many methods of ops are running already: a gradient runs the forward of others."""
        frame, n = sys._getframe(2), 0
        while frame is not None and frame.f_code is not USER:
            n += frame.f_code.co_name == "wrapped" and frame.f_code is WRAPPED
            frame = frame.f_back
        return n

    @contextmanager
    def installed(self):
        cls, own, before = self.cls, self.cls.__dict__.get("forward"), self.cls.gradients
        cls.forward = self.watch(cls.forward, self.forward)
        cls.gradients = tuple(entry and (self.watch(entry[0], self.gradients), entry[1]) for entry in before)
        try:
            yield
        finally:
            cls.gradients = before
            if own is None:
                del cls.forward
            else:
                cls.forward = own


WRAPPED = next(c for c in Stacks.watch.__code__.co_consts if hasattr(c, "co_name") and c.co_name == "wrapped")


def run(row, xs):
    """The user's code: call the function, then ask for the gradient."""
    z = row.f(*xs)
    zs = [t for t in (z if isinstance(z, (tuple, list)) else [z]) if getattr(t, "requires_grad", False)]
    for t in zs:
        t.backward(t.new_ones(t.shape), retain_graph=True)


USER = run.__code__


def line_of(f):
    """The code of a row's function where that is a line of the case file; else the test is the one that calls."""
    code = getattr(f, "__code__", None)
    return code if code is not None and "cases" in Path(code.co_filename).with_suffix("").as_posix() else None


def stacks_of(row):
    device = pg.device()
    if not set(row.needs) <= device.backend.capabilities:
        pytest.skip(f"needs {', '.join(row.needs)}")
    xs = [x.requires_grad_() if x.dtype.kind == "float" and row.order else x for x in tensors(row, device, "float32")]
    found = Stacks(row.op, line_of(row.f))
    with found.installed(), pg.kernels("off"):
        run(row, xs)
    return found


@pytest.mark.parametrize("row", every(), ids=lambda row: row.name)
def test_three_frames(row):
    found = stacks_of(row)
    assert found.forward, f"{row.op.key}.forward did not run"
    for stack in found.forward[:1] + found.gradients:
        assert len(stack) <= MOST, f"{len(stack)} frames from the user's line: {' > '.join(stack)}"
    if row.order and any(row.op.gradients):
        assert found.gradients, f"no gradient of {row.op.key} ran"


def test_a_fourth_frame_is_seen():
    from plugrad import ops
    from plugrad.testing import case, real

    def deeper(x):
        return ops.exp(x)

    def deep(x):
        return deeper(x)

    found = stacks_of(case(pg.Op.catalogue["plugrad.Exp"], deep, real(2)))
    assert len(found.forward[0]) == MOST + 2
