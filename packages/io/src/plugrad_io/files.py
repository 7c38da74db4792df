"""Any file of tensors: the reader by content, the writer by suffix."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .archive import Archive
from .arrays import tied
from .stream import opened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .arrays import Where
    from .stream import Path, Stream

__all__ = ["load", "save", "tied"]

#: beginnings of files that are recognised, and not read
OTHERS = {
    b"\x93NUMPY": "one array without a name (.npy): pg.tensor(numpy.load(path, allow_pickle=False))",
    b"\x89HDF\r\n\x1a\n": "HDF5, which is not read; h5py reads it",
    b"\x08\x00\x00\x00TFL3": "TensorFlow Lite, which is not read",
    b"\x1f\x8b": "packed by gzip; unpack it first",
}
READ = "safetensors, npz, GGUF and files of torch.save are"


def load(path: Path, *, device: Where = None, as_numpy: bool = False) -> Any:
    """The tensors of a file by name; what is in the file, not its name, says how it is read.

    A dict of tensors; of a PyTorch file, what `torch.save` was given: dicts and lists with tensors in them. The
    functions of the formats (`load_safetensors`, `load_npz`, `load_torch`, `load_gguf`) have more options.

    as_numpy    arrays instead of tensors
    """
    with opened(path) as stream:
        reader = recognised(stream)
    return reader(path, device=device, as_numpy=as_numpy)


def recognised(stream: Stream) -> Callable[..., Any]:
    """The function that reads such a file."""
    from .gguf import load_gguf
    from .safetensors import load_safetensors
    from .torch_file import load_torch

    start = stream.take(min(stream.size, 512))
    if start.startswith(b"GGUF"):
        return load_gguf
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return member_of(stream)
    if start[8:9] == b"{":  # behind the length of a header
        return load_safetensors
    if start.startswith(b"\x80"):
        return load_torch
    raise stream.fault(f"not read: {why(start)}")


def member_of(stream: Stream) -> Callable[..., Any]:
    """The function that reads such a zip file."""
    from .npz import load_npz
    from .torch_file import load_torch

    names = Archive(stream, limit=2**63).members
    pickles = [name for name in names if name.endswith(".pkl")]
    return load_torch if pickles else load_npz


def why(start: bytes) -> str:
    """What such a file is."""
    if not start:
        return "the file is empty"
    if start[257:262] == b"ustar":
        return "a tar file, as PyTorch wrote before version 0.1.10; in PyTorch, load it and save it again"
    known = next((OTHERS[begin] for begin in OTHERS if start.startswith(begin)), None)
    return known or f"a file that begins with {start[:8]!r} is none that is known; {READ}"


def save(path: Path, tensors: Mapping[str, Any]) -> None:
    """Write tensors by name, atomically; the suffix says how: .safetensors, .npz, .pt or .pth."""
    writers = by_suffix()
    suffix = os.path.splitext(os.fsdecode(path))[1].lower()
    if suffix not in writers:
        raise ValueError(f"save: the suffix of {os.fsdecode(path)!r} says no format; write one of {', '.join(writers)}")
    writers[suffix](path, tensors)


def by_suffix() -> dict[str, Callable[..., None]]:
    from .npz import save_npz
    from .safetensors import save_safetensors
    from .torch_file import save_torch

    return {".safetensors": save_safetensors, ".npz": save_npz, ".pt": save_torch, ".pth": save_torch}
