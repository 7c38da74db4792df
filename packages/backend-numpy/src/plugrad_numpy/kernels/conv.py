"""Convolutions as products of matrices: the weight, and the windows side by side, as `conv_plan` lays them out."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from plugrad.kernel import Kernel

from .._functions import sum as add_up
from .conv_plan import Room, plan_of
from .mend import has_nan

if TYPE_CHECKING:
    from .conv_plan import Block, Plan


def supports(op: Any, x: Any, y: Any, *b: Any) -> bool | str:
    if x.dtype not in (np.float32, np.float64) or y.dtype != x.dtype:
        return f"{x.dtype} and {y.dtype} are not both float32 or both float64"
    return True if x.size and y.size else f"shapes {x.shape} and {y.shape} hold nothing"


def entries(plan: Plan, w: Any) -> Any:
    """(groups, o, c, k) of a weight"""
    return w.reshape(plan.groups, plan.outputs, plan.channels, -1)


def columns_of(plan: Plan, block: Block, name: str, room: Any) -> Any:
    """Room for the columns of a block, (group, k, channel, column); what one k meets lies together."""
    groups, channels = block.groups.stop - block.groups.start, block.channels.stop - block.channels.start
    k, n = len(block.entries), prod(block.shape)
    if channels == 1:
        return room[name, (k, groups, 1, n)].swapaxes(0, 1)
    return room[name, (groups, k, channels, n)]


def lay(plan: Plan, staged: Any, block: Block, room: Any) -> Any:
    """The columns of a block."""
    columns = columns_of(plan, block, "columns", room)
    for i, run in enumerate(plan.runs(staged, block)):
        columns[:, i].reshape(run.shape)[...] = run
    return columns


def rows_of(columns: Any) -> Any:
    """(group, (k, c), column)"""
    return columns.reshape(len(columns), -1, columns.shape[3])


def product(plan: Plan, staged: Any, block: Block, weight: Any, room: Any) -> Any:
    """W X: (group, output, column)"""
    found = room["z", (*weight.shape[:2], prod(block.shape))]
    if not plan.single:
        return np.matmul(weight, rows_of(lay(plan, staged, block, room)), out=found)
    term = room["term", found.shape]
    for i, run in enumerate(plan.runs(staged, block)):
        np.multiply(run, like(weight[:, 0, i], run), out=(term if i else found).reshape(run.shape))
        if i:
            found += term
    return found


def like(w: Any, run: Any) -> Any:
    """One number for each group."""
    return w.reshape(-1, *[1] * (run.ndim - 1))


def plain(op: Any, w: Any) -> bool:
    """Is it a product of matrices as it stands: one entry in the kernel, each place its own window?"""
    return prod(w[2:]) == 1 and set(op.stride) == {1} and set(op.padding) == {(0, 0)}


def flat(x: Any, groups: int) -> Any:
    """(image, group, channel, place)"""
    return x.reshape(len(x), groups, x.shape[1] // groups, -1)


def convolved(op: Any, x: Any, w: Any, b: Any = None) -> Any:
    """Z = W X + b, for each block of columns X"""
    if plain(op, w.shape):
        z = np.matmul(w.reshape(op.groups, -1, w.shape[1]), flat(x, op.groups)).reshape(len(x), len(w), *x.shape[2:])
        return z if b is None else np.add(z, b.reshape(-1, *[1] * (x.ndim - 2)), out=z)
    plan, room = plan_of(op, x.shape[2:], w.shape), Room(x.dtype)
    weight = np.ascontiguousarray(entries(plan, w).swapaxes(2, 3)).reshape(plan.groups, plan.outputs, -1)
    bias = None if b is None else b.reshape(plan.groups, plan.outputs, 1)
    z = np.empty((len(x), plan.groups, plan.outputs, *plan.places), x.dtype)
    for chunk in plan.chunks(len(x)):
        staged = plan.stage(x[chunk], room)
        for block in plan.rows(chunk.stop - chunk.start):
            found = product(plan, staged, block, weight[block.groups], room)
            if bias is not None:
                found += bias[block.groups]
            z[chunk, block.groups, :, block.row : block.row + block.rows] = plan.grid(found, block)
    return z.reshape(len(x), -1, *plan.places)


def slopes(op: Any, shapes: Any, x: Any, w: Any, g: Any, exact: bool = False) -> tuple[Any, Any]:
    """∂L/∂X = Wᵀ G, added where each column came from; ∂L/∂W = G Xᵀ, summed over columns. The one whose other factor
    is None is not asked for; `shapes` are those of X and W."""
    sizes, shape = shapes
    if plain(op, shape):
        return plain_slopes(op, shapes, x, w, g)
    plan, room = plan_of(op, sizes[2:], shape, exact), Room(g.dtype)
    weight = None if w is None else np.ascontiguousarray(np.moveaxis(entries(plan, w), 1, 3).swapaxes(1, 2))
    dx = None if w is None else np.zeros(sizes, g.dtype)
    dw = None if x is None else np.zeros((plan.groups, prod(shape[2:]), plan.channels, plan.outputs), g.dtype)
    g = g.reshape(len(g), plan.groups, plan.outputs, *plan.places)
    for chunk in plan.chunks(len(g)):
        images = chunk.stop - chunk.start
        slope = slope_of(plan, g[chunk], room)
        staged = None if dw is None else plan.stage(x[chunk], room)
        back = None if dx is None else plan.memory(room, "back", images)
        if back is not None:
            back.fill(0)
        for block in plan.parts(images):
            if dw is not None:
                gather(plan, staged, block, slope, dw, room)
            if back is not None:
                spread(plan, back, block, slope, weight, room)
        if dx is not None:
            plan.unstage(back, dx[chunk])
    return dx, None if dw is None else dw.transpose(0, 3, 2, 1).reshape(shape)


def plain_slopes(op: Any, shapes: Any, x: Any, w: Any, g: Any) -> tuple[Any, Any]:
    sizes, shape = shapes
    slope, dx, dw = flat(g, op.groups), None, None
    if w is not None:
        dx = np.matmul(w.reshape(op.groups, -1, shape[1]).swapaxes(1, 2), slope).reshape(sizes)
    if x is not None:
        dw = np.zeros((op.groups, shape[0] // op.groups, shape[1]), g.dtype)
        for left, right in zip(slope, flat(x, op.groups), strict=True):
            dw += left @ right.swapaxes(1, 2)
        dw = dw.reshape(shape)
    return dx, dw


def slope_of(plan: Plan, g: Any, room: Any) -> Any:
    """G as columns, (group, output, column), zero where no window is."""
    block = next(plan.parts(len(g)))
    slope = room["slope", (plan.groups, plan.outputs, prod(block.shape))]
    plan.grid(slope, block)[...] = g
    return slope


def gather(plan: Plan, staged: Any, block: Block, slope: Any, dw: Any, room: Any) -> None:
    """Add a block's share to ∂L/∂W."""
    if plan.single:
        for k, run in zip(block.entries, plan.runs(staged, block), strict=True):
            dw[block.groups, k, 0, 0] += np.vecdot(run.reshape(len(run), -1), slope[block.groups, 0])
        return
    columns = lay(plan, staged, block, room)
    share = rows_of(columns) @ slope[block.groups].swapaxes(1, 2)
    dw[block.groups, block.entries.start : block.entries.stop, block.channels] += share.reshape(*columns.shape[:3], -1)


def spread(plan: Plan, staged: Any, block: Block, slope: Any, weight: Any, room: Any) -> None:
    """Add a block's share to ∂L/∂X."""
    left, right = weight[block.groups, block.entries.start : block.entries.stop, block.channels], slope[block.groups]
    if plan.single:
        for i, run in enumerate(plan.runs(staged, block)):
            run += np.multiply(left[:, i], right, out=room["term", right.shape]).reshape(run.shape)
        return
    columns = columns_of(plan, block, "slopes", room)
    np.matmul(left.reshape(len(left), -1, plan.outputs), right, out=rows_of(columns))
    for i, run in enumerate(plan.runs(staged, block)):
        run += columns[:, i].reshape(run.shape)


def kernel_of(op: Any, x: Any, y: Any) -> Any:
    """The sizes of the kernel that makes windows of `x` as many as `y` has."""
    axes = zip(x.shape[2:], y.shape[2:], op.stride, op.padding, op.dilation, strict=True)
    return [(n + before + after - (p - 1) * s - 1) // d + 1 for n, p, s, (before, after), d in axes]


def sizes_of(op: Any, x: Any, w: Any) -> Any:
    """The shape of what is convolved by `w` to the shape of `x`."""
    axes = zip(x.shape[2:], w.shape[2:], op.stride, op.padding, op.dilation, strict=True)
    sizes = [(p - 1) * s + (k - 1) * d + 1 - before - after for p, k, s, (before, after), d in axes]
    return (len(x), w.shape[1] * op.groups, *sizes)


def finite(w: Any) -> bool:
    flat = w.reshape(-1)
    return bool(np.isfinite(np.dot(flat, flat)))


def conv_slopes(op: Any, x: Any, w: Any, g: Any, wanted: Any) -> tuple[Any, Any]:
    """As `slopes`, and 0 · ∞ only where the formula has it: a column in vain may hold anything but ∞ and NaN."""
    shapes = x.shape, w.shape
    dx, dw = slopes(op, shapes, x if wanted[1] else None, w if wanted[0] else None, g, wanted[0] and not finite(w))
    if dw is not None and has_nan(dw):
        dw = slopes(op, shapes, x, None, g, True)[1]
    return dx, dw


def bias_slope(g: Any) -> Any:
    return add_up(g, axis=(0, *range(2, g.ndim)))


def conv_forward(op: Any, x: Any, w: Any, b: Any = None) -> Any:
    return convolved(op, x, w, b), (x, w)


def conv_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    x, w = kept
    dx, dw = conv_slopes(op, x, w, g, wanted)
    return [dx, dw, *[bias_slope(g) if want else None for want in wanted[2:]]]


def transpose_forward(op: Any, x: Any, w: Any, b: Any = None) -> Any:
    z, _ = slopes(op, (sizes_of(op, x, w), w.shape), None, w, x, not finite(w))
    if b is not None:
        z += b.reshape(-1, *[1] * (z.ndim - 2))
    return z, (x, w)


def transpose_backward(op: Any, kept: Any, g: Any, wanted: Any) -> list[Any]:
    x, w = kept
    dx = convolved(op, g, w) if wanted[0] else None
    dw = conv_slopes(op, g, w, x, (False, True))[1] if wanted[1] else None
    return [dx, dw, *[bias_slope(g) if want else None for want in wanted[2:]]]


def weight_forward(op: Any, x: Any, y: Any) -> Any:
    w = y.shape[1], x.shape[1] // op.groups, *kernel_of(op, x, y)
    dw = slopes(op, (x.shape, w), x, None, y)[1]
    return slopes(op, (x.shape, w), x, None, y, True)[1] if has_nan(dw) else dw


conv = Kernel(conv_forward, conv_backward, supports)
conv_transpose = Kernel(transpose_forward, transpose_backward, supports)
conv_weight = Kernel(weight_forward, supports=supports)
