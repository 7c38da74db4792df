"""The repository's own tools, on small trees made for the purpose."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


release, size = tool("release"), tool("size")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of every pyproject, with the changelog."""
    for path in [*ROOT.glob(release.MEMBERS), *ROOT.glob(release.GUESTS)]:
        there = tmp_path / path.relative_to(ROOT)
        there.parent.mkdir(parents=True)
        shutil.copy(path, there)
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    return tmp_path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def version(root: Path) -> str:
    return str(next(iter(release.projects(root).values()))["version"])


def test_a_new_version_is_written_everywhere(tree: Path) -> None:
    release.set_version("9.8.7", tree)
    found = release.projects(tree)
    assert len(found) == 7
    assert {p["version"] for p in found.values()} == {"9.8.7"}
    guests = list(release.projects(tree, release.GUESTS).values())
    assert [g["dependencies"] for g in guests] == [["plugrad~=9.8.7"]]
    assert [g["version"] for g in guests] == [g["version"] for g in release.projects(ROOT, release.GUESTS).values()]
    assert release.check(tree) == ["CHANGELOG.md has no section '## 9.8.7'"]
    edit(tree / "CHANGELOG.md", "## ", "## 9.8.7\n\n## ")
    assert release.check(tree) == []


def test_a_version_apart_is_named(tree: Path) -> None:
    now = version(tree)
    edit(tree / "packages/nn/pyproject.toml", f'version = "{now}"', 'version = "9.9.9"')
    (problem,) = release.check(tree)
    assert "'plugrad-nn': '9.9.9'" in problem


@pytest.mark.parametrize(
    ("member", "old"),
    [
        ("nn", '"plugrad~={}"'),
        ("nn", '"plugrad-numpy~={}"'),
        ("core", '"plugrad-cuda[cuda12x]~={}"'),
        ("core", '"plugrad-data~={}"'),
    ],
)
@pytest.mark.parametrize("pin", ["", ">={}", "~=0.0.1"])
def test_a_sibling_without_the_pin_is_named(tree: Path, member: str, old: str, pin: str) -> None:
    now = version(tree)
    old = old.format(now)
    new = old.replace(f"~={now}", pin.format(now))
    edit(tree / "packages" / member / "pyproject.toml", old, new)
    (problem,) = release.check(tree)
    assert new.strip('"') in problem


def test_a_guest_left_behind_is_named(tree: Path) -> None:
    edit(tree / "examples/third_party/plugrad-purepy/pyproject.toml", f"plugrad~={version(tree)}", "plugrad~=0.0.1")
    (problem,) = release.check(tree)
    assert "plugrad-purepy" in problem


def test_what_is_not_a_version_is_refused(tree: Path) -> None:
    with pytest.raises(SystemExit, match=r"'1\.2' is not a version"):
        release.set_version("1.2", tree)


def test_the_tool_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert release.main(["st"]) == 2
    assert "release.py check" in capsys.readouterr().out


SAMPLE = '''"""One
module."""

import os  # a line of code


class Op:
    """Not counted."""


class Add(Op):
    """z = x + y"""

    def forward(self, xp, x, y):
        # not counted

        return """two
lines"""


class More(Add):
    a: int
'''


def source(text: str, where: str = "packages/core/src/plugrad/ops/a.py") -> Any:
    return size.Source(Path(where), text)


def test_docstrings_comments_and_blanks_are_no_code() -> None:
    assert size.code_lines(SAMPLE) == {4, 7, 11, 14, 17, 18, 21, 22}


def test_ops_are_found_through_their_bases_and_not_by_name() -> None:
    layer = source("class Add(Module):\n    a = 1\n    b = 2\n", "packages/nn/src/plugrad_nn/a.py")
    found = size.ops_of([source(SAMPLE), layer])
    assert found == [
        (4, "packages/core/src/plugrad/ops/a.py:11 Add"),
        (2, "packages/core/src/plugrad/ops/a.py:21 More"),
    ]


LONG = "\n".join(f"    x{i} = {i}" for i in range(20))


@pytest.mark.parametrize(
    ("text", "where", "word"),
    [
        ("x = 1\n" * 1851, "packages/core/src/plugrad/a.py", "passes through"),
        ("x = 1\n" * 1001, "packages/core/src/plugrad/tools/a.py", "in tools/"),
        (f"class Op: ...\nclass Big(Op):\n{LONG}\n", "packages/nn/src/plugrad_nn/a.py", "longest of 1 ops"),
        (f"def f():\n{LONG}\n", "packages/nn/src/plugrad_nn/a.py", "median of 1 functions"),
        ("# only words\n" * 301, "packages/nn/src/plugrad_nn/a.py", "longest of 1 files"),
    ],
)
def test_what_is_over_budget_is_named(text: str, where: str, word: str) -> None:
    over = size.report([source(text, where)])
    assert any(word in line for line in over)
    assert any(where in line for line in over)


def test_what_is_within_budget_is_left_alone() -> None:
    assert size.report([source(SAMPLE), source("x = 1\n" * 300, "packages/core/src/plugrad/b.py")]) == []


def test_ops_and_testing_are_apart_from_core() -> None:
    assert size.report([source("x = 1\n" * 299, f"packages/core/src/plugrad/ops/{i}.py") for i in range(9)]) == []
