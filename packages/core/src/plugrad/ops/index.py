"""Indexing: x[key] with whole numbers, slices, None, ..., integer tensors and boolean masks, by NumPy's rules."""

from __future__ import annotations

from ..apply import apply, unary
from ..errors import AxisError, DTypeError, ShapeError
from ..node import Value
from ..op import Op
from .creation import tensor
from .nonzero import nonzero
from .numbers import as_int, prod
from .shape import Permute, Reshape, broadcast_shapes
from .slices import Slice, span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tensor import Tensor
    from .slices import Span

__all__ = ["getitem"]


class Take(Op):
    """z[..., j, ...] = x[..., index[j], ...] along one axis; j may be several axes

    ∂L/∂x = g added up at index

    size    of that axis
    told    its number in the user's own tensor, for messages
    """

    axis: int
    size: int
    told: int
    loose = ("index",)
    storage = selects = True

    def forward(self, xp, x, index):
        i = checked(xp, "take", index, self.size, self.told)
        z = xp.take(x, xp.reshape(i, (-1,)), axis=self.axis)
        return xp.reshape(z, (*x.shape[: self.axis], *index.shape, *x.shape[self.axis + 1 :]))

    def dx(self, g, index):
        return apply(Spread(self.axis, self.size), g, index)


class Spread(Op):
    """z = zeros, x[..., j, ...] added at z[..., index[j], ...] along one axis of this size

    ∂L/∂x = g taken at index
    """

    axis: int
    size: int
    loose = ("index",)

    def forward(self, xp, x, index):
        lead, rest = x.shape[: self.axis], x.shape[self.axis + len(index.shape) :]
        i = xp.reshape(counted(xp, index, self.size), (-1,))
        rows = xp.reshape(x, (*lead, i.shape[0], *rest))
        return xp.index_add(xp.zeros((*lead, self.size, *rest), dtype=x.dtype), self.axis, i, rows)

    def dx(self, g, index):
        return apply(Take(self.axis, self.size, self.axis), g, index)


class Flat(Op):
    """z = Σₖ index[k] · step[k]: places in axes of these sizes, made one; no gradient

    told    the numbers of the axes in the user's own tensor, for messages
    """

    sizes: tuple[int, ...]
    told: tuple[int, ...]

    def forward(self, xp, *index):
        z = checked(xp, "getitem", index[0], self.sizes[0], self.told[0])
        for i, n, axis in zip(index[1:], self.sizes[1:], self.told[1:], strict=True):
            z = z * n + checked(xp, "getitem", i, n, axis)
        return z


def checked(xp: Any, op: str, index: Any, size: int, axis: int) -> Any:
    """`index`, counted from the front; AxisError where some of it is outside."""
    if prod(index.shape):
        low, high = int(xp.min(index)), int(xp.max(index))
        if low < -size or high >= size:
            bad = low if low < -size else high
            fix = f"use {-size} to {size - 1}" if size else "there is nothing to index"
            raise AxisError(f"{op}: index {bad} is out of range for axis {axis} of size {size}; {fix}")
    return counted(xp, index, size)


def counted(xp: Any, index: Any, size: int) -> Any:
    """`index` as int64, negative ones counted from the front."""
    i = index if index.dtype == xp.int64 else xp.astype(index, xp.int64)
    return xp.where(i < 0, i + size, i)


class Plan:
    """A key, read.

    cut      what basic indexing takes, an entry an axis
    sliced   the shape after it
    shape    the shape after that, with the axes of None, and the axes of each mask made one
    arrays   (axis of `shape`, integer tensor, the user's axis) for each advanced index
    apart    are advanced indices separated by basic ones? Then their axes come first
    """

    __slots__ = ("apart", "arrays", "cut", "shape", "sliced")

    def __init__(self) -> None:
        self.cut: list[int | Span] = []
        self.sliced: list[int] = []
        self.shape: list[int] = []
        self.arrays: list[tuple[int, Any, int]] = []
        self.apart = False

    def keep(self, sizes: tuple[int, ...]) -> None:
        """These axes go through whole."""
        self.cut += [(0, n, 1) for n in sizes]
        self.sliced += sizes
        self.shape += sizes

    def whole(self, shape: tuple[int, ...]) -> bool:
        """Does basic indexing take all of an array of this shape?"""
        return self.cut == [(0, n, 1) for n in shape]

    def order(self) -> tuple[int, ...]:
        """The axes of `shape`, those that come first brought there."""
        first = [axis for axis, _, _ in self.arrays] if self.apart else []
        return (*first, *(i for i in range(len(self.shape)) if i not in first))


def read(op: str, x: Tensor, key: Any) -> Plan:
    """The plan of `key` for `x`."""
    items = [understood(op, x, k) for k in (key if isinstance(key, tuple) else (key,))]
    dots = sum(k is ... for k in items)
    used = sum(k.ndim if is_mask(k) else k is not None and k is not ... for k in items)
    if dots > 1 or used > x.ndim:
        much = f"{dots} ellipses" if dots > 1 else f"{used} indices for {x.ndim} dimensions"
        raise AxisError(f"{op}: {much} in a key for shape {x.shape}; use at most {'one' if dots > 1 else x.ndim}")
    plan = Plan()
    fancy = [_enter(op, x, plan, k, x.ndim - used) for k in (items if dots else [*items, ...])]
    places = [i for i, f in enumerate(fancy) if f]
    plan.apart = bool(plan.arrays) and places[-1] - places[0] >= len(places)
    return plan


def _enter(op: str, x: Tensor, plan: Plan, k: Any, rest: int) -> bool:
    """Enter one item of a key; is it advanced (or a number, which NumPy counts with these)?"""
    axis = len(plan.cut)
    if k is None:
        plan.shape.append(1)
    elif k is ...:
        plan.keep(x.shape[axis : axis + rest])
    elif isinstance(k, slice):
        n = x.shape[axis]
        plan.cut.append(span(k, n))
        plan.sliced.append(len(range(n)[k]))
        plan.shape.append(plan.sliced[-1])
    elif isinstance(k, int):
        plan.cut.append(_number(op, k, axis, x.shape))
    else:
        _array(op, x, plan, k, axis)
    return isinstance(k, (int, Value))


def _number(op: str, k: int, axis: int, shape: tuple[int, ...]) -> int:
    n = shape[axis]
    if not -n <= k < n:
        fix = f"use {-n} to {n - 1}" if n else "there is nothing to index"
        raise AxisError(f"{op}: index {k} is out of range for axis {axis} of size {n}, shape {shape}; {fix}")
    return k if k >= 0 else k + n


def _array(op: str, x: Tensor, plan: Plan, k: Any, axis: int) -> None:
    """Enter an integer tensor, or a mask as the positions where it is true in its axes made one."""
    mask = is_mask(k)
    sizes = x.shape[axis : axis + (k.ndim if mask else 1)]
    if mask and k.shape != sizes:
        raise AxisError(f"{op}: a mask of shape {k.shape} does not fit axes of sizes {sizes} of shape {x.shape}")
    index = nonzero(k.reshape(-1))[0] if mask else k
    plan.arrays.append((len(plan.shape), index, axis))
    plan.cut += [(0, n, 1) for n in sizes]
    plan.sliced += sizes
    plan.shape.append(prod(sizes))


def is_mask(k: Any) -> bool:
    return isinstance(k, Value) and k.dtype.kind == "bool"  # type: ignore[attr-defined]


def understood(op: str, x: Tensor, k: Any) -> Any:
    """One item of a key: None, ..., a slice, a whole number, or a tensor of integers or bools on the device of `x`."""
    if k is None or k is ... or k.__class__ is int:
        return k
    if isinstance(k, slice):
        return _whole(op, k)
    if isinstance(k, Value):
        return as_index(op, x, k)
    if getattr(k, "shape", None) == () and hasattr(k, "item"):
        k = k.item()
    number = hasattr(k, "__index__") and not (isinstance(k, bool) or hasattr(k, "shape"))
    return as_int(k) if number else as_index(op, x, k)


def _whole(op: str, k: slice) -> slice:
    try:
        k.indices(0)
    except (TypeError, ValueError) as error:
        kind = ShapeError if isinstance(error, ValueError) else DTypeError
        raise kind(f"{op}: {k} is no slice of whole numbers with a step other than 0") from error
    return k


def as_index(op: str, x: Tensor, k: Any) -> Any:
    """`k`, a tensor or what can be made one, as a tensor of integers or bools on the device of `x`."""
    found: Any = k if isinstance(k, Value) else _made(op, x, k)
    if found.dtype.kind == "float":
        raise DTypeError(f"{op}: an index of {found.dtype}; cast it: index.astype('int64')")
    return found


def _made(op: str, x: Tensor, k: Any) -> Any:
    if isinstance(k, (str, float)) or not (isinstance(k, bool) or hasattr(k, "__iter__")):
        raise DTypeError(
            f"{op}: {k!r:.80} is no index; use whole numbers, slices, None, ..., or integer or bool tensors"
        )
    made = tensor(k, device=x.device)
    return made.astype("int64") if not made.size and not hasattr(k, "dtype") else made


def getitem(x: Tensor, key: Any) -> Tensor:
    """x[key]

    Whole numbers, slices (any step), None and ... give a view: assigning to its items raises. Integer tensors and lists
    pick along their axes, masks pick where they are true; what these give is a value of its own. Their axes stand where
    they stood, or first where basic indices separate them (NumPy's rule).
    """
    plan = read("getitem", x, key)
    z, reshaped = x, plan.shape != plan.sliced
    if not (plan.whole(x.shape) and (reshaped or plan.arrays)):
        z = unary(Slice(tuple(plan.cut), x.shape), z)
    if reshaped:
        z = unary(Reshape(tuple(plan.shape), tuple(plan.sliced)), z)
    if not plan.arrays:
        return z
    order, count = plan.order(), len(plan.arrays)
    if order != tuple(range(z.ndim)):
        z = unary(Permute(order), z)
    first, index, told = (0 if plan.apart else plan.arrays[0][0]), *plan.arrays[0][1:]
    if count > 1:
        sizes, index = z.shape[first : first + count], _together(plan)
        z = unary(Reshape((*z.shape[:first], prod(sizes), *z.shape[first + count :]), z.shape), z)
        index = apply(Flat(sizes, tuple(axis for _, _, axis in plan.arrays)), *index)
    z = apply(Take(first, z.shape[first], told), z, index)
    if not index.ndim:
        z.origin = "slice"  # a 0-d index stands for a whole number
    return z  # type: ignore[no-any-return]


def _together(plan: Plan) -> list[Tensor]:
    """The index tensors, in one dtype, of shapes that broadcast."""
    index = [i for _, i, _ in plan.arrays]
    try:
        broadcast_shapes(*[i.shape for i in index])
    except ShapeError as error:
        shapes = " and ".join(str(i.shape) for i in index)
        raise ShapeError(
            f"getitem: index shapes {shapes} do not fit together; they broadcast, or give a grid by i[:, None]"
        ) from error
    return [i.astype("int64") for i in index]
