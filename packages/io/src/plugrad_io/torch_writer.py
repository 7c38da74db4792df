"""A file that `torch.load` reads, written without PyTorch: the pickle byte by byte, in a zip with the numbers."""

from __future__ import annotations

import struct
import sys
from math import prod
from typing import TYPE_CHECKING, Any

from plugrad import DType, Tensor
from plugrad.errors import DTypeError

from .arrays import host, kind_of, memory
from .atomic import replacing

if TYPE_CHECKING:
    from collections.abc import Hashable
    from zipfile import ZipFile

    from .stream import Path

DEEPEST = 100  # containers within containers
ALIGNED = 64  # where numbers begin in the file, so that they can be mapped
TYPED = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
    "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double",
}  # fmt: skip


def save_torch(path: Path, data: Any) -> None:
    """Write a state dict, or any lists and dicts with tensors, numbers and strings, for `torch.load(path)`; atomically.

    What several names share is written once and shared again when PyTorch loads it. Arrays become tensors.
    """
    writer = Writer()
    writer.put(data, "data", 0)
    from zipfile import ZipFile

    with replacing(path) as fresh, ZipFile(fresh, "w", allowZip64=True) as file:
        member(file, "data.pkl", b"\x80\x02" + bytes(writer.out) + b".")
        member(file, "byteorder", sys.byteorder.encode())
        for key, value in enumerate(writer.values):
            member(file, f"data/{key}", memoryview(host(key, value).reshape(-1).view("uint8")))
        member(file, "version", b"3\n")


def member(file: ZipFile, name: str, data: bytes | memoryview) -> None:
    """One member, its contents aligned by an idle field in its header."""
    from zipfile import ZIP64_LIMIT, ZipInfo

    info = ZipInfo(f"archive/{name}")
    wide = 20 if len(data) * 1.05 > ZIP64_LIMIT else 0  # what zipfile itself adds for large members
    start = (file.fp.tell() if file.fp else 0) + 30 + len(info.filename) + 4 + wide
    gap = -start % ALIGNED
    info.extra = struct.pack("<2sH", b"FB", gap) + b"Z" * gap
    file.writestr(info, data)


class Writer:
    """Data as the opcodes of a pickle, and the tensors that they refer to."""

    def __init__(self) -> None:
        self.out = bytearray()
        self.values: list[Any] = []
        self.keys: dict[Hashable, int] = {}

    def put(self, x: Any, where: str, depth: int) -> None:
        if depth > DEEPEST:
            raise DTypeError(f"save: {where[:80]}... holds containers within containers, {depth} deep")
        if isinstance(x, dict):
            self.table(x, where, depth)
        elif type(x) in (list, tuple):
            self.row(x, where, depth)
        elif x is None or isinstance(x, bool):
            self.out += {None: b"N", True: b"\x88", False: b"\x89"}[x]
        else:
            self.leaf(x, where)

    def table(self, x: dict[Any, Any], where: str, depth: int) -> None:
        self.out += b"}("
        for key, value in x.items():
            self.put(key, f"a key of {where}", depth + 1)
            self.put(value, f"{where}[{key!r}]", depth + 1)
        self.out += b"u"

    def row(self, x: list[Any] | tuple[Any, ...], where: str, depth: int) -> None:
        self.out += b"](" if type(x) is list else b"("
        for i, value in enumerate(x):
            self.put(value, f"{where}[{i}]", depth + 1)
        self.out += b"e" if type(x) is list else b"t"

    def leaf(self, x: Any, where: str) -> None:
        if isinstance(x, int):
            self.integer(x)
        elif isinstance(x, float):
            self.out += b"G" + struct.pack(">d", x)
        elif isinstance(x, str):
            self.text(x)
        elif isinstance(x, bytes):
            self.call("_codecs\nencode", x.decode("latin-1"), "latin1")
        elif isinstance(x, DType):
            self.out += f"ctorch\n{x}\n".encode()
        elif isinstance(x, Tensor) or type(x).__name__ == "ndarray":
            self.tensor(x, where)
        elif type(x).__module__ == "numpy" and hasattr(x, "item"):
            self.put(x.item(), where, 0)
        else:
            raise DTypeError(
                f"save: {where} is a {type(x).__name__}; tensors, arrays, numbers, strings, bytes, None and lists, "
                "tuples and dicts of them are saved"
            )

    def integer(self, n: int) -> None:
        if -(2**31) <= n < 2**31:
            self.out += b"J" + struct.pack("<i", n)
        else:
            data = n.to_bytes(n.bit_length() // 8 + 1, "little", signed=True)
            if len(data) > 255:
                raise DTypeError(f"save: a whole number of {len(data)} bytes; at most 255 are written")
            self.out += b"\x8a" + struct.pack("B", len(data)) + data

    def text(self, x: str) -> None:
        data = x.encode("utf-8", "surrogatepass")
        self.out += b"X" + struct.pack("<I", len(data)) + data

    def call(self, name: str, *args: Any) -> None:
        """A call, for who reads it."""
        self.out += f"c{name}\n".encode()
        self.row(args, name, 0)
        self.out += b"R"

    def tensor(self, x: Any, where: str) -> None:
        """_rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks), or v3 with a dtype behind."""
        t = kind_of(where, x.dtype)
        kind = TYPED.get(t.name)
        self.out += f"ctorch._utils\n_rebuild_tensor_v{2 if kind else 3}\n(".encode()
        self.storage(x, t, f"torch\n{kind}Storage" if kind else "torch.storage\nUntypedStorage")
        strides = [prod(x.shape[i + 1 :]) for i in range(len(x.shape))]
        for part in (0, tuple(x.shape), tuple(strides), False):
            self.put(part, where, 0)
        self.call("collections\nOrderedDict")
        self.out += b"tR" if kind else f"ctorch\n{t}\ntR".encode()

    def storage(self, x: Any, t: DType, kind: str) -> None:
        key = self.keys.setdefault(memory(x), len(self.values))
        if key == len(self.values):
            self.values.append(x)
        self.out += f"(X\x07\0\0\0storagec{kind}\n".encode()
        self.text(str(key))
        self.text("cpu")
        self.integer(prod(x.shape) * (1 if kind.startswith("torch\n") else t.itemsize))
        self.out += b"tQ"
