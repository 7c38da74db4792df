"""No test of the data package hangs, and programs with worker processes are run as programs."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LIMIT = 120  # seconds for a test


@pytest.fixture(autouse=True)
def _limited() -> Iterator[None]:
    """A test that waits for ever is ended."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def late(*_: object) -> None:
        raise TimeoutError(f"the test has not ended within {LIMIT} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Any]:
    """Write a program and start it, in a process group of its own; warnings are errors."""
    started = []

    def start(text: str, *args: str) -> Any:
        path = tmp_path / "program.py"
        path.write_text(text, "utf-8")
        child = subprocess.Popen(
            [sys.executable, "-W", "error", str(path), *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.kill()
        child.communicate()
