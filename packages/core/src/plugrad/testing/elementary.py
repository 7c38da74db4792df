"""Required functions of numbers, one by one, against Python's own arithmetic, infinities and NaN included."""

from __future__ import annotations

import math
from math import inf, nan
from typing import TYPE_CHECKING, Any

from .compare import rounded, same
from .subject import Subject, each

if TYPE_CHECKING:
    from collections.abc import Callable

REL = {"float64": 1e-13, "float32": 1e-6}
ORDINARY = [-2.5, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.5, 3.25]
ODD = [inf, -inf, nan]


def exp(x: float) -> float:
    return inf if x > 709 else math.exp(x)


def expm1(x: float) -> float:
    return inf if x > 709 else math.expm1(x)


def log(x: float) -> float:
    return math.log(x) if x > 0 else -inf if x == 0 else nan


def log1p(x: float) -> float:
    return math.log1p(x) if x > -1 else -inf if x == -1 else nan


def sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0 else nan


def finite(f: Callable[[float], float]) -> Callable[[float], float]:
    """`f`, with NaN for what has no value."""
    return lambda x: f(x) if math.isfinite(x) else nan


def whole(f: Callable[[float], float]) -> Callable[[float], float]:
    """`f`, which leaves infinities and NaN as they are."""
    return lambda x: float(f(x)) if math.isfinite(x) else x


#: name → (the function on Python numbers, numbers of interest beside the ordinary ones)
UNARY: dict[str, tuple[Callable[[float], Any], list[float]]] = {
    "abs": (abs, [-0.0]),
    "exp": (exp, [1000.0, -1000.0]),
    "expm1": (expm1, [1000.0, -1000.0, 1e-10, -1e-10]),
    "log": (log, [2.0**-100, 2.0**100]),
    "log1p": (log1p, [1e-10, -1e-10]),
    "sqrt": (sqrt, [2.0**100, 2.0**-100]),
    "sin": (finite(math.sin), [100.0]),
    "cos": (finite(math.cos), [100.0]),
    "atan": (math.atan, [1e6, 2.0**-30]),
    "tanh": (math.tanh, [50.0, -50.0, 2.0**-30]),
    "floor": (whole(math.floor), [-0.25, 2.0**20 + 0.5]),
    "round": (whole(round), [-3.5, 4.5, 5.5]),
    "isnan": (math.isnan, []),
    "isfinite": (math.isfinite, []),
}

#: name → rows (x, y, z): z is what the function gives for x and y
BINARY: dict[str, list[tuple[float, float, float]]] = {
    "maximum": [(1, 2, 2), (-1, -2, -1), (inf, 1, inf), (-inf, 1, 1), (nan, 1, nan), (1, nan, nan)],
    "minimum": [(1, 2, 1), (-1, -2, -2), (inf, 1, 1), (-inf, 1, -inf), (nan, 1, nan), (1, nan, nan)],
    "pow": [
        *[(2, 3, 8), (2, -1, 0.5), (4, 0.5, 2), (0, 2, 0), (0, 0, 1), (nan, 0, 1), (1, nan, 1), (-2, 3, -8)],
        *[(-2, 0.5, nan), (0, -1, inf), (inf, 0, 1), (inf, -1, 0), (0.5, inf, 0), (2, 0.125, 2**0.125)],
    ],
}

#: operator → rows (x, y, z), as for BINARY
OPERATORS: dict[str, list[tuple[float, float, Any]]] = {
    "__add__": [(1.5, 2, 3.5), (inf, 1, inf), (inf, -inf, nan), (nan, 1, nan)],
    "__sub__": [(1.5, 2, -0.5), (inf, 1, inf), (inf, inf, nan), (nan, 1, nan)],
    "__mul__": [(1.5, 2, 3), (inf, -1, -inf), (inf, 0, nan), (nan, 1, nan)],
    "__truediv__": [(1.5, 2, 0.75), (1, 0, inf), (-1, 0, -inf), (0, 0, nan), (1, inf, 0), (inf, inf, nan)],
    "__pow__": [(2, 3, 8), (4, 0.5, 2), (0, 0, 1), (-2, 0.5, nan), (0, -1, inf)],
    "__eq__": [(1, 1, True), (1, 2, False), (0.0, -0.0, True), (nan, nan, False), (inf, inf, True)],
    "__ne__": [(1, 1, False), (1, 2, True), (nan, nan, True)],
    "__lt__": [(1, 2, True), (2, 2, False), (-inf, 1, True), (nan, 1, False)],
    "__le__": [(1, 2, True), (2, 2, True), (3, 2, False), (nan, 1, False)],
    "__gt__": [(1, 2, False), (2, 2, False), (inf, 1, True), (nan, 1, False)],
    "__ge__": [(1, 2, False), (2, 2, True), (3, 2, True), (nan, 1, False)],
}

#: operator → rows of integers
INTEGER: dict[str, list[tuple[int, int, int]]] = {
    "__add__": [(1, 2, 3), (-1, 2, 1)],
    "__sub__": [(1, 2, -1), (7, -2, 9)],
    "__mul__": [(3, 2, 6), (-3, 2, -6)],
    "__and__": [(6, 3, 2), (-1, 5, 5)],
    "__or__": [(6, 3, 7), (-8, 5, -3)],
    "__xor__": [(6, 3, 5), (-1, 5, -6)],
    "__lshift__": [(1, 4, 16), (3, 0, 3)],
    "__rshift__": [(16, 3, 2), (-16, 3, -2)],
}


def unary(name: str) -> Callable[[Subject], None]:
    f, extra = UNARY[name]

    def check(s: Subject) -> None:
        for dtype in each(("float64", "float32"), s):
            points = [rounded(float(x), dtype) for x in [*ORDINARY, *extra, *ODD]]
            want, kind = [rounded(f(x), dtype) for x in points], "bool" if name.startswith("is") else dtype
            with s.quiet():
                g = getattr(s.xp, name)
                s.gives(g(s.array(points, dtype)), want, f"{name} of {points} in {dtype}", kind, REL[dtype])
                s.gives(g(s.array(points[2], dtype)), want[2], f"{name} of a 0-d array", kind, REL[dtype])
                s.gives(g(s.array([], dtype)), [], f"{name} of an empty array", kind)
                grid = s.xp.permute_dims(s.array([points[:3], points[3:6]], dtype), (1, 0))
                turned = [list(row) for row in zip(want[:3], want[3:6], strict=True)]
                s.gives(g(grid), turned, f"{name} of a transposed array", kind, REL[dtype])

    return check


def binary(name: str) -> Callable[[Subject], None]:
    return _pairs(name, BINARY[name], lambda s: getattr(s.xp, name))


def operator(name: str) -> Callable[[Subject], None]:
    return _pairs(name, OPERATORS[name], lambda s: lambda x, y: getattr(x, name)(y))


def _pairs(name: str, rows: list[Any], find: Callable[[Subject], Any]) -> Callable[[Subject], None]:
    xs, ys, zs = ([row[i] for row in rows] for i in range(3))

    def check(s: Subject) -> None:
        for dtype in each(("float64", "float32"), s):
            kind = "bool" if isinstance(zs[0], bool) else dtype
            want = rounded([z if kind == "bool" else float(z) for z in zs], dtype)
            with s.quiet():
                f, x, y = find(s), s.array(xs, dtype), s.array(ys, dtype)
                s.gives(f(x, y), want, f"{name} of {xs} and {ys} in {dtype}", kind, REL[dtype])
                s.gives(f(x, s.array(ys[0], dtype))[0, ...], want[0], f"{name} with a 0-d array", kind, REL[dtype])
                s.gives(f(s.array([], dtype), s.array([1], dtype)), [], f"{name} of an empty array", kind)
                table = f(s.xp.reshape(x, (len(xs), 1)), y)
                same(tuple(table.shape), (len(xs), len(ys)), f"{name} broadcasts a column with a row: shape")
                s.gives(table[1, ...][1, ...], want[1], f"{name} of a column with a row", kind, REL[dtype])

    return check


def numbers(name: str) -> Callable[[Subject], None]:
    """An operator takes a plain number of the same kind on its right."""

    def check(s: Subject) -> None:
        for dtype in each(("float64", "float32"), s):
            for x, y, z in OPERATORS[name]:
                want = z if isinstance(z, bool) else rounded(float(z), dtype)
                with s.quiet():
                    got = getattr(s.array([x, x], dtype), name)(float(y))
                s.gives(got, [want] * 2, f"{name} of {x} and the number {y} in {dtype}", None, REL[dtype])

    return check


def integer(name: str) -> Callable[[Subject], None]:
    xs, ys, zs = ([row[i] for row in INTEGER[name]] for i in range(3))

    def check(s: Subject) -> None:
        for dtype in each(("int64", "int32"), s):
            got = getattr(s.array(xs, dtype), name)(s.array(ys, dtype))
            s.gives(got, zs, f"{name} of {xs} and {ys} in {dtype}", dtype)
            s.gives(getattr(s.array(xs[:1], dtype), name)(ys[0]), zs[:1], f"{name} with a number in {dtype}", dtype)

    return check


def logical(s: Subject) -> None:
    """&, |, ^ and ~ of bools."""
    x, y = s.array([True, True, False, False], "bool"), s.array([True, False, True, False], "bool")
    s.gives(x & y, [True, False, False, False], "x & y", "bool")
    s.gives(x | y, [True, True, True, False], "x | y", "bool")
    s.gives(x ^ y, [False, True, True, False], "x ^ y", "bool")
    s.gives(~x, [False, False, True, True], "~x", "bool")


def sign(s: Subject) -> None:
    """-x of floats and integers, ~x of integers."""
    s.gives(-s.array([1.5, -2.0, inf]), [-1.5, 2.0, -inf], "-x", "float32")
    for dtype in each(("int64", "int32"), s):
        s.gives(-s.array([3, -4], dtype), [-3, 4], "-x", dtype)
        s.gives(~s.array([0, 5, -1], dtype), [-1, -6, 0], "~x", dtype)


def words(s: Subject) -> None:
    """uint64 wraps around and shifts without a sign: random numbers are made so."""
    s.need("uint64")
    x = s.array([2**64 - 1, 1, 0x9E3779B97F4A7C15], "uint64")
    s.gives(x + 2, [1, 3, 0x9E3779B97F4A7C17], "x + 2", "uint64")
    product = 0x9E3779B97F4A7C15**2 % 2**64
    s.gives(x * x, [1, 1, product], "x * x", "uint64")
    s.gives(x >> 32, [2**32 - 1, 0, 0x9E3779B9], "x >> 32", "uint64")
    s.gives(x & 0xFFFFFFFF, [2**32 - 1, 1, 0x7F4A7C15], "x & 0xFFFFFFFF", "uint64")
