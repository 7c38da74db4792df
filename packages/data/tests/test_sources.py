"""Tables, folders of pictures, rows of tokens, IDX files, fetched packages."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pickle
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plugrad as pg
import plugrad_data as data
from plugrad.errors import AxisError, DTypeError, ShapeError
from plugrad_data import registry as fetching
from plugrad_data import sets

# -- CSV ---------------------------------------------------------------------------------------------------------


def table(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "a,b,kind\n1,2.5,x\n-3,1e3,y\n\n0,7,x\n")
    points = data.CSVDataset(path, "kind", classes=True)
    assert points.names == ["a", "b", "kind"]
    assert points.classes == ["x", "y"]
    assert points[1][0].tolist() == [-3.0, 1000.0]
    x, y = next(iter(data.DataLoader(points, batch_size=3)))
    assert x.tolist() == [[1.0, 2.5], [-3.0, 1000.0], [0.0, 7.0]]
    assert (x.dtype, y.dtype) == (pg.float32, pg.int64)
    assert y.tolist() == [0, 1, 0]


def test_a_table_without_names(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"1;2;setosa\n3;4;virginica\n"))
    points = data.CSVDataset(path, -1, classes=True, delimiter=";")
    assert len(points) == 2
    assert points.classes == ["setosa", "virginica"]
    assert data.CSVDataset(path, columns=[1], delimiter=";")[1][0].tolist() == [4.0]
    numbered = data.CSVDataset(table(tmp_path / "n.csv", "1,10\n2,9\n3,10\n"), 1, classes=True)
    assert numbered.classes == ["9", "10"]
    assert data.CSVDataset(tmp_path / "n.csv", "1")[2][1] == 10.0


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("a,b\n1,2\n3\n", ShapeError, "t.csv:3 has 1 entries, not 2"),
        ("a,b\n1,2\n3,x\n", DTypeError, "t.csv:3, column 'b': 'x' is not a number"),
        ("a,b\n1,2\n3,\n", DTypeError, r"'' is not a number; say what an empty entry counts as: missing="),
        ("a,7\n1,2\n", DTypeError, "t.csv:1, column '0': 'a' is not a number; if these are names, say header=True"),
    ],
)
def test_a_table_with_a_fault(text: str, error: type[Exception], match: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=match):
        data.CSVDataset(table(tmp_path / "t.csv", text))


def test_missing_entries_and_unknown_columns(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "a,b\n1,\n,2\n")
    assert data.CSVDataset(path, missing=-1.0).arrays[0].tolist() == [[1.0, -1.0], [-1.0, 2.0]]
    with pytest.raises(ShapeError, match="no column 'c'; it has a, b"):
        data.CSVDataset(path, "c")


# -- pictures ------------------------------------------------------------------------------------------------------


def test_a_folder_of_pictures(tmp_path: Path) -> None:
    for name in ("dog/b.npy", "cat/x/a.npy", "cat/c.npy", "cat/notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        np.save(tmp_path / name, np.full((2, 3, 3), len(name), dtype=np.uint8))
    os.rename(tmp_path / "cat/notes.txt.npy", tmp_path / "cat/notes.txt")
    pictures = data.ImageFolder(tmp_path, loader=np.load, extensions=[".npy"], target_transform=lambda y: -y)
    assert pictures.classes == ["cat", "dog"]
    assert [Path(p).name for p, _ in pictures.samples] == ["c.npy", "a.npy", "b.npy"]
    assert pictures.targets == [0, 0, 1]
    x, y = pictures[2]
    assert (x.shape, y) == ((3, 2, 3), -1)
    (tmp_path / "eel").mkdir()
    with pytest.raises(ShapeError, match="no picture in eel"):
        data.ImageFolder(tmp_path, loader=np.load, extensions=[".npy"])


def test_pictures_are_read_by_pillow(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "a").mkdir()
    colours = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    image.fromarray(colours).save(tmp_path / "a" / "p.png")
    x, y = data.ImageFolder(tmp_path)[0]
    np.testing.assert_allclose(x.numpy(), colours.transpose(2, 0, 1) / 255, rtol=1e-6)
    assert y == 0


# -- tokens --------------------------------------------------------------------------------------------------------


def test_windows_over_tokens() -> None:
    windows = data.TokenWindows(np.arange(11, dtype=np.uint16), 3)
    assert len(windows) == 3
    assert [windows[i][0].tolist() for i in range(3)] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert windows[-1][1].tolist() == [7, 8, 9]
    assert windows[0][0].dtype is pg.int64
    assert len(data.TokenWindows(np.arange(10), 3)) == 3  # the last window needs the token behind it
    assert len(data.TokenWindows(np.arange(9), 3)) == 2
    dense = data.TokenWindows(np.arange(6), 2, stride=1)
    assert [dense[i][0].tolist() for i in range(len(dense))] == [[0, 1], [1, 2], [2, 3], [3, 4]]
    x, y = next(iter(data.DataLoader(dense, batch_size=4)))
    assert x.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert y.tolist() == [[1, 2], [2, 3], [3, 4], [4, 5]]
    with pytest.raises(AxisError, match="window 4 is out of range for 4"):
        dense[4]
    with pytest.raises(ShapeError, match="3 tokens are too few"):
        data.TokenWindows(np.arange(3), 3)
    with pytest.raises(DTypeError, match="float64"):
        data.TokenWindows(np.ones(5), 3)


def test_windows_are_mapped_and_opened_anew_in_another_process(tmp_path: Path) -> None:
    path = data.write_tokens(tmp_path / "t.npy", range(1000))
    windows = data.TokenWindows(path, 10)
    assert isinstance(windows.tokens, np.memmap)
    packed = pickle.dumps(windows)
    assert len(packed) < 500
    other = pickle.loads(packed)
    assert isinstance(other.tokens, np.memmap)
    assert other[7][1].tolist() == list(range(71, 81))


def test_tokens_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = data.write_tokens(tmp_path / "t.npy", [1, 2])
    with pytest.raises(DTypeError, match="from 0 to 65536 do not fit uint16"):
        data.write_tokens(path, [0, 65536])
    with pytest.raises(DTypeError, match="float64"):
        data.write_tokens(path, np.ones(3))
    assert np.load(path).tolist() == [1, 2]
    assert [p.name for p in tmp_path.iterdir()] == ["t.npy"]


def test_characters() -> None:
    text = "to be, ∂ or 𝄞 not\r\n"
    tokens, vocabulary = data.characters(text)
    assert "".join(vocabulary[t] for t in tokens) == text
    assert vocabulary == sorted(set(text))
    assert tokens.dtype == np.uint16


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
