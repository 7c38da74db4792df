"""The rules that every op obeys: one device, one dtype by the table, plain numbers follow."""

from __future__ import annotations

from . import dtypes
from .errors import DeviceError, DTypeError
from .node import Value
from .op import Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .backend import Device
    from .dtypes import DType

HALF = ("float16", "bfloat16")


class Cast(Op):
    """z = x in another floating dtype

    ∂L/∂x = g in the dtype of x
    """

    dtype: Any
    source: Any
    storage = True

    def forward(self, xp, x):
        return xp.astype(x, xp.dtype(self.dtype))

    def dx(self, g):
        return g.astype(self.source)


class Convert(Op):
    """z = x in another dtype, from or to integers and bool: no gradient"""

    dtype: Any
    storage = True

    def forward(self, xp, x):
        return xp.astype(x, xp.dtype(self.dtype))


def casting(to: DType, have: DType) -> Op:
    """The op that takes dtype `have` to dtype `to`."""
    return Cast(to, have) if to.kind == have.kind == "float" else Convert(to)


def align(op: Op, inputs: tuple[Any, ...]) -> tuple[Device, list[Any], list[DType]]:
    """The device of `inputs`, the inputs with plain numbers read, and the dtype that each is to have."""
    if same := _alike(op, inputs):
        return same
    values = [x if isinstance(x, Value) else scalar(op, x) for x in inputs]
    device = one_device(op, values)
    have = [device.backend.dtype_of(x.data) if isinstance(x, Value) else None for x in values]
    return device, values, decide(op, have, values)


def _alike(op: Op, inputs: tuple[Any, ...]) -> tuple[Device, list[Any], list[DType]] | None:
    """The answer where there is nothing to decide: tensors of one device and, but for the loose ones, one dtype."""
    first = inputs[0] if inputs else None
    if not isinstance(first, Value):
        return None
    device, have = first.device, []
    for x in inputs:
        if not isinstance(x, Value) or x.device is not device:
            return None
        have.append(device.backend.dtype_of(x.data))
    bound = {t for t, name in zip(have, op.inputs, strict=False) if name not in op.loose} if op.loose else {*have}
    ready = len(bound) == 1 and (op.direct or bound.pop().kind == "float")
    return (device, list(inputs), have) if ready else None


def scalar(op: Op, x: Any) -> bool | int | float:
    """A Python or NumPy number as a plain one."""
    if isinstance(x, (bool, int, float)) and type(x) in (bool, int, float):
        return x
    if hasattr(x, "dtype") and getattr(x, "shape", None) == () and hasattr(x, "item"):
        x = x.item()
    for kind in (bool, int, float):
        if isinstance(x, kind):
            return kind(x)
    raise DTypeError(
        f"{op.name}: expected tensors or plain numbers, got {type(x).__name__}; make a tensor of it: pg.tensor(...)"
    )


def one_device(op: Op, values: list[Any]) -> Device:
    """The device that all tensors share; an op without inputs carries its device as a setting."""
    devices = {x.device: None for x in values if isinstance(x, Value)} or dict.fromkeys(_own_device(op))
    if not devices:
        raise DTypeError(f"{op.name}: none of the inputs is a tensor; make one: pg.tensor(...)")
    first, *others = devices
    if others:
        raise DeviceError(f"{op.name}: inputs live on {first} and {others[0]}; move one of them: x.to({str(first)!r})")
    return first


def _own_device(op: Op) -> list[Device]:
    return [op.device] if "device" in op.fields else []  # type: ignore[attr-defined]


def decide(op: Op, have: list[DType | None], values: list[Any]) -> list[DType]:
    """The dtype that each input of `op` is to have; `have` is None for plain numbers."""
    loose = [not op.variadic and op.inputs[i] in op.loose for i in range(len(values))]
    common = None
    for t, apart in zip(have, loose, strict=True):
        if t is not None and not apart:
            common = t if common is None else _promote(op, common, t)
    for t, x, apart in zip(have, values, loose, strict=True):
        if t is None and not apart:
            common = dtypes.with_scalar(common or dtypes.bool_, x)
    if common is not None and op.floats and common.kind != "float":
        common = dtypes.float32
    if common is dtypes.bool_ and op.numbers:
        raise DTypeError(f"{op.name}: not for bool; use ^ or ~ on masks, or cast first: x.astype('int64')")
    return [
        (t or dtypes.with_scalar(dtypes.bool_, x)) if apart or common is None else common
        for t, x, apart in zip(have, values, loose, strict=True)
    ]


def _promote(op: Op, a: DType, b: DType) -> DType:
    try:
        return dtypes.promote(a, b)
    except DTypeError as error:
        raise DTypeError(f"{op.name}: {error}") from None


def constant(op: Op, value: bool | int | float, t: DType, device: Device) -> Any:
    """A 0-d array of a plain number. Arrays are never written to, so equal numbers share one."""
    if t.kind in ("int", "uint") and not dtypes.limits(t)[0] <= value <= dtypes.limits(t)[1]:
        raise DTypeError(f"{op.name}: {value} does not fit {t}; cast the tensor to a wider dtype first")
    key = (value, type(value), t, device)
    found = _constants.get(key)
    if found is None:
        found = device.backend.asarray(value, device.xp.dtype(t), device.index)
        if value != 0:  # 0.0 and -0.0 are equal, but not the same
            _constants[key] = found
            if len(_constants) > LIMIT:
                _constants.clear()
    return found


_constants: dict[Any, Any] = {}
LIMIT = 1024  # numbers remembered
