"""What a check compares: shape, dtype and numbers of an output, apart from any array library. No bare assert: -O."""

from __future__ import annotations

import math
import struct
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ConformanceError
from ..node import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Shot(NamedTuple):
    """One output as plain Python."""

    shape: tuple[int, ...]
    dtype: str
    flat: list[Any]


def shots(z: Any) -> list[Shot]:
    """What an op returned: a tensor, a plain number, or several of these."""
    if isinstance(z, (tuple, list)):
        return [s for part in z for s in shots(part)]
    if not isinstance(z, Value):
        return [Shot((), type(z).__name__, [z])]
    return [Shot(tuple(z.data.shape), str(z.device.backend.dtype_of(z.data)), flatten(z.device.backend.tolist(z.data)))]


def flatten(nested: Any) -> list[Any]:
    """Nested lists as one list; a number as a list of one."""
    return [v for row in nested for v in flatten(row)] if isinstance(nested, list) else [nested]


def expect(ok: bool, message: str) -> None:
    if not ok:
        raise ConformanceError(message)


def same(got: Any, want: Any, what: str) -> None:
    expect(got == want, f"{what}: got {got!r}, expected {want!r}")


def near(got: Any, want: Any, rel: float, tiny: float) -> bool:
    """Equal, both NaN, or within rel · |want| + tiny."""
    if isinstance(want, float) and math.isnan(want):
        return isinstance(got, float) and math.isnan(got)
    return bool(got == want or (abs(got - want) <= rel * abs(want) + tiny and not math.isinf(want)))


def close(got: Iterable[Any], want: Iterable[Any], what: str, rel: float, tiny: float | None = None) -> None:
    """Number by number; the first that differs is named. `tiny` defaults to rel · the largest finite number."""
    got, want = list(got), list(want)
    same(len(got), len(want), f"{what}: number of elements")
    if tiny is None:
        tiny = rel * max((abs(w) for w in want if math.isfinite(w)), default=0.0)
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        expect(near(g, w, rel, tiny), f"{what}: element {i} is {g!r}, expected {w!r} (tolerance {rel:g})")


def agree(got: list[Shot], want: list[Shot], what: str, rel: float, tiny: float | None = None) -> None:
    """Outputs of the same shapes, and numbers within tolerance; integers and bools exactly."""
    same([s.shape for s in got], [s.shape for s in want], f"{what}: shape")
    for g, w in zip(got, want, strict=True):
        exact = "float" not in w.dtype
        close(g.flat, w.flat, what, 0.0 if exact else rel, 0.0 if exact else tiny)


def raises(kind: type[Exception], f: Callable[[], Any], what: str) -> Exception:
    """The error of `kind` that `f` raises."""
    try:
        got = f()
    except kind as error:
        return error
    except Exception as error:
        raise ConformanceError(f"{what}: raised {type(error).__name__} ({error}), expected {kind.__name__}") from error
    raise ConformanceError(f"{what}: gave {got!r}, expected {kind.__name__}")


# -- rounding, in plain Python ------------------------------------------------------------------------------------

EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
TINY = {"float64": 5e-324, "float32": 2.0**-149, "float16": 2.0**-24, "bfloat16": 2.0**-133}


def rounded(value: Any, dtype: str) -> Any:
    """Nested lists of numbers as `dtype` holds them, ties to even; bools and integers as they are."""
    if isinstance(value, list):
        return [rounded(v, dtype) for v in value]
    return value if not isinstance(value, float) or dtype == "float64" else _round(value, dtype)


def _round(x: float, dtype: str) -> float:
    if math.isnan(x) or math.isinf(x):
        return x
    if dtype == "bfloat16":
        (bits,) = struct.unpack("<I", struct.pack("<f", _round(x, "float32")))
        return float(struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0])
    code = {"float32": "<f", "float16": "<e"}[dtype]
    try:
        return float(struct.unpack(code, struct.pack(code, x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


# -- closed forms ---------------------------------------------------------------------------------------------------


def shape_of(nested: Any) -> tuple[int, ...]:
    """The shape of nested lists."""
    if not isinstance(nested, list):
        return ()
    return (len(nested), *(shape_of(nested[0]) if nested else ()))


def broadcast(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that several shapes give together."""
    n = max(map(len, shapes))
    columns = zip(*[(1,) * (n - len(s)) + s for s in shapes], strict=True)
    return tuple(0 if 0 in sizes else max(sizes) for sizes in columns)


def everywhere(f: Callable[..., Any], inputs: list[Any]) -> Shot:
    """`f` of plain numbers, applied number by number, shapes broadcast."""
    shapes = [shape_of(x) for x in inputs]
    shape = broadcast(shapes)
    flat = [f(*[_at(x, s, i) for x, s in zip(inputs, shapes, strict=True)]) for i in product(*map(range, shape))]
    return Shot(shape, type(flat[0]).__name__ if flat else "float", flat)


def _at(nested: Any, shape: tuple[int, ...], index: tuple[int, ...]) -> Any:
    for i, n in zip(index[len(index) - len(shape) :], shape, strict=True):
        nested = nested[0 if n == 1 else i]
    return nested
