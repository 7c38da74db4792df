"""Values of their own, and values on another device."""

from __future__ import annotations

from functools import cache

from ... import ops
from ...backend import Device
from ...ops import convert
from ..case import case, real
from ..subject import Lean


@cache
def elsewhere(device):
    """A second device of the same library."""
    return Device(Lean(device.backend), device.index + 1, lambda backend, op: None)


def there_and_back(x):
    return ops.transfer(ops.transfer(x, elsewhere(x.device)), x.device)


ROWS = [
    case(convert.Clone, ops.clone, real(2, 3), closed=lambda x: x),
    case(convert.Transfer, there_and_back, real(2, 3), closed=lambda x: x),
    case(convert.Transfer, there_and_back, real(2, 0), label="empty"),
]
