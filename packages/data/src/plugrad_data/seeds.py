"""Random states for a batch: functions of the seed of its epoch and of its number, wherever the batch is made."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import plugrad as pg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .held import Held

__all__ = ["draw", "planted", "settle", "sow", "sown"]

LOW = 0xFFFFFFFF
_spare: list[Any] = []  # bit generators for NumPy's global functions, while a batch is made


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
    """`sow` for a while: at the end, all generators go on where they were."""

    def __init__(self, seed: int, k: int, held: Sequence[Held] = ()) -> None:
        self.seed, self.k, self.held = seed, k, held

    def __enter__(self) -> None:
        import random

        import numpy as np

        ours = pg.default_generator
        self.ours = ours.seed, ours.key, ours.offset
        self.python = random.getstate()
        self.bits, self.numpy = np.random.mtrand.get_bit_generator(), np.random.get_state(legacy=False)
        self.lent = _spare.pop() if _spare else np.random.MT19937()
        np.random.mtrand.set_bit_generator(self.lent)
        self.states = [generator.state() for generator in self.held]
        sow(self.seed, self.k, self.held)

    def __exit__(self, *exc: object) -> None:
        import random

        import numpy as np

        ours = pg.default_generator
        ours.seed, ours.key, ours.offset = self.ours
        random.setstate(self.python)
        np.random.mtrand.set_bit_generator(self.bits)
        _spare.append(self.lent)
        if self.numpy["has_gauss"]:  # a number in reserve, which changing bit generators drops
            np.random.set_state(self.numpy)
        for generator, state in zip(self.held, self.states, strict=True):
            generator.put(state)
