"""Programs with worker processes: interrupted, killed, left in the middle, and with workers that are not forked."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
WAIT = 30.0  # seconds that something may take on a busy machine


def soon(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + WAIT
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


def alive(group: int) -> list[int]:
    """The processes of a group that are not dead."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of_group = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(of_group) == group and state != "Z":
            found.append(int(path.parent.name))
    return found


PROGRAM = """
import os, signal, sys, time
import plugrad as pg, plugrad_data as data

class Slow(data.Dataset):
    def __len__(self):
        return 100000

    def __getitem__(self, i):
        time.sleep(0.01 if i < 8 else float(sys.argv[2]))
        return pg.zeros((50, 50))

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background of a shell ignores
    loader = data.DataLoader(Slow(), 2, num_workers=2, multiprocessing_context=sys.argv[1], persistent_workers=True)
    for n, batch in enumerate(loader):
        print(len(batch), flush=True)
        if n == 1 and len(sys.argv) > 3:
            exec(sys.argv[3])
"""


@pytest.mark.parametrize(("method", "nap"), [("fork", "0.01"), ("fork", "60"), ("spawn", "0.01")])
def test_interrupted(program: Any, method: str, nap: str) -> None:
    """Ctrl-C goes to the whole group: one traceback, and nobody left."""
    child = program(PROGRAM, method, nap)
    assert [child.stdout.readline() for _ in range(2)] == ["2\n", "2\n"]
    assert len(alive(child.pid)) >= 3
    os.killpg(child.pid, signal.SIGINT)
    _, errors = child.communicate(timeout=WAIT)
    assert child.returncode in (130, -signal.SIGINT)
    assert (errors.count("Traceback"), errors.splitlines()[-1]) == (1, "KeyboardInterrupt")
    assert soon(lambda: not alive(child.pid))


@pytest.mark.parametrize(("method", "nap"), [("fork", "0.01"), ("fork", "60"), ("spawn", "0.01")])
def test_killed(program: Any, method: str, nap: str) -> None:
    """The workers of a program that is gone end by themselves."""
    child = program(PROGRAM, method, nap)
    assert [child.stdout.readline() for _ in range(2)] == ["2\n", "2\n"]
    child.kill()
    child.wait(WAIT)
    assert soon(lambda: not alive(child.pid))


@pytest.mark.parametrize(
    ("end", "code"),
    [("sys.exit(3)", 3), ("raise KeyError('mine')", 1), ("kept = iter(loader); next(kept); break", 0)],
)
def test_left_in_the_middle(program: Any, end: str, code: int) -> None:
    """A program that ends while workers run ends at once, says nothing of its own accord, and leaves nobody."""
    child = program(PROGRAM.replace("exec(sys.argv[3])", end), "fork", "0.01", "on")
    _, errors = child.communicate(timeout=WAIT)
    assert child.returncode == code
    assert errors.count("Traceback") == errors.count("KeyError: 'mine'") == (code == 1)
    assert "Warning" not in errors
    assert soon(lambda: not alive(child.pid))


def test_spawned_workers_give_the_same(program: Any) -> None:
    """A program of its own, with a data set that a worker has to import; and what goes wrong there."""
    text = """
import random, sys
import plugrad as pg, plugrad_data as data

class Rows(data.Dataset):
    def __len__(self):
        return 9
    def __getitem__(self, i):
        return pg.full((600,), float(i)), random.random()

class Bad(Rows):
    def __getitem__(self, i):
        raise Own("mine", 5)

class Own(Exception):
    def __init__(self, a, b):
        super().__init__(f"{a}-{b}")

class Unready(Rows):
    def __setstate__(self, state):
        raise KeyError("not here")
    def __getstate__(self):
        return 1

def run(dataset, n, **options):
    loader = data.DataLoader(dataset, 2, shuffle=True, num_workers=n, generator=pg.Generator(2), **options)
    return [(x[:, -1].tolist(), r.tolist()) for _ in range(2) for x, r in loader]

if __name__ == "__main__":
    for n, method in ((2, "spawn"), (1, "forkserver")):
        assert run(Rows(), 0) == run(Rows(), n, persistent_workers=True, multiprocessing_context=method)
    for dataset in (Bad(), Unready()):
        try:
            run(dataset, 1, multiprocessing_context="spawn")
        except (Own, KeyError) as error:
            print(type(error).__name__, error.args, "raised in DataLoader worker 0" in "".join(error.__notes__))
"""
    child = program(text)
    shown, errors = child.communicate(timeout=100)
    assert errors == ""
    assert shown.splitlines() == ["Own ('mine-5',) True", "KeyError ('not here',) True"]


def test_a_program_without_its_main_guard(program: Any) -> None:
    child = program(
        "import plugrad_data as data\n"
        "print(len(list(data.DataLoader([1, 2], num_workers=1, multiprocessing_context='spawn'))))\n"
    )
    _, errors = child.communicate(timeout=100)
    assert child.returncode == 1
    assert "ended with exit code 1 before its work was done; it did not come to load the data set" in errors
    assert "if __name__ == '__main__':" in errors
