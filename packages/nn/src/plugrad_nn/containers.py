"""Modules that hold modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad import Tensor

from .module import Module
from .parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["ModuleDict", "ModuleList", "ParameterList", "Sequential"]


class _Row(Module):
    """Things in a row. Each is an attribute called by its number, which is its name in a state dict."""

    kind: type[Any] = Module

    def _row(self) -> list[Any]:
        return [m for m in vars(self).values() if isinstance(m, self.kind)]

    def _keys(self) -> list[str]:
        return [name for name, m in vars(self).items() if isinstance(m, self.kind)]

    def _set(self, row: Iterable[Any]) -> None:
        """Hold these instead, called 0, 1, ..."""
        for name in self._keys():
            delattr(self, name)
        for i, m in enumerate(row):
            setattr(self, str(i), self._checked(m))

    def _checked(self, thing: Any) -> Any:
        if not isinstance(thing, self.kind):
            raise TypeError(f"{type(self).__name__} holds {self.kind.__name__}s; this is a {type(thing).__name__}")
        return thing

    def __len__(self) -> int:
        return len(self._row())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._row())

    def __getitem__(self, i: int | slice) -> Any:
        return self._of(self._row()[i]) if isinstance(i, slice) else self._row()[i]

    def __setitem__(self, i: int, thing: Any) -> None:
        setattr(self, self._keys()[i], self._checked(thing))

    def __delitem__(self, i: int | slice) -> None:
        row = self._row()
        del row[i]
        self._set(row)

    def append(self, thing: Any) -> Any:
        """Put one more at the end."""
        setattr(self, str(len(self)), self._checked(thing))
        return self

    def extend(self, things: Iterable[Any]) -> Any:
        """Put more at the end."""
        for thing in things:
            self.append(thing)
        return self

    def insert(self, i: int, thing: Any) -> Any:
        """Put one more before number `i`; those behind it have other names then."""
        row = self._row()
        row.insert(i, self._checked(thing))
        self._set(row)
        return self

    def pop(self, i: int = -1) -> Any:
        """Take number `i` out, and return it."""
        thing = self[i]
        del self[i]
        return thing

    @classmethod
    def _of(cls, things: list[Any]) -> Any:
        return cls(things)  # type: ignore[call-arg]


class Sequential(_Row):
    """y = fₙ(... f₂(f₁(x)))

    `Sequential(f1, f2)`, or `Sequential({"name": f1, ...})` for names other than 0, 1, ...
    """

    def __init__(self, *modules: Any) -> None:
        named = modules[0] if len(modules) == 1 and isinstance(modules[0], dict) else dict(enumerate(modules))
        for name, module in named.items():
            setattr(self, str(name), self._checked(module))

    @classmethod
    def _of(cls, modules: list[Module]) -> Sequential:
        return Sequential(*modules)

    def forward(self, x: Any) -> Any:
        for module in self._row():
            x = module(x)
        return x


class ModuleList(_Row):
    """A list of modules. (A plain list in an attribute is found as well.)"""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        self.extend(modules)


class ParameterList(_Row):
    """A list of parameters; tensors become parameters. (A plain list of parameters is found as well.)"""

    kind = Parameter

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        self.extend(values or ())

    def _checked(self, thing: Any) -> Any:
        return super()._checked(Parameter(thing) if type(thing) is Tensor else thing)


class ModuleDict(Module):
    """A dict of modules. (A plain dict in an attribute is found as well.)"""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        self._items: dict[str, Module] = dict(modules or {})

    def _parts(self) -> list[tuple[str, Any]]:
        return [*self._items.items(), *((name, v) for name, v in super()._parts() if name != "_items")]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __getitem__(self, name: str) -> Module:
        return self._items[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self._items[name] = module

    def __delitem__(self, name: str) -> None:
        del self._items[name]

    def pop(self, name: str) -> Module:
        """Take the module out, and return it."""
        return self._items.pop(name)

    def update(self, modules: Mapping[str, Module]) -> None:
        """Put more modules in."""
        self._items.update(modules)

    def clear(self) -> None:
        """Take all modules out."""
        self._items.clear()

    def keys(self) -> Any:
        return self._items.keys()

    def values(self) -> Any:
        return self._items.values()

    def items(self) -> Any:
        return self._items.items()
