"""The size figures of the packages, and a failure where one is over its budget.

A line of code is a line that is neither blank nor only a comment nor part of a docstring.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
CORE, TOOLS, OP, FUNCTION, FILE = 1850, 1000, 14, 5, 300  # the most that each may be
APART = ("ops", "testing", "tools")  # folders of core that its budget leaves out
SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Part = tuple[int, str]


def span(node: ast.AST) -> range:
    return range(node.lineno, node.end_lineno + 1)  # type: ignore[attr-defined]


def code_lines(text: str) -> set[int]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {n for t in tokens if t.type not in SILENT for n in range(t.start[0], t.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node, clean=False) is not None:
            code -= set(span(node.body[0]))
    return code


class Source:
    """One file: which of its lines are code, and what it defines."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.length, self.code = path, len(text.splitlines()), code_lines(text)
        nodes = list(ast.walk(ast.parse(text)))
        self.classes = [n for n in nodes if isinstance(n, ast.ClassDef)]
        self.functions = [n for n in nodes if isinstance(n, Function)]

    @property
    def folder(self) -> str:
        """The package, or what a folder of core is called."""
        _, package, _, _, *below = self.path.parts
        return f"{package}/{below[0]}" if package == "core" and len(below) > 1 else package

    def part(self, node: ast.ClassDef | Function) -> Part:
        return len(self.code & set(span(node))), f"{self.path}:{node.lineno} {node.name}"


def bases(node: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases}


def ops_of(sources: list[Source]) -> list[Part]:
    """The classes that derive from Op, directly or through one another."""
    names, size = {"Op"}, 0
    while size != len(names):
        size = len(names)
        names |= {c.name for s in sources for c in s.classes if bases(c) & names}
    return [s.part(c) for s in sources for c in s.classes if bases(c) & names]


def read(root: Path) -> list[Source]:
    files = sorted(root.glob("packages/*/src/**/*.py"))
    return [Source(path.relative_to(root), path.read_text(encoding="utf-8")) for path in files]


def figure(value: float, most: int, what: str, parts: list[Part]) -> list[str]:
    """Print one figure; return what there is to say against it, the largest parts below."""
    print(f"{value:7g}  {what} (at most {most})")
    worst = [f"  {n:5}  {name}" for n, name in sorted(parts, reverse=True)[:8]]
    return [] if value <= most else [f"{what}: {value:g}, at most {most}", *worst]


def report(sources: list[Source]) -> list[str]:
    """Print every figure; return what is over budget."""
    for folder in sorted({s.folder for s in sources}):
        own = [s for s in sources if s.folder == folder]
        print(f"{sum(len(s.code) for s in own):7}  lines of code in {len(own)} files of {folder}")
    core = [(len(s.code), str(s.path)) for s in sources if s.path.parts[1] == "core"]
    tiny = [part for part in core if Path(part[1]).parts[4] not in APART]
    tools = [part for part in core if Path(part[1]).parts[4] == "tools"]
    ops = ops_of(sources)
    functions = [s.part(f) for s in sources for f in s.functions]
    files = [(s.length, str(s.path)) for s in sources]
    return [
        *figure(sum(n for n, _ in tiny), CORE, "lines of code in what every call and plugin passes through", tiny),
        *figure(sum(n for n, _ in tools), TOOLS, "lines of code in tools/, loaded when first used", tools),
        *figure(max(ops, default=(0, ""))[0], OP, f"in the longest of {len(ops)} ops", ops),
        *figure(median([n for n, _ in functions] or [0]), FUNCTION, f"median of {len(functions)} functions", functions),
        *figure(max(files)[0], FILE, f"in the longest of {len(files)} files, every line counted", files),
    ]


def main() -> int:
    over = report(read(ROOT))
    print("\n".join(["over budget", *over] if over else ["within budget"]))
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
