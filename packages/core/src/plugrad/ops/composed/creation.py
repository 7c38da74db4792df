"""Patterns and shapes from REQUIRED functions."""

from __future__ import annotations

from ...backend import composed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@composed
def eye(xp: Any, n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None) -> Any:
    """1 where column - row = k."""
    rows = xp.reshape(xp.arange(n_rows), (-1, 1))
    columns = xp.reshape(xp.arange(n_rows if n_cols is None else n_cols), (1, -1))
    return xp.astype(columns - rows == k, dtype)


@composed
def linspace(xp: Any, start: float, stop: float, /, num: int, *, dtype: Any = None, endpoint: bool = True) -> Any:
    """start + i · step; the last is `stop` itself."""
    gaps = max(num - 1 if endpoint else num, 1)
    i = xp.astype(xp.arange(num), dtype)
    points = i * ((stop - start) / gaps) + start
    return xp.where(i == num - 1, xp.full((), stop, dtype=dtype), points) if endpoint and num > 1 else points


@composed
def expand_dims(xp: Any, x: Any, /, *, axis: int = 0) -> Any:
    """A new axis of size 1."""
    at = axis % (len(x.shape) + 1)
    return xp.reshape(x, (*x.shape[:at], 1, *x.shape[at:]))


@composed
def squeeze(xp: Any, x: Any, /, axis: int | tuple[int, ...]) -> Any:
    """Without the axes named, which have size 1."""
    gone = {i % len(x.shape) for i in (axis if isinstance(axis, tuple) else (axis,))}
    return xp.reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in gone))
