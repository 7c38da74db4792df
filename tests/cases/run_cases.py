"""Run a file of cases against a library.

    python run_cases.py cases.json                        plugrad
    python run_cases.py cases.json --ns other_ns          other_ns.py has namespace() and to_list()

Each case is a snippet and the values that its names must have afterwards; "nan", "inf" and "-inf" stand for themselves,
shapes are compared exactly. It runs in a forked child with a time limit, so a crash or a hang is one failed case.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import math
import os
import pickle
import select
import signal
import sys
import time
import types
import warnings
from pathlib import Path
from typing import Any, NamedTuple

SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
LIMIT = 60.0  # seconds for one case


class Outcome(NamedTuple):
    """right: all values as expected; error: what was raised; wrong: name → (got, wanted)."""

    right: bool
    error: str
    wrong: dict[str, tuple[Any, Any]]


def plain(value: Any, to_list: Any = None) -> Any:
    """`value` as nested lists of floats."""
    value = value if to_list is None else to_list(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v, to_list) for v in value]
    return SPECIAL[value] if isinstance(value, str) else float(value)


def close(got: Any, want: Any, rtol: float, atol: float) -> bool:
    """The same shape, and every number within atol + rtol · |want|; NaN only equals NaN."""
    if isinstance(want, list) or isinstance(got, list):
        alike = isinstance(want, list) and isinstance(got, list) and len(got) == len(want)
        return alike and all(close(g, w, rtol, atol) for g, w in zip(got, want, strict=True))
    if math.isnan(want) or math.isnan(got):
        return math.isnan(want) and math.isnan(got)
    if math.isinf(want) or math.isinf(got):
        return bool(want == got)
    return bool(abs(got - want) <= atol + rtol * abs(want))


def run(code: str, names: list[str], library: Any) -> dict[str, Any]:
    """The values of `names` after the snippet."""
    import numpy as np

    snippet = types.ModuleType("case_snippet")  # importable, so that worker processes can pickle its classes
    sys.modules["case_snippet"] = snippet
    env = vars(snippet)
    env.update(library.namespace())
    np.seterr(all="ignore")
    exec(compile(code, "<case>", "exec"), env)
    return {name: plain(env[name], library.to_list) for name in names}


def run_apart(code: str, names: list[str], library: Any) -> tuple[str, Any]:
    """("ok", values) or ("error", text), from a child process and its own group of processes."""
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy's threads are idle: forking beside them is safe
        child = os.fork()
    if child == 0:
        os.close(ours)
        os.setsid()
        try:
            out: tuple[str, Any] = ("ok", run(code, names, library))
        except BaseException as error:
            out = ("error", f"{type(error).__name__}: {str(error)[:300]}")
        with os.fdopen(theirs, "wb") as pipe:
            pickle.dump(out, pipe)
        os._exit(0)
    os.close(theirs)
    sent = _read(ours)
    os.close(ours)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return pickle.loads(sent) if sent.endswith(b".") else ("error", f"crashed, or took longer than {LIMIT:.0f} s")


def _read(pipe: int) -> bytes:
    """All that comes through `pipe` until it is closed or the time is up."""
    sent, end = b"", time.monotonic() + LIMIT
    while select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
        part = os.read(pipe, 1 << 16)
        if not part:
            break
        sent += part
    return sent


def check(case: dict[str, Any], library: Any) -> Outcome:
    """Run one case."""
    kind, got = run_apart(case["code"], list(case["expect"]), library)
    if kind == "error":
        return Outcome(False, got, {})
    want = {name: plain(value) for name, value in case["expect"].items()}
    wrong = {n: (got[n], w) for n, w in want.items() if not close(got[n], w, case["rtol"], case["atol"])}
    return Outcome(not wrong, "", wrong)


def report(case: dict[str, Any], outcome: Outcome) -> None:
    print(f"FAIL {case['id']} [{case['level']}] {case['title']}")
    for line in [outcome.error] if outcome.error else []:
        print(f"      {line}")
    for name, (got, want) in outcome.wrong.items():
        print(f"      {name}: got {got}  want {want}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--ns", default="plugrad_ns", help="module with namespace() and to_list()")
    parser.add_argument("--only", default="", help="comma list of ids")
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON")
    args = parser.parse_args()
    sys.path[:0] = [os.getcwd(), str(Path(__file__).parent)]
    library = importlib.import_module(args.ns)
    chosen = args.only.split(",") if args.only else None
    cases = [c for c in json.loads(args.file.read_text("utf-8")) if chosen is None or c["id"] in chosen]
    outcomes = {c["id"]: check(c, library) for c in cases}
    if args.json:
        print(json.dumps({i: outcome._asdict() for i, outcome in outcomes.items()}))
        return
    for c in cases:
        if not outcomes[c["id"]].right:
            report(c, outcomes[c["id"]])
    print(f"{sum(o.right for o in outcomes.values())}/{len(cases)} cases right")


if __name__ == "__main__":
    main()
