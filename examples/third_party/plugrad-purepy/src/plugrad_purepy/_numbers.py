"""Numbers as hardware has them: rounded to a width, wrapped around, infinite or NaN instead of an exception."""

from __future__ import annotations

import math
from struct import pack, unpack
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Fit = Callable[[list[Any]], list[Any]]

INF, NAN = math.inf, math.nan


def _same(values: list[Any]) -> list[Any]:
    return values


def _boolean(values: list[Any]) -> list[bool]:
    return list(map(bool, values))


def _rounded(code: str) -> Fit:
    """Round to the width of a struct code: "e" is float16, "f" float32."""

    def fit(values: list[float]) -> list[float]:
        form = f"{len(values)}{code}"
        try:
            return list(unpack(form, pack(form, *values)))
        except OverflowError:
            return [one(v) for v in values]

    def one(v: float) -> float:
        try:
            return unpack(code, pack(code, v))[0]  # type: ignore[no-any-return]
        except OverflowError:
            return math.copysign(INF, v)

    return fit


def _wrapped(low: int, high: int) -> Fit:
    """Integers from `low` to `high`; beyond the end it goes on at the start."""
    size = high - low + 1

    def fit(values: list[int]) -> list[int]:
        if not values or (low <= min(values) and max(values) <= high):
            return values
        return [(v - low) % size + low for v in values]

    return fit


#: Smallest and largest number of the integer dtypes.
LIMITS = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint8": (0, 2**8 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}

#: Every dtype, and what brings the results of its arithmetic back into it.
DTYPES: dict[str, Fit] = {
    "bool": _boolean,
    **{name: _wrapped(*ends) for name, ends in LIMITS.items()},
    "float16": _rounded("e"),
    "float32": _rounded("f"),
    "float64": _same,
}
FLOATS = ("float16", "float32", "float64")


def convert(values: list[Any], dtype: str) -> list[Any]:
    """Numbers of any kind as numbers of `dtype`: fractions are cut off, NaN has no integer and gives the smallest."""
    if dtype in FLOATS:
        return DTYPES[dtype](list(map(float, values)))
    if dtype == "bool":
        return _boolean(values)
    try:
        whole = list(map(int, values))
    except (ValueError, OverflowError):
        whole = [int(v) if math.isfinite(v) else LIMITS[dtype][0] for v in values]
    return DTYPES[dtype](whole)


def scalar(value: Any, dtype: str) -> Any:
    """A plain number beside an array of `dtype`: it must be of the same kind, and an integer must fit."""
    kind = bool if dtype == "bool" else (int, float) if dtype in FLOATS else int
    if not isinstance(value, kind) or (isinstance(value, bool) and dtype != "bool"):
        raise TypeError(f"{value!r} and an array of dtype {dtype}: cast the array first")
    made = convert([value], dtype)[0]
    if dtype in LIMITS and made != value:
        raise OverflowError(f"{value} does not fit {dtype}")
    return made


def divide(x: float, y: float) -> float:
    """x / y; ±∞ or NaN where y is 0."""
    try:
        return x / y
    except ZeroDivisionError:
        return math.copysign(INF, x) * math.copysign(1.0, y) if x and x == x else NAN


def power(x: Any, y: Any) -> Any:
    """xʸ; NaN for a fraction of a negative number, ±∞ where it is too large or x is 0 and y negative."""
    if isinstance(x, int):
        return pow(x, y, 2**64) if y >= 0 else _no_fraction(x, y)
    odd = y % 2 == 1
    try:
        return math.pow(x, y)
    except OverflowError:
        return -INF if x < 0 and odd else INF
    except ValueError:
        return NAN if x else math.copysign(INF, x) if odd else INF


def _no_fraction(x: int, y: int) -> int:
    raise ValueError(f"{x} to the power {y} is no integer; cast to float first")


def shift_left(x: int, y: int) -> int:
    """x · 2ʸ; all bits are gone after 64."""
    return x << y if y < 64 else 0


def larger(x: Any, y: Any) -> Any:
    """The larger number; NaN if either is."""
    return x if x >= y or x != x else y


def smaller(x: Any, y: Any) -> Any:
    """The smaller number; NaN if either is."""
    return x if x <= y or x != x else y


def total(values: list[float]) -> float:
    """Σ values, rounded once."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # too large on the way, or ∞ - ∞
        return float(sum(values))


def floor(x: float) -> float:
    return math.copysign(math.floor(x), x)  # copysign: the floor of -0.0 is -0.0


def half_to_even(x: float) -> float:
    return math.copysign(round(x), x)
