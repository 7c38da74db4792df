"""Generators that a data set holds: found, and started for each batch as the global ones are.

A forked worker has a copy of them. Left alone, all workers would draw the same, and in each epoch again.
"""

from __future__ import annotations

from functools import cache, partial
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import plugrad as pg

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Held", "held"]

MANY = 256  # entries of a container that is taken for data and not searched


class Kind(NamedTuple):
    """How a kind of generator tells its state, goes to a state, and is started from a number."""

    state: Callable[[Any], Any]
    put: Callable[[Any, Any], None]
    start: Callable[[Any, int], Any]


@cache
def kinds() -> dict[type, Kind]:
    """Of plugrad, of Python, and both of NumPy."""
    import random

    import numpy as np

    old, new = np.random.RandomState, np.random.Generator
    return {
        pg.Generator: Kind(pg.Generator.get_state, pg.Generator.set_state, pg.Generator.manual_seed),
        random.Random: Kind(random.Random.getstate, random.Random.setstate, random.Random.seed),
        new: Kind(lambda g: g.bit_generator.state, _put_bits, lambda g, n: _put_bits(g, _bits(g.bit_generator, n))),
        old: Kind(partial(old.get_state, legacy=False), old.set_state, lambda g, n: g.set_state(_old_bits(g, n))),
    }


def _put_bits(g: Any, state: Any) -> None:
    g.bit_generator.state = state


def _bits(like: Any, n: int) -> Any:
    """The state of bits of this kind from seed n."""
    return type(like)(n).state


def _old_bits(g: Any, n: int) -> Any:
    return _bits(g._bit_generator, n)


class Held:
    """A generator, and the number that makes its streams its own."""

    def __init__(self, generator: Any, kind: Kind) -> None:
        self.generator, self.kind = generator, kind
        self.own = crc32(repr(generator.seed if isinstance(generator, pg.Generator) else self.state()).encode())

    def state(self) -> Any:
        return self.kind.state(self.generator)

    def put(self, state: Any) -> None:
        """Back to a state."""
        self.kind.put(self.generator, state)

    def start(self, n: int) -> None:
        """The stream of seed n."""
        self.kind.start(self.generator, self.own << 128 | n)


def held(*roots: Any) -> list[Held]:
    """The generators in the attributes of these objects, of what they hold, and so on: each once, in order."""
    found, seen, rest = [], _elsewhere(), [*reversed(roots)]
    while rest:
        x = rest.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        kind = _kind(x)
        if kind is not None:
            found.append(Held(x, kind))
        else:
            rest += reversed(_parts(x))
    return found


def _elsewhere() -> set[int]:
    """The global generators, which `seeds` takes care of."""
    import random

    import numpy as np

    return {id(g) for g in (pg.default_generator, random.random.__self__, np.random.rand.__self__)}  # type: ignore[attr-defined]


def _kind(x: Any) -> Kind | None:
    import random

    if isinstance(x, random.SystemRandom):  # which has no state
        return None
    return next((kind for cls, kind in kinds().items() if isinstance(x, cls)), None)


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
    if isinstance(x, (type, ModuleType, pg.Tensor)):
        return []
    kind: Any = type(x)
    slots, shared = _of_class(kind)
    return [*getattr(x, "__dict__", {}).values(), *[getattr(x, name, None) for name in slots], *shared]


@cache
def _of_class(cls: type) -> tuple[list[str], list[Any]]:
    """Names of the slots of its objects, and the generators that are attributes of the class itself."""
    entries = [v for base in cls.__mro__ for v in vars(base).values()]
    slots = [v.__name__ for v in entries if isinstance(v, MemberDescriptorType)]
    return slots, [v for v in entries if _kind(v) is not None]


def _content(cell: Any) -> list[Any]:
    """What a variable of an enclosing function holds, if anything yet."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []
