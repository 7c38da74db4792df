"""Any file: the reader by content, the writer by suffix; writing that leaves nothing half done; tied tensors."""

from __future__ import annotations

import os
import stat
import struct
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from make_files import gguf, npy, storage, tensor, torch_legacy, zipped

import plugrad as pg
from plugrad.errors import DTypeError, PluginNotFoundError
from plugrad_io import FileFormatError, load, save, tied
from plugrad_io.atomic import replacing

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("suffix", [".safetensors", ".npz", ".pt", ".pth", ".PTH"])
def test_what_is_saved_is_loaded_whatever_its_name(tmp_path: Path, suffix: str) -> None:
    tensors = {"w": pg.arange(6.0).reshape(2, 3), "n": pg.tensor(5)}
    save(tmp_path / f"a{suffix}", tensors)
    os.rename(tmp_path / f"a{suffix}", tmp_path / "model.bin")
    for path in (tmp_path / "model.bin", str(tmp_path / "model.bin")):
        found = load(path)
        assert list(sorted(found)) == ["n", "w"]
        assert found["w"].tolist() == [[0, 1, 2], [3, 4, 5]]
        assert (found["n"].dtype, found["n"].item()) == (pg.int64, 5)
        assert found["w"].device is pg.ones(1).device
    arrays = load(tmp_path / "model.bin", as_numpy=True)
    assert all(type(a) is np.ndarray for a in arrays.values())
    moved = load(tmp_path / "model.bin", device=pg.device("numpy"))
    assert moved["w"].device is pg.device("numpy")


def test_other_formats_are_recognised(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(gguf({}, [("w", (2,), 0, struct.pack("<2f", 1, 2))]))
    assert load(path)["w"].tolist() == [1, 2]
    path.write_bytes(torch_legacy(tensor(storage("0", 2), (2,), (1,)), [("0", 2, struct.pack("<2f", 1, 2))]))
    assert load(path).tolist() == [1, 2]
    path.write_bytes(zipped({}))
    assert load(path) == {}


def test_a_long_header_is_not_taken_for_a_pickle(tmp_path: Path) -> None:
    """A header of 640 bytes begins as a pickle of protocol 2 does."""
    path = tmp_path / "f.safetensors"
    for n in range(500, 640):
        save(path, {"x" * n: pg.ones(1)})
        if path.read_bytes()[:2] == b"\x80\x02":
            break
    assert path.read_bytes()[:2] == b"\x80\x02"
    assert load(path)["x" * n].tolist() == [1]


TAR = bytes(257) + b"ustar\0" + bytes(300)
OTHERS = {
    "empty": (b"", "the file is empty"),
    "npy": (npy("'<f4'", "(1,)", bytes(4)), r"one array without a name \(.npy\): pg.tensor\(numpy.load"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(9), "HDF5, which is not read"),
    "gzip": (b"\x1f\x8b" + bytes(9), "packed by gzip"),
    "tar": (TAR, "as PyTorch wrote before version 0.1.10"),
    "text": (b"hello world", "begins with b'hello wo' is none that is known; safetensors, npz, GGUF and files of"),
    "zip": (zipped({"hello.txt": b"x"}), "not an .npz file: member 'hello.txt' is no .npy"),
    "pickle": (b"\x80\x04N.", "a pickle that torch.save has not written"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_files_of_no_known_kind(tmp_path: Path, name: str) -> None:
    data, message = OTHERS[name]
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(FileFormatError, match=message) as caught:
        load(tmp_path / "f")
    assert str(caught.value).startswith(str(tmp_path / "f"))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")
    with pytest.raises(
        ValueError, match=r"the suffix of .* says no format; write one of \.safetensors, \.npz, \.pt, \.pth"
    ):
        save(tmp_path / "model.bin", {})


def test_tied() -> None:
    w, x = pg.ones((2, 3)), np.zeros(4)
    assert tied({"a": w, "b": pg.ones((2, 3)), "c": w, "d": w.detach(), "e": x, "f": x, "g": x[:2], "h": x[:2]}) == [
        ["a", "c", "d"], ["e", "f"], ["g", "h"],
    ]  # fmt: skip
    assert tied({"a": w.mT, "b": w}) == []


# -- atomic writing ---------------------------------------------------------------------------------------------------


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with replacing(path) as fresh:
            with open(fresh, "wb") as file:
                file.write(b"half")
            assert path.read_bytes() == b"old"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (names(tmp_path), path.read_bytes()) == (["f"], b"old")


def test_a_failing_rename_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f.npz"
    save(path, {"x": pg.ones(1)})

    def fails(*args: Any) -> None:
        raise OSError("disk is full")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="disk is full"):
        save(path, {"x": pg.zeros(1)})
    assert names(tmp_path) == ["f.npz"]
    assert load(path)["x"].tolist() == [1]


def test_the_file_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    sync, move = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda n: (events.append("fsync"), sync(n)))
    monkeypatch.setattr(os, "replace", lambda a, b: (events.append("replace"), move(a, b)))
    for suffix in (".safetensors", ".npz", ".pt"):
        events.clear()
        save(tmp_path / f"f{suffix}", {"x": pg.ones(3)})
        assert events[:2] == ["fsync", "replace"]
        assert events[2:] == (["fsync"] if os.name == "posix" else [])


@pytest.mark.skipif(os.name != "posix", reason="modes and links are POSIX's")
def test_mode_and_links_stay(tmp_path: Path) -> None:
    plain, path = tmp_path / "plain", tmp_path / "real.pt"
    plain.touch()
    save(path, {})
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o640)
    (tmp_path / "link.pt").symlink_to(path)
    save(tmp_path / "link.pt", {"x": pg.ones(1)})
    assert (tmp_path / "link.pt").is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert load(path)["x"].tolist() == [1]


def test_names_in_bytes_and_folders_that_are_not_there(tmp_path: Path) -> None:
    for suffix in (".safetensors", ".npz", ".pt"):
        path = os.fsencode(tmp_path / f"é{suffix}")
        save(path, {"x": pg.ones(1)})
        assert load(path)["x"].tolist() == [1]
        with pytest.raises(FileNotFoundError, match=r"there is no folder to write into: .*nowhere'"):
            save(tmp_path / "nowhere" / f"x{suffix}", {"x": pg.ones(1)})


LIMITED = """
import os, resource, signal, sys
import plugrad as pg
from plugrad import io

io.save(sys.argv[1], {"x": pg.ones(4)})
old = open(sys.argv[1], "rb").read()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    io.save(sys.argv[1], {"x": pg.ones(100_000)})
except OSError as error:
    print("File too large" in str(error), sys.argv[1] in str(error))
print(open(sys.argv[1], "rb").read() == old, os.listdir(os.path.dirname(sys.argv[1])))
"""


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX's")
@pytest.mark.parametrize("suffix", [".safetensors", ".npz", ".pt"])
def test_a_full_disk(tmp_path: Path, suffix: str) -> None:
    """The file is named, the old one is intact, and nothing lies beside it."""
    path = str(tmp_path / f"f{suffix}")
    done = subprocess.run([sys.executable, "-c", LIMITED, path], capture_output=True, text=True, check=False)
    assert (done.stdout.splitlines(), done.stderr) == (["True True", f"True ['f{suffix}']"], "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are POSIX's")
def test_what_is_no_file(tmp_path: Path) -> None:
    """Nobody waits for a pipe."""
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path / "pipe"), "/dev/zero"):
        with pytest.raises(FileFormatError, match=f"{path}: not read: a pipe or a device"):
            load(path)
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        load(tmp_path)


def test_names_with_half_a_character(tmp_path: Path) -> None:
    for suffix in (".safetensors", ".npz"):
        with pytest.raises(DTypeError, match=r"the name 'a\\ud800' holds half a character"):
            save(tmp_path / f"f{suffix}", {"a\ud800": pg.ones(1)})


def test_a_device_that_is_not_there_is_not_the_files_fault(tmp_path: Path) -> None:
    for suffix in (".safetensors", ".npz", ".pt"):
        save(tmp_path / f"f{suffix}", {"x": pg.ones(1)})
        with pytest.raises(PluginNotFoundError, match="no plugin 'nowhere'"):
            load(tmp_path / f"f{suffix}", device="nowhere")


def test_a_name_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save("f.npz", {"x": pg.ones(1)})
    assert names(tmp_path) == ["f.npz"]
