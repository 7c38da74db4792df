"""Every name that nn shares with PyTorch takes the same arguments, in the same order, with the same defaults."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

import plugrad_nn as nn

#: Arguments of PyTorch's that plugrad does not have: relics, storage tricks, and what values make needless.
LEFT_OUT = {
    "inplace", "size_average", "reduce", "foreach", "sparse", "_weight",
    "_freeze", "min_value", "max_value", "_stacklevel",
    "enable_nested_tensor", "mask_check", "out", "args", "kwargs", "self", "generator",
}  # fmt: skip
#: plugrad says axis where PyTorch says dim; what else has another name, with the reason beside it.
RENAMED = {"dim": "axis", "start_dim": "start_axis", "end_dim": "end_axis"}
#: Names that are shared by accident.
OTHERS: set[str] = {"Module", "Parameter", "Sequential", "ModuleList", "ModuleDict", "Identity", "PackedSequence"}

PLACES = [
    (nn, torch.nn), (nn.functional, torch.nn.functional), (nn.init, torch.nn.init), (nn.utils, torch.nn.utils),
    (nn.utils.rnn, torch.nn.utils.rnn),
]  # fmt: skip
PAIRS = [
    pytest.param(getattr(ours, name), getattr(theirs, name), id=f"{theirs.__name__}.{name}")
    for ours, theirs in PLACES
    for name in sorted(vars(ours))
    if not name.startswith("_") and callable(getattr(theirs, name, None)) and name not in OTHERS
]


def arguments(f: Any) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(f).parameters)
    except ValueError:  # written in C: PyTorch tells the arguments in the docstring
        return {}


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_arguments(ours: Any, theirs: Any) -> None:
    mine = arguments(ours)
    torchs = {RENAMED.get(n, n): p for n, p in arguments(theirs).items() if n not in LEFT_OUT}
    if not torchs:
        pytest.skip("PyTorch does not tell its arguments")
    if "x" in mine:  # functions of core call their tensor so
        torchs = {"x" if n == "input" else n: p for n, p in torchs.items()}
    missing = [n for n in torchs if n not in mine]
    assert not missing, f"{ours.__name__} lacks {missing}"
    places = [n for n, p in mine.items() if n in torchs and p.kind is p.POSITIONAL_OR_KEYWORD]
    assert places == [n for n in torchs if n in places], f"{ours.__name__}: the order of arguments differs"
    for n in places:
        a, b = mine[n].default, torchs[n].default
        if b is not inspect.Parameter.empty and a is not inspect.Parameter.empty:
            same = a.__name__ == b.__name__ if callable(a) and callable(b) else a == b
            assert same, f"{ours.__name__}: {n} is {a!r} by default, {b!r} in PyTorch"
