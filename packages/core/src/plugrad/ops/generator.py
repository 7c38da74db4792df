"""The generator of random words: counter-based, so a seed and a position are all there is to save."""

from __future__ import annotations

import os

from .axes import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Generator", "default_generator", "get_rng_state", "manual_seed", "set_rng_state"]

LOW = 0xFFFFFFFF


def seed_key(seed: int) -> tuple[int, int]:
    """The Philox key of a seed: NumPy's `SeedSequence(seed).generate_state(2, uint64)` (O'Neill, seed_seq, 2015)."""
    entropy = [seed >> s & LOW for s in range(0, max(seed.bit_length(), 1), 32)]
    const = 0x43B0D7E5

    def hashed(value: int) -> int:
        nonlocal const
        value ^= const
        const = const * 0x931E8875 & LOW
        value = value * const & LOW
        return value ^ value >> 16

    def mixed(x: int, y: int) -> int:
        value = (0xCA01F9DD * x - 0x4973F715 * y) & LOW
        return value ^ value >> 16

    pool = [hashed(entropy[i] if i < len(entropy) else 0) for i in range(4)]
    for i in range(4):
        for j in range(4):
            if i != j:
                pool[j] = mixed(pool[j], hashed(pool[i]))
    for extra in entropy[4:]:
        pool = [mixed(p, hashed(extra)) for p in pool]
    state, const = [], 0x8B51F9DD
    for value in pool:
        value ^= const
        const = const * 0x58F38DED & LOW
        value = value * const & LOW
        state.append(value ^ value >> 16)
    return state[0] | state[1] << 32, state[2] | state[3] << 32


class Generator:
    """A stream of random words: Philox4x64-10 at a position. `Generator(5)` gives the bits of `numpy.random.Philox(5)`.

    seed     any integer from 0; None takes one from the operating system
    offset   words drawn so far

    Every uniform number takes one word, every pair of normal numbers two, whatever dtype and device.
    """

    __slots__ = ("__weakref__", "key", "offset", "seed")

    def __init__(self, seed: int | None = None) -> None:
        self.manual_seed(int.from_bytes(os.urandom(8), "little") if seed is None else seed)

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of `seed`, and return self."""
        self.seed = _natural("seed", seed)
        self.key, self.offset = seed_key(self.seed), 0
        return self

    def initial_seed(self) -> int:
        return self.seed

    def get_state(self) -> tuple[int, int]:
        """(seed, offset): all there is to save."""
        return self.seed, self.offset

    def set_state(self, state: Sequence[int]) -> None:
        """Go on from where `get_state` was called."""
        seed, offset = state
        offset = _natural("offset", offset)
        self.manual_seed(seed)
        self.offset = offset

    def __repr__(self) -> str:
        return f"Generator({self.seed}, offset={self.offset})"

    def __getstate__(self) -> tuple[int, int]:
        return self.get_state()

    __setstate__ = set_state


def _natural(what: str, n: int) -> int:
    """`n` as a plain integer from 0."""
    if (i := whole("Generator", what, n)) < 0:
        raise ValueError(f"Generator: {what} {i} is negative; use an integer from 0")
    return i


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Start the default generator anew."""
    return default_generator.manual_seed(seed)


def get_rng_state() -> tuple[int, int]:
    """State of the default generator."""
    return default_generator.get_state()


def set_rng_state(state: Sequence[int]) -> None:
    """Put the default generator back to a state."""
    default_generator.set_state(state)
