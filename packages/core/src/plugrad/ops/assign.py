"""Assignment as a value: x with other numbers at x[key]."""

from __future__ import annotations

from ..apply import apply, binary
from ..dtypes import promote, with_scalar
from ..errors import DTypeError, ShapeError
from ..node import Value
from ..op import Op
from .creation import tensor
from .index import Plan, Take, getitem, is_mask, read
from .nonzero import Positions
from .select import Where, where
from .shape import expand, reshape
from .slices import Assign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..dtypes import DType
    from ..tensor import Tensor

__all__ = ["setitem"]


class Put(Op):
    """z = x, but z[at] = v, the places counted in x flattened; of equal places the last counts

    ∂L/∂x = g, but 0 at these places        ∂L/∂v = g[at], but 0 where v was overwritten
    """

    loose = ("at",)
    storage = selects = True

    def forward(self, xp, x, at, v):
        z = xp.index_put(xp.reshape(x, (-1,)), xp.reshape(at, (-1,)), xp.reshape(v, (-1,)))
        return xp.reshape(z, x.shape)

    def dx(self, g, at):
        return apply(self, g, at, g.new_zeros(at.shape))

    def dv(self, g, at):
        return where(apply(Lasting(g.size), at), apply(Take(0, g.size, 0), reshape(g, -1), at), 0)


class Lasting(Op):
    """z = is this the last entry of `at` with its value? No gradient

    size    what the places are counted in
    """

    size: int

    def forward(self, xp, at):
        flat = xp.reshape(at, (-1,))
        j = xp.arange(flat.shape[0], dtype=xp.int64)
        last = xp.index_put(xp.zeros((self.size,), dtype=xp.int64), flat, j)
        return xp.reshape(xp.take(last, flat, axis=0) == j, at.shape)


_put, _where = Put(), Where()


def setitem(x: Tensor, key: Any, value: Any) -> Tensor:
    """`x`, but with `value` at x[key]; a new tensor. `x[key] = value` gives it to x.

    `value` broadcasts to x[key] and takes the dtype of `x`, where that loses no kind of number. Where integer tensors
    name a place twice, the last value counts. Gradients go to `value`, and to `x` everywhere else.
    """
    plan = read("setitem", x, key)
    v = _fitting(x, value)
    if not plan.arrays:
        return binary(Assign(tuple(plan.cut)), x, _basic(plan, v))  # type: ignore[no-any-return]
    mask = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    if is_mask(mask) and not getattr(v, "ndim", 0):
        return apply(_where, reshape(mask, *mask.shape, *[1] * (x.ndim - mask.ndim)), v, x)  # type: ignore[no-any-return]
    at = getitem(apply(Positions(x.shape, x.device)), key)
    if not isinstance(v, Value):
        v = tensor(v, dtype=x.dtype, device=x.device)
    return apply(_put, x, at, expand(_trimmed(v, at.shape), at.shape))  # type: ignore[no-any-return]


def _fitting(x: Tensor, value: Any) -> Any:
    """`value` in the dtype of `x`, as a plain number or a tensor."""
    if isinstance(value, (bool, int, float)):
        _admit(x, with_scalar(x.dtype, value), type(value).__name__)
        return value
    made = value if isinstance(value, Value) else tensor(value, device=x.device)
    have = made.dtype  # type: ignore[attr-defined]
    _admit(x, x.dtype if have.kind == x.dtype.kind == "float" else promote(x.dtype, have), have)
    if made is not value and not hasattr(value, "dtype"):
        return tensor(value, dtype=x.dtype, device=x.device)  # Python's numbers, rounded once
    return made.astype(x.dtype)  # type: ignore[attr-defined]


def _admit(x: Tensor, together: DType, have: Any) -> None:
    if together is not x.dtype:
        raise DTypeError(
            f"setitem: a value of {have} does not fit a tensor of {x.dtype}; "
            f"cast one of them, as in x.astype('{together}')"
        )


def _basic(plan: Plan, v: Any) -> Any:
    """`v` for the axes that basic indexing leaves; those of None are taken out again."""
    if not isinstance(v, Value):
        return v
    v = _trimmed(v, tuple(plan.shape))
    return v if plan.shape == plan.sliced else reshape(expand(v, plan.shape), plan.sliced)


def _trimmed(v: Any, shape: tuple[int, ...]) -> Tensor:
    """`v` without leading axes of size 1 that `shape` has no place for; ShapeError where it does not stretch to it."""
    extra = max(v.ndim - len(shape), 0)
    have = v.shape[extra:]
    tail = shape[len(shape) - len(have) :]
    if any(n != 1 for n in v.shape[:extra]) or any(n not in (1, m) for n, m in zip(have, tail, strict=True)):
        raise ShapeError(
            f"setitem: a value of shape {v.shape} does not fit x[key] of shape {shape}; it may only stretch"
        )
    return reshape(v, have) if extra else v
