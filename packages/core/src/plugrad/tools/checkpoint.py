"""`checkpoint(f, *xs)`: keep no intermediate values of f; compute them again on the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

from ..call import wrap
from ..context import current, switch
from ..errors import GraphError
from ..grad import gradients
from ..node import KernelNode, Node, Value, link, new, number, pick
from ..op import Op
from ..ops.random import Bits
from .watch import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..ops.generator import Generator


class Recomputed(Op):
    """z = f(x₁, x₂, ...)

    ∂L/∂xᵢ by computing f once more and walking back through it
    """

    def forward(self, xp, *xs):
        raise GraphError("recomputed: made by pg.checkpoint, not by calling it")

    def dxs(self, i, g):
        raise GraphError("recomputed: its gradients come from Recipe")


class Notes(Watcher):
    """What a function drew from while it ran: generators and their states, older nodes and their arrays; and what it
    gave new values, with the old ones (running statistics).
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.generators: dict[Generator, tuple[int, int]] = {}
        self.drawn: dict[Node, Any] = {}
        self.moved: dict[int, tuple[ref[Any], Any, Node | None]] = {}

    def before(self, op: Op, inputs: list[Any]) -> None:
        if isinstance(op, Bits):
            self.generators.setdefault(op.generator, op.generator.get_state())
        for x in inputs:
            if x.node is not None and x.node.seq < self.first:
                self.drawn.setdefault(x.node, x.data)

    def became(self, x: Any, z: Any) -> None:
        self.moved.setdefault(id(x), (ref(x), x.data, x.node))

    def outlived(self) -> list[tuple[Any, Any, Node | None]]:
        """(tensor, its old array, its old node) of what is still there."""
        self.moved = {i: old for i, old in self.moved.items() if old[0]() is not None}
        return [(x(), data, node) for x, data, node in self.moved.values()]


class Recipe:
    """What to compute again: the function, its arguments as they were, what it drew from."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], first: int) -> None:
        self.f, self.args, self.notes, self.path = f, [_fresh(x) for x in args], Notes(first), current.get().path

    def again(self) -> tuple[Any, ...]:
        """The outputs once more, from the same random numbers; what was drawn from must not have changed.

        What the function moved starts from where it was, and is put back: it has moved already.
        """
        now = [(g, g.get_state()) for g in self.notes.generators]
        moved = [(old, (old[0], old[0].data, old[0].node)) for old in self.notes.outlived()]
        notes = Notes(self.notes.first)
        try:
            for g, was in self.notes.generators.items():
                g.set_state(was)
            for old, _ in moved:
                _put(*old)
            with switch(recording=True, walking=False, path=self.path), notes:
                ys = _many(self.f(*[_fresh(x) for x in self.args]))
        finally:
            for g, state in now:
                g.set_state(state)
            for _, new_value in moved:
                _put(*new_value)
        for node, data in self.notes.drawn.items():
            if notes.drawn.get(node) is not data:
                raise GraphError(
                    f"checkpoint: a tensor of shape {node.shape} that the function draws from changed between forward "
                    "and backward; change it after backward, or pass it as an argument"
                )
        return ys

    def gradients(self, n: KernelNode, g: Any, again: bool) -> list[Any]:
        """∂L/∂ of every node that f drew from."""
        start: dict[Node, Any] = {}
        for y, gy in zip(self.again(), g if isinstance(g, tuple) else (g,), strict=True):
            if y.node is not None:
                start[y.node] = start[y.node] + gy if y.node in start else gy
        wanted = {p for p in n.parents if p is not None}
        found = {m: gm for m, gm in gradients(start, again, again, wanted, hooks=False) if m in wanted}
        return [found.get(p) for p in n.parents]  # type: ignore[arg-type]


def checkpoint(f: Callable[..., Any], *args: Any) -> Any:
    """f(*args), keeping none of its intermediate values: the way back computes f a second time.

    Gradients reach the arguments and every tensor that f closes over (parameters of a layer); random numbers are the
    same the second time, and what f changes (running statistics) is changed once. A tensor with a gradient that f draws
    from and that changes in between is an error.
    (Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016)
    """
    if not current.get().recording:
        return f(*args)
    first = number()
    recipe = Recipe(f, args, first)
    with recipe.notes:
        result = f(*args)
    recipe.notes.outlived()
    ys = _many(result)
    outer = _outer([y.node for y in ys if y.node is not None], first)
    if not outer:
        return result
    node: Any = link(new(KernelNode), Recomputed(), outer, (), ys[0].data.shape, ys[0].device)
    node.kernel, node.kept = recipe, None
    if not isinstance(result, (tuple, list)):
        return wrap(ys[0].data, ys[0].device, node)
    node.shape = tuple([y.data.shape for y in ys])
    return tuple(
        [wrap(y.data, y.device, pick(node, i, y.data) if y.node is not None else None) for i, y in enumerate(ys)]
    )


def _fresh(x: Any) -> Any:
    """A tensor as it is now, in an object of its own."""
    return wrap(x.data, x.device, x.node) if isinstance(x, Value) else x


def _put(x: Any, data: Any, node: Node | None) -> None:
    x.data, x.node = data, node


def _many(x: Any) -> tuple[Any, ...]:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _outer(roots: list[Node], first: int) -> tuple[Node, ...]:
    """The nodes made before number `first` that the graph behind `roots` hangs on."""
    outer: dict[Node, None] = {}
    seen, stack = set(roots), list(roots)
    while stack:
        n = stack.pop()
        if n.seq < first:
            outer[n] = None
            continue
        new_ones = [p for p in n.parents if p is not None and p not in seen]
        seen.update(new_ones)
        stack.extend(new_ones)
    return tuple(outer)
