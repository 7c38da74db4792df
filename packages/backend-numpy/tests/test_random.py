"""The random words are those of NumPy's Philox, bit for bit, and nobody else's generator moves."""

from __future__ import annotations

import random

import numpy as np
import pytest

import plugrad as pg

device = pg.device("numpy")
KEYS = [(0, 0), (1, 2), (2**64 - 1, 2**63)]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("offset", [0, 1, 2, 3, 4, 5, 7, 1023])
@pytest.mark.parametrize("n", [0, 1, 3, 4, 6, 17])
def test_any_part_of_the_stream(key, offset, n):
    stream = np.random.Philox(key=np.array(key, dtype="uint64")).random_raw(offset + n)
    words = device.backend.random_bits(key, offset, n, 0)
    assert words.dtype == "uint64"
    assert words.tolist() == stream[offset:].tolist()


@pytest.mark.parametrize("offset", [2**40 + 3, 2**66 + 1, 2**130 + 2])
def test_far_along_the_stream(offset):
    far = np.random.Philox(key=np.array((3, 4), dtype="uint64")).advance(offset // 4)
    skip = offset % 4
    assert device.backend.random_bits((3, 4), offset, 9, 0).tolist() == far.random_raw(9 + skip)[skip:].tolist()


def test_a_seed_gives_the_stream_of_numpys_seed():
    g = pg.Generator(2024)
    assert device.backend.random_bits(g.key, 0, 8, 0).tolist() == np.random.Philox(2024).random_raw(8).tolist()


def test_global_generators_are_left_alone():
    np.random.seed(1)
    random.seed(1)
    numpys, pythons = np.random.get_state()[1].tolist(), random.getstate()
    pg.manual_seed(7)
    pg.rand(100, device=device)
    pg.randn(101, device=device)
    assert np.random.get_state()[1].tolist() == numpys
    assert random.getstate() == pythons
    np.random.seed(99)
    pg.manual_seed(7)
    assert pg.rand(3, device=device).tolist() == pg.rand(3, device=device, generator=pg.Generator(7)).tolist()
