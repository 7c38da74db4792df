"""Optimizers whose step is one op, run on all parameters of a group in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad.apply import apply

from .ops import Each
from .optimizer import Optimizer, like

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plugrad import Op, Tensor

    from .groups import Group
    from .optimizer import State

    Rule = tuple[Op, tuple[str, ...], tuple[float, ...]]
    Member = tuple[Tensor, Tensor, Tensor, State]

__all__ = ["Ruled"]

PORTION = 1 << 17  # numbers in the parameters of one call, unless there are very many


class Ruled(Optimizer):
    """Subclass this and write `rule(p, state, group)`: the op, the names of its state, its numbers.

    The op's inputs are p, its gradient, the state by these names, and the numbers; its outputs are the new p and the
    new state. Parameters that have op and numbers in common make one call.
    """

    def rule(self, p: Tensor, state: State, group: Group) -> Rule:
        """The op that moves `p`, the names of the tensors that it takes from `state` and gives back, its numbers."""
        raise NotImplementedError(f"{type(self).__name__}.rule(self, p, state, group) is not written")

    def start(self, name: str, p: Tensor, group: Group) -> Tensor:
        """What the entry `name` of the state is before the first step."""
        return p.new_zeros(p.shape)

    def shape_of(self, name: str, p: Tensor) -> tuple[int, ...] | None:
        return p.shape

    def advance(self, params: list[Tensor], group: Group) -> None:
        batches: dict[Any, list[Member]] = {}
        for p in params:
            value, g, state = self.value(p, group), self.gradient(p, group), self.state[p]
            op, names, given = self.rule(value, state, group)
            numbers = tuple(map(float, given))  # a learning rate may be a tensor
            for name in names:
                if name not in state:
                    state[name] = self.start(name, value, group)
            key = (op, names, numbers, value.data.dtype, g.data.dtype, value.device)
            batches.setdefault(key, []).append((p, value, g, state))
        for (op, names, numbers, *_), members in batches.items():
            for some in portions(members):
                self._together(op, names, numbers, some)

    def _together(self, op: Op, names: tuple[str, ...], numbers: tuple[float, ...], members: list[Member]) -> None:
        """One call for parameters that have everything but their values in common."""
        inputs = [x for _, value, g, state in members for x in (value, g, *[state[n] for n in names])]
        outputs = iter(apply(Each(op, len(members), numbers), *inputs))
        for p, value, _, state in members:
            self.put(p, value, like(next(outputs), value))
            for name in names:
                state[name] = like(next(outputs), state[name])


def portions(members: list[Member]) -> Iterator[list[Member]]:
    """`members` in portions of about equal memory: what one frees, the next uses, and the peak stays low."""
    sizes = [value.size for _, value, _, _ in members]
    start, held, most = 0, 0, max(PORTION, sum(sizes) // 16)
    for i, size in enumerate(sizes):
        if held and held + size > most:
            yield members[start:i]
            start, held = i, 0
        held += size
    yield members[start:]


def tick(state: State) -> int:
    """t ← t + 1, the number of this step."""
    t: int = state.get("step", 0) + 1
    state["step"] = t
    return t


def apart(group: Group, decoupled: bool) -> tuple[float, float]:
    """λ where it goes into the gradient, and κ = 1 - η λ where it does not: one of them says nothing."""
    decay = float(group["weight_decay"])
    return (0.0, 1.0 - float(group["lr"]) * decay) if decoupled else (decay, 1.0)
