"""A case row: one op, a function that calls it, inputs to call it with. Everything that checks ops reads these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..op import Op


class Spec(NamedTuple):
    """Numbers to be drawn evenly from `low` to `high`, of kind "float", "int" or "bool"; the same for one seed."""

    shape: tuple[int, ...]
    low: float = -2.0
    high: float = 2.0
    kind: str = "float"
    values: Any = None  # these very numbers instead (nested lists)


def real(*shape: int) -> Spec:
    """From -2 to 2."""
    return Spec(shape)


def positive(*shape: int) -> Spec:
    """From 0.5 to 2.5."""
    return Spec(shape, 0.5, 2.5)


def between(low: float, high: float, *shape: int) -> Spec:
    return Spec(shape, low, high)


def ints(low: int, high: int, *shape: int) -> Spec:
    """Integers from `low` up to, not including, `high`."""
    return Spec(shape, low, high, "int")


def bools(*shape: int) -> Spec:
    return Spec(shape, 0, 2, "bool")


def exactly(values: Any, kind: str = "float") -> Spec:
    """These very numbers: ties, kinks, infinities."""
    return Spec((), kind=kind, values=values)


class Case(NamedTuple):
    """One row.

    op       the op class that `f` is about
    f        function of tensors that calls the op directly (three frames from here to `forward`)
    inputs   a Spec for each tensor; floating ones are differentiated
    closed   the same on plain Python numbers, where the op is elementwise: `math.exp`
    order    highest order of gradient checked; 0: no gradient
    needs    capabilities without which a backend is excused ("linalg")
    label    tells rows of one op apart: "axis", "ties"
    tol      factor on the usual tolerances, with a reason in the row's file
    """

    op: type[Op]
    f: Callable[..., Any]
    inputs: tuple[Spec, ...]
    closed: Callable[..., float] | None = None
    order: int = 2
    needs: tuple[str, ...] = ()
    label: str = ""
    tol: float = 1.0

    @property
    def name(self) -> str:
        return f"{self.op.key}/{self.label}" if self.label else self.op.key


def case(op: type[Op], f: Callable[..., Any], *inputs: Spec, **options: Any) -> Case:
    """A row: `case(ops.Exp, ops.exp, real(3, 4), closed=math.exp)`."""
    return Case(op, f, inputs, **options)
