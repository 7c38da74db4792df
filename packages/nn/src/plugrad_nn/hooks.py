"""What hooks are taken off with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Hook:
    """What registering a hook returns: `remove()` takes it off again."""

    def __init__(self, hooks: list[Any], hook: Callable[..., Any]) -> None:
        self.hooks, self.hook = hooks, hook

    def remove(self) -> None:
        if self.hook in self.hooks:
            self.hooks.remove(self.hook)
