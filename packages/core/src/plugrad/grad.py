"""The way back: from an output to the leaves, each node once, newest first."""

from __future__ import annotations

from _operator import attrgetter
from _thread import allocate_lock

from . import ops
from .apply import state
from .call import wrap
from .context import nullcontext, switch
from .errors import DeviceError, DTypeError, GraphError, ShapeError
from .node import RETAIN, KernelNode, Node, Pick, Value, pick
from .op import ALL
from .ops.linear import SPARED
from .ops.numbers import prod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from .op import Op
    from .tensor import Tensor

by_number = attrgetter("seq")
adding = allocate_lock()


def path(roots: list[Node], wanted: set[Node] | None = None) -> list[Node]:
    """The nodes behind `roots`, oldest first; with `wanted`, only those that lead to one of them. No recursion."""
    seen, stack = set(roots), list(roots)
    while stack:
        for p in stack.pop().parents:
            if p is not None and p not in seen:
                seen.add(p)
                stack.append(p)
    order = sorted(seen, key=by_number)
    if wanted is None:
        return order
    freed = next((n for n in order if n.saved is None and n not in wanted), None)
    if freed is not None and not wanted <= seen:
        raise _walked(freed)  # what is wanted may lie behind it
    leads = set(wanted)
    for n in order:
        if not leads.isdisjoint(n.parents):
            leads.add(n)
    return [n for n in order if n in leads]


def gradients(
    grads: dict[Node, Any], keep: bool, again: bool, wanted: set[Node] | None = None, hooks: bool = True
) -> Iterator[tuple[Node, Any]]:
    """Yield (node, ∂L/∂value), each once and complete.

    `grads` holds the gradients to start from; `keep` leaves the graph for another walk; `again` says that the result
    will itself be differentiated; `wanted` limits the walk to what leads to these nodes; do their `hooks` run?

    Broadcasting is undone here, and so is 0 · ∞: where the incoming gradient is 0 the outgoing one is 0, however
    infinite the derivative (`mend`). A gradient that passed an op that selects (`where`) is followed with that care.
    """
    nodes = path(list(grads), wanted)
    inside = None if wanted is None else set(nodes)
    watchers = state().watchers
    careful: set[Node] = set()  # nodes behind an op that selects
    while nodes:
        n = nodes.pop()
        g = grads.pop(n, None)
        if g is None:
            continue
        if n.hooks and (hooks or n not in wanted) and g.__class__ is not dict:  # type: ignore[operator]
            g = _hooked(n, g)
        if n.__class__ is Pick:
            yield n, g
            found = grads.setdefault(n.parents[0], {})  # type: ignore[arg-type]
            found[n.place] = found[n.place] + g if n.place in found else g
            if n in careful:
                careful.update(n.parents)  # type: ignore[arg-type]
            continue
        if g.__class__ is dict:
            g = _outputs(n, g)
        yield n, g
        op, saved, device, parents = n.op, n.saved, n.device, n.parents
        if op is None or (inside is not None and saved is not None and inside.isdisjoint(parents)):
            continue  # a leaf; or where this walk ends: what lies behind is not ours to free
        if saved is None:
            raise _walked(n)
        behind = n in careful if careful else False
        care = op.delicate and (op.singular or (op.scales and behind))
        ready = n.kernel.gradients(n, g, again) if n.__class__ is KernelNode else None
        for i, p in enumerate(parents):
            entry = op.gradients[0 if op.variadic else i]
            if p is None or entry is None or (inside is not None and p not in inside):
                continue
            dx, needs = entry
            if behind:
                dx = SPARED.get(dx, dx)
            if ready is not None:
                gx = ready[i]
                if gx is None:
                    continue
            elif op.variadic:
                gx = dx(op, i, g, *[_saved(n, j, k) for j, k in needs])
            elif not needs:
                gx = dx(op, g)
            elif len(needs) == 1:
                ((j, k),) = needs
                gx = dx(op, g, wrap(saved[j], device, parents[k]) if k >= 0 else _saved(n, j, k))
            else:
                gx = dx(op, g, *[wrap(saved[j], device, parents[k]) if k >= 0 else _saved(n, j, k) for j, k in needs])
            try:
                if care:
                    gx = ops.mend(g, gx)
                if gx.data.shape != p.shape:
                    gx = _fit(op, dx, gx, p.shape)
            except AttributeError:
                raise GraphError(f"{type(op).__name__}.{dx.__name__} returned {gx!r}, not a tensor") from None
            if behind or op.selects:
                careful.add(p)
            for w in watchers:
                w.gradient(n, i, g, gx)
            old = grads.get(p)
            grads[p] = gx if old is None else old + gx
        if not keep:
            n.saved, n.parents = None, ()
            if n.__class__ is KernelNode:
                n.kernel = n.kept = None


def _saved(n: Node, j: int, which: int) -> Any:
    """All inputs, or the output, as tensors again."""
    data: Any = n.saved[j]  # type: ignore[index]
    if which == ALL:
        return tuple([wrap(a, n.device, p) for a, p in zip(data, n.parents, strict=True)])
    return tuple([_output(n, i, z) for i, z in enumerate(data)]) if isinstance(data, tuple) else wrap(data, n.device, n)


def _output(n: Node, place: int, data: Any) -> Any:
    """One of several outputs, as a tensor again."""
    return wrap(data, n.device, pick(n, place, data))


def _outputs(n: Node, found: dict[int, Any]) -> tuple[Any, ...]:
    """The gradients of all outputs: zeros where none arrived."""
    some = next(iter(found.values()))
    return tuple([found[i] if i in found else some.new_zeros(shape) for i, shape in enumerate(n.shape)])


def _walked(n: Node) -> GraphError:
    return GraphError(
        f"{n.op.name if n.op else 'leaf'}: the way back was already walked and freed; "
        "walk it twice with backward(retain_graph=True) the first time"
    )


def _hooked(n: Node, g: Any) -> Any:
    for hook in n.hooks or ():
        if hook == RETAIN:
            n.grad = _fresh(g)
        elif (new_g := hook(_fresh(g))) is not None:  # type: ignore[operator]
            g = like("hook", g, new_g)
    return g


def like(what: str, x: Any, g: Any) -> Any:
    """`g`, if it is a tensor of the shape, dtype and device of `x`."""
    if not isinstance(g, Value):
        raise GraphError(f"{what}: the gradient is a {type(g).__name__}, not a tensor; make one: pg.tensor(...)")
    if g.device is not x.device:
        raise DeviceError(f"{what}: the gradient is on {g.device}, the tensor on {x.device}; move it: g.to(x.device)")
    if g.data.shape != x.data.shape:
        raise ShapeError(f"{what}: the gradient has shape {tuple(g.data.shape)}, the tensor {tuple(x.data.shape)}")
    if g.data.dtype != x.data.dtype:
        raise DTypeError(f"{what}: the gradient is {g.dtype}, the tensor {x.dtype}; cast it: g.astype(x.dtype)")  # type: ignore[attr-defined]
    return g


def _fresh(g: Any) -> Any:
    """The same value as a tensor object of its own: two owners never share one."""
    return wrap(g.data, g.device, g.node)


def _fit(op: Op, dx: Any, g: Any, shape: tuple[int, ...]) -> Any:
    """Undo broadcasting: sum `g` down to `shape`."""
    have = tuple(g.data.shape)
    tail = have[len(have) - len(shape) :]
    if len(have) < len(shape) or any(n not in (1, m) for n, m in zip(shape, tail, strict=True)):
        raise ShapeError(f"{type(op).__name__}.{dx.__name__} gave shape {have} for an input of shape {tuple(shape)}")
    return ops.sum_to(g, shape)


def _seed(y: Any, g: Any) -> Any:
    """The gradient to start from."""
    if not isinstance(y, Value):
        raise GraphError(f"grad: an output is a {type(y).__name__}, not a tensor")
    if y.node is None:
        raise GraphError(
            "backward: this tensor has no way back: no input asked for a gradient (requires_grad=True), "
            "or it was made under no_grad(), by detach() or by an op without a gradient"
        )
    if g is None:
        shape = tuple(y.data.shape)
        if prod(shape) != 1:
            raise GraphError(
                f"backward: shape {shape} is not a scalar; reduce it (y.sum().backward()) or pass the gradient"
            )
        return y.new_ones(shape)  # type: ignore[attr-defined]
    return like("backward", y, g.astype(y.dtype) if isinstance(g, Value) else g)  # type: ignore[attr-defined]


def backward(
    y: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None, create_graph: bool = False
) -> None:
    """Add ∂y/∂leaf to `leaf.grad`, for every leaf behind `y` that requires a gradient.

    gradient        ∂L/∂y, of y's shape; may be left out where y has one element
    retain_graph    leave the graph for another walk (default: as create_graph)
    create_graph    make the gradients differentiable themselves
    """
    keep = create_graph if retain_graph is None else retain_graph
    seed = _seed(y, gradient)
    with switch(recording=create_graph, walking=True), y.device.backend.quiet() or nullcontext:
        for n, g in gradients({y.node: seed}, keep, create_graph):  # type: ignore[dict-item]
            if n.op is None:
                with adding:  # threads may share leaves
                    n.grad = _fresh(g) if n.grad is None else n.grad + g


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """(∂L/∂x for x in inputs), where ∂L/∂output = `grad_outputs`; touches no `.grad`.

    An input that no output depends on raises; `allow_unused=True` gives None for it, `materialize_grads=True` zeros.
    """
    ys, xs = _sequence(outputs), _sequence(inputs)
    seeds = [None] * len(ys) if grad_outputs is None else _sequence(grad_outputs)
    keep = create_graph if retain_graph is None else retain_graph
    if not ys or len(ys) != len(seeds):
        raise GraphError(
            f"grad: {len(ys)} outputs and {len(seeds)} grad_outputs; give one for each, None stands for ones"
        )
    for i, x in enumerate(xs):
        if getattr(x, "node", None) is None:
            what = f"of shape {x.shape} " if isinstance(x, Value) else f"({type(x).__name__}) "  # type: ignore[attr-defined]
            raise GraphError(f"grad: input {i} {what}does not require a gradient; x.requires_grad_() first")
    wanted = {x.node for x in xs}
    start: dict[Any, Any] = {}
    with switch(recording=create_graph, walking=True), xs[0].device.backend.quiet() or nullcontext:
        for y, s in zip(ys, seeds, strict=True):
            seed = _seed(y, s)
            start[y.node] = start[y.node] + seed if y.node in start else seed
        found = {n: _fresh(g) for n, g in gradients(start, keep, create_graph, wanted) if n in wanted}
        if materialize_grads:
            found = {**{x.node: x.new_zeros(x.shape) for x in xs}, **found}
    unused = [i for i, x in enumerate(xs) if x.node not in found]
    if unused and not allow_unused:
        raise GraphError(f"grad: no output depends on input {unused[0]}; allow_unused=True gives None for it")
    return tuple([_fresh(found[x.node]) if x.node in found else None for x in xs])  # type: ignore[misc]


def _sequence(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (tuple, list)) else [x]
