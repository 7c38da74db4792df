"""Philox4x64-10, the counter-based random numbers of every backend (Salmon et al., SC 2011), in array functions."""

from __future__ import annotations

from ...backend import composed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LOW = 0xFFFFFFFF
WORD = 0xFFFFFFFFFFFFFFFF
MULTIPLIERS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
WEYL = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
ROUNDS = 10


@composed
def philox(xp: Any, key: tuple[int, int], offset: int, n: int) -> Any:
    """Words `offset` to `offset + n` of the stream of `key`: block b of four words is the image of counter b + 1."""
    first, last = offset // 4, (offset + n + 3) // 4
    c0 = xp.astype(xp.arange(first + 1, last + 1), xp.uint64)
    c1 = c2 = c3 = xp.zeros((last - first,), dtype=xp.uint64)
    k0, k1 = key
    for _ in range(ROUNDS):
        (high0, low0), (high1, low1) = _product(MULTIPLIERS[0], c0), _product(MULTIPLIERS[1], c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + WEYL[0]) & WORD, (k1 + WEYL[1]) & WORD
    words = xp.concat([xp.reshape(c, (-1, 1)) for c in (c0, c1, c2, c3)], axis=1)
    start = offset - 4 * first
    return xp.reshape(words, (-1,))[start : start + n]


def _product(a: int, x: Any) -> tuple[Any, Any]:
    """High and low word of the 128-bit product a · x, by halves of 32 bits."""
    a0, a1, x0, x1 = a & LOW, a >> 32, x & LOW, x >> 32
    middle = x0 * a1 + ((x0 * a0) >> 32)
    cross = x1 * a0 + (middle & LOW)
    return x1 * a1 + (middle >> 32) + (cross >> 32), x * a
