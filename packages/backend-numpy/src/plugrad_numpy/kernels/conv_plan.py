"""How a convolution is laid out in memory, so that nearly every copy is of one long run.

x is staged as (phase, channel, image, place): padded, and with a stride s split into s phases along each axis. What
entry k of the kernel meets in all windows is then one run of memory, the same length for each k, with a start of its
own. Runs go on through the ends of rows and of images, where no window is. These columns are computed in vain, and on
the way back they hold zeros; where there would be too many of them, only those that count are laid out.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    Sizes = tuple[int, ...]

ROOM = 2**19  # numbers laid out at a time: they stay in cache
DEAR = 80  # what a number costs that is not copied in a run, in multiplications


class Block(NamedTuple):
    """What is laid out at a time: some groups, or some channels of one; some entries of the kernel; some rows.

    shape    (images, ...) of the columns
    """

    groups: slice
    channels: slice
    entries: range
    row: int
    rows: int
    shape: Sizes


class Plan:
    """Where everything lies for inputs of one size; a weight is (groups, entries of the kernel, channels, outputs).

    places    windows along each axis
    q         sizes of a phase along each axis; `size`, its numbers; `pitch`, those in a row of the first axis
    starts    for each entry of the kernel, its phase, and where the first window has it there: along each axis, in all
    moves     for each phase, which numbers of an image belong to it, and where they go
    exact     are only the columns laid out that count?
    single    has each group one channel and one output? Then there are no matrices to multiply, only numbers
    """

    def __init__(self, op: Any, sizes: Sizes, weight: Sizes, exact: bool) -> None:
        outputs, self.channels, *kernel = weight
        self.groups, self.outputs = op.groups, outputs // op.groups
        self.single = self.channels == self.outputs == 1
        padded = [n + before + after for n, (before, after) in zip(sizes, op.padding, strict=True)]
        axes = zip(padded, kernel, op.stride, op.dilation, strict=True)
        self.places = tuple([(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in axes])
        self.q = tuple([-(-n // s) for n, s in zip(padded, op.stride, strict=True)])
        shared = self._shared(op, sizes, kernel)
        vain = (prod(shared) - prod(self.places)) * self.outputs
        self.exact = exact or vain > DEAR * prod(self.places)
        self.q = self.q if self.exact else shared
        self.lay = self.places if self.exact else self.q
        self.starts, phases = _starts(op, kernel, self.q)
        self.moves = [_moves(op, sizes, self.q, phase) for phase in phases]
        self.size, self.pitch = prod(self.q), prod(self.q[1:])
        self.behind = max([start for *_, start in self.starts]) + (self.places[0] - 1) * self.pitch + 1
        laid = 1 if self.single else len(self.starts)  # entries at a time
        self.each = self.channels * laid * prod(self.lay)  # numbers of one group of one image

    def _shared(self, op: Any, sizes: Sizes, kernel: list[int]) -> Sizes:
        """`q` where the zeros before a row, or an image, are those behind the one before it."""
        axes = zip(self.q, sizes, kernel, op.stride, op.padding, op.dilation, strict=True)
        fits = [
            (s == 1 and 0 <= after <= min(before, (k - 1) * d), n + before, q)
            for q, n, k, s, (before, after), d in axes
        ]
        return tuple([n if fit else q for fit, n, q in fits])

    def chunks(self, images: int) -> Iterator[slice]:
        """So many images at a time as there is room for."""
        most = max(1, min(images, ROOM // (self.each * self.groups)))
        step = -(-images // -(-images // most))
        return (slice(i, min(i + step, images)) for i in range(0, images, step))

    def rows(self, images: int) -> Iterator[Block]:
        """The blocks of a chunk; an image that is too large goes row by row."""
        many, most = max(1, min(self.groups, ROOM // self.each)), self.places[0]
        rows = max(1, most * ROOM // self.each) if self.each > ROOM else most
        entries, channels = range(len(self.starts)), slice(0, self.channels)
        for group, row in product(range(0, self.groups, many), range(0, most, rows)):
            n = min(rows, most - row)
            shape = images, n if images == 1 else self.lay[0], *self.lay[1:]
            yield Block(slice(group, min(group + many, self.groups)), channels, entries, row, n, shape)

    def parts(self, images: int) -> Iterator[Block]:
        """The same, but what is too large goes channel by channel, or entry by entry: whole images add up."""
        many, run = max(1, min(self.groups, ROOM // self.each)), prod(self.lay)
        wide = max(1, min(self.channels, ROOM // (run * len(self.starts))))
        deep = len(self.starts) if self.single else max(1, min(len(self.starts), ROOM // (run * wide)))
        spans = (range(0, self.groups, many), range(0, self.channels, wide), range(0, len(self.starts), deep))
        for g, c, k in product(*spans):
            groups, channels = slice(g, min(g + many, self.groups)), slice(c, min(c + wide, self.channels))
            entries = range(k, min(k + deep, len(self.starts)))
            yield Block(groups, channels, entries, 0, self.places[0], (images, *self.lay))

    def memory(self, room: Any, name: str, images: int) -> Any:
        """Room for what is staged; a run may begin in the last image and end behind it."""
        return room[name, (len(self.moves), self.groups * self.channels * images * self.size + self.behind)]

    def images(self, staged: Any, images: int) -> Any:
        """(phase, channel, image, ...): what is staged, without the room behind it."""
        return staged[:, : -self.behind].reshape(len(staged), -1, images, *self.q)

    def stage(self, x: Any, room: Any) -> Any:
        """Images (image, channel, ...) as they are staged."""
        staged = self.memory(room, "staged", len(x))
        for phase, (source, to) in zip(self.images(staged, len(x)), self.moves, strict=True):
            phase[to] = x[source].swapaxes(0, 1)
        return staged

    def unstage(self, staged: Any, x: Any) -> None:
        """What is staged, written into the images `x`."""
        for phase, (source, to) in zip(self.images(staged, len(x)), self.moves, strict=True):
            x[source] = phase[to].swapaxes(0, 1)

    def runs(self, staged: Any, block: Block) -> Iterator[Any]:
        """For each entry of the kernel what it meets in the windows of a block: (group, channel, ...)"""
        part = block.groups.stop - block.groups.start, block.channels.stop - block.channels.start
        size, (images, *shape) = block.shape[0] * self.size, block.shape
        first, numbers = (block.groups.start * self.channels + block.channels.start) * size, prod(part) * size
        for k in block.entries:
            phase, at, start = self.starts[k]
            if self.exact:
                ends = [slice(i, i + n) for i, n in zip((at[0] + block.row, *at[1:]), shape, strict=True)]
                yield staged[phase][first : first + numbers].reshape(*part, images, *self.q)[(..., *ends)]
            else:
                run = first + start + block.row * self.pitch
                yield staged[phase][run : run + numbers].reshape(*part, size)[..., : prod(block.shape)]

    def grid(self, columns: Any, block: Block) -> Any:
        """Columns (group, channel, column) as the windows that count: (image, group, channel, ...)"""
        shape = columns.reshape(*columns.shape[:2], *block.shape)
        return np.moveaxis(shape[(..., slice(block.rows), *[slice(p) for p in self.places[1:]])], 2, 0)


def _starts(op: Any, kernel: list[int], q: Sizes) -> tuple[list[tuple[int, Sizes, int]], list[Sizes]]:
    phases: dict[Sizes, int] = {}
    starts = []
    for k in product(*map(range, kernel)):
        at = [divmod(i * d, s) for i, d, s in zip(k, op.dilation, op.stride, strict=True)]
        phase, first = tuple([rest for _, rest in at]), tuple([whole for whole, _ in at])
        run = sum([n * prod(q[axis + 1 :]) for axis, n in enumerate(first)])
        starts.append((phases.setdefault(phase, len(phases)), first, run))
    return starts, list(phases)


def _moves(op: Any, sizes: Sizes, q: Sizes, phase: Sizes) -> tuple[Any, Any]:
    axes = zip(sizes, q, phase, op.stride, op.padding, strict=True)
    spans = [_span(n, m, r, s, before) for n, m, r, s, (before, _) in axes]
    return (..., *[source for source, _ in spans]), (..., *[to for _, to in spans])


def _span(n: int, q: int, phase: int, stride: int, before: int) -> tuple[slice, slice]:
    """Along one axis: which numbers belong to a phase, and where they go in it."""
    first = max(0, -(-(before - phase) // stride))
    start = first * stride + phase - before
    count = max(0, min(q - first, -(-(n - start) // stride)))
    return slice(start, start + (count - 1) * stride + 1, stride) if count else slice(0, 0), slice(first, first + count)


@lru_cache(maxsize=256)
def plan_of(op: Any, sizes: Sizes, weight: Sizes, exact: bool = False) -> Plan:
    """The plan for inputs of these sizes, made once."""
    return Plan(op, sizes, weight, exact)


class Room(dict[Any, Any]):
    """Zeros by name and shape, made once for each call; what is never written stays zero."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __missing__(self, key: tuple[str, Sizes]) -> Any:
        made = self[key] = np.zeros(key[1], self.dtype)
        return made
