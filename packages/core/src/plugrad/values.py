"""Value semantics: a new value for one object. And values on their way out: numbers, arrays, copies, pickles."""

from __future__ import annotations

from .apply import state
from .call import wrap
from .errors import DTypeError, GraphError, InPlaceError, ShapeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .tensor import Tensor


def become(x: Tensor, z: Tensor, what: str) -> Tensor:
    """Give `x` the value `z`: the same object, new data and way back. What others see stays as it is."""
    recording = state().recording
    if recording and x.node is not None and x.node.op is None:
        raise InPlaceError(
            f"{what} on a leaf that requires a gradient: its gradient would belong to a value that is gone. "
            "Do it under pg.no_grad(), or make a new tensor (y = x + 1)"
        )
    if z.shape != x.shape:
        raise ShapeError(f"{what}: the result has shape {z.shape}, the tensor {x.shape}; write x = x + y instead")
    if z.dtype is not x.dtype:
        raise DTypeError(
            f"{what}: the result is {z.dtype}, the tensor {x.dtype}; cast the other side, or write x = x + y"
        )
    for w in state().watchers:
        w.became(x, z)
    x.data = z.data
    if recording:
        x.node = z.node
    if hasattr(x, "origin"):
        del x.origin
    return x


def inplace(f: Callable[[Any, Any], Tensor], sign: str) -> Callable[[Tensor, Any], Tensor]:
    """The method behind `x += y`, from the function behind `x + y`."""

    def method(x: Tensor, y: Any) -> Tensor:
        return become(x, f(x, y), sign)

    return method


def guarded(x: Tensor) -> None:
    """Refuse assignment to what came out of indexing or a movement op."""
    if hasattr(x, "origin"):
        raise InPlaceError(
            f"this tensor came out of {x.origin}: the assignment would be lost on the tensor behind it. "
            "Write the whole index there (x[0, 1] = v, not x[0][1] = v), or take y = x[0].clone() first"
        )


def _leaving(x: Tensor, how: str) -> None:
    if x.node is not None:
        raise GraphError(f"this tensor requires a gradient, which {how} would lose; x.detach() first")
    for w in state().watchers:
        w.read(x)


def tolist(x: Tensor) -> Any:
    """Nested lists of Python numbers; a number for shape ()."""
    for w in state().watchers:
        w.read(x)
    return x.device.backend.tolist(x.data)


def item(x: Tensor) -> Any:
    """The only element, as a Python number."""
    if x.size != 1:
        raise ShapeError(f"item: shape {x.shape} has {x.size} elements; index first, or use tolist()")
    value = tolist(x)
    while isinstance(value, list):
        value = value[0]
    return value


def to_array(x: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """A NumPy array of its own (`copy=False`: refused, memory is never shared this way; see `from_dlpack`)."""
    _leaving(x, "NumPy")
    if copy is False:
        raise ValueError("a NumPy array of a tensor is always a copy; numpy.from_dlpack(x) shares memory")
    import numpy

    host = x.device.backend.to_host(x.data)
    made = numpy.asarray(host, dtype=None if hasattr(host, "dtype") else str(x.dtype)).reshape(x.shape)
    return made if dtype is None else made.astype(dtype)


def to_dlpack(x: Tensor, **how: Any) -> Any:
    """A DLPack capsule on the memory of `x`: shared, and not to be written to."""
    _leaving(x, "DLPack")
    return x.device.backend.dlpack(x.data, **how)


def copied(x: Tensor) -> Tensor:
    """Another object of the same value and way back."""
    t = object.__new__(type(x))
    t.data, t.device, t.node = x.data, x.device, x.node
    return t


def deep_copied(x: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf of its own: value, requires_grad and grad."""
    if not x.is_leaf:
        raise GraphError("deepcopy: this tensor was made by an op; copy x.detach(), or the leaves")
    t = memo[id(x)] = object.__new__(type(x))
    t.data, t.device, t.node = x.data, x.device, None
    if x.node is not None:
        t.requires_grad_()
        t.grad = wrap(x.grad.data, x.device) if x.grad is not None else None
    return t


def reduced(x: Tensor) -> tuple[Any, ...]:
    """What pickle writes: class, numbers, dtype, device, requires_grad."""
    if not x.is_leaf:
        raise GraphError("pickle: this tensor was made by an op; pickle x.detach()")
    host = x.device.backend.to_host(x.data)
    return _rebuilt, (type(x), host, x.shape, str(x.dtype), str(x.device), x.requires_grad)


def _rebuilt(cls: type[Tensor], host: Any, shape: Any, dtype: str, device: str, requires_grad: bool) -> Tensor:
    from .ops.creation import tensor

    made = tensor(host, dtype=dtype, device=device).reshape(shape)
    t = object.__new__(cls)
    t.data, t.device, t.node = made.data, made.device, None
    return t.requires_grad_(requires_grad)
