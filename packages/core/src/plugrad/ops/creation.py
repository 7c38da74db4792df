"""Where tensors come from: numbers, lists, arrays, and patterns."""

from __future__ import annotations

from .. import dtypes
from ..backend import Device
from ..call import wrap
from ..context import current, nullcontext
from ..dtypes import dtype as as_dtype
from ..errors import DeviceError, DTypeError, GraphError, ShapeError
from ..node import Value, leaf
from .axes import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..dtypes import DType
    from ..tensor import Tensor

    Shape = int | Sequence[int]
    Where = str | Device | None
    What = DType | str | type | None

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "ones",
    "ones_like", "tensor", "zeros", "zeros_like",
]  # fmt: skip

PLAIN = {bool, int, float}


def place(device: Where) -> Device:
    """The device that `device` names; None for the default."""
    if isinstance(device, Device):
        return device
    from ..plugins import device as find

    return find(device)


def shape_of(op: str, shape: tuple[Any, ...]) -> tuple[int, ...]:
    """(2, 3) from `f(2, 3)` and `f((2, 3))` alike, (6,) from `f(6)`."""
    if len(shape) == 1 and hasattr(shape[0], "__iter__") and not hasattr(shape[0], "__index__"):
        shape = (shape[0],) if isinstance(shape[0], str) else tuple(shape[0])
    sizes = tuple([whole(op, "size", n) for n in shape])
    if any(n < 0 for n in sizes):
        raise ShapeError(f"{op}: shape {sizes} has a negative size")
    return sizes


def number_of(op: str, value: Any) -> bool | int | float:
    """A number of any library, or a tensor of one element, as a plain number."""
    n = value.item() if hasattr(value, "item") else value
    if not isinstance(n, (bool, int, float)):
        raise DTypeError(f"{op}: {value!r:.80} is no number")
    return n


def fits(op: str, values: range, t: DType) -> None:
    """Refuse whole numbers that dtype `t` does not hold."""
    lowest, highest = (0, 1) if t.kind == "bool" else dtypes.limits(t)
    first, last = sorted((values[0], values[-1])) if values else (0, 0)
    if t.kind != "float" and not lowest <= first <= last <= highest:
        raise DTypeError(f"{op}: {first} to {last} do not fit {t}, which holds {lowest} to {highest}")


def tensor(data: Any, dtype: What = None, device: Where = None, requires_grad: bool = False) -> Tensor:
    """A tensor with a copy of `data`: a number, nested lists, an array of another library, or a tensor.

    Python numbers give bool, int64 and float32; arrays and tensors keep their dtype.
    """
    if isinstance(data, Value):
        home = data.device if device is None else place(device)
        value = wrap(data.data, data.device).to(home, None if dtype is None else as_dtype(dtype))
        return require(wrap(value.data, home), requires_grad)
    home = place(device)
    host, found = (data, as_dtype(data.dtype)) if hasattr(data, "dtype") else _survey(data)
    t = found if dtype is None else as_dtype(dtype)
    try:
        made = make(home, t, lambda xp, native: home.backend.asarray(host, native, home.index))
    except OverflowError:
        advice = "use a wider dtype" if t.bits < 64 else "dtype='uint64' or a float holds more"
        raise DTypeError(f"tensor: {_outside(host, t)!r:.80} does not fit {t}; {advice}") from None
    return require(made, requires_grad)


def _outside(data: Any, t: DType) -> Any:
    """The number in nested lists that is farthest out."""
    rows = data.tolist() if hasattr(data, "tolist") else data
    if not isinstance(rows, list):
        return rows
    lowest, highest = (0, 0) if t.kind == "float" else dtypes.limits(t)
    return max([_outside(row, t) for row in rows], key=lambda n: max(n - highest, lowest - n))


def _survey(data: Any) -> tuple[Any, DType]:
    """Nested lists of plain numbers, and the dtype that they give."""
    kinds: set[type] = set()
    host, _ = _plain(data, kinds)
    return host, dtypes.float32 if float in kinds or not kinds else dtypes.int64 if int in kinds else dtypes.bool_


def _plain(data: Any, kinds: set[type]) -> tuple[Any, tuple[int, ...]]:
    """`data` as nested lists of plain numbers, and its shape; the kinds of number found go into `kinds`."""
    if type(data) in PLAIN:
        kinds.add(type(data))
        return data, ()
    if getattr(data, "node", None) is not None:
        raise GraphError("tensor: a list with a tensor that requires a gradient would lose it; use pg.stack")
    if hasattr(data, "tolist"):  # tensors, NumPy arrays and scalars inside a list
        return _plain(data.tolist(), kinds)
    if isinstance(data, (str, bytes, dict, set)) or not hasattr(data, "__iter__"):
        raise DTypeError(f"tensor: cannot make numbers of {type(data).__name__} {data!r:.80}")
    rows = list(data)
    types = set(map(type, rows))
    if types <= PLAIN:
        kinds |= types
        return rows, (len(rows),)
    hosts, shapes = zip(*[_plain(row, kinds) for row in rows], strict=True)
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ShapeError(f"tensor: rows differ: row 0 has shape {shapes[0]}, row {i} has shape {shape}")
    return list(hosts), (len(rows), *shapes[0])


def make(device: Device, t: DType, build: Callable[[Any, Any], Any]) -> Tensor:
    """A tensor of what `build(xp, native dtype)` returns on `device`."""
    with device.backend.guard(device.index) if device.guarded else nullcontext:  # type: ignore[union-attr]
        made = wrap(build(device.xp, device.xp.dtype(t)), device)
    for w in current.get().watchers:
        w.made(made)
    return made  # type: ignore[no-any-return]


def require(t: Any, requires_grad: bool) -> Tensor:
    """`t`, as a leaf that gradients are asked for."""
    if requires_grad:
        have = t.device.backend.dtype_of(t.data)
        if have.kind != "float":
            raise DTypeError(f"only floating tensors can require gradients, not {have}; cast it: x.astype('float32')")
        t.node = leaf(tuple(t.data.shape), t.device)
    return t  # type: ignore[no-any-return]


def asarray(obj: Any, /, *, dtype: What = None, device: Where = None, copy: bool | None = None) -> Tensor:
    """`obj` as a tensor. A tensor that needs no change is returned itself, its gradient included.

    copy    True: always a copy. None: a copy where needed (always, for what is no tensor). False: never: memory is
            shared with `obj`, or this raises.
    """
    if isinstance(obj, Value):
        moved: Any = obj.to(device, dtype)  # type: ignore[attr-defined]
        if copy is False and moved is not obj:
            raise DeviceError("asarray: copy=False, but the tensor would have to be cast or moved")
        return moved.clone() if copy and moved is obj else moved  # type: ignore[no-any-return, attr-defined]
    if copy is not False:
        return tensor(obj, dtype, device)
    home = place(device)
    shared: Tensor = wrap(home.backend.share(obj, home.index), home)
    if dtype is not None and shared.dtype is not as_dtype(dtype):
        raise DTypeError(f"asarray: copy=False, but {shared.dtype} would have to be cast to {as_dtype(dtype)}")
    return shared


def from_dlpack(x: Any, /, *, device: Where = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of any object with `__dlpack__`, without a copy unless asked.

    Values are not to change afterwards: tensors, and gradients saved from them, read this memory.
    """
    if getattr(x, "node", None) is not None:
        raise GraphError("from_dlpack: this tensor requires a gradient, which would be lost; x.detach() first")
    kind, index = map(int, x.__dlpack_device__())
    home = (
        x.device
        if isinstance(x, Value)
        else place({1: "cpu", 2: f"cuda:{index}", 13: f"cuda:{index}"}.get(kind, device))
    )
    found = wrap(home.backend.share(x.data if isinstance(x, Value) else x, home.index), home)
    moved = found.to(device) if device is not None else found
    return moved.clone() if copy and moved is found else moved  # type: ignore[no-any-return]


def full(
    *shape: Any, fill_value: Any = None, dtype: What = None, device: Where = None, requires_grad: bool = False
) -> Tensor:
    """Shape `shape`, every entry `fill_value`: `full((2, 3), 7.)`."""
    if fill_value is None:
        if len(shape) < 2:
            raise DTypeError(f"full: fill_value is missing: pg.full({shape[0] if shape else (2, 3)}, 0.0)")
        *shape, fill_value = shape  # type: ignore[assignment]
    value = number_of("full", fill_value)
    t = dtypes.with_scalar(dtypes.bool_, value) if dtype is None else as_dtype(dtype)
    sizes = shape_of("full", tuple(shape))
    if type(value) is int and t.kind != "bool":
        fits("full", range(value, value + 1), t)
    return require(make(place(device), t, lambda xp, native: xp.full(sizes, value, dtype=native)), requires_grad)


def zeros(*shape: Any, dtype: What = None, device: Where = None, requires_grad: bool = False) -> Tensor:
    """Shape `shape`, every entry 0: `zeros(2, 3)` or `zeros((2, 3))`."""
    t, sizes = as_dtype(dtype or dtypes.float32), shape_of("zeros", shape)
    return require(make(place(device), t, lambda xp, native: xp.zeros(sizes, dtype=native)), requires_grad)


def ones(*shape: Any, dtype: What = None, device: Where = None, requires_grad: bool = False) -> Tensor:
    """Shape `shape`, every entry 1."""
    return full(*shape, fill_value=1, dtype=dtype or dtypes.float32, device=device, requires_grad=requires_grad)


def empty(*shape: Any, dtype: What = None, device: Where = None, requires_grad: bool = False) -> Tensor:
    """Shape `shape`, entries to be overwritten (zeros: there is nothing to gain by garbage)."""
    return zeros(*shape, dtype=dtype, device=device, requires_grad=requires_grad)


def _like(x: Tensor, dtype: What, device: Where) -> dict[str, Any]:
    return {"dtype": dtype or x.dtype, "device": device or x.device}


def zeros_like(x: Tensor, *, dtype: What = None, device: Where = None, requires_grad: bool = False) -> Tensor:
    """Zeros of the shape, dtype and device of `x`."""
    return zeros(x.shape, **_like(x, dtype, device), requires_grad=requires_grad)


def ones_like(x: Tensor, *, dtype: What = None, device: Where = None, requires_grad: bool = False) -> Tensor:
    """Ones of the shape, dtype and device of `x`."""
    return ones(x.shape, **_like(x, dtype, device), requires_grad=requires_grad)


def empty_like(x: Tensor, *, dtype: What = None, device: Where = None, requires_grad: bool = False) -> Tensor:
    """`empty` of the shape, dtype and device of `x`."""
    return zeros_like(x, dtype=dtype, device=device, requires_grad=requires_grad)


def full_like(
    x: Tensor, fill_value: Any, *, dtype: What = None, device: Where = None, requires_grad: bool = False
) -> Tensor:
    """`fill_value` everywhere, of the shape, dtype and device of `x`."""
    return full(x.shape, fill_value=fill_value, **_like(x, dtype, device), requires_grad=requires_grad)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: What = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """start, start + step, ... below `stop`; integers give int64, else float32. `arange(n)` counts from 0."""
    first, last, by = (number_of("arange", v) for v in ((0, start, step) if stop is None else (start, stop, step)))
    if by == 0:
        raise ValueError(f"arange: step is 0, and {last} is never reached")
    broken = float in map(type, (first, last, by))
    t = as_dtype(dtype) if dtype else dtypes.float32 if broken else dtypes.int64
    if not broken:
        fits("arange", range(first, last, by), t)  # type: ignore[arg-type]
    made = make(place(device), t, lambda xp, native: xp.arange(first, last, by, dtype=native))
    return require(made, requires_grad)


def linspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: What = None,
    device: Where = None,
    endpoint: bool = True,
    requires_grad: bool = False,
) -> Tensor:
    """`num` numbers from `start` to `stop`, evenly spaced."""
    t = as_dtype(dtype or dtypes.float32)
    n = whole("linspace", "num", num)
    made = make(place(device), t, lambda xp, native: xp.linspace(start, stop, n, dtype=native, endpoint=endpoint))
    return require(made, requires_grad)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: What = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Tensor:
    """1 on the k-th diagonal, 0 elsewhere."""
    t = as_dtype(dtype or dtypes.float32)
    n, m = (whole("eye", "size", size) for size in (n_rows, n_rows if n_cols is None else n_cols))
    return require(make(place(device), t, lambda xp, native: xp.eye(n, m, k=k, dtype=native)), requires_grad)
