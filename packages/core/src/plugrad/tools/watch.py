"""Watchers see every op go by: the NaN tracer, the profiler, the live-tensor counter. Without one they cost nothing."""

from __future__ import annotations

import json
import linecache
import os
import sys
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary, ref

from ..context import current, switch
from ..errors import NonFiniteError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from ..node import Node
    from ..op import Op
    from ..tensor import Tensor

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Watcher:
    """Sees ops while it is entered: `with watcher: ...`. Override what you need.

    before(op, inputs)                 → anything; `after` gets it as `mark`
    after(op, inputs, outputs, mark)   outputs is a tensor, or a tuple of them
    gradient(node, i, g, gx)           from g, the gradient of what `node` made, the way back got gx, that of input i
    read(x)                            numbers of x are about to leave as Python numbers or a NumPy array
    made(x)                            x was made without inputs: zeros, numbers, ...
    became(x, z)                       x is about to take the value of z (x += 1, x[i] = v)

    With `records` the ops are to be run again later: gradients are ops too then, not what a kernel gives back.
    """

    records = False

    def before(self, op: Op, inputs: list[Tensor]) -> Any:
        return None

    def after(self, op: Op, inputs: list[Tensor], outputs: Any, mark: Any) -> None:
        pass

    def gradient(self, node: Node, i: int, g: Any, gx: Tensor) -> None:
        pass

    def read(self, x: Tensor) -> None:
        pass

    def made(self, x: Tensor) -> None:
        pass

    def became(self, x: Tensor, z: Tensor) -> None:
        pass

    def __enter__(self) -> Any:
        current.set(current.get().change(watchers=(*current.get().watchers, self)))
        return self

    def __exit__(self, *exc: object) -> None:
        now = current.get()
        current.set(now.change(watchers=tuple(w for w in now.watchers if w is not self)))


def user_line() -> str:
    """`file:line: text` of the innermost frame that is not plugrad's own."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _ours(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return "?"
    name, line = frame.f_code.co_filename, frame.f_lineno
    return f"{name}:{line}: {linecache.getline(name, line).strip()}"


def _ours(filename: str) -> bool:
    """Is this a file of plugrad, or of a package called plugrad_something?"""
    return filename.startswith(HERE) or f"{os.sep}plugrad_" in filename


def tensors_of(outputs: Any) -> Iterator[Tensor]:
    yield from outputs if isinstance(outputs, tuple) else (outputs,)


@switch(watchers=(), recording=False)
def statistics(x: Tensor) -> str:
    """`float32 (2, 3): min -1, mean 0.5, max 2, 1 NaN, 0 infinite`; the first three of the finite entries."""
    head = f"{x.dtype} {x.shape}"
    if x.dtype.kind != "float" or not x.size:
        return head
    flat = [
        v for v in x.detach().astype("float64" if "float64" in x.device.xp.dtypes else "float32").reshape(-1).tolist()
    ]
    finite = [v for v in flat if v - v == 0]
    nans = sum(v != v for v in flat)
    middle = f"min {min(finite):.6g}, mean {sum(finite) / len(finite):.6g}, max {max(finite):.6g}, " if finite else ""
    return f"{head}: {middle}{nans} NaN, {len(flat) - len(finite) - nans} infinite"


class NaNTracer(Watcher):
    """Raises NonFiniteError at the first op, forward or backward, that makes a NaN or an infinity.

    The message names the op, the module path, statistics of the inputs and the user's line (for a gradient, the line of
    the forward op). `infinity=False` lets infinities pass: masks with -inf are honest.
    """

    def __init__(self, infinity: bool = True) -> None:
        self.infinity = infinity
        self.lines: WeakKeyDictionary[Node, tuple[str, str]] = WeakKeyDictionary()

    def after(self, op: Op, inputs: list[Tensor], outputs: Any, mark: Any) -> None:
        if current.get().walking:
            return  # `gradient` says it in terms of the forward op
        where = user_line(), ".".join(current.get().path)
        for y in tensors_of(outputs):
            if y.node is not None:
                self.lines[y.node] = where
            if what := self._found(y):
                self._raise(f"{op!r} made {what}", where, [f"input {i}: {statistics(x)}" for i, x in enumerate(inputs)])

    def gradient(self, node: Node, i: int, g: Any, gx: Tensor) -> None:
        if what := self._found(gx):
            given = [f"incoming gradient: {statistics(t)}" for t in tensors_of(g)]
            name = "inputs" if node.op.variadic else node.op.inputs[i]  # type: ignore[union-attr]
            self._raise(f"the gradient of {node.op!r} for {name} made {what}", self.lines.get(node, ("?", "")), given)

    def _found(self, x: Tensor) -> str:
        if x.dtype.kind != "float":
            return ""
        with switch(watchers=(), recording=False):
            nans = int(x.isnan().astype("int64").sum())
            infs = int(x.isinf().astype("int64").sum()) if self.infinity else 0
        return f"{nans} NaN and {infs} infinite of {x.size} numbers" if nans or infs else ""

    def _raise(self, what: str, where: tuple[str, str], details: list[str]) -> None:
        with switch(watchers=(), recording=False):
            line, path = where
            raise NonFiniteError("\n    ".join([what + (f" in {path}" if path else ""), *details, f"at {line}"]))


class Event(NamedTuple):
    """One run of one op: times in nanoseconds, bytes of the output."""

    name: str
    settings: str
    path: str
    start: int
    duration: int
    nbytes: int


class Profiler(Watcher):
    """Time, calls and bytes of every op: `with pg.profiler() as p: ...; print(p.table())`.

    synchronize   wait for the device after each op, so that its time is its own
    """

    def __init__(self, synchronize: bool = True) -> None:
        self.synchronize = synchronize
        self.events: list[Event] = []

    def before(self, op: Op, inputs: list[Tensor]) -> int:
        return perf_counter_ns()

    def after(self, op: Op, inputs: list[Tensor], outputs: Any, mark: int) -> None:
        ys = list(tensors_of(outputs))
        if self.synchronize and ys:
            ys[0].device.backend.synchronize(ys[0].device.index)
        took = perf_counter_ns() - mark
        path = ".".join(current.get().path)
        self.events.append(Event(op.name, repr(op), path, mark, took, sum(y.nbytes for y in ys)))

    def totals(self) -> dict[str, tuple[int, int, int]]:
        """Op name → (calls, nanoseconds, bytes made), slowest first."""
        found: dict[str, tuple[int, int, int]] = {}
        for e in self.events:
            calls, took, size = found.get(e.name, (0, 0, 0))
            found[e.name] = calls + 1, took + e.duration, size + e.nbytes
        return dict(sorted(found.items(), key=lambda item: -item[1][1]))

    def table(self) -> str:
        """One line for each op, slowest first."""
        whole = sum(e.duration for e in self.events) or 1
        lines = [f"{'op':<20}{'calls':>8}{'total ms':>12}{'µs a call':>12}{'share':>8}{'MB made':>10}"]
        for name, (calls, took, size) in self.totals().items():
            lines.append(
                f"{name:<20}{calls:>8}{took / 1e6:>12.3f}{took / calls / 1e3:>12.2f}"
                f"{took / whole:>8.1%}{size / 1e6:>10.2f}"
            )
        return "\n".join(lines)

    def save(self, path: str) -> None:
        """Write a Chrome trace (chrome://tracing, Perfetto); to a temporary name first, then moved."""
        rows = [
            {"name": e.name, "cat": e.path or "op", "ph": "X", "ts": e.start / 1e3, "dur": e.duration / 1e3, "pid": 0,
             "tid": 0, "args": {"op": e.settings, "bytes": e.nbytes}}
            for e in self.events
        ]  # fmt: skip
        with open(f"{path}.part", "w") as f:
            json.dump({"traceEvents": rows, "displayTimeUnit": "ms"}, f)
        os.replace(f"{path}.part", path)


class LiveTensors(Watcher):
    """Counts the tensors that ops made while it watched and that are still alive.

    count, nbytes   now            peak   the most bytes at any time            table()   by op and line, largest first
    """

    def __init__(self) -> None:
        self.alive: dict[int, tuple[Any, str, int]] = {}
        self.nbytes = self.peak = 0

    @property
    def count(self) -> int:
        return len(self.alive)

    def after(self, op: Op, inputs: list[Tensor], outputs: Any, mark: Any) -> None:
        line = user_line()
        for y in tensors_of(outputs):
            key = id(y)
            self.alive[key] = ref(y, lambda _, key=key: self._died(key)), f"{op.name} at {line}", y.nbytes  # type: ignore[misc]
            self.nbytes += y.nbytes
        self.peak = max(self.peak, self.nbytes)

    def _died(self, key: int) -> None:
        self.nbytes -= self.alive.pop(key)[2]

    def table(self) -> str:
        found: dict[str, tuple[int, int]] = {}
        for _, where, size in self.alive.values():
            n, total = found.get(where, (0, 0))
            found[where] = n + 1, total + size
        rows = sorted(found.items(), key=lambda item: -item[1][1])
        return "\n".join(
            [f"{self.count} tensors, {self.nbytes} bytes", *(f"{n:>6} {size:>12} {w}" for w, (n, size) in rows)]
        )


def nan_tracer(infinity: bool = True) -> NaNTracer:
    """Raise at the first NaN or infinity: `with pg.nan_tracer(): loss = model(x); loss.backward()`."""
    return NaNTracer(infinity)


def profiler(synchronize: bool = True) -> Profiler:
    """Measure every op: `with pg.profiler() as p: ...; print(p.table()); p.save("trace.json")`."""
    return Profiler(synchronize)


def live_tensors() -> LiveTensors:
    """Count the tensors that stay alive: `with pg.live_tensors() as live: ...; print(live.table())`."""
    return LiveTensors()
