"""Functions of the array API standard that carry no gradient: rows of a table, not classes."""

from __future__ import annotations

from ..apply import binary, unary
from ..op import Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["bitwise_and", "equal", "greater", "greater_equal", "isnan", "less", "less_equal", "not_equal"]


class Plain(Op):
    """z = the function `function` of the array namespace, applied number by number; no gradient"""

    function: str
    elementwise = True

    def forward(self, xp, x, y=None):
        f = getattr(xp, self.function)
        return f(x) if y is None else f(x, y)


def _one(name: str) -> Callable[[Any], Any]:
    op = Plain(name)

    def function(x: Any) -> Any:
        return unary(op, x)

    return _named(function, name)


def _two(name: str) -> Callable[[Any, Any], Any]:
    op = Plain(name)

    def function(x: Any, y: Any) -> Any:
        return binary(op, x, y)

    return _named(function, name)


def _named(function: Any, name: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The array API's `{name}`, number by number; no gradient."
    return function


isnan = _one("isnan")
equal, not_equal, less, less_equal, greater, greater_equal, bitwise_and = map(
    _two, ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "bitwise_and")
)
