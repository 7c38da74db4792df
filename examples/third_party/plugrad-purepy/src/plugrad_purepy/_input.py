"""What users write down (numbers, nested lists, shapes), read into a flat list and a shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._array import Array
from ._numbers import LIMITS

if TYPE_CHECKING:
    from ._layout import Shape


def flatten(obj: Any) -> tuple[list[Any], Shape]:
    """Nested lists as one list and a shape."""
    if isinstance(obj, Array):
        return obj.flat, obj.shape
    if hasattr(obj, "tolist") and hasattr(obj, "shape"):  # an array of another library, empty ones included
        return flatten(obj.tolist())[0], tuple(obj.shape)
    if not isinstance(obj, (list, tuple)):
        return [obj], ()
    rows = [flatten(row) for row in obj]
    shape = rows[0][1] if rows else ()
    if any(s != shape for _, s in rows):
        raise ValueError(f"asarray: rows of shapes {sorted({s for _, s in rows})}")
    return [v for flat, _ in rows for v in flat], (len(rows), *shape)


def must_fit(flat: list[Any], dtype: str) -> None:
    """Arithmetic wraps around; numbers that somebody wrote down must fit."""
    low, high = LIMITS[dtype]
    wrong = [v for v in flat if isinstance(v, int) and not low <= v <= high]
    if wrong:
        raise OverflowError(f"asarray: {wrong[0]} does not fit {dtype}")


def sizes_of(shape: Any) -> Shape:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def usual(flat: list[Any]) -> str:
    """The dtype of plain numbers."""
    kinds = set(map(type, flat))
    return "bool" if kinds == {bool} else "int64" if kinds and kinds <= {bool, int} else "float64"
