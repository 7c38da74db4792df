"""What happens around the formula, off the fast path: rules, kernels, half precision, the graph, watchers, errors."""

from __future__ import annotations

from .context import current, nullcontext
from .errors import KernelError, PlugradError, ShapeError
from .node import KernelNode, Node, Value, link, new, pick
from .op import ALL, Op, Z
from .rules import HALF, align, casting, constant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    C = TypeVar("C", bound=type)

    from .backend import Device
    from .dtypes import DType

Result: Any = Value  # what ops return; tensor.py, above this file, puts Tensor here
PENDING: Any = object()  # in place of an output that `forward` has yet to give


def results(cls: C) -> C:
    """Decorator: from now on ops return instances of this class."""
    global Result
    Result = cls
    return cls


def wrap(data: Any, device: Device, node: Node | None = None) -> Any:
    """A tensor around an array."""
    t = new(Result)
    t.data, t.device, t.node = data, device, node
    return t


class Call:
    """One op about to run: its inputs as tensors that may meet, the arrays that `forward` gets, what a kernel gave."""

    __slots__ = ("arrays", "data", "device", "half", "kept", "kernel", "marks", "now", "op", "tensors")

    def __init__(self, op: Op, inputs: tuple[Any, ...], cast: Any) -> None:
        now = current.get()
        device, values, types = align(op, inputs)
        self.op, self.now, self.device = op, now, device
        self.tensors = [_meet(op, x, t, device, cast) for x, t in zip(values, types, strict=True)]
        self.arrays = [x.data for x in self.tensors]
        self.marks = [w.before(op, self.tensors) for w in now.watchers]
        self.data, self.kernel, self.kept = self._kernel()
        self.half = None if op.storage else next((t for t in types if t.name in HALF), None)
        if self.half is not None:  # half precision is a way to store numbers: computed in float32, rounded once
            wide = device.xp.float32
            pairs = zip(self.arrays, types, strict=True)
            self.arrays = [device.xp.astype(a, wide) if t is self.half else a for a, t in pairs]

    def _kernel(self) -> tuple[Any, Any, Any]:
        """(output, kernel, what it kept); raises where the kernel is forced and declines."""
        op, now, device, kernel = self.op, self.now, self.device, self.device.kernels[type(self.op)]
        if kernel is None and not now.forced:
            return PENDING, None, None
        named = not now.forced or op.name in now.forced
        if kernel is not None and not (now.kernels == "off" and named):
            try:
                with device.backend.guard(device.index) if device.guarded else nullcontext:  # type: ignore[union-attr]
                    out = kernel.run(op, self.arrays)
            except Exception as error:
                raise explained(op, self.tensors, error)  # noqa: B904
            if out is not NotImplemented:
                return (out[0], kernel, out[1]) if kernel.backward else (out, None, None)
        if now.kernels == "force" and named:
            why = (
                kernel.reason(op, self.arrays)
                if kernel
                else f"no kernel is registered for {op.key} on {self.device.type}"
            )
            raise KernelError(f"{op.name}: its kernel was forced and declined: {why}; pg.kernels('prefer') falls back")
        return PENDING, None, None

    def guarded_forward(self) -> Any:
        """The formula, while the library works on this device."""
        with self.device.backend.guard(self.device.index):  # type: ignore[union-attr]
            return self.op.forward(self.device.xp, *self.arrays)

    def finish(self, data: Any) -> Any:
        """The output as a tensor (several outputs: a tuple) that knows its node; the watchers are told."""
        op = self.op
        if self.half is not None and data is not self.data:
            data = self._narrowed(data)
        outputs = _remember(op, op.target or self.device, self.tensors, data, self.kernel, self.kept)
        if op.movement:
            outputs.origin = op.name
        for w, mark in zip(self.now.watchers, self.marks, strict=True):
            w.after(op, self.tensors, outputs, mark)
        return outputs

    def _narrowed(self, data: Any) -> Any:
        """Outputs of a half-precision op, rounded back; what is not float32 stays."""
        xp = self.device.xp
        small = xp.dtype(self.half)  # type: ignore[arg-type]
        if isinstance(data, tuple):
            return tuple([xp.astype(z, small) if z.dtype == xp.float32 else z for z in data])
        return xp.astype(data, small) if data.dtype == xp.float32 else data


def beside(op: Op, x: Any, y: Any) -> tuple[Any, Any] | None:
    """`x` and `y` with the plain number among them as a tensor like the other; None where that takes more thought."""
    number, t = (x, y) if isinstance(y, Value) else (y, x)
    if number.__class__ not in (float, int) or not isinstance(t, Value) or t.device.guarded:
        return None
    have = t.device.backend.dtype_of(t.data)
    if have.kind == "bool" or have.bits == 16 or (have.kind != "float" and (op.floats or number.__class__ is float)):
        return None
    lifted = wrap(constant(op, number, have, t.device), t.device)
    return (lifted, y) if number is x else (x, lifted)


def _meet(op: Op, x: Any, t: DType, device: Device, cast: Any) -> Any:
    """`x` as a tensor of dtype `t`."""
    if not isinstance(x, Value):
        return wrap(constant(op, x, t, device), device)
    have = device.backend.dtype_of(x.data)
    return x if have is t else cast(casting(t, have), x)


def _remember(op: Op, device: Device, tensors: list[Any], data: Any, kernel: Any, kept: Any) -> Any:
    """The output as a tensor (several outputs: a tuple) that knows its node, if some input has one."""
    parents = tuple([x.node for x in tensors])
    mask = sum([1 << i for i, p in enumerate(parents) if p is not None])
    keeps = op.keeps[min(mask, 1) if op.variadic else mask] if mask and current.get().recording else None
    outputs = data if isinstance(data, tuple) else (data,)
    node: Any = None
    if keeps is not None:
        arrays = tuple([x.data for x in tensors])
        saved = tuple([_keep(i, arrays, data) for i in keeps])
        shape = tuple([z.shape for z in outputs]) if isinstance(data, tuple) else data.shape
        node = link(new(KernelNode if kernel else Node), op, parents, saved, shape, device)
        if kernel:
            node.kernel, node.kept = kernel, kept
    if not isinstance(data, tuple):
        return wrap(data, device, node)
    return tuple([wrap(z, device, node and pick(node, i, z)) for i, z in enumerate(outputs)])


def _keep(i: int | None, arrays: tuple[Any, ...], data: Any) -> Any:
    if i is None or i >= len(arrays):
        return None
    return arrays if i == ALL else data if i == Z else arrays[i]


def explained(op: Op, tensors: list[Any], error: Exception) -> Exception:
    """`error`, told which op, inputs and module it was; shapes that do not fit become a ShapeError on every backend."""
    shapes = [tuple(x.data.shape) for x in tensors]
    what = ", ".join(f"{x.device.backend.dtype_of(x.data)} {s}" for x, s in zip(tensors, shapes, strict=True))
    path = f" in {'.'.join(current.get().path)}" if current.get().path else ""
    where = f"{op!r}{path} on {what or 'no inputs'}" + (f", {tensors[0].device}" if tensors else "")
    why = None if isinstance(error, PlugradError) else op.misfit(*shapes)
    if why:
        told: Exception = ShapeError(f"{op.name}{path}: shapes {' and '.join(map(str, shapes))} do not fit: {why}")
        told.__cause__ = error
        return told
    if not getattr(error, "__notes__", None):
        error.add_note(f"while running {where}")
    return error
