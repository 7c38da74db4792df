"""The kinds of numbers in GGUF files, and blocks of small integers with a scale as floats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from plugrad import dtypes

if TYPE_CHECKING:
    from collections.abc import Callable

    from plugrad import DType


AT_ONCE = 1024  # blocks that stay in the cache


class Layout(NamedTuple):
    """A kind of number: plain ones of a dtype, or blocks.

    name    llama.cpp's
    dtype   of plain numbers, or of what blocks become
    block   numbers of a block
    nbytes  bytes of a block
    fill    writes blocks, rows of bytes, as rows of floats; None for plain numbers
    """

    name: str
    dtype: DType
    block: int
    nbytes: int
    fill: Callable[[Any, Any], None] | None = None


def floats(rows: Any, layout: Layout) -> Any:
    """Blocks, one a row, as rows of float32."""
    import numpy as np

    out = np.empty((len(rows), layout.block), "float32")
    if layout.fill is not None:
        with np.errstate(all="ignore"):  # a scale may be infinite
            for i in range(0, len(rows), AT_ONCE):
                layout.fill(rows[i : i + AT_ONCE], out[i : i + AT_ONCE])
    return out


def half(rows: Any) -> Any:
    """float16 in two bytes, as a column of float32."""
    return rows.copy().view("<f2").astype("float32")


def nibbles(rows: Any, out: Any) -> None:
    """Bytes as two numbers of 4 bits each: the low ones, then the high ones."""
    rows = rows.copy()
    out[:, :16] = rows & 15
    out[:, 16:] = rows >> 4


def q4_0(rows: Any, out: Any) -> None:
    """w = d (q - 8)           d float16 | 16 bytes, two q each"""
    nibbles(rows[:, 2:], out)
    out -= 8
    out *= half(rows[:, :2])


def q4_1(rows: Any, out: Any) -> None:
    """w = d q + m             d, m float16 | 16 bytes, two q each"""
    nibbles(rows[:, 4:], out)
    out *= half(rows[:, :2])
    out += half(rows[:, 2:4])


def q8_0(rows: Any, out: Any) -> None:
    """w = d q                 d float16 | 32 signed bytes q"""
    out[:] = rows[:, 2:].view("int8")
    out *= half(rows[:, :2])


LAYOUTS = {
    0: Layout("F32", dtypes.float32, 1, 4),
    1: Layout("F16", dtypes.float16, 1, 2),
    2: Layout("Q4_0", dtypes.float32, 32, 18, q4_0),
    3: Layout("Q4_1", dtypes.float32, 32, 20, q4_1),
    8: Layout("Q8_0", dtypes.float32, 32, 34, q8_0),
    24: Layout("I8", dtypes.int8, 1, 1),
    25: Layout("I16", dtypes.int16, 1, 2),
    26: Layout("I32", dtypes.int32, 1, 4),
    27: Layout("I64", dtypes.int64, 1, 8),
    28: Layout("F64", dtypes.float64, 1, 8),
    30: Layout("BF16", dtypes.bfloat16, 1, 2),
}
BY_NAME = {layout.name: layout for layout in LAYOUTS.values()}

#: kinds that are not read, so that an error can name them
OTHERS = {
    6: "Q5_0", 7: "Q5_1", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K",
    16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS",
    29: "IQ1_M", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4",
}  # fmt: skip
