"""All checks of a backend: as a report (`check_backend`) and as a class for pytest (`backend_suite`)."""

from __future__ import annotations

import re
import traceback
from fnmatch import fnmatchcase
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import SkipTest

from .. import plugins
from ..backend import REQUIRED, Backend
from ..errors import ConformanceError, PluginError
from . import elementary, interface, parity, structure
from .case import Case
from .cases import brought, every
from .compare import expect
from .rows import aspects
from .subject import Excused, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Given = str | Backend | Callable[[], Backend]


class Check(NamedTuple):
    """One check: `run(subject)` returns, or raises ConformanceError, or Excused with the reason."""

    name: str
    run: Callable[[Subject], None]

    @property
    def group(self) -> str:
        return self.name.partition("/")[0]


def checks(backend: str) -> list[Check]:
    """Every check of the backend called `backend`, in the order in which an author meets them."""
    return [Check(name, run) for part in (_arrays(), _rows(), _kernels(backend)) for name, run in part]


def _arrays() -> Iterator[tuple[str, Callable[[Subject], None]]]:
    makers = {
        **dict.fromkeys(elementary.UNARY, elementary.unary),
        **dict.fromkeys(elementary.BINARY, elementary.binary),
    }
    for name in REQUIRED:
        yield f"functions/{name}", structure.FUNCTIONS.get(name) or makers[name](name)
    for name in elementary.OPERATORS:
        yield f"operators/{name}", elementary.operator(name)
        yield f"operators/{name} number", elementary.numbers(name)
    for name in elementary.INTEGER:
        yield f"operators/{name} integers", elementary.integer(name)
    groups = {
        "operators": (elementary.logical, elementary.sign, elementary.words),
        **structure.GROUPS,
        **interface.GROUPS,
    }
    for group, found in groups.items():
        for check in found:
            yield f"{group}/{check.__name__}", check


def _rows() -> Iterator[tuple[str, Callable[[Subject], None]]]:
    for extension in plugins.scan(plugins.EXTENSIONS):
        yield f"extensions/{extension}", partial(_extension, extension)
    for row in every():
        for name, aspect in aspects(row):
            yield f"{name}/{row.name}", partial(_aspect, aspect, row)


def _aspect(aspect: Callable[[Subject, Case], None], row: Case, s: Subject) -> None:
    aspect(s, row)


def _extension(name: str, s: Subject) -> None:
    """An extension that loads says what its case rows are."""
    try:
        plugins.manager(plugins.EXTENSIONS, name)
    except PluginError as error:
        raise Excused(f"{error}") from error
    for row in brought(name):
        expect(isinstance(row, Case), f"plugrad_cases() of {name} gave {row!r}, not a plugrad.testing.Case")


def _kernels(backend: str) -> Iterator[tuple[str, Callable[[Subject], None]]]:
    for key in parity.registered(backend):
        yield f"kernels/{key}", parity.parity(key, every())


class Result(NamedTuple):
    """What came of one check: "passed", "failed", "excused", "skipped" (asked for) or "xfailed" (a known gap)."""

    check: Check
    outcome: str
    why: str = ""


class Report:
    """What came of all checks of one backend; prints as a table with a score."""

    def __init__(self, backend: str, results: list[Result]) -> None:
        self.backend, self.results = backend, results

    def of(self, *outcomes: str) -> list[Result]:
        return [r for r in self.results if r.outcome in outcomes]

    @property
    def ok(self) -> bool:
        return bool(self.of("passed")) and not self.of("failed")

    @property
    def score(self) -> tuple[int, int]:
        """(passed, total): total counts what applies to this backend, known gaps included."""
        return len(self.of("passed")), len(self.of("passed", "failed", "xfailed"))

    def groups(self) -> dict[str, Report]:
        """One report for each group of checks."""
        names = dict.fromkeys(r.check.group for r in self.results)
        return {name: Report(self.backend, [r for r in self.results if r.check.group == name]) for name in names}

    def __str__(self) -> str:
        parts = {name: part for name, part in self.groups().items()}
        lines = [f"  {name:<12}{_score(part):>12}{_apart(part)}" for name, part in parts.items()]
        lines += [f"  {why}: {n} checks" for why, n in _counted(self.of("excused", "skipped", "xfailed")).items()]
        lines += [f"  FAILED  {r.check.name}\n          {r.why}" for r in self.of("failed")]
        return "\n".join([f"backend {self.backend}", *lines, f"score {_score(self)}{_apart(self)}"])

    __repr__ = __str__


def _score(report: Report) -> str:
    return "{}/{}".format(*report.score)


def _apart(report: Report) -> str:
    """What the score leaves out, or counts against it on purpose."""
    found = {name: len(report.of(name)) for name in ("excused", "skipped", "xfailed")}
    return "".join(f", {n} {name}" for name, n in found.items() if n)


def _counted(results: list[Result]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for r in results:
        key = f"{r.outcome}, {r.check.group}: {r.why}"
        counts[key] = counts.get(key, 0) + 1
    return counts


def plan(found: list[Check], reasons: Mapping[str, str] | None) -> dict[str, str]:
    """Name of each check that `reasons` speaks of → the reason. Keys may be patterns: "float16/*"."""
    chosen: dict[str, str] = {}
    for pattern, why in (reasons or {}).items():
        hit = [c.name for c in found if fnmatchcase(c.name, pattern)]
        if not hit:
            raise ValueError(
                f"no check is called {pattern!r}; `python -m plugrad check NAME --list` prints their names"
            )
        chosen.update(dict.fromkeys(hit, why))
    return chosen


def check_backend(
    backend: Given,
    *,
    skip: Mapping[str, str] | None = None,
    xfail: Mapping[str, str] | None = None,
    only: str = "*",
    progress: Callable[[Result], Any] | None = None,
) -> Report:
    """Run the checks whose names match `only`, and report.

    backend     a name ("numpy", "cuda:1"), a Backend, or a function that makes one
    skip        {name of a check: reason}: not run
    xfail       {name of a check: reason}: a known gap; it counts as a failure where it passes
    progress    called with each Result as it comes
    """
    subject = Subject(backend)
    found = checks(subject.name)
    skipped, gaps = plan(found, skip), plan(found, xfail)
    results = []
    for check in found:
        if fnmatchcase(check.name, only):
            results.append(_result(check, subject, skipped.get(check.name), gaps.get(check.name)))
            if progress:
                progress(results[-1])
    return Report(str(subject.device), results)


def _result(check: Check, subject: Subject, skip: str | None, gap: str | None) -> Result:
    if skip is not None:
        return Result(check, "skipped", skip)
    try:
        check.run(subject)
    except SkipTest as reason:
        return Result(check, "excused", str(reason))
    except Exception as error:
        if gap is not None:
            return Result(check, "xfailed", gap)
        return Result(
            check, "failed", "".join(traceback.format_exception_only(error)).strip().replace("\n", "\n" + " " * 10)
        )
    return (
        Result(check, "passed") if gap is None else Result(check, "failed", f"passed, though expected to fail: {gap}")
    )


def backend_suite(
    backend: Given,
    *,
    skip: Mapping[str, str] | None = None,
    xfail: Mapping[str, str] | None = None,
    only: str = "*",
    require: bool = True,
) -> type:
    """A class for pytest, one test a check: `TestMine = backend_suite("mine")` is a whole test module.

    `skip`, `xfail` and `only` are those of `check_backend`. With `require=False` the tests are skipped where the
    backend cannot run here; otherwise they fail.
    """
    subject = cache(lambda: _present(backend, require))
    name = backend.partition(":")[0] if isinstance(backend, str) else subject().name
    found = checks(name)
    skipped, gaps = plan(found, skip), plan(found, xfail)
    body: dict[str, Any] = {"__doc__": f"The conformance suite on {name}."}
    for check in found:
        if fnmatchcase(check.name, only):
            title = "test_" + re.sub(r"\W+", "_", check.name).strip("_")
            while title in body:
                title += "_"
            body[title] = _method(check, subject, skipped.get(check.name), gaps.get(check.name))
    return type("BackendSuite", (), body)


def _present(backend: Given, require: bool) -> Subject:
    if not require and isinstance(backend, str):
        why = plugins.unavailable(backend.partition(":")[0])
        if why is not None:
            raise Excused(str(why))
    return Subject(backend)


def _method(check: Check, subject: Callable[[], Subject], skip: str | None, gap: str | None) -> Callable[[Any], None]:
    def test(self: Any) -> None:
        if skip is not None:
            raise SkipTest(skip)
        if gap is None:
            return check.run(subject())
        result = _result(check, subject(), None, gap)
        if result.outcome == "failed":
            raise ConformanceError(f"{check.name}: {result.why}")
        raise SkipTest(f"known gap: {gap}" if result.outcome == "xfailed" else result.why)

    test.__doc__ = check.name
    return test
