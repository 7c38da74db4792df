"""What the array API standard lets programs ask: kinds, limits and promotion of dtypes, and what plugrad can do."""

from __future__ import annotations

from functools import reduce

from .. import dtypes
from ..dtypes import BY_NAME, DType
from ..dtypes import dtype as as_dtype
from ..errors import DTypeError
from ..node import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..backend import Device

__all__ = [
    "__array_api_version__", "__array_namespace_info__", "can_cast", "e", "finfo", "iinfo", "inf", "isdtype", "nan",
    "newaxis", "pi", "result_type",
]  # fmt: skip

__array_api_version__ = "2024.12"

e = 2.718281828459045
inf = float("inf")
nan = float("nan")
newaxis = None
pi = 3.141592653589793

#: Groups of dtypes by the standard's words; complex numbers are not supported, so their group is empty.
KINDS = {
    "bool": ("bool",),
    "signed integer": ("int",),
    "unsigned integer": ("uint",),
    "integral": ("int", "uint"),
    "real floating": ("float",),
    "complex floating": (),
    "numeric": ("int", "uint", "float"),
}
FORMATS = {"float16": (10, -14), "bfloat16": (7, -126), "float32": (23, -126), "float64": (52, -1022)}
STANDARD = [name for name in BY_NAME if name not in ("float16", "bfloat16")]


class FInfo:
    """Limits of a floating dtype: `eps` is the step after 1, `smallest_normal` the least with full precision."""

    __slots__ = ("bits", "dtype", "eps", "max", "min", "smallest_normal")

    def __init__(self, t: DType) -> None:
        digits, least = FORMATS[t.name]
        self.bits, self.dtype = t.bits, t
        self.eps, self.smallest_normal = 2.0**-digits, 2.0**least
        self.max = (2 - self.eps) * 2.0 ** (1 - least)
        self.min = -self.max

    def __repr__(self) -> str:
        return f"finfo({self.dtype}, eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, max={self.max:g})"


class IInfo:
    """Limits of an integer dtype."""

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, t: DType) -> None:
        self.bits, self.dtype = t.bits, t
        self.min, self.max = dtypes.limits(t)

    def __repr__(self) -> str:
        return f"iinfo({self.dtype}, min={self.min}, max={self.max})"


def finfo(type: Any, /) -> FInfo:
    """Limits of a floating dtype, or of the dtype of a tensor."""
    t = _dtype_of(type)
    if t.kind != "float":
        raise DTypeError(f"finfo: {t} is not a floating dtype; use iinfo")
    return FInfo(t)


def iinfo(type: Any, /) -> IInfo:
    """Limits of an integer dtype, or of the dtype of a tensor."""
    t = _dtype_of(type)
    if t.kind not in ("int", "uint"):
        raise DTypeError(f"iinfo: {t} is not an integer dtype" + ("; use finfo" if t.kind == "float" else ""))
    return IInfo(t)


def _dtype_of(x: Any) -> DType:
    return x.dtype if isinstance(x, Value) else as_dtype(x)  # type: ignore[attr-defined]


def isdtype(dtype: Any, kind: Any) -> bool:
    """Is `dtype` of a kind ("real floating", "integral", ...), a certain dtype, or one of a tuple of these?"""
    t = as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(t, k) for k in kind)
    if isinstance(kind, str) and kind in KINDS:
        return t.kind in KINDS[kind]
    if isinstance(kind, str) and kind not in BY_NAME:
        raise ValueError(f"isdtype: {kind!r} is no kind of dtype; the kinds are {', '.join(KINDS)}")
    return t is as_dtype(kind)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype that these give together: tensors and dtypes by `dtypes.promote`, then plain numbers, which follow."""
    numbers = [x for x in arrays_and_dtypes if x.__class__ in (bool, int, float)]
    found = [_dtype_of(x) for x in arrays_and_dtypes if x.__class__ not in (bool, int, float)]
    if not arrays_and_dtypes:
        raise DTypeError("result_type: nothing was given; give tensors, dtypes or numbers")
    return reduce(dtypes.with_scalar, numbers, reduce(dtypes.promote, found) if found else dtypes.bool_)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Does promotion take `from_`, a dtype or a tensor, to `to`?"""
    t = as_dtype(to)
    try:
        return dtypes.promote(_dtype_of(from_), t) is t
    except DTypeError as error:
        if "no integer dtype holds both" in str(error):
            return False
        raise


class __array_namespace_info__:
    """What this namespace can do. `pg.__array_namespace_info__().dtypes(kind="integral")`"""

    def capabilities(self) -> dict[str, Any]:
        """Masks select, shapes may depend on values, and tensors may have 64 axes (NumPy's limit)."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Where tensors are made when nothing else is said."""
        return _device(None)

    def devices(self) -> list[Device]:
        """Every device that works on this machine."""
        from ..plugins import devices

        return devices()

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """What plain numbers become, and the dtype of positions; there are no complex numbers."""
        _device(device)
        return {"real floating": dtypes.float32, "integral": dtypes.int64, "indexing": dtypes.int64}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """The standard's dtypes that the device has, by name; all, or those of a kind or of a tuple of kinds."""
        have = _device(device).xp.dtypes
        wanted = [kind] if isinstance(kind, str) else KINDS if kind is None else kind
        unknown = [k for k in wanted if k not in KINDS]
        if unknown:
            raise ValueError(f"dtypes: {unknown[0]!r} is no kind of dtype; the kinds are {', '.join(KINDS)}")
        kinds = {k for word in wanted for k in KINDS[word]}
        return {name: BY_NAME[name] for name in STANDARD if name in have and BY_NAME[name].kind in kinds}


def _device(device: Any) -> Device:
    from .creation import place

    return place(device)
