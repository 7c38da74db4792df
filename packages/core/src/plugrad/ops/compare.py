"""Comparisons, tests, and logic on bits: functions that carry no gradient are rows of a table, not classes."""

from __future__ import annotations

import _operator as operator  # without operator.py, which costs 0.3 ms to import

from ..apply import binary, unary
from ..dtypes import limits
from ..errors import DTypeError
from ..node import Value
from ..op import Op
from ..rules import scalar
from .numbers import INF, kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..tensor import Tensor

__all__ = [
    "allclose", "array_equal", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "equal", "greater", "greater_equal", "isclose", "isfinite", "isinf", "isnan",
    "less", "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor", "nextafter", "not_equal",
    "rbitwise_left_shift", "rbitwise_right_shift", "signbit",
]  # fmt: skip

COMPARED = {
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge,
}  # fmt: skip
LOGICAL = {"logical_and": operator.and_, "logical_or": operator.or_, "logical_xor": operator.xor}
BITWISE = {"bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor}
SHIFTS = {"bitwise_left_shift": operator.lshift, "bitwise_right_shift": operator.rshift}


class Compare(Op):
    """z = whether x stands to y as the name says (equal, less, ...); NaN is equal to nothing"""

    name: str  # type: ignore[misc]  # of the function: errors and kernels go by it
    elementwise = True

    def forward(self, xp, x, y):
        if kind(xp, x) == "bool":
            x, y = xp.astype(x, xp.int64), xp.astype(y, xp.int64)
        return COMPARED[self.name](x, y)


class Logical(Op):
    """z = x and, or, xor y of truths; a number is true where it is not 0"""

    name: str  # type: ignore[misc]  # of the function: errors and kernels go by it
    elementwise = storage = True

    def forward(self, xp, x, y):
        return LOGICAL[self.name](_truth(xp, x), _truth(xp, y))


class LogicalNot(Op):
    """z = not x; a number is true where it is not 0"""

    elementwise = storage = True

    def forward(self, xp, x):
        return ~_truth(xp, x)


class Bitwise(Op):
    """z = x and, or, xor y bit by bit, of integers or bools"""

    name: str  # type: ignore[misc]  # of the function: errors and kernels go by it
    elementwise = storage = True

    def forward(self, xp, x, y):
        _integers(self, xp, x, ("bool", "int", "uint"))
        return BITWISE[self.name](x, y)


class BitwiseInvert(Op):
    """z = ~x, every bit turned over; of bools: not"""

    elementwise = storage = True

    def forward(self, xp, x):
        _integers(self, xp, x, ("bool", "int", "uint"))
        return ~x


class BitwiseShift(Op):
    """z = x shifted by y bits, as the name says: x · 2ʸ to the left, ⌊x / 2ʸ⌋ to the right; y is not negative"""

    name: str  # type: ignore[misc]  # of the function: errors and kernels go by it
    elementwise = storage = True

    def forward(self, xp, x, y):
        _integers(self, xp, x, ("int", "uint"))
        return SHIFTS[self.name](x, y)


class Classify(Op):
    """z = whether x is what the name says (isnan, isinf, isfinite); of integers the answer is known"""

    name: str  # type: ignore[misc]  # of the function: errors and kernels go by it
    elementwise = storage = True

    def forward(self, xp, x):
        if kind(xp, x) == "float":
            return getattr(xp, self.name)(x)
        return x == x if self.name == "isfinite" else x != x


class Signbit(Op):
    """z = whether x has a minus sign; -0.0 has one"""

    elementwise = storage = True

    def forward(self, xp, x):
        if kind(xp, x) == "float":
            return xp.signbit(x)
        return x < 0 if kind(xp, x) == "int" else x != x


class Nextafter(Op):
    """z = the next number after x in the direction of y"""

    elementwise = storage = floats = True

    def forward(self, xp, x, y):
        return xp.nextafter(x, y)


class Isclose(Op):
    """z = |x - y| ≤ atol + rtol |y|; infinities are close to themselves, NaN to NaN only with equal_nan"""

    rtol: float
    atol: float
    equal_nan: bool
    elementwise = True

    def forward(self, xp, x, y):
        if kind(xp, x) != "float":
            return (x == y) | (_distance(xp, x, y) <= self.atol + self.rtol * xp.abs(xp.astype(y, xp.float32)))
        finite = xp.isfinite(x) & xp.isfinite(y)
        a, b = (xp.where(finite, v, xp.zeros(v.shape, dtype=v.dtype)) for v in (x, y))
        close = (finite & (xp.abs(a - b) <= self.atol + self.rtol * xp.abs(b))) | (x == y)
        return close | (xp.isnan(x) & xp.isnan(y)) if self.equal_nan else close


def _distance(xp, x, y):
    """|x - y| of whole numbers as float32, exact before it is rounded; ∞ where it has no place in the dtype."""
    if kind(xp, x) == "bool":
        x, y = xp.astype(x, xp.int64), xp.astype(y, xp.int64)
    d = xp.where(x > y, x - y, y - x)
    return xp.where(d < 0, xp.asarray(INF, dtype=xp.float32), xp.astype(d, xp.float32))


def _truth(xp, x):
    return x if kind(xp, x) == "bool" else x != 0


def _integers(op, xp, x, kinds):
    if kind(xp, x) not in kinds:
        raise DTypeError(
            f"{op.name}: works on integers{' and bools' if 'bool' in kinds else ''}, not on {xp.backend.dtype_of(x)}; "
            f"compare first (x > 0), or cast: x.astype('int64')"
        )


def _one(op: Op, what: str) -> Callable[[Any], Tensor]:
    def function(x: Any) -> Any:
        return unary(op, x)

    return _named(function, op.name, what)  # type: ignore[no-any-return]


def _two(op: Op, what: str) -> Callable[[Any, Any], Tensor]:
    def function(x: Any, y: Any) -> Any:
        return binary(op, x, y)

    return _named(function, op.name, what)  # type: ignore[no-any-return]


def _compared(name: str, what: str) -> Callable[[Any, Any], Tensor]:
    op = Compare(name)

    def function(x: Any, y: Any) -> Any:
        try:
            return binary(op, x, y)
        except DTypeError:
            if (known := _beyond(op, x, y)) is None:
                raise
            return known

    return _named(function, name, what)  # type: ignore[no-any-return]


def _beyond(op: Any, x: Any, y: Any) -> Any:
    """What comparing integers with a number outside their dtype gives: the same everywhere; None where that is not so.

    Made by comparing with the smallest integer there is, so that it stays a function of the tensor.
    """
    t, number = (x, y) if isinstance(x, Value) else (y, x)
    if not isinstance(t, Value) or isinstance(number, Value) or t.dtype.kind not in ("int", "uint"):  # type: ignore[attr-defined]
        return None
    (lowest, highest), n = limits(t.dtype), scalar(op, number)  # type: ignore[attr-defined]
    if lowest <= n <= highest:
        return None
    truth = COMPARED[op.name](lowest, n) if t is x else COMPARED[op.name](n, lowest)
    return binary(type(op)("greater_equal" if truth else "less"), t, lowest)


def _reflected(op: Op, what: str) -> Callable[[Any, Any], Tensor]:
    def function(x: Any, y: Any) -> Any:
        return binary(op, y, x)

    return _named(function, "r" + op.name, what)  # type: ignore[no-any-return]


def _named(function: Any, name: str, what: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}; no gradient"
    return function


equal = _compared("equal", "x = y")
not_equal = _compared("not_equal", "x ≠ y")
less = _compared("less", "x < y")
less_equal = _compared("less_equal", "x ≤ y")
greater = _compared("greater", "x > y")
greater_equal = _compared("greater_equal", "x ≥ y")

logical_and = _two(Logical("logical_and"), "x and y, of bools or of numbers (true where not 0)")
logical_or = _two(Logical("logical_or"), "x or y, of bools or of numbers (true where not 0)")
logical_xor = _two(Logical("logical_xor"), "either x or y, of bools or of numbers (true where not 0)")
logical_not = _one(LogicalNot(), "not x, of bools or of numbers (true where not 0)")

bitwise_and = _two(Bitwise("bitwise_and"), "x & y, of integers or bools")
bitwise_or = _two(Bitwise("bitwise_or"), "x | y, of integers or bools")
bitwise_xor = _two(Bitwise("bitwise_xor"), "x ^ y, of integers or bools")
bitwise_invert = _one(BitwiseInvert(), "~x, of integers or bools")

_left, _right = BitwiseShift("bitwise_left_shift"), BitwiseShift("bitwise_right_shift")
bitwise_left_shift = _two(_left, "x << y, of integers; y is not negative")
bitwise_right_shift = _two(_right, "x >> y, of integers; y is not negative")
rbitwise_left_shift = _reflected(_left, "y << x: `number << tensor`")
rbitwise_right_shift = _reflected(_right, "y >> x: `number >> tensor`")

isnan = _one(Classify("isnan"), "Whether x is NaN")
isinf = _one(Classify("isinf"), "Whether x is ∞ or -∞")
isfinite = _one(Classify("isfinite"), "Whether x is neither infinite nor NaN")
signbit = _one(Signbit(), "Whether x has a minus sign; -0.0 has one")
nextafter = _two(Nextafter(), "The next number after x in the direction of y")


def isclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """|x - y| ≤ atol + rtol |y|, number by number"""
    return binary(Isclose(float(rtol), float(atol), bool(equal_nan)), x, y)  # type: ignore[no-any-return]


def allclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all of `isclose(x, y)` holds, as a Python bool"""
    return bool(isclose(x, y, rtol, atol, equal_nan).all().item())


def array_equal(x: Tensor, y: Tensor) -> bool:
    """Whether x and y have the same shape and the same numbers, as a Python bool"""
    return x.shape == y.shape and bool(equal(x, y).all().item())
