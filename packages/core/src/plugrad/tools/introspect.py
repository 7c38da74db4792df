"""`pg.explain`: where the formula of an op stands, what it keeps, and which kernel runs it, or why none does."""

from __future__ import annotations

import inspect
import os
import sys
from typing import TYPE_CHECKING, Any

from .. import plugins
from ..apply import apply
from ..context import current
from ..errors import DTypeError, PlugradError
from ..kernel import Kernel, as_kernel
from ..node import Value
from ..op import Op
from .watch import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..backend import Device


def explain(what: Any, *inputs: Any) -> Explanation:
    """Formula, files and lines, what is kept for the gradients, and kernels of an op.

    what      an op, its class, a function (`pg.softmax`), a tensor that an op made, or a name ("softmax")
    inputs    call `what` with these, and say of each op that ran whether a kernel did it, and if not, why
    """
    if inputs:
        return Explanation([_entry(call.op, call) for call in _calls(what, inputs)])
    found = list(dict.fromkeys(ops_of(what)))
    if not found:
        raise DTypeError(f"explain: no op is behind {what!r}; give it inputs to call it with: pg.explain(f, x)")
    return Explanation([_entry(op, None) for op in found])


class Explanation:
    """What `explain` found out: one dict for each op in `entries`; prints as text."""

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self.entries = entries

    def __str__(self) -> str:
        return "\n\n".join(map(_text, self.entries))

    __repr__ = __str__


# -- which ops ------------------------------------------------------------------------------------------------------


def ops_of(what: Any) -> list[Any]:
    """The ops behind an op, a class, a tensor, a name, or a function that has not been called."""
    if isinstance(what, Op) or (isinstance(what, type) and issubclass(what, Op)):
        return [what]
    if isinstance(what, Value):
        return [what.node.op] if what.node is not None and what.node.op is not None else []
    if isinstance(what, str):
        return _by_name(what)
    return _by_code(inspect.unwrap(what))


def _named(name: str) -> Any:
    """The function of the catalogue that is called `name`, or None; what else comes in late is looked at too."""
    from .. import ops
    from ..ops import contract, linalg
    from ..ops import random as draws

    return next((getattr(home, name) for home in (ops, contract, draws, linalg) if hasattr(home, name)), None)


def _by_name(name: str) -> list[Any]:
    function = _named(name)  # first: it brings in what comes in late
    found = [cls for key, cls in Op.catalogue.items() if name in (key, cls.__name__, cls.name)]
    if not found and function is not None:
        found = ops_of(function)
    if not found:
        raise LookupError(
            f"explain: no op or function is called {name!r}; known ops: {', '.join(sorted(Op.catalogue))}"
        )
    return found


def _by_code(f: Any, seen: tuple[Any, ...] = ()) -> list[Any]:
    """Ops that a function names, itself or through functions of its own module."""
    if isinstance(f, property):
        f = f.fget
    if not inspect.isfunction(f) or f in seen:
        return []
    cells = inspect.getclosurevars(f)
    named = [v for value in [*cells.nonlocals.values(), *cells.globals.values()] for v in _several(value)]
    found = [v for v in named if isinstance(v, Op) or (isinstance(v, type) and issubclass(v, Op) and v is not Op)]
    for v in named:
        found += _by_code(v, (*seen, f)) if getattr(v, "__module__", "") == f.__module__ else []
    return sorted(found, key=lambda op: op.name.replace("_", "") != f.__name__.replace("_", ""))  # its namesake first


def _several(value: Any) -> list[Any]:
    """A value, or what a table of values holds."""
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else [value]


class Call(Watcher):
    """Remembers the ops that ran: each with its inputs."""

    def __init__(self) -> None:
        self.seen: list[Call] = []
        self.op: Any = None
        self.inputs: list[Any] = []

    def after(self, op: Any, inputs: list[Any], outputs: Any, mark: Any) -> None:
        one = Call()
        one.op, one.inputs = op, list(inputs)
        self.seen.append(one)


def _calls(what: Any, inputs: tuple[Any, ...]) -> list[Call]:
    watcher = Call()
    with watcher:
        apply(what, *inputs) if isinstance(what, Op) else _function(what)(*inputs)
    return [call for call in watcher.seen if call.op.name not in ("cast", "convert")] or watcher.seen


def _function(what: Any) -> Callable[..., Any]:
    if isinstance(what, str) and (found := _named(what)) is not None:
        return found  # type: ignore[no-any-return]
    if callable(what) and not (isinstance(what, type) and issubclass(what, Op)):
        return what  # type: ignore[no-any-return]
    raise DTypeError(f"explain: {what!r} cannot be called with inputs; give the function, or the op with its settings")


# -- what there is to say -------------------------------------------------------------------------------------------


def _entry(op: Any, call: Call | None) -> dict[str, Any]:
    cls: type[Op] = op if isinstance(op, type) else type(op)
    methods = {entry[0].__name__: entry[0] for entry in cls.gradients if entry}
    return {
        "op": repr(op) if isinstance(op, Op) else f"{cls.__name__}({', '.join(cls.fields)})",
        "key": cls.key,
        "formula": inspect.getdoc(cls) or "",
        "forward": where(cls.forward),
        "gradients": {name: where(f) for name, f in methods.items()},
        "needs": {name: list(inspect.signature(f).parameters)[2 + cls.variadic :] for name, f in methods.items()},
        "inputs": [] if call is None else [f"{x.dtype} {x.shape} on {x.device}" for x in call.inputs],
        "kernels": _kernels(cls, call),
    }


def where(f: Any) -> str:
    """`file:line` of a function, the file from the package on."""
    f = inspect.unwrap(getattr(f, "func", f))
    code = getattr(f, "__code__", None)
    if code is None:
        return f"{getattr(f, '__module__', '?')}.{getattr(f, '__qualname__', repr(f))}"
    package = sys.modules.get(f.__module__.partition(".")[0])
    home = os.path.dirname(os.path.dirname(getattr(package, "__file__", None) or ""))
    path = code.co_filename
    return f"{os.path.relpath(path, home) if home and path.startswith(home) else path}:{code.co_firstlineno}"


def _kernels(cls: type[Op], call: Call | None) -> dict[str, dict[str, str]]:
    """Backend → where its kernel stands, who brings it, and, for a call, whether it ran."""
    found = {backend: origin for (backend, key), (origin, _) in plugins.kernel_table().items() if key == cls.key}
    if call is not None and call.inputs:
        device = call.inputs[0].device
        found.setdefault(device.type, "")
    return {backend: _kernel(cls, backend, origin, call) for backend, origin in found.items()}


def _kernel(cls: type[Op], backend: str, origin: str, call: Call | None) -> dict[str, str]:
    device = call.inputs[0].device if call is not None and call.inputs else None
    if device is not None and device.type == backend:
        kernel: Kernel | None = device.kernels[cls]
        return {**_described(kernel, origin), "used": _used(call, kernel, device)}
    return _described(_load(cls, backend), origin)


def _load(cls: type[Op], backend: str) -> Kernel | PlugradError | None:
    """The kernel, where its backend can run here at all; else the reason why not."""
    why = plugins.unavailable(backend)
    if why is not None:
        return PlugradError(str(why))
    origin, load = plugins.kernel_table()[backend, cls.key]
    return as_kernel(load(), origin)


def _described(kernel: Any, origin: str) -> dict[str, str]:
    if isinstance(kernel, PlugradError):
        return {"from": origin, "unavailable": str(kernel)}
    if kernel is None:
        return {}
    told = {"from": origin, "forward": where(kernel.forward)}
    for name in ("backward", "supports"):
        if getattr(kernel, name) is not None:
            told[name] = where(getattr(kernel, name))
    return told


def _used(call: Any, kernel: Kernel | None, device: Device) -> str:
    """Whether the kernel runs these inputs, or why not."""
    if kernel is None:
        return f"no: none is registered for {call.op.key} on {device.type}"
    now = current.get()
    if now.kernels == "off" and (not now.forced or call.op.name in now.forced):
        return "no: switched off by pg.kernels('off')"
    why = kernel.reason(call.op, [x.data for x in call.inputs])
    return f"no: {why}" if why else "yes"


def _text(e: dict[str, Any]) -> str:
    lines = [f"{e['op']}    {e['key']}", "", *(f"    {line}".rstrip() for line in e["formula"].splitlines()), ""]
    lines += [f"  forward   {e['forward']}"]
    lines += [f"  {name:<9} {line}, keeps {_listed(e['needs'][name])}" for name, line in e["gradients"].items()]
    lines += [] if e["gradients"] else ["  no gradient"]
    lines += [f"  called on {', '.join(e['inputs'])}"] if e["inputs"] else []
    for backend, told in e["kernels"].items():
        lines += [f"  kernel    {backend}" + (f", from {told['from']}" if told.get("from") else "")]
        lines += [f"    {k:<11} {v}" for k, v in told.items() if k != "from"]
    return "\n".join(lines if e["kernels"] else [*lines, "  kernel    none: every backend runs the formula"])


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "nothing"
