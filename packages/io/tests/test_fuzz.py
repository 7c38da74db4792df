"""Thousands of damaged files: each gives an error that names the file, or values; at once, and in little memory.

PLUGRAD_FUZZ=100 in the environment tries a hundred times as many.
"""

from __future__ import annotations

import itertools
import os
import pickletools
import random
import struct
import time
import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from make_files import (
    call,
    gguf,
    npy,
    number,
    row,
    safetensors,
    storage,
    table,
    tensor,
    text,
    torch_legacy,
    torch_zip,
    tuple_of,
    zipped,
)

import plugrad as pg
from plugrad_io import FileFormatError, load, save

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = int(os.environ.get("PLUGRAD_FUZZ", "1"))
STEP = 3 if ROUNDS == 1 else 1  # from one place in a file to the next
MEMORY = 200_000_000
SECONDS = 1.0

F4, I8 = struct.pack("<6f", *range(6)), struct.pack("<2q", -1, 2)
BODY = table({
    "w": tensor(storage("0", 6), (3, 2), (1, 3)), "n": tensor(storage("1", 2, "torch LongStorage"), (2,), (1,)),
    "state": b"](" + table({"lr": b"G" + struct.pack(">d", 0.1), "n": number(7)}) + tuple_of(text("a"), b"\x88") + b"e",
    "b": tensor(storage("2", 4, "torch BoolStorage"), (4,), (1,)), "half": call("torch Size", tuple_of(number(3))),
})  # fmt: skip
MEMBERS = {
    "w.npy": npy("'<f4'", "(2, 3)", F4),
    "n.npy": npy("'<i8'", "(2,)", I8),
    "b.npy": npy("'|b1'", "(4,)", b"\0\1\1\0"),
}
Q8, Q4 = struct.pack("<e32b", 0.5, *range(32)), struct.pack("<ee16B", 0.5, 1, *range(16))
SEEDS = {
    "safetensors": safetensors(
        {
            "__metadata__": {"format": "pt"},
            "w": row("F32", [2, 3], 0, 24),
            "n": row("I64", [2], 24, 40),
            "b": row("BOOL", [4], 40, 44),
            "h": row("BF16", [1], 44, 46),
        },
        F4 + I8 + b"\0\1\1\0" + b"\x80\x3f",
    ),
    "npz": zipped(MEMBERS),
    "npz, packed": zipped(MEMBERS, zipfile.ZIP_DEFLATED),
    "torch": torch_zip(BODY, {"0": F4, "1": I8, "2": b"\0\1\1\0"}, byteorder=b"little"),
    "torch, older": torch_legacy(BODY, [("0", 6, F4), ("1", 2, I8), ("2", 4, b"\0\1\1\0")]),
    "gguf": gguf(
        {"general.alignment": ("u32", 32), "tokens": ["a", "☂", ""], "n": [("u8", 1), ("u8", 2)], "yes": True},
        [("w", (2, 3), 0, F4), ("q", (2, 32), 8, Q8 * 2), ("p", (32,), 3, Q4), ("h", (2,), 30, b"\x80\x3f\0\0")],
    ),
}  # fmt: skip
HUGE = [struct.pack("<Q", n) for n in (2**64 - 1, 2**63, 2**63 - 1, 2**62, 2**40, 2**32 - 1, 2**31)] + [
    struct.pack("<I", n) for n in (2**32 - 1, 2**31, 2**31 - 1, 2**24, 0)
]


@pytest.fixture(scope="module", autouse=True)
def little_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where the system can: a MemoryError for who allocates more than MEMORY."""
    for suffix in (".safetensors", ".npz", ".pt"):  # import everything before
        file = tmp_path_factory.mktemp("first") / f"f{suffix}"
        save(file, {"x": pg.ones(1)})
        load(file)
    if not Path("/proc/self/statm").exists():
        yield
        return
    import resource

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "f"


def test_the_limit_is_on() -> None:
    """The limit itself is one that fails."""
    if Path("/proc/self/statm").exists():
        with pytest.raises(MemoryError):
            bytes(2 * MEMORY)


def outcome(path: Path, data: bytes) -> Any:
    """The values in a file, or None where it was refused; anything else fails."""
    path.write_bytes(data)
    start, found, said = time.process_time(), None, str(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = load(path, as_numpy=True)
    except FileFormatError as error:
        said = str(error)
    except BaseException as error:
        raise AssertionError(f"{type(error).__name__}: {error} for {data!r}") from error
    took = time.process_time() - start
    assert took < SECONDS, f"{took} s for {data!r}"
    assert said.startswith(str(path))
    assert len(said) < 1000 + len(str(path))
    return found


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(v, b[k]) for k, v in a.items())
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


@pytest.mark.parametrize("name", SEEDS)
def test_whole_files_are_read(path: Path, name: str) -> None:
    found = outcome(path, SEEDS[name])
    w = found["w"].T if name.startswith("torch") else found["w"].reshape(2, 3)
    assert w.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("name", SEEDS)
def test_files_cut_short_anywhere(path: Path, name: str) -> None:
    """What is missing is noticed, unless nothing was there."""
    data = SEEDS[name]
    right = outcome(path, data)
    for n in range(0, len(data), STEP):
        found = outcome(path, data[:n])
        assert found is None or same(found, right), data[:n]


@pytest.mark.parametrize("name", SEEDS)
def test_every_byte_changed(path: Path, name: str) -> None:
    rng = random.Random(f"bytes {name}")
    for i in range(0, len(SEEDS[name]), STEP):
        for _ in range(ROUNDS):
            data = bytearray(SEEDS[name])
            data[i] ^= 1 << rng.randrange(8) if rng.random() < 0.5 else rng.randrange(1, 256)
            outcome(path, bytes(data))


@pytest.mark.parametrize("name", ["npz", "npz, packed", "torch"])
def test_a_checksum_finds_every_changed_number(path: Path, name: str) -> None:
    """Packed ones end in idle bits, which change nothing."""
    right = outcome(path, SEEDS[name])
    with zipfile.ZipFile(path) as file:
        infos = file.infolist()
    for info in infos:
        start = info.header_offset + 30 + len(info.filename)
        for i in range(start, start + info.compress_size, STEP):
            data = bytearray(SEEDS[name])
            data[i] ^= 255
            found = outcome(path, bytes(data))
            assert found is None or (info.compress_type == zipfile.ZIP_DEFLATED and same(found, right))


@pytest.mark.parametrize("name", SEEDS)
def test_huge_numbers_everywhere(path: Path, name: str) -> None:
    rng = random.Random(f"huge {name}")
    for i in range(0, len(SEEDS[name]), STEP):
        for huge in HUGE if ROUNDS > 1 else rng.sample(HUGE, 2):
            outcome(path, SEEDS[name][:i] + huge + SEEDS[name][i + len(huge) :])


def spliced(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """A random change: parts of another file, doubled, lost, moved, overwritten."""
    i, j = sorted(rng.choices(range(len(data) + 1), k=2))
    k, m = sorted(rng.choices(range(len(other) + 1), k=2))
    part = other[k : min(m, k + 200)]
    return rng.choice([
        data[:i] + part + data[i:], data[:i] + part + data[i + len(part) :], data[:i] + data[j:],
        data[:j] + data[i : i + 100] + data[j:], data[:i] + bytes(rng.randrange(64)) + data[i:], data[:i] + other[k:],
        data[:i] + rng.randbytes(rng.randrange(1, 16)) + data[i:], data[:i] + rng.choice(HUGE) + data[i:],
    ])  # fmt: skip


@pytest.mark.parametrize("name", SEEDS)
def test_splices(path: Path, name: str) -> None:
    rng = random.Random(f"splice {name}")
    for _ in range(100 * ROUNDS):
        data = SEEDS[name]
        for _ in range(rng.choice([1, 1, 2, 4])):
            data = spliced(rng, data, SEEDS[rng.choice(list(SEEDS))])
        outcome(path, data)


OPCODES = [code.encode("latin-1") for code in pickletools.code2op]
WORDS = [
    b"cos\nsystem\n", b"ccollections\nOrderedDict\n", b"ctorch\nFloatStorage\n", b"cbuiltins\nset\n",
    b"ctorch._utils\n_rebuild_tensor_v2\n", b"ctorch._tensor\n_rebuild_from_type_v2\n", b"cnumpy\ndtype\n",
    b"cnumpy.core.multiarray\n_reconstruct\n", b"cnumpy.core.multiarray\nscalar\n", b"c_codecs\nencode\n",
    b"c__builtin__\nbytearray\n", b"ccollections\ndefaultdict\n", b"ctorch\nSize\n", b"ctorch\nfloat32\n",
    text("storage"), text("0"), text("f8"), number(2), number(-1), number(2**62), storage("0", 6), tuple_of(),
    tensor(storage("0", 6), (2,), (1,)), call("numpy.core.multiarray _reconstruct"), call("numpy dtype", text("f8")),
    b"C\1x", b"h\0", b"q\0", b"q\1", b"h\1", b"2\x86",
    *[code for code in OPCODES if code in b"()tRQbue]}02\x85\x86\x81"],
]  # fmt: skip


def steps(program: bytes) -> list[bytes]:
    """A pickle, cut into its opcodes."""
    places = [place for _, _, place in pickletools.genops(program + b".")]
    return [program[i:j] for i, j in itertools.pairwise(places)]


def program(rng: random.Random, whole: list[bytes]) -> bytes:
    """A right pickle with some steps changed, or one of random steps."""
    if rng.random() < 0.3:
        return b"".join(rng.choices(WORDS + OPCODES, k=rng.randrange(1, 40)))
    found = list(whole)
    for _ in range(rng.randrange(1, 5)):
        i, j = rng.randrange(len(found)), rng.randrange(len(found))
        found[i : i + rng.randrange(3)] = rng.choice([[rng.choice(WORDS)], [found[j]], found[j : j + 20], []])
    return b"".join(found)


def test_pickles_of_other_steps(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "system", lambda *args: pytest.fail(f"executed: {args}"))
    rng, whole = random.Random("steps"), steps(BODY)
    for i in range(500 * ROUNDS):
        body, storages = program(rng, whole), {"0": F4, "1": I8, "2": b"\0\1\1\0"}
        older = torch_legacy(body, [("0", 6, F4), ("1", 2, I8), ("2", 4, b"\0\1\1\0")])
        outcome(path, older if i % 2 else torch_zip(body, storages))
