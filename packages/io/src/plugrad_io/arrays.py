"""Bytes to arrays to tensors, and back."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad import Tensor, dtypes
from plugrad.errors import DTypeError, UnsupportedError

from .stream import short

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from plugrad import DType
    from plugrad.backend import Device

    from .errors import FileFormatError

    Where = str | Device | None
    Fault = Callable[[str], FileFormatError]

DIMENSIONS = 64  # the most that NumPy has
LARGEST = 2**63  # bytes of an array


def whole(numbers: Iterable[Any], what: str, fault: Fault) -> tuple[int, ...]:
    """Sizes or strides, as whole numbers from 0."""
    found = tuple(numbers)
    if any(type(n) is not int or n < 0 for n in found):
        raise fault(f"{what} has the sizes or strides {short(found)}, which are not whole numbers from 0")
    return found


def sizes(shape: Iterable[Any], itemsize: float, what: str, fault: Fault) -> tuple[int, ...]:
    """`shape`, if an array of that shape can be."""
    found = whole(shape, what, fault)
    if len(found) > DIMENSIONS or prod([n or 1 for n in found]) * max(itemsize, 1) >= LARGEST:
        raise fault(f"{what} has a shape that no memory holds: {short(found)}")
    return found


def bfloat16() -> Any:
    """NumPy's dtype of that name, which another package brings."""
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        raise UnsupportedError("bfloat16 in files needs ml_dtypes: pip install ml_dtypes") from None
    return bfloat16


def decode(data: bytes | memoryview, t: DType, fault: Fault, big: bool = False) -> Any:
    """A flat array of this machine's byte order; `big` says that the file has the largest byte first."""
    import numpy as np

    order: Any = ">" if big else "<"
    if t is dtypes.bfloat16:
        return np.frombuffer(data, f"{order}u2").astype(np.uint16, copy=False).view(bfloat16())
    if t is not dtypes.bool_:
        return np.frombuffer(data, np.dtype(t.name).newbyteorder(order)).astype(t.name, copy=False)
    return truths(np.frombuffer(data, np.uint8), fault)


def truths(found: Any, fault: Fault) -> Any:
    """Bytes as an array of bool, if they are 0 and 1."""
    if found.size and found.max() > 1:
        raise fault(f"a bool is {found.max()}, where only 0 and 1 are allowed")
    return found.view(bool)


def result(array: Any, device: Where, as_numpy: bool) -> Any:
    """What the caller gets: a tensor, or an array, of its own."""
    if not as_numpy:
        return pg.tensor(array, device=device)
    return array if array.flags.writeable and array.flags.c_contiguous else array.copy()


def host(name: object, value: Any) -> Any:
    """The array behind a tensor or an array, contiguous and in this machine's byte order."""
    import numpy as np

    array = value.detach().numpy() if isinstance(value, Tensor) else value
    if not isinstance(array, np.ndarray | np.generic) or hasattr(array, "mask"):
        raise DTypeError(f"save: {name!r} is a {type(value).__name__}; tensors and NumPy arrays can be saved")
    array = np.asarray(array)
    kind_of(name, array.dtype)
    return array.astype(array.dtype.newbyteorder("="), order="C", copy=False)


def kind_of(name: object, native: Any) -> DType:
    """plugrad's dtype of what is called `name`."""
    found = dtypes.BY_NAME.get(str(getattr(native, "name", native)))
    if found is None:
        raise DTypeError(f"save: {name!r} is {native}, which plugrad does not have ({', '.join(dtypes.BY_NAME)})")
    return found


def named(tensors: Mapping[str, Any]) -> Mapping[str, Any]:
    """`tensors`, if it is a dict with strings as names."""
    if not hasattr(tensors, "items"):
        raise DTypeError(f"save: {type(tensors).__name__} is no dict of tensors; of a model, save model.state_dict()")
    wrong = [name for name in tensors if not isinstance(name, str)]
    if wrong:
        raise DTypeError(f"save: the name {wrong[0]!r} is a {type(wrong[0]).__name__}, and names are strings")
    broken = [name for name in tensors if any("\ud800" <= c <= "\udfff" for c in name)]
    if broken:
        raise DTypeError(f"save: the name {broken[0]!r} holds half a character, which no file can; rename it")
    return tensors


def memory(value: Any) -> Hashable:
    """Equal for what reads the same memory in the same way."""
    data = value.data if isinstance(value, Tensor) else value
    if getattr(data, "nbytes", 0) and hasattr(data, "__array_interface__") and hasattr(data, "strides"):
        return data.__array_interface__["data"][0], data.shape, data.strides, str(data.dtype)
    return id(data)


def tied(tensors: Mapping[str, Any]) -> list[list[str]]:
    """The names that share one tensor, in groups: [["embed.weight", "head.weight"]]."""
    groups: dict[Hashable, list[str]] = {}
    for name, value in tensors.items():
        groups.setdefault(memory(value), []).append(name)
    return [names for names in groups.values() if len(names) > 1]
