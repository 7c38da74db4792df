"""The globals that torch.save writes, and what stands for them here. All others are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad import dtypes

from .arrays import decode, sizes
from .npz import CODES
from .pickled import Known, keys
from .stream import short

if TYPE_CHECKING:
    from collections.abc import Callable

    from plugrad import DType

    from .arrays import Fault

STORAGES = {
    "BoolStorage": dtypes.bool_, "ByteStorage": dtypes.uint8, "CharStorage": dtypes.int8,
    "ShortStorage": dtypes.int16, "IntStorage": dtypes.int32, "LongStorage": dtypes.int64,
    "HalfStorage": dtypes.float16, "BFloat16Storage": dtypes.bfloat16, "FloatStorage": dtypes.float32,
    "DoubleStorage": dtypes.float64, "UntypedStorage": dtypes.uint8,
}  # fmt: skip
CODECS = {"latin1": "latin-1", "latin-1": "latin-1", "utf-8": "utf-8", "utf8": "utf-8", "ascii": "ascii"}

#: beginnings of globals that are refused, and why
REASONS = {
    "torch.Complex": "complex numbers, which plugrad does not have",
    "torch.complex": "complex numbers, which plugrad does not have",
    "torch.storage._load_from_bytes": "a tensor written by pickle instead of torch.save; write it with torch.save",
    "torch._utils._rebuild_sparse": "a sparse tensor; save x.to_dense()",
    "torch.serialization._get_layout": "a sparse tensor; save x.to_dense()",
    "torch._utils._rebuild_q": "a quantised tensor; save x.dequantize()",
    "torch.Q": "a quantised tensor; save x.dequantize()",
    "torch.float8": "8-bit floats, which plugrad does not have",
    "torch._utils._rebuild_": "a kind of tensor that is not read; save plain ones",
    "torch.nn.": "a whole model, which is a program; in PyTorch, save model.state_dict()",
    "torch.optim.": "an optimizer object; in PyTorch, save optimizer.state_dict()",
}
UNKNOWN = "which is no tensor and no plain container. If it is part of a model: in PyTorch, save model.state_dict()"


class Kind(Known):
    """The kind of a storage."""

    __slots__ = ("dtype",)

    def __init__(self, name: str, dtype: DType) -> None:
        super().__init__(name)
        self.dtype = dtype


class NumpyType:
    """NumPy's dtype: plugrad's, and whether the largest byte comes first."""

    def __init__(self, dtype: DType) -> None:
        self.dtype, self.big = dtype, False


class Globals:
    """What the globals of one file stand for.

    rebuild    makes a tensor: rebuild(storage, offset, size, stride, dtype or None)
    """

    def __init__(self, fault: Fault, rebuild: Callable[..., Any]) -> None:
        self.fault, self.rebuild = fault, rebuild
        self.tensors = [self.tensor, self.typed, self.parameter]
        both = ("core", "_core")  # NumPy 1 and 2
        self.calls: dict[str, Callable[..., Any] | None] = {
            "torch._utils._rebuild_tensor": self.tensor,
            "torch._utils._rebuild_tensor_v2": self.tensor,
            "torch._utils._rebuild_tensor_v3": self.typed,
            "torch._utils._rebuild_parameter": self.parameter,
            "torch._utils._rebuild_parameter_with_state": self.parameter,
            "torch.nn.parameter.Parameter": self.parameter,
            "torch._tensor._rebuild_from_type_v2": self.subclass,
            "torch.Tensor": None,
            "torch.Size": lambda size=(): tuple(plain(size, tuple, list)),
            "torch.device": place,
            "numpy.ndarray": None,
            "numpy.dtype": self.kind,
            **{f"numpy.{c}.multiarray.scalar": lambda t, data: self.array(data, t, (), "C").item() for c in both},
            **{f"numpy.{c}.multiarray._reconstruct": empty for c in both},
            **{f"numpy.{c}.numeric._frombuffer": self.array for c in both},
            **CONTAINERS,
        }

    def find(self, name: str) -> Any:
        """What stands for a global, or an error that names it."""
        module, _, word = name.rpartition(".")
        if name in self.calls:
            return Known(name, self.calls[name])
        if module in ("torch", "torch.cuda", "torch.storage") and word in STORAGES:
            return Kind(name, STORAGES[word])
        if module == "torch" and (word == "bool" or word in dtypes.BY_NAME):
            return dtypes.BY_NAME[word]
        why = next((REASONS[start] for start in REASONS if name.startswith(start)), UNKNOWN)
        raise self.fault(f"the pickle asks for {name[:120]}: {why}. Nothing in the file was executed")

    def complete(self, target: Any, state: Any) -> None:
        """The second step in which a pickle makes some objects."""
        if isinstance(target, NumpyType):
            target.big = plain(state[1], str) == ">"
        elif type(target).__name__ == "ndarray":
            _version, shape, t, fortran, data = state
            order = "F" if plain(fortran, bool) else "C"
            made = self.array(data, t, shape, order)
            target.__setstate__((1, made.shape, made.dtype, order == "F", made.tobytes(order)))
        elif type(target) is not dict:  # an OrderedDict's attributes are the versions of layers, which nothing needs
            raise self.fault(f"the pickle sets attributes of a {type(target).__name__}, which is not done")

    def tensor(
        self, s: Any, offset: Any, size: Any, stride: Any, grad: Any = 0, hooks: Any = 0, marks: Any = None
    ) -> Any:
        return self.typed(s, offset, size, stride, grad, hooks, None, marks)

    def typed(
        self, s: Any, offset: Any, size: Any, stride: Any, grad: Any, hooks: Any, t: Any, marks: Any = None
    ) -> Any:
        if marks is not None and plain(marks, dict):
            raise self.fault(f"a tensor with the marks {short(marks)}, which are not read; in PyTorch, save x.clone()")
        return self.rebuild(s, offset, size, stride, t)

    def parameter(self, data: Any, grad: Any = True, hooks: Any = None, state: Any = None) -> Any:
        return data

    def subclass(self, f: Any, kind: Any, args: Any, state: Any) -> Any:
        """A tensor that has attributes, which are left out, or whose class is derived."""
        if not isinstance(f, Known) or f.call not in self.tensors:
            raise self.fault(f"a tensor made by {short(f)}, which is not read")
        return f.call(*args)

    def kind(self, code: Any, align: object = False, copy: object = True) -> NumpyType:
        """NumPy's dtype of this code."""
        if plain(code, str) not in CODES:
            raise self.fault(f"a NumPy array or number of dtype {short(code)}, which is none of {', '.join(CODES)}")
        return NumpyType(CODES[code])

    def array(self, data: Any, t: Any, shape: Any, order: Any) -> Any:
        """A NumPy array of its own."""
        if not isinstance(t, NumpyType) or type(data) not in (bytes, bytearray) or plain(order, str) not in ("C", "F"):
            raise self.fault("a NumPy array that is not plain numbers, which is not read")
        found = sizes(shape, 8, "a NumPy array", self.fault)
        return decode(bytes(data), t.dtype, self.fault, t.big).reshape(found, order=order).copy(order)


def empty(*args: Any) -> Any:
    """A NumPy array that is to be completed."""
    import numpy as np

    return np.empty(0)


def plain(value: Any, *kinds: type) -> Any:
    """`value`, if it is of these kinds."""
    if type(value) not in kinds:
        raise TypeError(f"a {type(value).__name__} where a {kinds[0].__name__} belongs")
    return value


def place(kind: Any, index: Any = None) -> str:
    """A device, as its name."""
    return str(plain(kind, str)) if index is None else f"{plain(kind, str)}:{plain(index, int)}"


def encoded(text: Any, codec: Any = "latin-1") -> bytes:
    """How bytes are written in a pickle that Python 2 reads."""
    return bytes(plain(text, str).encode(CODECS[plain(codec, str)]))


def byte_array(data: Any = b"", *codec: Any) -> bytearray:
    return bytearray(encoded(data, *codec) if codec else plain(data, bytes, bytearray))


def ordered(rows: Any = ()) -> dict[Any, Any]:
    """An OrderedDict or a Counter, as a dict."""
    found = rows.items() if type(rows) is dict else plain(rows, list, tuple)
    return {keys([k])[0]: v for k, v in found}


def members(values: Any = ()) -> set[Any]:
    return set(keys(list(plain(values, list, tuple, set))))


CONTAINERS: dict[str, Callable[..., Any] | None] = {
    "collections.OrderedDict": ordered,
    "collections.Counter": ordered,
    "collections.defaultdict": lambda factory=None, rows=(): ordered(rows),
    "_codecs.encode": encoded,
    **{f"{m}.set": members for m in ("builtins", "__builtin__")},
    **{f"{m}.frozenset": lambda values=(): frozenset(members(values)) for m in ("builtins", "__builtin__")},
    **{f"{m}.bytes": lambda data=b"": bytes(plain(data, bytes)) for m in ("builtins", "__builtin__")},
    **{f"{m}.bytearray": byte_array for m in ("builtins", "__builtin__")},
    **{f"{m}.{kind}": None for m in ("builtins", "__builtin__") for kind in ("int", "float", "list", "dict")},
}  # the last are what a defaultdict makes
