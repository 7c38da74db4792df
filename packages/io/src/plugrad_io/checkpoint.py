"""A whole training run in one file: model, optimizer, schedule, loader, numbers of your own, and every random state."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any
from zlib import crc32

import plugrad as pg

from .arrays import host
from .errors import CheckpointError, FileFormatError
from .safetensors import open_safetensors, save_safetensors
from .tree import Reader, Writer

if TYPE_CHECKING:
    import os

__all__ = ["load_checkpoint", "save_checkpoint"]

FORMAT = "plugrad checkpoint 1"
METHODS = (("state_dict", "load_state_dict"), ("get_state", "set_state"))


def save_checkpoint(path: str | os.PathLike[str], /, **parts: Any) -> None:
    """Write everything to `path`, atomically: after a crash there is the old file or the new one, whole.

    parts    objects with `state_dict` and `load_state_dict` (models, optimizers, schedules, loaders) or `get_state` and
             `set_state` (generators); anything else is data to be kept: numbers, strings, tensors, lists, dicts

    The states of plugrad's, NumPy's and Python's default generators go along. The file is one of safetensors, which any
    reader of these can look into. Nothing of it is executed when it is loaded.

        io.save_checkpoint("run.ckpt", model=net, optimizer=sgd, schedule=cosine, loader=loader, step=step)
    """
    import numpy as np

    _check(parts)
    writer = Writer()
    nodes = {name: [stateful, writer.node(state, name)] for name, (stateful, state) in _states(parts).items()}
    text = json.dumps({"parts": nodes, "random": writer.node(_random(), "random")}, separators=(",", ":"))
    arrays = {name: host(name, t) for name, t in writer.tensors.items()}
    arrays["contents"] = np.frombuffer(text.encode(), np.uint8)  # as metadata it would have to be short
    save_safetensors(path, arrays, {"format": FORMAT, "crc32": _sum(arrays)})


def load_checkpoint(path: str | os.PathLike[str], /, **parts: Any) -> dict[str, Any]:
    """Give every part its state back, then the random generators theirs; returns the rest, the data.

    The parts are those that were saved, by the same names; a training run then goes on bitwise as if it had never
    stopped. When something does not fit, all parts are put back to what they were, and it raises.

        step = io.load_checkpoint("run.ckpt", model=net, optimizer=sgd, schedule=cosine, loader=loader)["step"]
    """
    saved, draws = _read(path)
    unknown = [name for name in parts if name not in saved]
    if unknown:
        raise CheckpointError(f"load: {path} has no {', '.join(unknown)}; it has {', '.join(saved) or 'nothing'}")
    forgotten = [n for n, (stateful, _) in saved.items() if stateful and n not in parts]
    if forgotten:
        raise CheckpointError(
            f"load: {path} holds the state of {', '.join(forgotten)}; pass {forgotten[0]}=... as well, to load it into"
        )
    before = _states(parts)
    try:
        for name, part in parts.items():
            _restore(name, part, saved[name][1])
    except BaseException as error:
        for name, (_, state) in before.items():
            _restore(name, parts[name], state)
        error.add_note(f"while loading {path}; every part is as it was before")
        raise
    _set_random(draws)
    return {name: state for name, (_, state) in saved.items() if name not in parts}


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Any]:
    """({name: (has it a state?, the state)}, random states) of a file."""
    with open_safetensors(path) as file:
        told, arrays = file.metadata, file.read(as_numpy=True) if file.metadata.get("format") == FORMAT else {}
    if told.get("format") != FORMAT:
        raise FileFormatError(f"{path}: not a {FORMAT!r}, but {told.get('format', 'a file without that word')!r}")
    if "contents" not in arrays or _sum(arrays) != told.get("crc32"):
        raise FileFormatError(f"{path}: damaged: its contents do not add up to the check sum that was saved with them")
    text = arrays.pop("contents").tobytes()
    reader = Reader({name: pg.tensor(array) for name, array in arrays.items()})
    try:
        nodes = json.loads(text)
        saved = {name: (bool(stateful), reader.data(node)) for name, (stateful, node) in nodes["parts"].items()}
        return saved, reader.data(nodes["random"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FileFormatError(f"{path}: its contents make no sense: {type(error).__name__}: {error}") from error


def _sum(arrays: dict[str, Any]) -> str:
    """A check sum of everything that is saved."""
    found = 0
    for name, array in sorted(arrays.items()):
        found = crc32(f"{name}:{array.dtype}{array.shape}".encode(), found)
        found = crc32(array.reshape(-1).view("uint8"), found)
    return f"{found:08x}"


def _check(parts: dict[str, Any]) -> None:
    """Refuse what could be saved, but not be given its state back."""
    for name, part in parts.items():
        for get, put in METHODS:
            if hasattr(part, get) and not hasattr(part, put):
                raise CheckpointError(f"save: {name} is a {type(part).__name__}, which has {get} but no {put}")


def _states(parts: dict[str, Any]) -> dict[str, tuple[bool, Any]]:
    return {name: _state(part) for name, part in parts.items()}


def _state(part: Any) -> tuple[bool, Any]:
    """(has it a state?, the state); data is its own."""
    for get, _ in METHODS:
        if hasattr(part, get):
            return True, getattr(part, get)()
    return False, part


def _restore(name: str, part: Any, state: Any) -> None:
    for _, put in METHODS:
        if hasattr(part, put):
            getattr(part, put)(state)
            return
    raise CheckpointError(f"load: {name} is a {type(part).__name__}, without load_state_dict or set_state")


def _random() -> dict[str, Any]:
    """States of the default generators: plugrad's, Python's, NumPy's."""
    import numpy as np

    return {"plugrad": pg.get_rng_state(), "python": random.getstate(), "numpy": np.random.get_state(legacy=True)}


def _set_random(states: dict[str, Any]) -> None:
    import numpy as np

    pg.set_rng_state(states["plugrad"])
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])
