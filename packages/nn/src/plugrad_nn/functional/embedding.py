"""Rows of a table, chosen by integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plugrad as pg
from plugrad.errors import AxisError, DTypeError
from plugrad.ops import one_hot as _one_hot

if TYPE_CHECKING:
    from plugrad import Tensor

__all__ = ["embedding", "one_hot"]


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Rows of the weight: w[i] for each integer i of the input. Row `padding_idx` receives no gradient."""
    if input.dtype.kind not in ("int", "uint"):
        raise DTypeError(f"embedding: input is {input.dtype}; rows are chosen by integers: input.astype('int64')")
    rows: Tensor = weight[input]
    if padding_idx is None:
        return rows
    padding = (input == row_of("embedding", padding_idx, weight.shape[0])).reshape(*input.shape, 1)
    rows = pg.where(padding, rows.detach(), rows)
    return rows


def row_of(name: str, padding_idx: int, rows: int) -> int:
    """`padding_idx` counted from the front."""
    if not -rows <= padding_idx < rows:
        raise AxisError(f"{name}: padding_idx {padding_idx} is out of range for {rows} rows")
    return padding_idx % rows


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """1 at the class, 0 elsewhere, on a new last axis; as many classes as the largest needs, unless told."""
    return _one_hot(input, int(input.max()) + 1 if num_classes < 0 else num_classes)
