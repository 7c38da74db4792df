"""What README.md and CONTRIBUTING.md show is run, or compared with what it speaks of."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NOXFILE = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", text)


def run(code: str, where: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=where, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def sessions() -> dict[str, str]:
    """Name and docstring of every session, in the order of the file."""
    found = {}
    for node in NOXFILE.body:
        calls = [ast.unparse(d) for d in getattr(node, "decorator_list", [])]
        if isinstance(node, ast.FunctionDef) and any(call.startswith("nox.session") for call in calls):
            named = re.search(r"name='([^']+)'", " ".join(calls))
            found[named[1] if named else node.name] = ast.get_docstring(node) or ""
    return found


def default_sessions() -> set[str]:
    (node,) = [
        n for n in NOXFILE.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "nox.options.sessions"
    ]
    return {str(c.value) for c in ast.walk(node.value) if isinstance(c, ast.Constant)}


def test_the_ten_lines_of_the_readme_learn(tmp_path: Path) -> None:
    code, *_ = blocks(README, "python")
    first, last = map(float, re.findall(r"\d\.\d+", run(code, tmp_path)))
    assert last < 0.01 < 0.1 < first


def test_every_example_of_the_readme_runs(tmp_path: Path) -> None:
    examples = blocks(README, "python")
    assert len(examples) >= 2
    for code in examples[1:]:
        run(code, tmp_path)


@pytest.mark.parametrize("package", ["core", "nn", "optim", "data"])
def test_the_examples_of_a_package_run(package: str, tmp_path: Path) -> None:
    examples = blocks((ROOT / "packages" / package / "README.md").read_text(encoding="utf-8"), "python")
    assert examples
    for code in examples:
        run(code, tmp_path)


def test_the_op_of_contributing_passes_its_checks(tmp_path: Path) -> None:
    op, rows, *_ = blocks(CONTRIBUTING, "python")
    code = f"""
import math
import plugrad as pg
from plugrad import Op, Tensor
from plugrad.apply import unary
from plugrad.testing import case, gradcheck, gradgradcheck, real

{op}

class ops: sech = sech
class trigonometric: Sech = Sech

{rows}
(row,) = ROWS
x = pg.tensor([[-1.5, 0.25, 2.0]], dtype="float64", requires_grad=True)
assert gradcheck(row.f, [x]) and gradgradcheck(row.f, [x])
assert all(abs(z - row.closed(v)) < 1e-15 for z, v in zip(row.f(x).tolist()[0], x.tolist()[0]))
print(row.op.__name__)
"""
    assert run(code, tmp_path).strip() == "Sech"


def test_extras_that_errors_name_exist() -> None:
    from plugrad.plugins import EXTRAS

    project = tomllib.loads((ROOT / "packages/core/pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(EXTRAS.values()) <= set(project["optional-dependencies"])


def test_extras_that_are_named_exist() -> None:
    project = tomllib.loads((ROOT / "packages/core/pyproject.toml").read_text(encoding="utf-8"))["project"]
    for text in (README, CONTRIBUTING, *(p.read_text(encoding="utf-8") for p in ROOT.glob("packages/*/README.md"))):
        named = {extra for group in re.findall(r"plugrad\[([a-z0-9,]+)\]", text) for extra in group.split(",")}
        assert named <= set(project["optional-dependencies"])
    assert all(f"`{extra}`" in README for extra in project["optional-dependencies"])


def test_every_session_has_one_line_on_what_it_does() -> None:
    assert {"demo", "tests", "alone", "cases", "release-check"} <= set(sessions())
    assert [name for name, line in sessions().items() if not line or "\n" in line] == []


def test_the_table_of_sessions_is_that_of_the_noxfile() -> None:
    rows = re.findall(r"(?m)^\| (●?) *\| `([a-z_-]+)` \| (.*?) \|$", CONTRIBUTING)
    assert {name: line for _, name, line in rows} == sessions()
    assert {name for mark, name, _ in rows if mark} == default_sessions()


def test_sessions_that_are_named_exist() -> None:
    for text in (README, CONTRIBUTING):
        named = {w for line in re.findall(r"nox -s ([a-z0-9 ._-]+)", text) for w in line.split("--")[0].split()}
        assert named
        assert {re.sub(r"-3\.\d+$", "", name) for name in named} <= set(sessions())


def test_files_that_are_named_exist() -> None:
    texts = [README, CONTRIBUTING, (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")]
    named = {n for text in texts for n in re.findall(r"`((?:packages|examples|tests|tools|docs)/[\w./-]*)`", text)}
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
