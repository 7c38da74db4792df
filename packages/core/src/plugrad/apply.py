"""The one door: every operation, in forward and in gradients, goes through `apply` or a form of it."""

from __future__ import annotations

from . import call
from .call import PENDING, Call, beside, explained
from .context import current
from .node import Node, link, new
from .op import Op, Z

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

state = current.get


def apply(op: Op, *inputs: Any) -> Any:
    """Run `op`; remember the way back if a gradient may be asked for; tell the watchers."""
    it = Call(op, inputs, apply)
    if it.data is not PENDING:
        return it.finish(it.data)
    try:
        data = it.guarded_forward() if it.device.guarded else op.forward(it.device.xp, *it.arrays)
    except Exception as error:
        raise explained(op, it.tensors, error)  # noqa: B904
    return it.finish(data)


def unary(op: Op, x: Any) -> Any:
    """`apply` for one input; unrolled where there is no rule to apply, no watcher and no kernel."""
    try:
        a, device = x.data, x.device
        plain = a.dtype in device.plain or (op.direct and a.dtype in device.exact)
        plain = plain and device.kernels[op.__class__] is None
    except AttributeError:
        plain = False
    now, it = state(), None
    if not plain or now.watchers or now.forced:
        it = Call(op, (x,), apply)
        if it.data is not PENDING:
            return it.finish(it.data)
        (a,), device = it.arrays, it.device
    try:
        data = it.guarded_forward() if device.guarded else op.forward(device.xp, a)  # type: ignore[union-attr]
    except Exception as error:
        raise explained(op, it.tensors if it else [x], error)  # noqa: B904
    if it is not None:
        return it.finish(data)
    z = new(call.Result)
    z.data, z.device, z.node = data, device, None
    if now.recording and x.node is not None:
        keeps = op.keeps[1]
        if keeps is not None:
            saved = tuple([data if i == Z else a for i in keeps]) if keeps else ()
            z.node = link(new(Node), op, (x.node,), saved, data.shape, device)
    if op.movement:
        z.origin = op.name
    return z


def binary(op: Op, x: Any, y: Any) -> Any:
    """`apply` for two inputs; unrolled where there is no rule to apply, no watcher and no kernel."""
    try:
        a, b, device = x.data, y.data, x.device
        plain = y.device is device and a.dtype is b.dtype
        plain = plain and (a.dtype in device.plain or (op.direct and a.dtype in device.exact))
        plain = plain and device.kernels[op.__class__] is None
    except AttributeError:
        pair = beside(op, x, y)  # tensor * 2.0
        if plain := pair is not None:
            x, y = pair
            a, b, device = x.data, y.data, x.device
            plain = device.kernels[op.__class__] is None
    now, it = state(), None
    if not plain or now.watchers or now.forced:
        it = Call(op, (x, y), apply)
        if it.data is not PENDING:
            return it.finish(it.data)
        (a, b), device = it.arrays, it.device
    try:
        data = it.guarded_forward() if device.guarded else op.forward(device.xp, a, b)  # type: ignore[union-attr]
    except Exception as error:
        raise explained(op, it.tensors if it else [x, y], error)  # noqa: B904
    if it is not None:
        return it.finish(data)
    z = new(call.Result)
    z.data, z.device, z.node = data, device, None
    if now.recording and (x.node is not None or y.node is not None):
        p, q = x.node, y.node
        keeps = op.keeps[(p is not None) + 2 * (q is not None)]
        if keeps is not None:
            saved = tuple([a if i == 0 else b if i == 1 else data if i == Z else None for i in keeps]) if keeps else ()
            z.node = link(new(Node), op, (p, q), saved, data.shape, device)
    return z
