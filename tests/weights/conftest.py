"""What the tests of published models share: the examples that rebuild them, and the outputs of the originals."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples" / "pretrained"


def module_of(name: str) -> ModuleType:
    """examples/pretrained/<name>.py, imported."""
    spec = spec_from_file_location(f"pretrained_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def example() -> Callable[[str], ModuleType]:
    """The function that imports an example by its name."""
    return module_of


@pytest.fixture(scope="session")
def reference() -> Callable[[str], dict[str, Any]]:
    """The function that reads inputs, and what the original made of them, by the name of the file."""
    return lambda name: dict(np.load(HERE / "references" / f"{name}.npz"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The function that runs an example as a program, and returns what it prints."""

    def running(module: ModuleType, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", [str(module.__file__), *arguments])
        module.main()
        return capsys.readouterr().out

    return running
