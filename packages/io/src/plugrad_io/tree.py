"""Any plain data with tensors in it, as JSON and a table of tensors: how a checkpoint stands in a file."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad import DType, Tensor
from plugrad.dtypes import BY_NAME

from .errors import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PLAIN = (bool, int, float, str, type(None))
DEEPEST = 200  # containers within containers
LONGEST = 4096  # bits of a whole number in decimal, which Python reads up to a limit


class Writer:
    """Takes data apart: `node(data)` is for JSON, `tensors` stand beside it; one that occurs twice is kept once."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self._names: dict[int, str] = {}

    def node(self, data: Any, where: str, depth: int = 0) -> Any:
        """JSON for `data`: plain values stand for themselves, everything else is a list [kind, ...]."""
        if type(data) is int and data.bit_length() > LONGEST:
            return ["int", hex(data)]
        if type(data) in PLAIN:
            return data
        if depth > DEEPEST:
            raise CheckpointError(f"save: {where[:80]}... holds containers within containers, {depth} deep")
        if type(data) is dict:
            pairs = [(k, v, f"{where}[{k!r}]") for k, v in data.items()]
            return ["dict", [[self.node(k, f"a key of {where}", depth + 1), self.node(v, w, depth + 1)]
                             for k, v, w in pairs]]  # fmt: skip
        if type(data) in (list, tuple):
            entries = [self.node(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(data)]
            return [type(data).__name__, entries]
        return self._leaf(data, where)

    def _leaf(self, data: Any, where: str) -> Any:
        if isinstance(data, Tensor):
            return ["tensor", self._named(data)]
        if isinstance(data, DType):
            return ["dtype", data.name]
        if isinstance(data, bytes):
            return ["bytes", b64encode(data).decode()]
        if type(data).__module__ == "numpy" and hasattr(data, "dtype") and data.dtype.name in BY_NAME:
            return ["array", data.ndim, self._named(pg.tensor(data))]
        told = type(data).__name__ + (f" of {data.dtype}" if hasattr(data, "dtype") else "")
        raise CheckpointError(
            f"save: {where} is a {told}; tensors, arrays, numbers, strings, bytes, None and lists, "
            "tuples and dicts of them are saved. Leave it out, or give it a state_dict()"
        )

    def _named(self, t: Tensor) -> str:
        """Its name in the table; tensors that share their numbers share it."""
        name = self._names.setdefault(id(t.data), str(len(self._names)))
        self.tensors.setdefault(name, t.detach())  # which keeps t.data, and so its id, alive
        return name


class Reader:
    """Puts data together again; a tensor that was one object is one again."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self.tensors = tensors
        self._kinds: dict[str, Callable[..., Any]] = {
            "dict": self._dict, "list": self._list, "tuple": lambda entries: tuple(self._list(entries)),
            "tensor": self._tensor, "array": self._array, "dtype": BY_NAME.__getitem__,
            "bytes": lambda text: b64decode(text, validate=True), "int": lambda text: int(text, 16),
        }  # fmt: skip

    def data(self, node: Any) -> Any:
        if not isinstance(node, list):
            if type(node) not in PLAIN:
                raise ValueError(f"a {type(node).__name__} stands where a value should")
            return node
        return self._kinds[node[0]](*node[1:])

    def _dict(self, pairs: list[list[Any]]) -> dict[Any, Any]:
        return {self.data(k): self.data(v) for k, v in pairs}

    def _list(self, entries: list[Any]) -> list[Any]:
        return [self.data(v) for v in entries]

    def _tensor(self, name: str) -> Tensor:
        return self.tensors[name]

    def _array(self, ndim: int, name: str) -> Any:
        found = self.tensors[name].numpy()
        return found if ndim else found[()]
