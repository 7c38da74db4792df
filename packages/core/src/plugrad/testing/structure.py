"""Required functions that make, move, pick and reduce, one by one, against lists written out by hand."""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING, Any

from .subject import Subject, each

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = ("float64", "float32", "int64", "int32")
GRID = [[1, 5, 2], [4, 0, 3]]


def asarray(s: Subject) -> None:
    for t in each(KINDS, s):
        make = s.xp.asarray
        s.gives(make(2, dtype=s.type(t)), 2, "asarray of a number", t)
        s.gives(make(GRID, dtype=s.type(t)), GRID, "asarray of nested lists", t)
        s.gives(make([], dtype=s.type(t)), [], "asarray of []", t)
    s.gives(s.xp.asarray([True, False], dtype=s.type("bool")), [True, False], "asarray of bools", "bool")
    s.gives(
        s.xp.asarray([inf, nan, -inf], dtype=s.type("float32")), [inf, nan, -inf], "asarray of infinities", "float32"
    )


def zeros(s: Subject) -> None:
    for t in each((*KINDS, "bool"), s):
        s.gives(s.xp.zeros((2, 3), dtype=s.type(t)), [[0] * 3] * 2, "zeros", t)
        s.gives(s.xp.zeros((), dtype=s.type(t)), 0, "zeros of shape ()", t)
        s.gives(s.xp.zeros((2, 0), dtype=s.type(t)), [[], []], "zeros of shape (2, 0)", t)


def full(s: Subject) -> None:
    for t in each(KINDS, s):
        s.gives(s.xp.full((2, 3), 7, dtype=s.type(t)), [[7] * 3] * 2, "full", t)
        s.gives(s.xp.full((), 7, dtype=s.type(t)), 7, "full of shape ()", t)
    s.gives(s.xp.full((2,), True, dtype=s.type("bool")), [True, True], "full of True", "bool")


def arange(s: Subject) -> None:
    for t in each(KINDS, s):
        make, kind = s.xp.arange, s.type(t)
        s.gives(make(0, 4, 1, dtype=kind), [0, 1, 2, 3], "arange(0, 4, 1)", t)
        s.gives(make(5, dtype=kind), [0, 1, 2, 3, 4], "arange(5)", t)
        s.gives(make(2, 9, 3, dtype=kind), [2, 5, 8], "arange(2, 9, 3)", t)
        s.gives(make(3, -2, -2, dtype=kind), [3, 1, -1], "arange(3, -2, -2)", t)
        s.gives(make(3, 3, dtype=kind), [], "arange(3, 3)", t)


def astype(s: Subject) -> None:
    for a in s.dtypes:
        for b in s.dtypes:
            x = s.array([True, False] if a == "bool" else [0, 1, 3], a)
            want = [bool(v) for v in s.read(x)] if b == "bool" else [int(v) for v in s.read(x)]
            s.gives(s.xp.astype(x, s.type(b)), want, f"astype from {a} to {b}", b)
    for t in each(("int64", "int32"), s):
        s.gives(s.xp.astype(s.array([1.75, -1.75]), s.type(t)), [1, -1], "astype drops the fraction", t)


def reshape(s: Subject) -> None:
    for t in each(KINDS, s):
        x = s.array(GRID, t)
        s.gives(s.xp.reshape(x, (3, 2)), [[1, 5], [2, 4], [0, 3]], "reshape", t)
        s.gives(
            s.xp.reshape(s.xp.permute_dims(x, (1, 0)), (6,)), [1, 4, 5, 0, 2, 3], "reshape of a transposed array", t
        )
        s.gives(s.xp.reshape(x[..., ::-1], (6,)), [2, 5, 1, 3, 0, 4], "reshape of a reversed array", t)
        s.gives(s.xp.reshape(s.array([4], t), ()), 4, "reshape to ()", t)
        s.gives(s.xp.reshape(s.array([], t), (2, 0)), [[], []], "reshape of an empty array", t)


def permute_dims(s: Subject) -> None:
    x = s.array([[[1, 2, 3], [4, 5, 6]]])
    s.gives(s.xp.permute_dims(x, (2, 0, 1)), [[[1, 4]], [[2, 5]], [[3, 6]]], "permute_dims by (2, 0, 1)", "float32")
    s.gives(s.xp.permute_dims(s.array(7), ()), 7, "permute_dims of a 0-d array")


def broadcast_to(s: Subject) -> None:
    f = s.xp.broadcast_to
    s.gives(f(s.array([1, 2]), (3, 2)), [[1, 2]] * 3, "broadcast_to with a new axis", "float32")
    s.gives(f(s.array([[1], [2]]), (2, 3)), [[1] * 3, [2] * 3], "broadcast_to along an axis of 1")
    s.gives(f(s.array(5), (2, 2)), [[5, 5], [5, 5]], "broadcast_to of a 0-d array")
    s.gives(f(s.array([1]), (0,)), [], "broadcast_to an empty shape")


def concat(s: Subject) -> None:
    for t in each(KINDS, s):
        x, y = s.array(GRID, t), s.array([[7, 8, 9]], t)
        s.gives(s.xp.concat([x, y], axis=0), [*GRID, [7, 8, 9]], "concat along 0", t)
        s.gives(s.xp.concat([x, x], axis=1), [[1, 5, 2, 1, 5, 2], [4, 0, 3, 4, 0, 3]], "concat along 1", t)
        s.gives(s.xp.concat([s.array([], t), s.array([1], t)], axis=0), [1], "concat with an empty array", t)
        s.gives(s.xp.concat([y], axis=0), [[7, 8, 9]], "concat of one array", t)


def take(s: Subject) -> None:
    s.need("int64")
    i = s.array([2, 0, 2], "int64")
    for t in each(KINDS, s):
        s.gives(s.xp.take(s.array(GRID, t), i, axis=1), [[2, 1, 2], [3, 4, 3]], "take along 1", t)
        s.gives(s.xp.take(s.array(GRID, t), s.array([1], "int64"), axis=0), [[4, 0, 3]], "take along 0", t)
        s.gives(s.xp.take(s.array([4, 5], t), s.array([], "int64"), axis=0), [], "take of no index", t)


def where(s: Subject) -> None:
    cond = s.array([True, False, True], "bool")
    for t in each(KINDS, s):
        s.gives(s.xp.where(cond, s.array([1, 2, 3], t), s.array([4, 5, 6], t)), [1, 5, 3], "where", t)
        column = s.array([[1], [2]], t)
        s.gives(s.xp.where(cond, column, s.array(0, t)), [[1, 0, 1], [2, 0, 2]], "where broadcasts", t)
    x = s.array([nan, inf, 1.0])
    s.gives(s.xp.where(s.xp.isnan(x), s.array(0.0), x), [0.0, inf, 1.0], "where keeps NaN out of the other branch")


def sum(s: Subject) -> None:
    for t in each(("float64", "float32", "int64"), s):
        reduced(s, "sum", t, 15, [5, 5, 5], [8, 7])
        s.gives(s.xp.sum(s.array([], t)), 0, "sum of nothing", t)
        s.gives(s.xp.sum(s.xp.zeros((2, 0), dtype=s.type(t)), axis=0), [], "sum of shape (2, 0) along 0", t)
        s.gives(s.xp.sum(s.xp.zeros((2, 0), dtype=s.type(t)), axis=1), [0, 0], "sum of shape (2, 0) along 1", t)
    with s.quiet():
        s.gives(s.xp.sum(s.array([[1, nan], [inf, -inf], [inf, 1]]), axis=1), [nan, nan, inf], "sum of odd numbers")


def prod(s: Subject) -> None:
    for t in each(("float64", "float32", "int64"), s):
        reduced(s, "prod", t, 0, [4, 0, 6], [10, 0])
        s.gives(s.xp.prod(s.array([], t)), 1, "prod of nothing", t)


def max(s: Subject) -> None:
    extreme(s, "max", 5, [4, 5, 3], [5, 4], inf)


def min(s: Subject) -> None:
    extreme(s, "min", 0, [1, 0, 2], [1, 0], -inf)


def extreme(s: Subject, name: str, all: int, down: list[int], across: list[int], limit: float) -> None:
    f = getattr(s.xp, name)
    for t in each(KINDS, s):
        reduced(s, name, t, all, down, across)
    with s.quiet():
        s.gives(f(s.array([1, limit, 2])), limit, f"{name} with an infinity")
        s.gives(f(s.array([[1, nan, 2], [nan, 0, 1]]), axis=1), [nan, nan], f"{name} hands NaN on")


def reduced(s: Subject, name: str, t: str, all: int, down: list[int], across: list[int]) -> None:
    """A reduction of GRID over everything, each axis, both, and with the axis kept."""
    f, x = getattr(s.xp, name), s.array(GRID, t)
    s.gives(f(x), all, f"{name} of everything in {t}", t)
    s.gives(f(x, axis=0), down, f"{name} along 0 in {t}", t)
    s.gives(f(x, axis=1), across, f"{name} along 1 in {t}", t)
    s.gives(f(x, axis=-1), across, f"{name} along -1 in {t}", t)
    s.gives(f(x, axis=(0, 1)), all, f"{name} along (0, 1) in {t}", t)
    s.gives(f(x, axis=1, keepdims=True), [[v] for v in across], f"{name} with keepdims in {t}", t)
    s.gives(f(s.array(3, t)), 3, f"{name} of a 0-d array", t)


def argmax(s: Subject) -> None:
    for t in each(KINDS, s):
        x = s.array(GRID, t)
        s.gives(s.xp.argmax(x, axis=0), [1, 0, 1], "argmax along 0")
        s.gives(s.xp.argmax(x, axis=1), [1, 0], "argmax along 1")
        s.gives(s.xp.argmax(x, axis=1, keepdims=True), [[1], [0]], "argmax with keepdims")
        s.gives(s.xp.argmax(x), 1, "argmax of everything")
        s.gives(s.xp.argmax(s.array([2, 7, 7], t)), 1, "argmax takes the first of equals")


def argsort(s: Subject) -> None:
    for t in each(KINDS, s):
        x = s.array([[3, 1, 2, 1], [0, 0, 5, -1]], t)
        s.gives(s.xp.argsort(x, axis=1, stable=True), [[1, 3, 2, 0], [3, 0, 1, 2]], "argsort keeps equals in order")
        s.gives(s.xp.argsort(x, axis=0, stable=True), [[1, 1, 0, 1], [0, 0, 1, 0]], "argsort along 0")
        falling = s.xp.argsort(x, axis=-1, descending=True, stable=True)
        s.gives(falling, [[0, 2, 1, 3], [2, 0, 1, 3]], "argsort, descending, keeps equals in order")
    s.gives(s.xp.argsort(s.array([inf, 0.0, -inf]), axis=0), [2, 1, 0], "argsort of infinities")
    s.gives(s.xp.argsort(s.array([]), axis=0), [], "argsort of nothing")


def matmul(s: Subject) -> None:
    for t in each(("float64", "float32"), s):
        x, y, v = s.array(GRID, t), s.array([[1, 2], [3, 4], [5, 6]], t), s.array([1, 2, 3], t)
        s.gives(s.xp.matmul(x, y), [[26, 34], [19, 26]], "matmul (2, 3) by (3, 2)", t)
        s.gives(s.xp.matmul(x, v), [17, 13], "matmul (2, 3) by (3,)", t)
        s.gives(s.xp.matmul(v, y), [22, 28], "matmul (3,) by (3, 2)", t)
        s.gives(s.xp.matmul(v, v), 14, "matmul (3,) by (3,)", t)
        stack = s.xp.reshape(s.xp.concat([x, x + 1], axis=0), (2, 2, 3))
        s.gives(s.xp.matmul(stack, y), [[[26, 34], [19, 26]], [[35, 46], [28, 38]]], "matmul (2, 2, 3) by (3, 2)", t)
        turned = s.xp.matmul(s.xp.permute_dims(y, (1, 0)), s.xp.permute_dims(x, (1, 0)))
        s.gives(turned, [[26, 19], [34, 26]], "matmul of transposed arrays", t)
        nothing = s.xp.matmul(s.xp.zeros((2, 0), dtype=s.type(t)), s.xp.zeros((0, 3), dtype=s.type(t)))
        s.gives(nothing, [[0] * 3] * 2, "matmul (2, 0) by (0, 3)", t)


def getitem(s: Subject) -> None:
    """Reading by integers, slices with any step, `...` and None."""
    x = s.array(GRID)
    for key, want in KEYS:
        s.gives(x[key], want, f"x[{key!r}]", "float32")
    s.gives(s.array(3)[()], 3, "x[()] of a 0-d array", "float32")


KEYS: list[tuple[Any, Any]] = [
    ((0, 1), 5),
    ((-1, -1), 3),
    ((1, ...), [4, 0, 3]),
    ((..., 1), [5, 0]),
    ((slice(None), slice(1, None)), [[5, 2], [0, 3]]),
    ((slice(None), slice(None, None, 2)), [[1, 2], [4, 3]]),
    ((slice(None, None, -1), slice(None, None, -2)), [[3, 4], [2, 1]]),
    ((slice(None), slice(2, 1)), [[], []]),
    ((slice(None), None, slice(0, 1)), [[[1]], [[4]]]),
]


def setitem(s: Subject) -> None:
    """Writing into an array of one's own: integers, slices with any step, an array or a number as value."""
    for key, value, want in WRITES:
        x = s.xp.zeros((2, 3), dtype=s.type("float32"))
        x[key] = s.array(value) if isinstance(value, list) else value
        s.gives(x, want, f"x[{key!r}] = {value!r}")


WRITES: list[tuple[Any, Any, Any]] = [
    ((0, 1), 5.0, [[0, 5, 0], [0, 0, 0]]),
    ((..., slice(None, None, 2)), [[1, 2], [3, 4]], [[1, 0, 2], [3, 0, 4]]),
    ((slice(None), slice(None, None, -1)), [[1, 2, 3], [4, 5, 6]], [[3, 2, 1], [6, 5, 4]]),
    ((1, ...), [7, 8, 9], [[0, 0, 0], [7, 8, 9]]),
    ((...,), 1.0, [[1] * 3] * 2),
]


def scalars(s: Subject) -> None:
    """bool(), int() and float() of an array with one element."""
    for x, want in ((bool(s.array(1.0)), True), (int(s.array(3.0)), 3), (float(s.array(2.5)), 2.5)):
        s.gives(s.array(x), want, "a 0-d array as a plain number")


FUNCTIONS: dict[str, Callable[[Subject], None]] = {
    f.__name__: f
    for f in (
        *(asarray, zeros, full, arange, astype, reshape, permute_dims, broadcast_to, concat, take, where),
        *(sum, prod, max, min, argmax, argsort, matmul),
    )
}
GROUPS: dict[str, tuple[Callable[[Subject], None], ...]] = {"arrays": (getitem, setitem, scalars)}
