"""Files made byte by byte, independently of the readers and writers under test."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from typing import Any

SIMPLE = {bool: (7, "?"), int: (11, "<q"), float: (12, "<d")}
NUMBERS = {"u8": (0, "B"), "i8": (1, "b"), "u16": (2, "<H"), "i16": (3, "<h"), "u32": (4, "<I"), "i32": (5, "<i"),
           "f32": (6, "<f"), "u64": (10, "<Q"), "i64": (11, "<q"), "f64": (12, "<d")}  # fmt: skip


# -- safetensors ------------------------------------------------------------------------------------------------------


def safetensors(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    """A file with this header: a table, or bytes as they are."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def row(dtype: str, shape: list[int], start: int, stop: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


# -- zip and npy ------------------------------------------------------------------------------------------------------


def zipped(members: dict[str, bytes] | list[tuple[str, bytes]], method: int = zipfile.ZIP_STORED) -> bytes:
    """A zip file; a list may name one member twice."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, data in members.items() if isinstance(members, dict) else members:
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            file.writestr(info, data)
    return out.getvalue()


def npy(descr: str, shape: str, data: bytes, fortran: bool = False, version: int = 1, header: str = "") -> bytes:
    """An .npy array; `header` instead of the usual one."""
    text = (header or f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}").encode("latin-1") + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


# -- GGUF -------------------------------------------------------------------------------------------------------------


def word(text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(data)) + data


def kind_of(value: Any) -> tuple[int, bytes]:
    """(kind, bytes) of a value: ("u32", 5) or a plain one; a list is an array of the kind of its first."""
    if isinstance(value, (str, bytes)):
        return 8, word(value)
    if isinstance(value, list):
        parts = [kind_of(v) for v in value]
        return 9, struct.pack("<IQ", parts[0][0] if parts else 4, len(parts)) + b"".join([p for _, p in parts])
    kind, code = NUMBERS[value[0]] if isinstance(value, tuple) else SIMPLE[type(value)]
    return kind, struct.pack(code, value[1] if isinstance(value, tuple) else value)


def entry(key: str, value: Any) -> bytes:
    kind, data = kind_of(value)
    return word(key) + struct.pack("<I", kind) + data


def gguf(
    metadata: dict[str, Any] | list[bytes],
    tensors: list[tuple[str, tuple[int, ...], int, bytes]],
    *,
    version: int = 3,
    alignment: int = 32,
    offsets: list[int] | None = None,
    counts: tuple[int, int] | None = None,
) -> bytes:
    """A file of (name, shape, kind, bytes); the shape as in NumPy, the bytes aligned one behind the other."""
    entries = metadata if isinstance(metadata, list) else [entry(k, v) for k, v in metadata.items()]
    n, m = counts or (len(tensors), len(entries))
    out = b"GGUF" + struct.pack("<IQQ", version, n, m) + b"".join(entries)
    body = b""
    for i, (name, shape, kind, data) in enumerate(tensors):
        body += bytes(-len(body) % alignment)
        sizes = struct.pack(f"<{len(shape)}Q", *reversed(shape))
        offset = len(body) if offsets is None else offsets[i]
        out += word(name) + struct.pack("<I", len(shape)) + sizes + struct.pack("<IQ", kind, offset)
        body += data
    return out + bytes(-len(out) % alignment) + body


# -- pickles and files of torch.save ----------------------------------------------------------------------------------


def text(s: str) -> bytes:
    return b"X" + struct.pack("<I", len(s.encode())) + s.encode()


def number(n: int) -> bytes:
    data = n.to_bytes(n.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def tuple_of(*parts: bytes) -> bytes:
    return b"(" + b"".join(parts) + b"t"


def call(name: str, *parts: bytes) -> bytes:
    """`name` is "module word"."""
    return b"c" + name.replace(" ", "\n").encode() + b"\n" + tuple_of(*parts) + b"R"


def table(pairs: dict[str, bytes]) -> bytes:
    return b"}(" + b"".join([text(k) + v for k, v in pairs.items()]) + b"u"


def storage(key: str, numel: int, kind: str = "torch FloatStorage", part: bytes = b"") -> bytes:
    kind = kind.replace(" ", "\n")
    return tuple_of(text("storage"), f"c{kind}\n".encode(), text(key), text("cpu"), number(numel), part) + b"Q"


def tensor(
    where: bytes,
    shape: tuple[int, ...],
    stride: tuple[int, ...],
    offset: int = 0,
    version: str = "_v2",
    more: bytes = b"",
) -> bytes:
    sizes = tuple_of(*[number(n) for n in shape]), tuple_of(*[number(n) for n in stride])
    hooks = b"" if version == "" else b"\x89" + call("collections OrderedDict")
    return call(f"torch._utils _rebuild_tensor{version}", where, number(offset), *sizes, hooks, more)


def pickled(body: bytes, protocol: int = 2) -> bytes:
    return b"\x80" + bytes([protocol]) + body + b"."


def torch_zip(body: bytes, storages: dict[str, bytes], root: str = "archive/", **more: bytes) -> bytes:
    members = {f"{root}data.pkl": pickled(body), **{f"{root}data/{k}": v for k, v in storages.items()}}
    return zipped(members | {f"{root}{k}": v for k, v in more.items()})


def torch_legacy(body: bytes, storages: list[tuple[str, int, bytes]], little: bool = True) -> bytes:
    system = table({"protocol_version": number(1001), "little_endian": b"\x88" if little else b"\x89"})
    keys = b"](" + b"".join([text(k) for k, _, _ in storages]) + b"e"
    head = [number(0x1950A86A20F9469CFC6C), number(1001), system, body, keys]
    return b"".join([pickled(part) for part in head]) + b"".join([struct.pack("<q", n) + d for _, n, d in storages])
