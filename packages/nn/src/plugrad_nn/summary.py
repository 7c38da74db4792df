"""What a model is made of, as a table: layers, shapes, parameters, bytes, multiply-adds."""

from __future__ import annotations

from contextlib import ExitStack
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import plugrad as pg
from plugrad import Tensor

from .work import multiply_adds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plugrad import Op

    from .module import Module

__all__ = ["Summary", "summary"]


class Row(NamedTuple):
    """One call of one module; parameters are its own, without those of its children, and counted at its first call."""

    name: str
    kind: str
    depth: int
    inputs: str
    outputs: str
    parameters: int
    trainable: int
    bytes: int
    multiply_adds: int


class Summary:
    """The table: `rows`, one for each call of a module in the order of the calls, and totals. Print it.

    parameters, trainable    entries of all parameters, shared ones once, whether the input passed them or not
    bytes                    that parameters and buffers take
    multiply_adds            of matrix products, convolutions, attention and recurrent steps; what works entry by entry
                             is not counted
    """

    def __init__(self, model: Module, rows: list[Row]) -> None:
        self.rows, self.name = rows, type(model).__name__
        sizes = [(p.size, p.requires_grad) for p in model.parameters()]
        self.parameters = sum(n for n, _ in sizes)
        self.trainable = sum(n for n, learns in sizes if learns)
        self.bytes = sum(_bytes(t) for t in [*model.parameters(), *model.buffers()])
        self.multiply_adds = sum(row.multiply_adds for row in rows)

    def __str__(self) -> str:
        head = ("layer", "input", "output", "parameters", "bytes", "multiply-adds")
        body = [
            (f"{'  ' * r.depth}{r.name}: {r.kind}" if r.name else r.kind, r.inputs, r.outputs,
             _number(r.parameters), _number(r.bytes), _number(r.multiply_adds))
            for r in self.rows
        ]  # fmt: skip
        last = ("total", "", "", f"{self.parameters:,}", f"{self.bytes:,}", f"{self.multiply_adds:,}")
        widths = [max(map(len, column)) for column in zip(head, *body, last, strict=True)]
        rule = "-" * (sum(widths) + 2 * len(widths) - 2)
        lines = [_line(head, widths), rule, *(_line(row, widths) for row in body), rule, _line(last, widths)]
        frozen = self.parameters - self.trainable
        return "\n".join([*lines, *([f"{frozen:,} parameters are frozen"] if frozen else [])])

    def __repr__(self) -> str:  # at a prompt, the table has been printed already
        return f"<summary of {self.name}: {self.parameters:,} parameters, {self.multiply_adds:,} multiply-adds>"


class Counter(pg.Watcher):
    """Adds up the multiply-adds of the ops that go by, for the innermost module that runs."""

    def __init__(self) -> None:
        self.stack: list[int] = [0]

    def after(self, op: Op, inputs: list[Tensor], outputs: Any, mark: Any) -> None:
        self.stack[-1] += multiply_adds(op, inputs, outputs)


def summary(model: Module, *inputs: Any, **named: Any) -> Summary:
    """Call the model once, in eval mode and without gradients, print a table of what happened, and return it.

    inputs    what the model is called with: `summary(net, pg.zeros((1, 3, 224, 224)))`
    """
    rows: list[Row | None] = []
    counter, seen = Counter(), set[int]()
    modes = [(m, m.training) for m in model.modules()]
    with ExitStack() as undo, pg.no_grad(), counter:
        for name, module in model.named_modules():
            for hook in _hooks(name, module, rows, counter, seen):
                undo.callback(hook.remove)
        for m, mode in modes:
            undo.callback(setattr, m, "training", mode)
        state = pg.get_rng_state()
        undo.callback(pg.set_rng_state, state)
        model.eval()(*inputs, **named)
    table = Summary(model, [row for row in rows if row is not None])
    print(table)
    return table


def _hooks(name: str, module: Module, rows: list[Row | None], counter: Counter, seen: set[int]) -> Iterator[Any]:
    """Hooks around `forward` that make the module's row, before those of its children."""
    places: list[int] = []

    def enter(module: Module, args: tuple[Any, ...]) -> None:
        places.append(len(rows))
        rows.append(None)
        counter.stack.append(0)

    def leave(module: Module, args: tuple[Any, ...], out: Any) -> None:
        own = [p for p in module.parameters(recurse=False) if id(p) not in seen]
        seen.update(map(id, own))
        rows[places.pop()] = Row(
            name.rpartition(".")[2], type(module).__name__, len(counter.stack) - 2, shapes(args), shapes(out),
            sum(p.size for p in own), sum(p.size for p in own if p.requires_grad), sum(map(_bytes, own)),
            counter.stack.pop(),
        )  # fmt: skip

    yield module.register_forward_pre_hook(enter)
    yield module.register_forward_hook(leave)


def shapes(value: Any) -> str:
    """The shapes of the tensors in `value`: "(2, 3)", several with commas between."""
    return ", ".join(str(t.shape) for t in _tensors(value))


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for v in value.values() if isinstance(value, dict) else value:
            yield from _tensors(v)


def _bytes(t: Tensor) -> int:
    return prod(t.shape) * max(t.dtype.bits // 8, 1)


def _number(n: int) -> str:
    return f"{n:,}" if n else "-"


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    words = zip(cells, widths, range(len(cells)), strict=True)
    return "  ".join(cell.ljust(w) if i < 3 else cell.rjust(w) for cell, w, i in words).rstrip()
