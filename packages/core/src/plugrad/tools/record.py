"""Lazy evaluation: record a function once, as a program of ops; run that when asked, without the function's Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..apply import apply
from ..call import wrap
from ..context import current, no_grad
from ..errors import GraphError
from ..node import Value
from .watch import Watcher, tensors_of, user_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..op import Op
    from ..tensor import Tensor


class Step(NamedTuple):
    """One op: the places of its inputs and outputs."""

    op: Op
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Recorder(Watcher):
    """Writes down every op, and where its arrays came from."""

    def __init__(self, args: list[Tensor]) -> None:
        self.steps: list[Step] = []
        self.places: dict[int, int] = {}  # id of an array → its place
        self.held: list[Any] = []  # keeps arrays alive, so that ids stay true
        self.outside: dict[int, Tensor] = {}  # place → tensor that the function closes over, read anew at each run
        for x in args:
            self.place(x)

    def place(self, x: Tensor) -> int:
        if id(x.data) not in self.places:
            self.places[id(x.data)] = len(self.held)
            self.held.append(x.data)
        return self.places[id(x.data)]

    def after(self, op: Op, inputs: list[Tensor], outputs: Any, mark: Any) -> None:
        for x in inputs:
            if id(x.data) not in self.places:
                self.outside[self.place(x)] = x
        places = tuple(map(self.place, inputs))
        self.steps.append(Step(op, places, tuple(map(self.place, tensors_of(outputs)))))

    def read(self, x: Tensor) -> None:
        if id(x.data) in self.places:
            raise GraphError(
                f"compile: a recorded function cannot look at numbers, they change from run to run; at {user_line()}. "
                "Use pg.where instead of `if`, and return the tensor instead of its item()"
            )

    def became(self, x: Tensor, z: Tensor) -> None:
        if any(t is x for t in self.outside.values()):
            raise GraphError(
                f"compile: a recorded function cannot change a tensor from outside; at {user_line()}. "
                "Return the new value"
            )


class Program:
    """A recorded function: steps from places to places. `print(program)` lists them; `program(*tensors)` runs them."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...]) -> None:
        tensors = [x for x in args if isinstance(x, Value)]
        recorder = Recorder(tensors)  # type: ignore[arg-type]
        with recorder:
            result = f(*args)
        self.steps, self.outside, self.size = recorder.steps, recorder.outside, len(recorder.held)
        self.inputs = [recorder.place(x) for x in tensors]  # type: ignore[arg-type]
        self.many = isinstance(result, (tuple, list))
        outputs = list(result) if self.many else [result]
        for y in outputs:
            if not isinstance(y, Value):
                raise GraphError(f"compile: the function must return tensors, not {type(y).__name__}")
            if y.node is not None:
                raise GraphError(
                    "compile: the result has a way back, which a program does not; call it under pg.no_grad(), or "
                    "compute gradients inside the function (pg.grad) and return them"
                )
        known = len(recorder.held)
        self.outputs = [recorder.place(y) for y in outputs]
        self.outside.update(
            {p: wrap(y.data, y.device) for p, y in zip(self.outputs, outputs, strict=True) if p >= known}
        )
        self.size = len(recorder.held)

    def __call__(self, *args: Any) -> Any:
        values: list[Any] = [None] * self.size
        for p, x in [*self.outside.items(), *zip(self.inputs, (a for a in args if isinstance(a, Value)), strict=True)]:
            values[p] = wrap(x.data, x.device)
        with no_grad():
            for op, inputs, outputs in self.steps:
                made = apply(op, *[values[p] for p in inputs])
                for p, y in zip(outputs, tensors_of(made), strict=True):
                    values[p] = y
        found = tuple([wrap(values[p].data, values[p].device) for p in self.outputs])
        return found if self.many else found[0]

    def __str__(self) -> str:
        return "\n".join(
            f"{', '.join(f'%{p}' for p in s.outputs)} = {s.op!r}({', '.join(f'%{p}' for p in s.inputs)})"
            for s in self.steps
        )


class Compiled:
    """What `compile` returns: one program for each signature, recorded when it first comes."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.programs: dict[Any, Program] = {}

    def __call__(self, *args: Any) -> Any:
        key = (current.get().recording, *[_signature(x) for x in args])
        if key not in self.programs:
            self.programs[key] = Program(self.f, args)
        return self.programs[key](*args)


def _signature(x: Any) -> Any:
    """Shape, dtype and device of a tensor; any other argument is part of the program."""
    return (x.shape, x.dtype, x.device, x.node is not None) if isinstance(x, Value) else (type(x), x)  # type: ignore[attr-defined]


def compile(f: Callable[..., Any]) -> Compiled:
    """`f` as recorded programs: the same numbers without running its Python again.

    Tensors that f closes over are read at each call; random ops draw anew. Arguments that are no tensors must be
    hashable and are part of the program. f must return tensors, must not look at numbers (`item()`, `if x > 0`) and
    must not change tensors from outside: each raises, where it happens, and says what to do.
    """
    return Compiled(f)
