"""Generators that a data set holds: found, and started for each batch as the global ones are.

A forked worker has a copy of them. Left alone, all workers would draw the same, and in each epoch again.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType, MethodType
from typing import Any
from zlib import crc32

import plugrad as pg

__all__ = ["Held", "held"]

MANY = 256  # entries of a container that is taken for data and not searched


class Held:
    """A generator of plugrad's, NumPy's or Python's, and the number that makes its streams its own."""

    def __init__(self, generator: Any) -> None:
        self.generator = generator
        self.own = crc32(repr(generator.seed if isinstance(generator, pg.Generator) else self.state()).encode())

    def state(self) -> Any:
        g = self.generator
        if isinstance(g, pg.Generator):
            return g.get_state()
        return g.bit_generator.state if hasattr(g, "bit_generator") else g.getstate()

    def put(self, state: Any) -> None:
        """Back to a state."""
        g = self.generator
        if isinstance(g, pg.Generator):
            g.set_state(state)
        elif hasattr(g, "bit_generator"):
            g.bit_generator.state = state
        else:
            g.setstate(state)

    def start(self, n: int) -> None:
        """The stream of seed n."""
        g, n = self.generator, self.own << 128 | n
        if isinstance(g, pg.Generator):
            g.manual_seed(n)
        elif hasattr(g, "bit_generator"):
            g.bit_generator.state = type(g.bit_generator)(n).state
        else:
            g.seed(n)


def held(*roots: Any) -> list[Held]:
    """The generators in the attributes of these objects, of what they hold, and so on: each once, in order."""
    import random

    import numpy as np

    kinds = (pg.Generator, np.random.Generator, random.Random)
    found, seen, rest = [], set[int](), [*reversed(roots)]
    while rest:
        x = rest.pop()
        if id(x) in seen or x is pg.default_generator:
            continue
        seen.add(id(x))
        if isinstance(x, kinds):
            found.append(Held(x))
        else:
            rest += reversed(_parts(x))
    return found


def _parts(x: Any) -> list[Any]:
    """What an object holds."""
    if isinstance(x, partial):
        return [x.func, *x.args, *x.keywords.values()]
    if isinstance(x, MethodType):
        return [x.__self__]
    if isinstance(x, FunctionType):
        return [v for cell in x.__closure__ or () for v in _content(cell)]
    if isinstance(x, dict):
        return list(x.values()) if len(x) <= MANY else []
    if isinstance(x, (list, tuple)):
        return list(x) if len(x) <= MANY else []
    return [] if isinstance(x, type) else list(getattr(x, "__dict__", {}).values())


def _content(cell: Any) -> list[Any]:
    """What a variable of an enclosing function holds, if anything yet."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []
