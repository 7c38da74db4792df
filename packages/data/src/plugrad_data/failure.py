"""An exception on its way from a worker to the main process: its type, message, notes and traceback arrive."""

from __future__ import annotations

import builtins
import pickle
import sys
import traceback
from pathlib import Path
from typing import Any

__all__ = ["packed", "unpacked"]

HERE = str(Path(__file__).parent)


def packed(error: BaseException) -> tuple[Any, ...]:
    """What can be pickled of an exception: all of it where it comes out of pickle as it was, and its parts."""
    names = [(cls.__module__, cls.__qualname__) for cls in type(error).__mro__]
    attributes = {name: _plain(value) for name, value in vars(error).items()}
    return _whole(error), names, [_plain(v) for v in error.args], attributes, _message(error), _story(error)


def unpacked(parts: tuple[Any, ...], where: str) -> BaseException:
    """The exception again; a note says where it was raised, with the traceback from there."""
    whole, names, args, attributes, message, story = parts
    held = {name: _value(v) for name, v in attributes.items()}
    error = _loaded(whole) or _rebuilt(names, [_value(v) for v in args], held, message)
    error.add_note(f"raised in {where}:\n{story}")
    return error


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as fault:
        return f"<its message cannot be shown: {fault!r}>"


def _story(error: BaseException) -> str:
    """The traceback as text, from the first line that is not this package's."""
    tb = error.__traceback__
    while tb is not None and tb.tb_next is not None and tb.tb_frame.f_code.co_filename.startswith(HERE):
        tb = tb.tb_next
    told = traceback.TracebackException(type(error), error, tb)
    told.__notes__ = None  # they travel with the exception
    return "".join(told.format()).rstrip()


def _whole(error: BaseException) -> bytes | None:
    """Pickled, if it can be loaded again and is the same then."""
    try:
        data = pickle.dumps(error)
        again = pickle.loads(data)
        same = type(again) is type(error) and again.args == error.args and str(again) == str(error)
    except Exception:
        return None
    return data if same else None


def _plain(value: Any) -> tuple[bool, Any]:
    """A value as a pickle, or as words."""
    try:
        data = pickle.dumps(value)
        pickle.loads(data)
    except Exception:
        return False, repr(value)
    return True, data


def _value(plain: tuple[bool, Any]) -> Any:
    is_pickle, data = plain
    try:
        return pickle.loads(data) if is_pickle else data
    except Exception as error:
        return f"<{error!r}>"


def _loaded(whole: bytes | None) -> BaseException | None:
    try:
        return None if whole is None else pickle.loads(whole)
    except Exception:
        return None


def _rebuilt(names: list[tuple[str, str]], args: list[Any], attributes: dict[str, Any], message: str) -> BaseException:
    """An exception of the class of this name, or of one like it below the nearest class that can be had."""
    classes = [cls for name in names if (cls := _class(*name)) is not None]
    error = _bare(classes[0], args, attributes) if _class(*names[0]) is not None else None
    if error is None:  # no such class here, or a group without its members
        found = (_bare(_like(cls, *names[0]), args, attributes) for cls in classes)
        error = next(made for made in found if made is not None)
    if _message(error) != message:
        error = _bare(_like(type(error), *names[0], message), args, attributes) or error
    return error


def _like(cls: type[BaseException], module: str, qualname: str, message: str | None = None) -> type[BaseException]:
    """A class below `cls` of this name, whose exceptions show `message`."""
    words: dict[str, Any] = {"__module__": module, "__qualname__": qualname}
    if message is not None:
        words["__str__"] = lambda _: message
    return type(qualname.rpartition(".")[2], (cls,), words)


def _bare(cls: type[BaseException], args: list[Any], attributes: dict[str, Any]) -> BaseException | None:
    """An exception that no code of its class has seen; None where that cannot be (a group without its members)."""
    native = next(base for base in cls.__mro__ if base.__module__ == "builtins")
    try:
        error: BaseException = native.__new__(cls, *args)
    except Exception:
        return None
    error.args = tuple(args)
    vars(error).update(attributes)
    return error


def _class(module: str, qualname: str) -> type[BaseException] | None:
    """The living class of this name, also where it was defined inside a function."""
    found: Any = sys.modules.get(module, builtins)
    for name in qualname.split("."):
        found = getattr(found, name, None)
    if isinstance(found, type) and issubclass(found, BaseException):
        return found
    return next((c for c in _descendants(BaseException) if (c.__module__, c.__qualname__) == (module, qualname)), None)


def _descendants(cls: type[BaseException]) -> Any:
    for below in type.__subclasses__(cls):
        yield below
        yield from _descendants(below)
