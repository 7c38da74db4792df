"""Lazy evaluation: record a function once, as a program of ops; run that when asked, without the function's Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..apply import apply
from ..call import wrap
from ..context import current, no_grad
from ..errors import DTypeError, GraphError
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

    records = True

    def __init__(self, args: list[Tensor]) -> None:
        self.steps: list[Step] = []
        self.places: dict[int, int] = {}  # id of an array → its place
        self.held: list[Any] = []  # keeps arrays alive, so that ids stay true
        self.args, self.made_here = args, set[int]()
        self.outside: dict[int, Tensor] = {}  # place → tensor that the function closes over, read anew at each run
        for x in args:
            self.place(x)

    def place(self, x: Tensor) -> int:
        if id(x.data) not in self.places:
            self.places[id(x.data)] = len(self.held)
            self.held.append(x.data)
        return self.places[id(x.data)]

    def known(self, x: Tensor) -> int:
        """The place of an input; what no step made comes from outside."""
        if id(x.data) not in self.places:
            self.outside[self.place(x)] = x if id(x.data) not in self.made_here else wrap(x.data, x.device)
        return self.places[id(x.data)]

    def after(self, op: Op, inputs: list[Tensor], outputs: Any, mark: Any) -> None:
        places = tuple(map(self.known, inputs))
        for y in tensors_of(outputs):
            if id(y.data) in self.places:  # an op that handed its input on: a place of its own all the same
                y.data = _copy(y)
        self.steps.append(Step(op, places, tuple(map(self.place, tensors_of(outputs)))))

    def made(self, x: Tensor) -> None:
        self.made_here.add(id(x.data))
        self.held.append(x.data)

    def read(self, x: Tensor) -> None:
        if id(x.data) in self.places:
            raise GraphError(
                f"compile: a recorded function cannot look at numbers, they change from run to run; at {user_line()}. "
                "Use pg.where instead of `if`, and return the tensor instead of its item()"
            )

    def became(self, x: Tensor, z: Tensor) -> None:
        whose = "an argument" if any(t is x for t in self.args) else "a tensor from outside"
        if whose == "an argument" or any(t is x for t in self.outside.values()):
            raise GraphError(
                f"compile: a recorded function cannot change {whose}; at {user_line()}. Return the new value"
            )


class Program:
    """A recorded function: steps from places to places. `print(program)` lists them; `program(*tensors)` runs them.

    `first` is what the function returned while it was recorded.
    """

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> None:
        args, named = tuple(map(_own, args)), {name: _own(x) for name, x in named.items()}
        tensors = [x for x in (*args, *named.values()) if isinstance(x, Value)]
        recorder = Recorder(tensors)  # type: ignore[arg-type]
        with recorder:
            result = f(*args, **named)
        self.many = isinstance(result, (tuple, list))
        outputs = list(result) if self.many else [result]
        for y in outputs:
            _refuse(y)
        self.inputs = [recorder.place(x) for x in tensors]  # type: ignore[arg-type]
        self.outputs = [recorder.known(y) for y in outputs]
        self.steps, self.outside, self.size = recorder.steps, recorder.outside, len(recorder.held)
        fresh = tuple([wrap(y.data, y.device) for y in outputs])
        self.first = fresh if self.many else fresh[0]

    def __call__(self, *args: Any, **named: Any) -> Any:
        tensors = [x for x in (*args, *named.values()) if isinstance(x, Value)]
        values: list[Any] = [None] * self.size
        for p, x in [*self.outside.items(), *zip(self.inputs, tensors, strict=True)]:
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


def _copy(x: Any) -> Any:
    return x.device.backend.asarray(x.data, x.data.dtype, x.device.index)


def _own(x: Any) -> Any:
    """An argument on an array of its own: it shares its place with nothing else that the function sees."""
    return wrap(_copy(x), x.device, x.node) if isinstance(x, Value) else x


def _refuse(y: Any) -> None:
    """What a recorded function must not return."""
    if not isinstance(y, Value):
        raise GraphError(f"compile: the function must return tensors, not {type(y).__name__}")
    if y.node is not None:
        raise GraphError(
            "compile: the result has a way back, which a program does not; call it under pg.no_grad(), or "
            "compute gradients inside the function (pg.grad) and return them"
        )


class Compiled:
    """What `compile` returns: one program for each signature, recorded when it first comes."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.programs: dict[Any, Program] = {}

    def __call__(self, *args: Any, **named: Any) -> Any:
        modes = tuple(m.training for m in self.f.modules()) if hasattr(self.f, "modules") else ()
        places = [(str(i), x) for i, x in enumerate(args)] + sorted(named.items())
        named = dict(sorted(named.items()))
        key = (current.get().recording, modes, *[(name, _signature(name, x)) for name, x in places])
        if key not in self.programs:
            self.programs[key] = Program(self.f, args, named)
            return self.programs[key].first
        return self.programs[key](*args, **named)


def _signature(name: str, x: Any) -> Any:
    """Shape, dtype and device of a tensor; any other argument is part of the program."""
    if isinstance(x, Value):
        return x.shape, x.dtype, x.device, x.node is not None  # type: ignore[attr-defined]
    if x.__hash__ is None:
        raise DTypeError(
            f"compile: argument {name} is a {type(x).__name__}; pass tensors one by one, numbers in a tuple"
        )
    return type(x), x, repr(x) if isinstance(x, float) else ""  # 0.0 and -0.0 are equal, but not the same


def compile(f: Callable[..., Any]) -> Compiled:
    """`f` as recorded programs: the same numbers without running its Python again.

    Tensors that f closes over are read at each call (the tensor objects it met while it was recorded: change them in
    place); random ops draw anew. Arguments that are no tensors must be hashable and are part of the program; so is
    whether a module is in training. f must return tensors, must not look at numbers (`item()`, `if x > 0`) and must not
    change arguments or tensors from outside: each raises, where it happens, and says what to do.
    """
    return Compiled(f)
