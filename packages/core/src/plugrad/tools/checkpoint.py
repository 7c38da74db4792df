"""`checkpoint(f, *xs)`: keep no intermediate values of f; compute them again on the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..call import wrap
from ..context import current, switch
from ..errors import GraphError
from ..grad import gradients
from ..node import KernelNode, Node, Pick, Value, link, new, number
from ..op import Op
from ..ops.generator import default_generator

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


class Recipe:
    """What to compute again: the function, its arguments as they were, the random state, the nodes it drew from."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], generators: tuple[Generator, ...]) -> None:
        self.f, self.generators = f, generators
        self.states = [g.get_state() for g in generators]
        self.args = [wrap(x.data, x.device, x.node) if isinstance(x, Value) else x for x in args]
        self.path = current.get().path

    def gradients(self, n: KernelNode, g: Any, again: bool) -> list[Any]:
        """∂L/∂ of every node that f drew from."""
        now = [gen.get_state() for gen in self.generators]
        try:
            for gen, was in zip(self.generators, self.states, strict=True):
                gen.set_state(was)
            with switch(recording=True, walking=False, path=self.path):
                ys = _many(self.f(*self.args))
        finally:
            for gen, is_now in zip(self.generators, now, strict=True):
                gen.set_state(is_now)
        gs = g if isinstance(g, tuple) else (g,)
        start: dict[Node, Any] = {}
        for y, gy in zip(ys, gs, strict=True):
            if y.node is not None:
                start[y.node] = start[y.node] + gy if y.node in start else gy
        wanted = {p for p in n.parents if p is not None}
        found = {m: gm for m, gm in gradients(start, again, again, wanted, hooks=False) if m in wanted}
        return [found.get(p) for p in n.parents]  # type: ignore[arg-type]


def checkpoint(f: Callable[..., Any], *args: Any, generators: tuple[Generator, ...] = ()) -> Any:
    """f(*args), keeping none of its intermediate values: the way back computes f a second time.

    Gradients reach the arguments and every tensor that f closes over (parameters of a layer). Random numbers drawn from
    the default generator, and from `generators`, are the same the second time. f must not change anything else.
    (Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016)
    """
    if not current.get().recording:
        return f(*args)
    first = number()
    recipe = Recipe(f, args, (default_generator, *generators))
    result = f(*args)
    ys = _many(result)
    outer = _outer([y.node for y in ys if y.node is not None], first)
    if not outer:
        return result
    node: Any = link(new(KernelNode), Recomputed(), outer, (), ys[0].data.shape, ys[0].device)
    node.kernel, node.kept = recipe, None
    if not isinstance(result, (tuple, list)):
        return wrap(ys[0].data, ys[0].device, node)
    node.shape = tuple([y.data.shape for y in ys])
    return tuple([wrap(y.data, y.device, _pick(node, i, y) if y.node is not None else None) for i, y in enumerate(ys)])


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


def _pick(node: Node, place: int, y: Any) -> Node:
    pick: Any = link(new(Pick), node.op, (node,), (), y.data.shape, y.device)
    pick.place = place
    return pick  # type: ignore[no-any-return]
