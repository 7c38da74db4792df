"""A picture of a graph, in Graphviz's language."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..errors import GraphError, UnsupportedError
from ..grad import path
from ..node import Node, Pick

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tensor import Tensor


class Picture:
    """`.dot` is the text; `.svg()` draws it where the `graphviz` package and its programs are installed."""

    def __init__(self, dot: str) -> None:
        self.dot = dot

    def __str__(self) -> str:
        return self.dot

    def svg(self) -> str:
        """The drawing as SVG text."""
        try:
            import graphviz
        except ImportError:
            raise UnsupportedError(
                "drawing needs the graphviz package: pip install graphviz; or use picture.dot"
            ) from None
        return str(graphviz.Source(self.dot).pipe(format="svg").decode())

    def save(self, name: str) -> None:
        """Write `name`.dot or `name`.svg, as it says."""
        text = self.svg() if name.endswith(".svg") else self.dot
        with open(f"{name}.part", "w") as f:
            f.write(text)
        os.replace(f"{name}.part", name)


def graph(y: Tensor, names: Mapping[str, Tensor] | None = None) -> Picture:
    """The way back from `y`: ops with their settings and shapes, leaves with their names.

    names   what to call leaves: `dict(model.named_parameters())`
    """
    if y.node is None:
        raise GraphError("graph: this tensor has no way back; nothing to draw")
    called = {x.node: name for name, x in (names or {}).items() if x.node is not None}
    nodes = path([y.node])
    number = {n: i for i, n in enumerate(nodes)}
    lines = ["digraph {", "  rankdir=BT; node [fontname=monospace, fontsize=10];"]
    for n in nodes:
        lines.append(f'  n{number[n]} [label="{_label(n, called.get(n))}", {_style(n)}];')
        lines += [f"  n{number[p]} -> n{number[n]};" for p in n.parents if p is not None]
    return Picture("\n".join([*lines, "}"]))


def _label(n: Node, name: str | None) -> str:
    title = name or ("leaf" if n.op is None else f"output {n.place}" if isinstance(n, Pick) else repr(n.op))
    text: Any = f"{title}\n{n.shape}"
    return str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _style(n: Node) -> str:
    return "shape=box, style=filled, fillcolor=lightblue" if n.op is None else "shape=ellipse"
