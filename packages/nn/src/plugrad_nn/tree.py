"""Walk a model: what a module holds, in attributes and in plain containers, under which names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plugrad import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Branch:
    """What a walk calls a module; all of its attributes count, unless `_parts` says otherwise."""

    def _parts(self) -> Iterable[tuple[str, Any]]:
        return attributes(self)


def attributes(thing: Any) -> list[tuple[str, Any]]:
    """(name, value) of what an object holds, in its `__dict__` and in slots."""
    return [*getattr(thing, "__dict__", {}).items(), *slotted(thing)]


def slotted(thing: Any) -> list[tuple[str, Any]]:
    """(name, value) of what an object holds in slots."""
    slots = [vars(cls).get("__slots__", ()) for cls in reversed(type(thing).__mro__)]
    names = [name for some in slots for name in ((some,) if isinstance(some, str) else some)]
    return [(name, getattr(thing, name)) for name in names if not name.startswith("__") and hasattr(thing, name)]


def entries(thing: Any) -> Iterable[tuple[Any, Any]]:
    """(name, value) of what `thing` holds itself: items of a container, attributes of a module or dataclass."""
    if isinstance(thing, dict):
        return list(thing.items())
    if isinstance(thing, (list, tuple)):
        return enumerate(thing)
    if isinstance(thing, Branch):
        return thing._parts()
    return attributes(thing) if hasattr(type(thing), "__dataclass_fields__") else ()


def held(thing: Any, prefix: str = "", inside: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """(name, tensor or module) of what `thing` holds, lists, tuples, dicts and dataclasses looked through."""
    for name, value in entries(thing):
        if isinstance(value, (Tensor, Branch)):
            yield f"{prefix}{name}", value
        elif not isinstance(value, (str, type)) and id(value) not in inside:
            yield from held(value, f"{prefix}{name}.", (*inside, id(value)))


def tree(module: Any, prefix: str = "", inside: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """(name, module) of `module` and all below, parents first; one that is held twice comes twice."""
    yield prefix, module
    for name, part in held(module):
        if not isinstance(part, Tensor) and id(part) not in inside and part is not module:
            yield from tree(part, join(prefix, name), (*inside, id(module)))


def join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def once(pairs: Iterable[tuple[str, Any]], unique: bool = True) -> Iterator[tuple[str, Any]]:
    """Each object under its first name only."""
    seen: set[int] = set()
    for name, thing in pairs:
        if not unique or id(thing) not in seen:
            seen.add(id(thing))
            yield name, thing
