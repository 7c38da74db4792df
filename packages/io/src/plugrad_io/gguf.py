"""GGUF, the files of llama.cpp, versions 2 and 3: typed metadata, and tensors, plain or in blocks of small integers.

"GGUF" | version | numbers of tensors and of entries | entries | name, shape, kind, offset of each tensor | numbers
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from .arrays import decode, result, sizes, truths
from .blocks import BY_NAME, LAYOUTS, OTHERS, floats
from .lazy import Entry, TensorFile, apart
from .stream import Stream, opened

if TYPE_CHECKING:
    from plugrad import Tensor

    from .arrays import Where
    from .blocks import Layout
    from .stream import Path

__all__ = ["GGUFFile", "gguf_metadata", "load_gguf", "open_gguf"]

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 10: "Q", 11: "q", 12: "d"}  # kind → struct's code
BOOL, STRING, ARRAY = 7, 8, 9
DEEPEST = 8  # arrays within arrays
AXES = 4  # the most that a tensor has in llama.cpp
ALIGNMENT = "general.alignment"


def load_gguf(
    path: Path, *, device: Where = None, as_numpy: bool = False, dequantize: bool = True
) -> dict[str, Tensor]:
    """All tensors of a file, the last axis running fastest; those in blocks as float32.

    as_numpy    arrays instead of tensors
    dequantize  False: those in blocks as uint8 of shape (..., blocks, bytes of a block)
    """
    with open_gguf(path, device=device, dequantize=dequantize) as file:
        return file.read(as_numpy)


def gguf_metadata(path: Path) -> dict[str, Any]:
    """What a file tells of the model and its tokenizer: numbers, strings, bools, and lists of them."""
    with opened(path) as stream:
        return head(stream)[0]


def open_gguf(path: Path, *, device: Where = None, dequantize: bool = True) -> GGUFFile:
    """A file as a dict that reads each tensor when it is asked for, with `metadata` and `kinds`."""
    return GGUFFile(path, device, dequantize)


class GGUFFile(TensorFile):
    """Tensors of a GGUF file, read one by one; `metadata` are its typed entries."""

    def __init__(self, path: Path, device: Where = None, dequantize: bool = True) -> None:
        super().__init__(path, device)
        self.dequantize = dequantize
        with opened(path) as stream:
            self.fault = stream.fault
            self.metadata, n = head(stream)
            self.entries = table(stream, n, aligned(self.metadata, stream))
        self._file = open(path, "rb")  # noqa: SIM115 - until `close`

    @property
    def kinds(self) -> dict[str, str]:
        """Each tensor's kind by its name in llama.cpp: "F32", "Q4_1", ..."""
        return {name: entry.kind for name, entry in self.entries.items()}

    def array(self, name: str) -> Any:
        layout = BY_NAME[self.entry(name).kind]
        if layout.fill is None:
            return decode(self._data(name), layout.dtype, self.fault).reshape(self.entry(name).shape)
        rows = self._rows(name)
        return (
            floats(rows.reshape(-1, layout.nbytes), layout).reshape(self.entry(name).shape) if self.dequantize else rows
        )

    def blocks(self, name: str) -> Any:
        """The blocks of a quantised tensor, as they are: a uint8 array of shape (..., blocks, bytes of a block)."""
        if BY_NAME[self.entry(name).kind].fill is None:
            raise ValueError(f"{self.path}: tensor {name!r} is plain {self.entry(name).kind}, not in blocks")
        return result(self._rows(name), None, True)

    def _rows(self, name: str) -> Any:
        import numpy as np

        entry, layout = self.entry(name), BY_NAME[self.entry(name).kind]
        shape = (*entry.shape[:-1], entry.shape[-1] // layout.block, layout.nbytes)
        return np.frombuffer(self._data(name), np.uint8).reshape(shape)

    def _data(self, name: str) -> bytes:
        entry = self.entry(name)
        self._file.seek(entry.start)
        data = self._file.read(entry.stop - entry.start)
        if len(data) != entry.stop - entry.start:
            raise self.fault(f"tensor {name!r} is no longer there: the file became shorter")
        return data

    def close(self) -> None:
        self._file.close()


def head(stream: Stream) -> tuple[dict[str, Any], int]:
    """(metadata, number of tensors)"""
    if stream.take(4, "the magic word") != b"GGUF":
        raise stream.fault("not a GGUF file")
    version = stream.number("<I", "the version")
    if version not in (2, 3):
        big = version & 0xFFFF == 0 and version >> 24 in (2, 3)
        raise stream.fault(
            f"GGUF {'with the largest byte first' if big else f'version {version}'} is not read; 2 and 3 are"
        )
    n, entries = stream.number("<Q", "the number of tensors"), stream.number("<Q", "the number of entries")
    found: dict[str, Any] = {}
    for _ in range(entries):
        key = string(stream)
        if key in found:
            raise stream.fault(f"metadata {key!r:.80} is there twice")
        found[key] = value(stream, stream.number("<I", "a kind"), 0)
    return found, n


def string(stream: Stream) -> str:
    data = stream.take(stream.number("<Q", "the length of a string"), "a string")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise stream.fault(f"the string before byte {stream.place} is no UTF-8: {error}") from error


def value(stream: Stream, kind: int, depth: int) -> Any:
    """One entry of a kind."""
    if kind == STRING:
        return string(stream)
    if kind == ARRAY:
        return row(stream, depth + 1)
    return numbers(stream, kind, 1)[0]


def row(stream: Stream, depth: int) -> list[Any]:
    """An array of one kind."""
    kind, n = stream.number("<I", "a kind"), stream.number("<Q", "the length of an array")
    if depth > DEEPEST:
        raise stream.fault(f"arrays within arrays, more than {DEEPEST} deep")
    if kind not in (STRING, ARRAY):
        return numbers(stream, kind, n)
    if n * 8 > stream.left:  # each has at least its length
        raise stream.lacking(n * 8, f"an array of {n}")
    return [value(stream, kind, depth) for _ in range(n)]


def numbers(stream: Stream, kind: int, n: int) -> list[Any]:
    """`n` numbers, or bools, as plain ones."""
    import numpy as np

    if kind not in NUMBERS and kind != BOOL:
        raise stream.fault(f"metadata of kind {kind}, which is not known, before byte {stream.place}")
    t = np.dtype(f"<{NUMBERS.get(kind, 'B')}")
    found = np.frombuffer(stream.take(n * t.itemsize, f"{n} numbers"), t)
    return (truths(found, stream.fault) if kind == BOOL else found).tolist()  # type: ignore[no-any-return]


def aligned(metadata: dict[str, Any], stream: Stream) -> int:
    """What offsets are multiples of."""
    found = metadata.get(ALIGNMENT, 32)
    if type(found) is not int or not 1 <= found <= 2**20 or found & (found - 1):
        raise stream.fault(f"{ALIGNMENT} is {found!r:.80}, not a power of two")
    return found


def table(stream: Stream, n: int, alignment: int) -> dict[str, Entry]:
    """The tensors, each with bytes of its own."""
    told: dict[str, tuple[Layout, tuple[int, ...], int]] = {}
    for _ in range(n):
        name = string(stream)
        if name in told:
            raise stream.fault(f"tensor {name!r:.80} is there twice")
        told[name] = info(stream, name, alignment)
    base = -(-stream.place // alignment) * alignment
    entries = {name: entry_of(name, *row, base, stream) for name, row in told.items()}
    apart(entries, stream.fault)
    return entries


def info(stream: Stream, name: str, alignment: int) -> tuple[Layout, tuple[int, ...], int]:
    """(layout, shape, offset) of a tensor; the file has the axis that runs fastest first."""
    axes = stream.number("<I", "the number of axes")
    if axes > AXES:
        raise stream.fault(f"tensor {name!r:.80} has {axes} axes, at most {AXES} are allowed")
    shape = sizes([stream.number("<Q", "a size") for _ in range(axes)][::-1], 8, f"tensor {name!r:.80}", stream.fault)
    kind, offset = stream.number("<I", "a kind"), stream.number("<Q", "an offset")
    layout = LAYOUTS.get(kind)
    if layout is None:
        other = OTHERS.get(kind, f"of the unknown kind {kind}")
        raise stream.fault(f"tensor {name!r:.80} is {other}, which is not read; {', '.join(BY_NAME)} are")
    if (shape[-1] if shape else 1) % layout.block:
        raise stream.fault(
            f"tensor {name!r:.80} of shape {shape} is {layout.name}: {layout.block} do not divide its rows"
        )
    if offset % alignment:
        raise stream.fault(f"tensor {name!r:.80} has offset {offset}, no multiple of {alignment}")
    return layout, shape, offset


def entry_of(name: str, layout: Layout, shape: tuple[int, ...], offset: int, base: int, stream: Stream) -> Entry:
    start = base + offset
    stop = start + prod(shape) // layout.block * layout.nbytes
    if stop > stream.size:
        raise stream.fault(f"cut short: tensor {name!r:.80} ends at byte {stop}, the file at {stream.size}")
    return Entry(layout.name, shape, start, stop)
