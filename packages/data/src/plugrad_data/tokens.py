"""Text as numbers: windows over a long row of tokens, read from where it lies on disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.errors import AxisError, DTypeError, ShapeError

from .atomic import replacing
from .dataset import Dataset

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plugrad import Tensor

__all__ = ["TokenWindows", "characters", "write_tokens"]


class TokenWindows(Dataset):
    """Sample i is (x, y): `length` tokens from i · stride on, and the tokens that follow each of them.

    tokens    integers, an array or a tensor of one axis; or the path of an .npy file, which is mapped into memory: a
              window is read when it is asked for, and a worker process opens the file for itself
    length    tokens in a window
    stride    from one window to the next; default `length`: windows do not overlap, each token is predicted once

    x and y are int64 of shape (length,). What is left at the end, too short for a window, is not used.
    """

    def __init__(self, tokens: Any, length: int, stride: int | None = None) -> None:
        self.path = str(tokens) if isinstance(tokens, (str, os.PathLike)) else None
        self.length, self.stride = length, length if stride is None else stride
        if self.length < 1 or self.stride < 1:
            raise ValueError(f"TokenWindows: length {length} and stride {stride} count tokens, from 1")
        self.tokens = _row(tokens) if self.path is None else self._opened()
        shape = tuple(self.tokens.shape)
        if len(shape) != 1 or self.tokens.dtype.kind not in "iu":
            raise DTypeError(
                f"TokenWindows: tokens are {self.tokens.dtype} of shape {shape}; integers in a row are wanted"
            )
        if shape[0] <= length:
            raise ShapeError(
                f"TokenWindows: {shape[0]} tokens are too few for a window of {length} and the one after it"
            )

    def _opened(self) -> Any:
        import numpy as np

        path: Any = self.path
        try:
            return np.lib.format.open_memmap(path, mode="r")
        except ValueError as error:
            raise ShapeError(f"TokenWindows: {path} is no whole .npy file of integers: {error}") from error

    def __len__(self) -> int:
        return int((len(self.tokens) - 1 - self.length) // self.stride + 1)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return tuple([rows[0] for rows in self.gather([index])])  # type: ignore[return-value]

    def gather(self, indices: list[int]) -> tuple[Tensor, Tensor]:
        """The windows of a batch at once, (batch, length) each."""
        import numpy as np

        n = len(self)
        for i in indices:
            if not -n <= i < n:
                raise AxisError(f"TokenWindows: window {i} is out of range for {n} windows")
        starts = np.array(indices, dtype=np.int64) % n * self.stride
        rows = self.tokens[starts[:, None] + np.arange(self.length + 1)].astype(np.int64)
        return pg.tensor(rows[:, :-1]), pg.tensor(rows[:, 1:])

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "tokens": None} if self.path is not None else dict(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self.path is not None:
            self.tokens = self._opened()


def _row(tokens: Any) -> Any:
    import numpy as np

    return tokens.numpy() if isinstance(tokens, pg.Tensor) else np.asanyarray(tokens)


def write_tokens(path: str | os.PathLike[str], tokens: Iterable[int] | Any, dtype: str = "uint16") -> Path:
    """Write a row of tokens as an .npy file that `TokenWindows` maps into memory; refuses numbers that do not fit.

    Written to a temporary name and moved: the file is whole, or not there.
    """
    import numpy as np

    if np.dtype(dtype).kind not in "iu":
        raise DTypeError(f"write_tokens: tokens are integers; dtype {dtype} is not")
    row = np.asarray(tokens if hasattr(tokens, "dtype") else list(tokens))
    limits = np.iinfo(dtype)
    if row.ndim != 1 or (row.size and row.dtype.kind not in "iu"):
        raise DTypeError(f"write_tokens: {row.dtype} of shape {row.shape}; integers in a row are wanted")
    if row.size and not (limits.min <= int(row.min()) and int(row.max()) <= limits.max):
        raise DTypeError(f"write_tokens: tokens from {row.min()} to {row.max()} do not fit {dtype}")
    with replacing(path) as file:
        np.save(file, row.astype(dtype), allow_pickle=False)
    return Path(path)


def characters(text: str) -> tuple[Any, list[str]]:
    """(tokens, vocabulary): every character of a text as its number in the sorted list of the characters that occur.

    tokens is a NumPy array, uint16 or uint32; `"".join(vocabulary[t] for t in tokens)` is the text.
    """
    import numpy as np

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    found, tokens = np.unique(codes, return_inverse=True)
    return tokens.reshape(-1).astype("uint16" if len(found) <= 2**16 else "uint32"), [chr(c) for c in found]
