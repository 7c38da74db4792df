"""Tables, folders of pictures, rows of tokens."""

from __future__ import annotations

import gzip
import os
import pickle
from pathlib import Path

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
