"""Random numbers: the same words, and what is made of them, on every backend. The input only says where."""

from __future__ import annotations

from ...apply import apply, unary
from ...ops import random
from ...ops.generator import Generator
from ..case import between, case, real


def draws(op):
    """The first numbers of a fresh generator, in the dtype and on the device of x."""
    return lambda x: apply(op(x.device, Generator(5), (3, 5), *[x.dtype for _ in op.fields[3:]]))


ROWS = [
    case(random.Bits, draws(random.Bits), real(1), order=0),
    case(random.Uniform, draws(random.Uniform), real(1), order=0),
    case(random.Normal, draws(random.Normal), real(1), order=0),
    case(random.Chance, lambda p: unary(random.Chance(), p), between(0, 1, 2, 3), order=0),
]
