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

#: Cases that need what is not built yet, and what that is. One that passes all the same fails here. (DA2, a worker that
#: dies, passes for the present because worker processes are refused.)
NOT_BUILT = {
    "GS7": "F.conv1d (the rest of the case passes: OWN-GS7 has it)",
    "NN5": "F.conv1d, F.conv2d",
    "NN6": "F.conv1d, F.conv2d",
    "NN7": "F.conv_transpose1d",
    "NN9": "nn.LSTM, nn.RNN",
    "NN11": "nn.MultiheadAttention",
    "DA1": "worker processes in the DataLoader",
    "DA3": "worker processes in the DataLoader",
}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Any]:
    """All cases, run once in a process of their own."""
    found: dict[str, Any] = {}
    for name in ("cases.json", "own.json"):
        command = [sys.executable, str(HERE / "run_cases.py"), str(HERE / name), "--json"]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
        found.update(json.loads(done.stdout))
    return found


def test_ids_are_unique_and_the_table_names_real_cases() -> None:
    ids = [case["id"] for case in CASES]
    assert len(set(ids)) == len(ids)
    assert set(ids) >= set(NOT_BUILT)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_case(case: dict[str, Any], outcomes: dict[str, Any]) -> None:
    outcome = outcomes[case["id"]]
    if case["id"] in NOT_BUILT:
        assert not outcome["right"], f"{case['id']} passes: take it out of NOT_BUILT"
        pytest.xfail(f"not built yet: {NOT_BUILT[case['id']]}")
    assert not outcome["error"], outcome["error"]
    assert outcome["right"], "\n".join(f"{n}: got {g}, want {w}" for n, (g, w) in outcome["wrong"].items())
