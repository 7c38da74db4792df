"""Data sets in files: tables of numbers, folders of pictures."""

from __future__ import annotations

import csv
import gzip
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plugrad.errors import DTypeError, ShapeError

from .dataset import ArrayDataset, Dataset

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["CSVDataset", "ImageFolder"]

EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


class CSVDataset(ArrayDataset):
    """Rows of a table of numbers, plain or gzipped: sample i is (the columns of x in float32, the target).

    target       column of the target, by name or number (negative: from the right); None: samples are (x,)
    columns      columns of x; default: all but the target
    header       is the first row one of names? None: it is if none of its entries is a number
    classes      the target is a class: entries are numbered in sorted order (see `classes`), in int64; else float32
    missing      what an empty entry counts as; None: it is an error, and an empty class always is

    Rows of another length and entries that are no numbers raise, with file and line. Empty lines are skipped.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        target: str | int | None = None,
        columns: Sequence[str | int] | None = None,
        *,
        header: bool | None = None,
        classes: bool = False,
        delimiter: str = ",",
        missing: float | None = None,
    ) -> None:
        import numpy as np

        self.path = Path(path)
        rows = list(self._rows(delimiter))
        named = bool(rows) and (header if header is not None else not any(map(_is_number, rows[0][1])))
        self.names = rows.pop(0)[1] if named else [str(i) for i in range(len(rows[0][1]))] if rows else []
        for line, row in rows:
            if len(row) != len(self.names):
                raise ShapeError(f"CSVDataset: {self.path}:{line} has {len(row)} entries, not {len(self.names)}")
        at = None if target is None else self._column(target)
        if classes and (empty := [line for line, row in rows if at is not None and not row[at]]):
            raise DTypeError(f"CSVDataset: {self.path}:{empty[0]} has an empty class")
        wanted = [i for i in range(len(self.names)) if i != at] if columns is None else list(map(self._column, columns))
        x = np.array([[self._number(row, i, line, missing) for i in wanted] for line, row in rows], dtype=np.float32)
        self.classes: list[str] = sorted({row[at] for _, row in rows}, key=_order) if classes and at is not None else []
        arrays = [x.reshape(len(rows), len(wanted))]
        if at is not None and classes:
            number = {name: i for i, name in enumerate(self.classes)}
            arrays.append(np.array([number[row[at]] for _, row in rows], dtype=np.int64))
        elif at is not None:
            arrays.append(np.array([self._number(row, at, line, missing) for line, row in rows], dtype=np.float32))
        super().__init__(*arrays)

    def _rows(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """(line, entries) of every row that is not empty."""
        with open(self.path, "rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
        opened: Any = gzip.open if packed else open
        with opened(self.path, "rt", encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, skipinitialspace=True, strict=True)
            try:
                for row in reader:
                    entries = [entry.strip() for entry in row]
                    if entries not in ([], [""]):
                        yield reader.line_num, entries
            except (UnicodeError, csv.Error, EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise ShapeError(
                    f"CSVDataset: {self.path}, after line {reader.line_num}, is damaged or no table in UTF-8: {error}"
                ) from error

    def _column(self, which: str | int) -> int:
        n = len(self.names)
        if isinstance(which, str) and self.names.count(which) > 1:
            raise ShapeError(f"CSVDataset: {self.path} has several columns {which!r}; give the number of one")
        if isinstance(which, str) and which in self.names:
            return self.names.index(which)
        if isinstance(which, str) or not -n <= which < n:
            raise ShapeError(f"CSVDataset: {self.path} has no column {which!r}; it has {', '.join(self.names)}")
        return which % n

    def _number(self, row: list[str], i: int, line: int, missing: float | None) -> float:
        if not row[i] and missing is not None:
            return missing
        try:
            return _float(row[i])
        except ValueError:
            hint = "" if row[i] else "; say what an empty entry counts as: missing=..."
            hint = "; if these are names, say header=True" if line == 1 and row[i] else hint
            where = f"{self.path}:{line}, column {self.names[i]!r}"
            raise DTypeError(f"CSVDataset: {where}: {row[i]!r} is not a number{hint}") from None


class ImageFolder(Dataset):
    """Pictures in a folder for each class, root/class/.../name.png: sample i is (picture, class).

    transform          f(picture); default: `transforms.ToTensor`, (channels, height, width) from 0 to 1
    target_transform   f(class)
    loader             f(path), which makes a picture of a file; default: Pillow, in RGB
    extensions         files that are pictures, by the end of their names: one end, or several

    classes            names of the folders, sorted; their places are the classes
    samples            (path, class) of every picture, sorted
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[int], Any] | None = None,
        loader: Callable[[str], Any] | None = None,
        extensions: str | Iterable[str] = EXTENSIONS,
    ) -> None:
        from .transforms import ToTensor

        self.root, self.loader = str(root), loader or load_image
        self.transform: Callable[[Any], Any] = transform or ToTensor()
        self.target_transform = target_transform
        self.classes = sorted(p.name for p in Path(root).iterdir() if p.is_dir())
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        ends = tuple(e.lower() for e in ([extensions] if isinstance(extensions, str) else extensions))
        found = {name: sorted(_files(Path(root) / name, ends)) for name in self.classes}
        empty = [name for name, paths in found.items() if not paths]
        if not found or empty:
            what = f"no picture in {', '.join(empty)}" if found else "no folder in it, one for each class"
            raise ShapeError(f"ImageFolder: {root}: {what}; pictures end in {', '.join(ends)}")
        self.samples = [(str(path), self.class_to_idx[name]) for name, paths in found.items() for path in paths]
        self.targets = [y for _, y in self.samples]

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, y = self.samples[index]
        return self.transform(self.loader(path)), y if self.target_transform is None else self.target_transform(y)


def _files(folder: Path, ends: tuple[str, ...]) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.name.lower().endswith(ends) and path.is_file())


def load_image(path: str) -> Any:
    """The picture in a file, in RGB, as Pillow reads it."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("ImageFolder: pictures are read by Pillow; pip install pillow", name="PIL") from error
    with open(path, "rb") as file:
        try:
            picture = Image.open(file)
            picture.load()
        except Exception as error:  # of many kinds, most of which do not name the file
            raise OSError(f"ImageFolder: {path} is damaged, or no picture: {error}") from error
    return _rgb(picture, path)


def _rgb(picture: Any, path: str) -> Any:
    if picture.mode[0] in "IF":
        raise DTypeError(
            f"ImageFolder: {path} has more than 8 bits for a channel (mode {picture.mode}), which RGB would cut off; "
            "pass a loader that scales them, as numpy.asarray(Image.open(path)) / 65535"
        )
    if "transparency" in picture.info:  # of a palette: Pillow warns of the short way
        picture = picture.convert("RGBA")
    return picture.convert("RGB")


def _float(entry: str) -> float:
    if "_" in entry:  # Python takes 1_000 for a number, nothing else does
        raise ValueError(entry)
    return float(entry)


def _is_number(entry: str) -> bool:
    try:
        _float(entry)
    except ValueError:
        return not entry
    return True


def _order(name: str) -> tuple[bool, float, str]:
    """Numbers by size, then words."""
    return (False, float(name), name) if name and _is_number(name) else (True, 0.0, name)
