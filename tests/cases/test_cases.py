"""Faults that were reported in public against libraries of this kind, with the right values: one test for each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
CASES = [case for name in ("cases.json", "own.json") for case in json.loads((HERE / name).read_text("utf-8"))]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Any]:
    """All cases, run once in a process of their own."""
    found: dict[str, Any] = {}
    for name in ("cases.json", "own.json"):
        command = [sys.executable, str(HERE / "run_cases.py"), str(HERE / name), "--json"]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
        found.update(json.loads(done.stdout))
    return found


def test_ids_are_unique() -> None:
    ids = [case["id"] for case in CASES]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_case(case: dict[str, Any], outcomes: dict[str, Any]) -> None:
    outcome = outcomes[case["id"]]
    assert not outcome["error"], outcome["error"]
    assert outcome["right"], "\n".join(f"{n}: got {g}, want {w}" for n, (g, w) in outcome["wrong"].items())
