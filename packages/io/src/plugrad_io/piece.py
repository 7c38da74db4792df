"""A tensor that is still to be made: its shape and where it comes from are known, its values are not asked for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad import Tensor
from plugrad.errors import DTypeError, ShapeError

from .lazy import TensorFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Piece:
    """A tensor to be: `shape`, `origin` (old names), `steps` (what happens to it); `value()` makes it, once."""

    def __init__(
        self, shape: tuple[int, ...], origin: tuple[str, ...], steps: tuple[str, ...], make: Callable[[], Tensor]
    ) -> None:
        self.shape, self.origin, self.steps = shape, origin, steps
        self._make, self._made = make, list[Tensor]()

    def value(self) -> Tensor:
        """The tensor, the same one each time."""
        if not self._made:
            made = self._make()
            if not isinstance(made, Tensor):
                raise DTypeError(
                    f"{'+'.join(self.origin)} {', '.join(self.steps)}: became a {type(made).__name__}, not a tensor"
                )
            if made.shape != self.shape:
                raise ShapeError(
                    f"{'+'.join(self.origin)} {', '.join(self.steps)}: shape {made.shape}, but {self.shape} was told; "
                    "give Change the argument shape="
                )
            self._made.append(made)
        return self._made[0]

    def changed(self, how: str, shape: tuple[int, ...], f: Callable[[Tensor], Tensor]) -> Piece:
        """f of this one."""
        return Piece(shape, self.origin, (*self.steps, how), lambda: f(self.value()))

    def noted(self, how: str) -> Piece:
        """This very tensor, with one more thing to tell about it."""
        return Piece(self.shape, self.origin, (*self.steps, how), self.value)

    def told(self, name: str) -> str:
        """Where it comes from, unless that is plain."""
        source = "" if self.origin == (name,) else f" <- {' + '.join(self.origin)}"
        return source + (f" ({', '.join(self.steps)})" if self.steps else "")


def pieces_of(state: Mapping[str, Any]) -> dict[str, Piece]:
    """The entries of a state dict, tensors or arrays; of a file that is read lazily nothing is read."""
    if isinstance(state, TensorFile):
        return {name: Piece(state.shape(name), (name,), (), partial(state.__getitem__, name)) for name in state}
    if not hasattr(state, "items"):
        raise DTypeError(
            f"Mapping: a {type(state).__name__} is no dict of tensors; of a model, pass model.state_dict()"
        )
    return {name: _piece(name, value) for name, value in state.items()}


def _piece(name: str, value: Any) -> Piece:
    if not hasattr(value, "shape"):
        raise DTypeError(
            f"Mapping: {name!r} is a {type(value).__name__}; pass the dict that has the tensors themselves"
        )
    return Piece(tuple(value.shape), (name,), (), lambda: value if isinstance(value, Tensor) else pg.tensor(value))


def parts(piece: Piece, axis: int, sizes: Sequence[int] | int, who: str) -> list[Piece]:
    """`piece` cut along an axis, into pieces of these sizes, or into so many of one size."""
    if not -len(piece.shape) <= axis < len(piece.shape):
        raise ShapeError(f"{who} has shape {piece.shape}, and no axis {axis}")
    a, n = axis % len(piece.shape), piece.shape[axis]
    if isinstance(sizes, int):
        if n % sizes:
            raise ShapeError(f"{who} has shape {piece.shape}: {n} along axis {axis} is no multiple of {sizes}")
        sizes = [n // sizes] * sizes
    if sum(sizes) != n:
        raise ShapeError(f"{who} has shape {piece.shape}: sizes {tuple(sizes)} add up to {sum(sizes)}, not {n}")
    found, start = [], 0
    for size in sizes:
        key = (*[slice(None)] * a, slice(start, start + size))
        shape = (*piece.shape[:a], size, *piece.shape[a + 1 :])
        found.append(piece.changed(f"{start}:{start + size}", shape, lambda t, key=key: t[key]))  # type: ignore[misc]
        start += size
    return found


def joined(pieces: list[Piece], axis: int, who: str) -> Piece:
    """`pieces` one behind the other along an axis."""
    shapes = [p.shape for p in pieces]
    if any(not -len(s) <= axis < len(s) for s in shapes):
        raise ShapeError(f"{who}: shapes {', '.join(map(str, shapes))} have not all an axis {axis}")
    a = axis % len(shapes[0])
    rest = {(*s[:a], *s[a + 1 :]) for s in shapes}
    if len(rest) > 1 or len({len(s) for s in shapes}) > 1:
        raise ShapeError(f"{who}: shapes {', '.join(map(str, shapes))} differ elsewhere than along axis {axis}")
    shape = (*shapes[0][:a], sum(s[a] for s in shapes), *shapes[0][a + 1 :])
    origin = tuple([name for p in pieces for name in p.origin])
    steps = tuple(dict.fromkeys([s for p in pieces for s in p.steps]))
    return Piece(shape, origin, (*steps, "joined"), lambda: pg.concat([p.value() for p in pieces], axis=a))
