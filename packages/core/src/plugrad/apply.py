"""The one door: every operation, in forward and in gradients, goes through `apply`."""

from __future__ import annotations

from .context import current, nullcontext
from .errors import KernelError, PlugradError, ShapeError
from .node import KernelNode, Node, Pick, Value, link, new
from .op import ALL, Z, Op
from .rules import HALF, align, casting, constant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .backend import Device
    from .context import State
    from .dtypes import DType

Result: Any = Value  # what `apply` returns; tensor.py, above this file, puts Tensor here
state = current.get


def results(cls: type) -> type:
    """Decorator: from now on `apply` returns instances of this class."""
    global Result
    Result = cls
    return cls


def wrap(data: Any, device: Device, node: Node | None = None) -> Any:
    """A tensor around an array."""
    t = new(Result)
    t.data, t.device, t.node = data, device, node
    return t


def apply(op: Op, *inputs: Any) -> Any:
    """Run `op`; remember the way back if a gradient may be asked for; tell the watchers."""
    now = state()
    device, values, types = align(op, inputs)
    tensors = [_meet(op, x, t, device) for x, t in zip(values, types, strict=True)]
    marks = [w.before(op, tensors) for w in now.watchers]
    data, kernel, kept = _run(op, device, tensors, types, now)
    outputs = _remember(op, op.target or device, tensors, data, kernel, kept)
    if op.movement:
        outputs.origin = op.name
    for w, mark in zip(now.watchers, marks, strict=True):
        w.after(op, tensors, outputs, mark)
    return outputs


def unary(op: Op, x: Any) -> Any:
    """`apply` for one tensor that needs no rule: the same steps, unrolled."""
    try:
        a, device = x.data, x.device
        plain = a.dtype in device.plain
    except AttributeError:
        plain = False
    now = state()
    if not plain or now.watchers or device.kernels[op.__class__] is not None:
        return apply(op, x)
    try:
        data = op.forward(device.xp, a)
    except Exception as error:
        raise explained(op, [x], error)  # noqa: B904
    z = new(Result)
    z.data, z.device, z.node = data, device, None
    if now.recording and x.node is not None:
        keeps = op.keeps[1]
        if keeps is not None:
            saved = tuple([data if i == Z else a for i in keeps])
            z.node = link(new(Node), op, (x.node,), saved, data.shape, device)
    if op.movement:
        z.origin = op.name
    return z


def binary(op: Op, x: Any, y: Any) -> Any:
    """`apply` for two tensors that need no rule: the same steps, unrolled."""
    try:
        a, b, device = x.data, y.data, x.device
        plain = y.device is device and a.dtype is b.dtype and a.dtype in device.plain
    except AttributeError:
        plain = False
    now = state()
    if not plain or now.watchers or device.kernels[op.__class__] is not None:
        return apply(op, x, y)
    try:
        data = op.forward(device.xp, a, b)
    except Exception as error:
        raise explained(op, [x, y], error)  # noqa: B904
    z = new(Result)
    z.data, z.device, z.node = data, device, None
    if now.recording and (x.node is not None or y.node is not None):
        p, q = x.node, y.node
        keeps = op.keeps[(p is not None) + 2 * (q is not None)]
        if keeps is not None:
            saved = tuple([a if i == 0 else b if i == 1 else data if i == Z else None for i in keeps])
            z.node = link(new(Node), op, (p, q), saved, data.shape, device)
    return z


def _meet(op: Op, x: Any, t: DType, device: Device) -> Any:
    """`x` as a tensor of dtype `t`."""
    if not isinstance(x, Value):
        return wrap(constant(op, x, t, device), device)
    have = device.backend.dtype_of(x.data)
    return x if have is t else apply(casting(t, have), x)


def _run(op: Op, device: Device, tensors: list[Any], types: list[DType], now: State) -> tuple[Any, Any, Any]:
    """(output, kernel, what it kept) from the backend's kernel, or from `forward` where there is none or it declines."""
    arrays = [x.data for x in tensors]
    try:
        with device.backend.guard(device.index) if device.guarded else nullcontext:  # type: ignore[union-attr]
            found = _kernel(op, device, arrays, now)
            return found or (_forward(op, device.xp, arrays, types), None, None)
    except Exception as error:
        raise explained(op, tensors, error)  # noqa: B904


def _kernel(op: Op, device: Device, arrays: list[Any], now: State) -> tuple[Any, Any, Any] | None:
    """What the kernel gives, or None; raises where it is forced and declines."""
    kernel = device.kernels[type(op)]
    named = not now.forced or op.name in now.forced
    if kernel is not None and not (now.kernels == "off" and named):
        out = kernel.run(op, arrays)
        if out is not NotImplemented:
            return (out[0], kernel, out[1]) if kernel.backward else (out, None, None)
    if now.kernels == "force" and named and (kernel is not None or now.forced):
        why = kernel.reason(op, arrays) if kernel else f"no kernel is registered for {op.key} on {device.type}"
        raise KernelError(f"{op.name}: its kernel was forced and declined: {why}; use pg.kernels('prefer') to fall back")
    return None


def _forward(op: Op, xp: Any, arrays: list[Any], types: list[DType]) -> Any:
    """The formula; half precision is a way to store numbers: computed in float32, rounded once."""
    half = next((t for t in types if t.name in HALF), None)
    if half is None or op.storage:
        return op.forward(xp, *arrays)
    small, wide = xp.dtype(half), xp.float32
    out = op.forward(xp, *[xp.astype(a, wide) if t is half else a for a, t in zip(arrays, types, strict=True)])
    back = tuple([xp.astype(z, small) if z.dtype == wide else z for z in (out if isinstance(out, tuple) else (out,))])
    return back if isinstance(out, tuple) else back[0]


def _remember(op: Op, device: Device, tensors: list[Any], data: Any, kernel: Any, kept: Any) -> Any:
    """The output as a tensor (several outputs: a tuple) that knows its node, if some input has one."""
    parents = tuple([x.node for x in tensors])
    mask = sum([1 << i for i, p in enumerate(parents) if p is not None])
    keeps = op.keeps[min(mask, 1) if op.variadic else mask] if mask and state().recording else None
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
    return tuple([wrap(z, device, node and _pick(node, i, z, device)) for i, z in enumerate(outputs)])


def _keep(i: int | None, arrays: tuple[Any, ...], data: Any) -> Any:
    if i is None or i >= len(arrays):
        return None
    return arrays if i == ALL else data if i == Z else arrays[i]


def _pick(node: Node, place: int, data: Any, device: Device) -> Pick | None:
    """The node of one of several outputs; integers have none."""
    if device.backend.dtype_of(data).kind != "float":
        return None
    pick = link(new(Pick), node.op, (node,), (), data.shape, device)
    pick.place = place
    return pick  # type: ignore[no-any-return]


def explained(op: Op, tensors: list[Any], error: Exception) -> Exception:
    """`error`, told which op, inputs and module it was; shapes that do not fit become a ShapeError on every backend."""
    shapes = [tuple(x.data.shape) for x in tensors]
    what = ", ".join(f"{x.device.backend.dtype_of(x.data)} {s}" for x, s in zip(tensors, shapes, strict=True))
    path = f" in {'.'.join(state().path)}" if state().path else ""
    where = f"{op!r}{path} on {what or 'no inputs'}" + (f", {tensors[0].device}" if tensors else "")
    why = None if isinstance(error, PlugradError) else op.misfit(*shapes)
    if why:
        told: Exception = ShapeError(f"{op.name}{path}: shapes {' and '.join(map(str, shapes))} do not fit: {why}")
        told.__cause__ = error
        return told
    if not getattr(error, "__notes__", None):
        error.add_note(f"while running {where}")
    return error
