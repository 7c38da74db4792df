"""Random states for a batch: functions of the seed of its epoch and of its number, wherever the batch is made."""

from __future__ import annotations

import os
import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import plugrad as pg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .held import Held

__all__ = ["draw", "planted", "settle", "sow", "sown"]

LOW = 0xFFFFFFFF
_spare: list[Any] = []  # bit generators for NumPy's global functions, while a batch is made
_running: list[Any] = []  # every `sown` that is not done, in order
_one = threading.RLock()


def draw(generator: pg.Generator | None) -> int:
    """The seed of an epoch: one word of a generator."""
    return int(pg.randint(0, 2**62, generator=generator, device="cpu"))


def sow(seed: int, k: int, held: Sequence[Held] = ()) -> None:
    """Start Python's `random`, NumPy's global generator, plugrad's default one and those `held` for batch k."""
    import random

    import numpy as np

    n = seed << 64 | k
    a, b = pg.manual_seed(n).key
    random.seed(a)
    np.random.seed([b & LOW, b >> 32])
    for generator in held:
        generator.start(n)


def settle() -> None:
    """Give this process, a worker, the kind of NumPy generator that `sow` can start, whatever the program chose."""
    import numpy as np

    np.random.mtrand.set_bit_generator(np.random.MT19937())


def planted(seed: int, k: int, held: Sequence[Held] = ()) -> Any:
    """`sow` in a worker, where nothing has to be put back."""
    sow(seed, k, held)
    return nullcontext()


class sown:
    """`sow` for a while: at the end, all generators go on where they were.

    In several threads one may begin before another is done, and find its numbers. Whoever is done before a later one
    leaves to that one what it found itself, so that the last one puts back what there was at first.
    """

    def __init__(self, seed: int, k: int, held: Sequence[Held] = ()) -> None:
        self.seed, self.k, self.held = seed, k, held

    def __enter__(self) -> None:
        import numpy as np

        with _one:
            self.found = _states()
            self.lent = _spare.pop() if _spare else np.random.MT19937()
            np.random.mtrand.set_bit_generator(self.lent)
            self.states = [generator.state() for generator in self.held]
            sow(self.seed, self.k, self.held)
            _running.append(self)

    def __exit__(self, *exc: object) -> None:
        with _one:
            later = _running[_running.index(self) + 1 :]
            _running.remove(self)
            if later:
                later[0].found = self.found
            else:
                _put(self.found)
            _spare.append(self.lent)
        for generator, state in zip(self.held, self.states, strict=True):
            generator.put(state)


def _states() -> tuple[Any, ...]:
    import random

    import numpy as np

    ours = pg.default_generator
    bits, numbers = np.random.mtrand.get_bit_generator(), np.random.get_state(legacy=False)
    return (ours.seed, ours.key, ours.offset), random.getstate(), bits, numbers


def _put(states: tuple[Any, ...]) -> None:
    import random

    import numpy as np

    ours = pg.default_generator
    (ours.seed, ours.key, ours.offset), python, bits, numbers = states
    random.setstate(python)
    np.random.mtrand.set_bit_generator(bits)
    if numbers["has_gauss"]:  # a number in reserve, which changing bit generators drops
        np.random.set_state(numbers)


def _forked() -> None:
    """A forked child has none of the threads, and maybe a lock that one of them held."""
    global _one
    _one = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
