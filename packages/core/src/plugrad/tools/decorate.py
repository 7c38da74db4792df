"""A context manager as a decorator: of functions, generators, coroutines and asynchronous generators."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..context import switch

GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200  # flags of code objects


def decorated(how: switch, f: Any) -> Any:
    """`f`, run inside `how.again()`; generators are inside only while they run."""
    flags = getattr(getattr(f, "__code__", None), "co_flags", 0)
    kind = _generator if flags & GENERATOR else _coroutine if flags & COROUTINE else _function
    return wraps(f)((_async_generator if flags & ASYNC_GENERATOR else kind)(how, f))


def _function(how: switch, f: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with how.again():
            return f(*args, **kwargs)

    return wrapped


def _coroutine(how: switch, f: Callable[..., Any]) -> Callable[..., Any]:
    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        with how.again():
            return await f(*args, **kwargs)

    return wrapped


def _generator(how: switch, f: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        it = f(*args, **kwargs)
        send: Callable[[], Any] = lambda: next(it)  # noqa: E731
        while True:
            try:
                with how.again():
                    value = send()
            except StopIteration as stop:
                return stop.value
            try:
                got = yield value
                send = lambda got=got: it.send(got)  # type: ignore[misc] # noqa: E731
            except GeneratorExit:
                with how.again():
                    it.close()
                raise
            except BaseException as error:
                send = lambda error=error: it.throw(error)  # type: ignore[misc] # noqa: E731

    return wrapped


def _async_generator(how: switch, f: Callable[..., Any]) -> Callable[..., Any]:
    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        it = f(*args, **kwargs)
        try:
            while True:
                try:
                    with how.again():
                        value = await it.__anext__()
                except StopAsyncIteration:
                    return
                yield value
        finally:
            with how.again():
                await it.aclose()

    return wrapped
