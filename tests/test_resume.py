"""A run that is killed, again and again, and goes on ends bitwise where one ends that never stopped."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TRAIN = Path(__file__).parent / "resume" / "train.py"
STEPS = 26  # of 8 an epoch: three epochs and a bit


def start(folder: Path, workers: int) -> Any:
    command = [sys.executable, str(TRAIN), str(folder), str(STEPS), str(workers)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


def finish(folder: Path, workers: int) -> None:
    with start(folder, workers) as run:
        out = run.communicate(timeout=300)[0]
    assert run.returncode == 0
    assert out.splitlines()[-1].startswith("done")


def killed(folder: Path, workers: int, after: int) -> None:
    """Run, and kill the process once it has told of `after` more steps."""
    with start(folder, workers) as run:
        for _ in range(after):
            assert run.stdout.readline()
        os.kill(run.pid, signal.SIGKILL)
        run.stdout.read()
    assert run.returncode == -signal.SIGKILL


def outcome(folder: Path) -> tuple[bytes, dict[int, Any]]:
    """(the weights, the last word on each step); steps after the last save are made twice, and must be the same."""
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    told: dict[int, Any] = {}
    for line in log:
        assert told.setdefault(line["step"], line) == line
    return (folder / "last.safetensors").read_bytes(), told


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[int, Any]]:
    folder = tmp_path_factory.mktemp("whole")
    finish(folder, 0)
    weights, told = outcome(folder)
    assert sorted(told) == list(range(1, STEPS + 1))
    for epoch in range(3):
        seen = [i for step in range(8 * epoch + 1, 8 * epoch + 9) for i in told[step]["seen"]]
        assert sorted(seen) == list(range(37))
    return weights, told


@pytest.mark.parametrize(("workers", "seed"), [(0, 1), (0, 2), (2, 3), (2, 4)])
def test_killed_and_resumed(workers: int, seed: int, whole: Any, tmp_path: Path) -> None:
    chance = random.Random(seed)
    for _ in range(2):
        killed(tmp_path, workers, chance.randint(1, 11))
    finish(tmp_path, workers)
    assert outcome(tmp_path) == whole
