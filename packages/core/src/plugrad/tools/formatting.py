"""How a tensor prints: few digits, one width, the middle of long axes left out."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tensor import Tensor

EDGE = 3  # entries shown at each end of a long axis
LIMIT = 1000  # elements from which long axes are shortened
DIGITS = 4  # after the point


def show(x: Tensor) -> str:
    """`tensor([[1., 2.]], dtype=float64, device='cuda:0', requires_grad=True)`; what is usual is left out."""
    short = x.size > LIMIT
    value = _shown(x.detach(), short)
    texts = _texts(value, x.dtype.kind)
    body = _nest(value, texts, x.ndim, len("tensor("))
    usual = {"bool": "bool", "int": "int64", "float": "float32"}
    extra = [f"shape={x.shape}"] if not x.size and x.ndim > 1 else []
    extra += [] if usual.get(x.dtype.kind) == x.dtype.name else [f"dtype={x.dtype}"]
    extra += [f"device={str(x.device)!r}"]
    extra += ["requires_grad=True"] if x.requires_grad and x.is_leaf else []
    extra += [f"made by {x.node.op.name}"] if x.node is not None and x.node.op is not None else []
    return f"tensor({', '.join([body, *extra])})"


def _shown(x: Tensor, short: bool) -> Any:
    """Nested lists of the entries to be shown, with None for "..."; only these leave the device."""
    if not x.ndim:
        return x.tolist()
    if short and x.shape[0] > 2 * EDGE:
        ends = [x[:EDGE], x[-EDGE:]]
        first, last = [[_shown(row, short) for row in part] for part in ends]
        return [*first, None, *last]
    return [_shown(row, short) for row in x] if short else x.tolist()


def _flat(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [v for row in value for v in _flat(row)]
    return [] if value is None else [value]


def _texts(value: Any, kind: str) -> dict[Any, str]:
    """One text for each number shown, all of one width."""
    numbers = _flat(value)
    finite = [abs(v) for v in numbers if kind == "float" and v == v and v not in (float("inf"), float("-inf"))]
    sizes = [v for v in finite if v]
    science = bool(sizes) and (
        max(sizes) >= 1e8 or (min(sizes) < 1e-4 and max(sizes) < 1e-2) or max(sizes) / min(sizes) > 1e8
    )
    whole = not science and all(v == int(v) for v in finite)
    form, end = (f".{DIGITS}e", "") if science else (".0f", ".") if whole else (f".{DIGITS}f", "")
    made = {repr(v): format(v, form) + end if kind == "float" and v - v == 0 else str(v) for v in numbers}
    width = max(map(len, made.values()), default=0)
    return {k: t.rjust(width) for k, t in made.items()}


def _nest(value: Any, texts: dict[Any, str], ndim: int, indent: int) -> str:
    if value is None:
        return "..."
    if not isinstance(value, list):
        return texts[repr(value)]
    inner = [_nest(v, texts, ndim - 1, indent + 1) for v in value]
    gap = ", " if ndim == 1 else ",\n" + "\n" * (ndim - 2) + " " * (indent + 1)
    return f"[{gap.join(inner)}]"
