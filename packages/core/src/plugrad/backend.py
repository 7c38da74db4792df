"""What a backend is: an array namespace, a way in, a way out, and optional fused kernels."""

from __future__ import annotations

from . import dtypes
from .context import current
from .errors import DTypeError, UnsupportedError
from .namespace import Namespace as Namespace
from .namespace import composed as composed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from typing import Any

    from .dtypes import DType

API = (1, 0)  # version of this interface: (breaking, additions); see `plugins.accept`

#: What `Backend.xp` must have, each with its reason. All else that ops use is composed from these on the same
#: device (see `composed`); a backend may bring any further function of the array API standard to be faster.
REQUIRED = {
    "asarray": "plain numbers and nested lists come in",
    "zeros": "gradients of slices and scatters start from zeros",
    "full": "constants",
    "arange": "positions: indexing, masks, permutations",
    "astype": "the dtype table casts before an op",
    "reshape": "movement",
    "permute_dims": "movement; every transpose",
    "broadcast_to": "gradients of reductions",
    "concat": "join, pad, roll",
    "take": "rows by integer index along an axis: all advanced indexing",
    "where": "selection; keeps masked branches from leaking",
    "maximum": "kinks: relu, clip",
    "minimum": "kinks: clip",
    "abs": "stable forms take |x|",
    "exp": "elementary",
    "expm1": "elementary: exact near 0",
    "log": "elementary",
    "log1p": "elementary: exact near 0",
    "sqrt": "elementary",
    "pow": "elementary",
    "sin": "elementary; normal random numbers",
    "cos": "elementary; normal random numbers",
    "atan": "elementary; asin, acos and atan2 are built on it",
    "tanh": "elementary",
    "floor": "rounding, floor division",
    "round": "half to even, which nothing else here gives",
    "isnan": "the tracer and masked gradients",
    "isfinite": "the tracer and stable forms",
    "sum": "reduction",
    "prod": "reduction",
    "max": "reduction",
    "min": "reduction",
    "argmax": "reduction to a position",
    "argsort": "order: sort, topk, permutations, unique",
    "matmul": "all linear algebra",
}

#: What the arrays themselves must have: operators take an array or a plain number of the same kind.
ARRAY = (
    "shape", "dtype", "__getitem__", "__setitem__", "__bool__", "__int__", "__float__", "__neg__", "__invert__",
    "__add__", "__sub__", "__mul__", "__truediv__", "__pow__", "__radd__", "__rsub__", "__rmul__", "__rtruediv__",
    "__rpow__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__and__", "__or__", "__xor__",
    "__lshift__", "__rshift__",
)  # fmt: skip


class Unavailable:
    """Why a backend cannot run here, and what would change that."""

    __slots__ = ("fix", "reason")

    def __init__(self, reason: str, fix: str = "") -> None:
        self.reason, self.fix = reason, fix

    def __str__(self) -> str:
        return f"{self.reason}. {self.fix}" if self.fix else self.reason

    __repr__ = __str__


class Backend:
    """Subclass this, fill in `name` and `xp`; override the rest only where it differs.

    name       as in `pg.device("name")`
    api        version of this interface that the backend was written for: write the numbers, not `API`
    xp         namespace with the functions of REQUIRED (an array API library will do)
    functions  own versions of functions, looked up before those of `xp`
    """

    name: str
    api: tuple[int, int] = (1, 0)
    xp: Any
    functions: Mapping[str, Callable[..., Any]] = {}

    def devices(self) -> int:
        """How many devices there are: `name:0` to `name:n-1`."""
        return 1

    @property
    def dtypes(self) -> Mapping[str, Any]:
        """plugrad's dtype names → the library's dtype objects; leave out what is not supported."""
        return {t.name: getattr(self.xp, t.name) for t in dtypes.ALL if hasattr(self.xp, t.name)}

    @property
    def capabilities(self) -> frozenset[str]:
        """Words that the conformance suite asks for: "linalg" where `xp.linalg` is there."""
        return frozenset(["linalg"] if hasattr(self.xp, "linalg") else [])

    def asarray(self, data: Any, dtype: Any, index: int) -> Any:
        """An array of its own (a copy) on device `index` from nested lists, a host array or one of its own."""
        return self.xp.asarray(data, dtype=dtype, copy=True)

    def tolist(self, array: Any) -> Any:
        """Nested lists of Python numbers; a plain number for a 0-d array."""
        return array.tolist()

    def to_host(self, array: Any) -> Any:
        """What another backend's `asarray` can read: nested lists, or a NumPy array of its own."""
        return self.tolist(array)

    def share(self, data: Any, index: int) -> Any:
        """An array on the memory of `data`, without a copy (DLPack), or an error."""
        return self.xp.from_dlpack(data)

    def dlpack(self, array: Any, **how: Any) -> Any:
        """A DLPack capsule on the memory of an array."""
        return self._export(array, "__dlpack__")(**how)

    def dlpack_device(self, array: Any) -> tuple[int, int]:
        """(kind, index) of its device, in DLPack's numbers."""
        return self._export(array, "__dlpack_device__")()  # type: ignore[no-any-return]

    def _export(self, array: Any, name: str) -> Any:
        if not hasattr(array, name):
            raise UnsupportedError(f"backend {self.name!r} does not share memory (DLPack); use x.tolist() or x.numpy()")
        return getattr(array, name)

    def synchronize(self, index: int) -> None:
        """Wait until device `index` has finished."""

    def guard(self, index: int) -> AbstractContextManager[Any] | None:
        """A context in which the library works on device `index`; None where there is nothing to choose."""
        return None

    def quiet(self) -> AbstractContextManager[Any] | None:
        """A context in which the library does not warn about infinities and NaNs; entered once per backward."""
        return None

    def random_bits(self, key: tuple[int, int], offset: int, n: int, index: int) -> Any:
        """Words `offset` to `offset + n` of the Philox4x64-10 stream of `key`, as uint64."""
        return self.namespace(index).philox(key, offset, n)

    # Made once from the above; not for overriding.

    def namespace(self, index: int = 0) -> Namespace:
        """What `forward` gets as `xp` on device `index`."""
        spaces = self.__dict__.setdefault("_namespaces", {})
        if index not in spaces:
            spaces[index] = Namespace(self, index)
        return spaces[index]  # type: ignore[no-any-return]

    def dtype_of(self, array: Any) -> DType:
        """plugrad's dtype of an array of this backend."""
        names = self.__dict__.get("_names")
        if names is None:
            names = self.__dict__["_names"] = {native: dtypes.BY_NAME[name] for name, native in self.dtypes.items()}
        try:
            return names[array.dtype]  # type: ignore[no-any-return]
        except KeyError:
            raise DTypeError(
                f"{self.name}: dtype {array.dtype} is none of plugrad's ({', '.join(dtypes.BY_NAME)})"
            ) from None


class Kernels(dict[type, "Any"]):
    """Op class → its kernel on one device, or None; found at the first look-up."""

    def __init__(self, backend: str, find: Callable[[str, type], Any]) -> None:
        self.backend, self.find = backend, find

    def __missing__(self, op: type) -> Any:
        found = self[op] = self.find(self.backend, op)
        return found


class Device:
    """Where a tensor lives: a backend and an index, printed `cuda:0`. `with device: ...` makes it the default.

    One object for each place, so `x.device is y.device` compares. Ask `pg.device("cuda:1")` for it.
    """

    __slots__ = ("backend", "exact", "guarded", "index", "kernels", "name", "plain", "xp")

    def __init__(self, backend: Backend, index: int, find_kernel: Callable[[str, type], Any]) -> None:
        self.backend, self.index = backend, index
        self.name = f"{backend.name}:{index}" if backend.devices() > 1 or index else backend.name
        self.xp = backend.namespace(index)
        self.kernels = Kernels(backend.name, find_kernel)
        self.guarded = backend.guard(index) is not None
        fast = {} if self.guarded else self.xp.dtypes  # dtypes with nothing to align: see apply.binary
        self.plain = frozenset(t for name, t in fast.items() if name in ("float32", "float64"))
        self.exact = frozenset(t for name, t in fast.items() if "float" not in name)

    @property
    def type(self) -> str:
        """Name of the backend: "cuda" for cuda:1."""
        return self.backend.name

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"device({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and other == self.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __enter__(self) -> Device:
        state = current.get()
        current.set(state.change(devices=(*state.devices, self)))
        return self

    def __exit__(self, *exc: object) -> None:
        state = current.get()
        current.set(state.change(devices=state.devices[:-1]))

    def __reduce__(self) -> tuple[Any, ...]:
        return _found, (self.name,)

    def __copy__(self) -> Device:
        return self

    def __deepcopy__(self, memo: object) -> Device:
        return self


def _found(name: str) -> Device:
    """A pickled device, in the process that reads it."""
    from .plugins import device

    return device(name)
