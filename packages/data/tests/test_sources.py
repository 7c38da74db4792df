"""Tables, folders of pictures, rows of tokens."""

from __future__ import annotations

import gzip
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plugrad as pg
import plugrad_data as data
from plugrad.errors import AxisError, DTypeError, ShapeError

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


ODD = {
    "a,b\n1,2\n  \n3,4\n\n": [[1, 2], [3, 4]],
    "\ufeffa,b\r\n1,2\r\n3,4\r\n": [[1, 2], [3, 4]],
    '"a", "b,c"\n"1", "2"\n': [[1, 2]],
    "a\n1\n \n3\n": [[1], [3]],
    "": [],
    "a,b\n": [],
}


@pytest.mark.parametrize("text", ODD)
def test_odd_tables(text: str, tmp_path: Path) -> None:
    """Empty lines, a mark of byte order, quotes behind blanks, nothing at all."""
    assert data.CSVDataset(table(tmp_path / "t.csv", text)).arrays[0].tolist() == ODD[text]


@pytest.mark.parametrize(
    ("body", "options", "match"),
    [
        (b'a,b\n1,x\n3,"y\n5,z\n', {"columns": ["a"]}, "t.csv, after line 4, is damaged .* unexpected end"),
        (b"a,b\n1,\xe9\n", {"columns": ["a"]}, "t.csv, after line 0, is damaged or no table in UTF-8"),
        (gzip.compress(b"a,b\n" + b"1,2\n" * 99)[:-12], {}, "t.csv, after .* is damaged"),
        (b"\x1f\x8b123456", {}, "t.csv, after .* is damaged"),
        (b"a\n" + b"1" * 140_000, {}, "t.csv, after .* is damaged .* field limit"),
        (b"a,a,y\n1,2,3\n", {"target": "a"}, "several columns 'a'; give the number of one"),
    ],
)
def test_damaged_tables(body: bytes, options: dict[str, Any], match: str, tmp_path: Path) -> None:
    """No row is lost in silence, and the file is named."""
    (tmp_path / "t.csv").write_bytes(body)
    with pytest.raises(ShapeError, match=match):
        data.CSVDataset(tmp_path / "t.csv", **options)


def test_what_is_no_number_and_no_class(tmp_path: Path) -> None:
    with pytest.raises(DTypeError, match="'1_0' is not a number"):
        data.CSVDataset(table(tmp_path / "t.csv", "a,b\n1_0,2\n"))
    with pytest.raises(DTypeError, match=r"t\.csv:3 has an empty class"):
        data.CSVDataset(table(tmp_path / "t.csv", "a,y\n1,x\n2,\n"), "y", classes=True)


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


PICTURE = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)


def test_pictures_of_all_modes(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    rgb = image.fromarray(PICTURE)
    (tmp_path / "a").mkdir()
    palette = rgb.convert("P")
    palette.save(tmp_path / "a" / "palette.png", transparency=bytes(range(9)))
    for mode in ("1", "L", "LA", "RGBA", "CMYK"):
        rgb.convert("RGBA").convert(mode).save(tmp_path / "a" / f"{mode}.tif")
    pictures = data.ImageFolder(tmp_path)
    found = {Path(path).stem: pictures[i][0] for i, (path, _) in enumerate(pictures.samples)}
    assert {name: x.shape for name, x in found.items()} == dict.fromkeys(found, (3, 40, 40))
    np.testing.assert_allclose(found["RGBA"].numpy(), PICTURE.transpose(2, 0, 1) / 255, rtol=1e-6)
    want = np.array(palette.convert("RGB")).transpose(2, 0, 1) / 255
    np.testing.assert_allclose(found["palette"].numpy(), want, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["uint16", "int32", "float32"])
def test_pictures_of_more_than_bytes_are_not_cut_off(dtype: str, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "a").mkdir()
    image.fromarray(PICTURE[..., 0].astype(dtype) * 200).save(tmp_path / "a" / "deep.tif")
    with pytest.raises(DTypeError, match=r"deep.tif has more than 8 bits for a channel .* pass a loader"):
        data.ImageFolder(tmp_path)[0]
    pictures = data.ImageFolder(tmp_path, loader=lambda path: np.asarray(image.open(path)) / 65535)
    np.testing.assert_allclose(pictures[0][0].numpy()[0] * 65535, PICTURE[..., 0] * 200.0, rtol=1e-5)


@pytest.mark.parametrize("kind", ["cut", "empty", "other"])
def test_damaged_pictures_are_named(kind: str, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "a").mkdir()
    path = tmp_path / "a" / "p.png"
    image.fromarray(PICTURE).save(path)
    path.write_bytes({"cut": path.read_bytes()[:900], "empty": b"", "other": b"hello"}[kind])
    with pytest.raises(OSError, match=r"p\.png is damaged, or no picture"):
        data.ImageFolder(tmp_path)[0]


def test_names_of_pictures(tmp_path: Path) -> None:
    """Ends of several parts, one end as a string, folders that are called like pictures."""
    for name in ("a/x.nii.gz", "a/y.PNG", "a/foo.pyg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "a" / "folder.png").mkdir()

    def found(ends: Any) -> list[str]:
        return [Path(path).name for path, _ in data.ImageFolder(tmp_path, extensions=ends).samples]

    assert (found(".png"), found([".nii.gz"])) == (["y.PNG"], ["x.nii.gz"])


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
    with pytest.raises(ShapeError, match="0 tokens are too few"):
        data.TokenWindows(np.arange(0), 3)
    with pytest.raises(DTypeError, match="float64"):
        data.TokenWindows(np.ones(5), 3)
    for tokens in (list(range(11)), pg.arange(11)):
        assert data.TokenWindows(tokens, 3)[2][1].tolist() == [7, 8, 9]


def test_files_of_tokens_that_are_none(tmp_path: Path) -> None:
    path = data.write_tokens(tmp_path / "t.npy", range(100))
    whole = path.read_bytes()
    np.savez(tmp_path / "z.npz", a=np.arange(5))
    for body in (whole[:-50], whole[:40], b"", (tmp_path / "z.npz").read_bytes()):
        path.write_bytes(body)
        with pytest.raises(ShapeError, match=r"t\.npy is no whole \.npy file of integers"):
            data.TokenWindows(path, 3)
    with pytest.raises(DTypeError, match="dtype float32 is not"):
        data.write_tokens(path, [1], "float32")


def test_many_write_one_file(tmp_path: Path) -> None:
    """The last one stays, whole; a link stays a link."""
    path = tmp_path / "link.npy"
    path.symlink_to(tmp_path / "t.npy")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: data.write_tokens(path, np.full(50_000, i)), range(16)))
    assert len(np.unique(np.load(path))) == 1
    assert path.is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.npy", "t.npy"]


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
