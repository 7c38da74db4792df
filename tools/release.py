"""One version for every package.

python tools/release.py check        versions, pins between siblings and the changelog agree
python tools/release.py set 0.2.0    write a version into every package
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MEMBERS, GUESTS = "packages/*/pyproject.toml", "examples/third_party/*/pyproject.toml"  # a guest has its own version
VERSION = re.compile(r'(?m)^version = "([^"]+)"$')
RELEASE = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+|\.dev\d+)?")
#: name, extras, the rest of a requirement on a member
SIBLING = re.compile(r"(plugrad(?:-[a-z]+)?)(\[[a-z0-9,]+\])?\s*([^;]*)")


def projects(root: Path, pattern: str = MEMBERS) -> dict[Path, dict[str, Any]]:
    """The [project] table of every member (or guest), its dependency groups among it."""
    files = {path: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(root.glob(pattern))}
    return {path: {**text["project"], "groups": text.get("dependency-groups", {})} for path, text in files.items()}


def requirements(project: dict[str, Any]) -> list[str]:
    lists = [*project.get("optional-dependencies", {}).values(), *project["groups"].values()]
    return [*project.get("dependencies", []), *(r for several in lists for r in several)]


def wrong_pins(project: dict[str, Any], version: str, names: set[str]) -> list[str]:
    found = [(r, m) for r in requirements(project) if (m := SIBLING.match(r)) and m[1] in names]
    # an extra may name another extra of its own package: that needs no pin
    asked = [(r, m) for r, m in found if not (m[1] == project["name"] and m[2])]
    return [f"{project['name']}: {r!r} is not pinned ~={version}" for r, m in asked if m[3].strip() != f"~={version}"]


def check(root: Path = ROOT) -> list[str]:
    members = list(projects(root).values())
    versions = {p["name"]: p["version"] for p in members}
    if len(set(versions.values())) != 1:
        return [f"versions differ: {versions}"]
    version = members[0]["version"]
    pinned = [*members, *projects(root, GUESTS).values()]
    problems = [problem for p in pinned for problem in wrong_pins(p, version, set(versions))]
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"(?m)^## {re.escape(version)}( |$)", changelog):
        problems.append(f"CHANGELOG.md has no section '## {version}'")
    return problems


def set_version(new: str, root: Path = ROOT) -> None:
    if not RELEASE.fullmatch(new):
        raise SystemExit(f"{new!r} is not a version: write it as 1.2.3, 1.2.3rc1 or 1.2.3.dev1")
    names = "|".join(sorted((p["name"] for p in projects(root).values()), key=len, reverse=True))
    pin = re.compile(rf'"((?:{names})(?:\[[a-z0-9,]+\])?)~=[^";]+(["; ])')
    for path in [*projects(root), *projects(root, GUESTS)]:
        text = path.read_text(encoding="utf-8")
        if path.match(MEMBERS):
            text = VERSION.sub(f'version = "{new}"', text, count=1)
        path.write_text(pin.sub(rf'"\1~={new}\2', text), encoding="utf-8")


def main(argv: list[str]) -> int:
    if argv[:1] == ["set"] and len(argv) == 2:
        set_version(argv[1])
    elif argv != ["check"]:
        print(__doc__)
        return 2
    problems = check()
    print("\n".join(problems) or "versions, pins and the changelog agree")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
