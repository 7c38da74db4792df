"""Modules that hold modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .module import Module

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


class _Row(Module):
    """Modules in a row. Each is an attribute called by its number, which is its name in a state dict."""

    def _row(self) -> list[Module]:
        return [m for m in vars(self).values() if isinstance(m, Module)]

    def __len__(self) -> int:
        return len(self._row())

    def __iter__(self) -> Iterator[Module]:
        return iter(self._row())

    def __getitem__(self, i: int | slice) -> Any:
        if isinstance(i, slice):
            return type(self)._of(self._row()[i])
        return self._row()[i]

    def __setitem__(self, i: int, module: Module) -> None:
        names = [name for name, m in vars(self).items() if isinstance(m, Module)]
        setattr(self, names[i], module)

    def append(self, module: Module) -> Any:
        """Put one more module at the end."""
        setattr(self, str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Put more modules at the end."""
        for module in modules:
            self.append(module)
        return self

    @classmethod
    def _of(cls, modules: list[Module]) -> Any:
        return cls(modules)  # type: ignore[call-arg]


class Sequential(_Row):
    """y = fₙ(... f₂(f₁(x)))

    `Sequential(f1, f2)`, or `Sequential({"name": f1, ...})` for names other than 0, 1, ...
    """

    def __init__(self, *modules: Any) -> None:
        named = modules[0] if len(modules) == 1 and isinstance(modules[0], dict) else dict(enumerate(modules))
        for name, module in named.items():
            setattr(self, str(name), module)

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

    def keys(self) -> Any:
        return self._items.keys()

    def values(self) -> Any:
        return self._items.values()

    def items(self) -> Any:
        return self._items.items()
