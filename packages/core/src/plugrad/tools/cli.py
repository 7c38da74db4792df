"""`python -m plugrad`: what is installed, what works and why not; `check NAME`; `explain OP`; `new-backend NAME`."""

from __future__ import annotations

import argparse
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

from .. import plugins
from ..backend import API
from ..errors import PlugradError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..plugins import Declared
    from ..testing.suite import Result


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m plugrad", description=__doc__)
    sub = parser.add_subparsers(dest="command")
    sub.add_parser("list", help="what is installed and what works (also without a command)")
    check = sub.add_parser("check", help="the conformance suite on one backend, with a score")
    check.add_argument("name", help="a device: numpy, cuda:1, ...")
    check.add_argument("--only", default="*", metavar="PATTERN", help="checks whose names match, as in 'gradient/*'")
    check.add_argument("--list", action="store_true", help="print the names of the checks and stop")
    op = sub.add_parser("explain", help="formula, files and kernels of an op")
    op.add_argument("op", help="an op or a function: matmul, plugrad.Exp, ...")
    new = sub.add_parser("new-backend", help="write a complete plugin package for a new device")
    new.add_argument("name", help="what the device will be called: a lowercase identifier")
    new.add_argument("--out", default=".", metavar="DIR", help="where to put plugrad-NAME; here if not given")
    args = parser.parse_args(argv)
    run = {"check": check_command, "explain": explain_command, "new-backend": new_backend_command}
    return run.get(args.command, list_command)(args)


# -- list -----------------------------------------------------------------------------------------------------------


def list_command(args: argparse.Namespace) -> int:
    """Print what is installed; 1 where something is broken (not only unavailable)."""
    print(f"plugrad {metadata.version('plugrad')}, interface {API[0]}.{API[1]}, Python {sys.version.split()[0]}")
    broken = [*_backends(), *_extensions(), *_kernels()]
    print(f"default device: {_default()}")
    return min(len(broken), 1)


def _section(title: str, group: str) -> Iterator[tuple[Declared, bool]]:
    """Each plugin declared in a group, and whether its name is its own."""
    print(title if plugins.scan(group) else f"{title}: none")
    for items in plugins.scan(group).values():
        for item in items:
            yield item, len(items) == 1


def _line(item: Declared, state: str) -> None:
    print(f"  {item.name:<10} {f'{item.dist} {item.version}':<22} {state}")


def _backends() -> list[str]:
    """Print the backends; return the broken ones."""
    broken = []
    for item, alone in _section("backends", plugins.BACKENDS):
        state, fine = _backend(item.name) if alone else (_twice(item), False)
        _line(item, state)
        broken += [] if fine else [item.name]
    return broken


def _backend(name: str) -> tuple[str, bool]:
    """What there is to say of one backend, and whether it is sound (unavailable is sound, too)."""
    try:
        why = plugins.manager(plugins.BACKENDS, name).hook.plugrad_available()
        if why:
            return f"unavailable: {why}", True
        made = plugins.backend(name)
        n, major, minor = made.devices(), *made.api
        return f"works: {n} device{'s' * (n != 1)}, interface {major}.{minor}, {_dtypes(made)}{_library(made.xp)}", True
    except Exception as error:  # whatever a plugin may do wrong is shown, not raised
        return f"broken: {_words(error)}", False


def _dtypes(made: Any) -> str:
    return " ".join([t for t in ("float16", "bfloat16", "float32", "float64") if t in made.dtypes])


def _library(xp: Any) -> str:
    """Name and version of an array library, where it says so."""
    return f", {xp.__name__} {xp.__version__}" if hasattr(xp, "__name__") and hasattr(xp, "__version__") else ""


def _words(error: BaseException) -> str:
    return str(error) if isinstance(error, PlugradError) else f"{type(error).__name__}: {error}"


def _twice(item: Declared) -> str:
    return f"broken: several distributions declare {item.name!r}; uninstall all but one"


def _extensions() -> list[str]:
    broken = []
    for item, alone in _section("extensions", plugins.EXTENSIONS):
        state, fine = _extension(item.name) if alone else (_twice(item), False)
        _line(item, state)
        broken += [] if fine else [item.name]
    return broken


def _extension(name: str) -> tuple[str, bool]:
    try:
        module = plugins.namespace(name)
        return f"works: {'plugrad' if name == 'core' else f'plugrad.{name}'} is {module.__name__}", True
    except Exception as error:  # as above
        return f"broken: {_words(error)}", False


def _kernels() -> list[str]:
    try:
        table = plugins.kernel_table()
    except Exception as error:  # as above
        print(f"kernels\n  broken: {_words(error)}")
        return ["kernels"]
    print("kernels" if table else "kernels: none")
    for (backend, op), (origin, _) in sorted(table.items()):
        print(f"  {backend:<10} {op:<24} from {origin}")
    return []


def _default() -> str:
    try:
        return str(plugins.device())
    except Exception as error:  # no backend is installed, or the one that was asked for does not start
        return f"none: {_words(error)}"


# -- check, explain, new-backend --------------------------------------------------------------------------------------


def check_command(args: argparse.Namespace) -> int:
    """Run the suite; 0 where every check passed, 1 where one failed, 2 where the backend does not start."""
    from ..testing.suite import check_backend, checks

    if args.list:
        print("\n".join(c.name for c in checks(args.name.partition(":")[0])))
        return 0
    try:
        plugins.device(args.name)
    except Exception as error:  # as above
        print(_words(error), file=sys.stderr)
        return 2
    terminal = sys.stderr.isatty()
    report = check_backend(args.name, only=args.only, progress=_show if terminal else None)
    print("\r\x1b[K" if terminal else "", end="", file=sys.stderr, flush=True)
    print(report)
    return 0 if report.ok else 1


def _show(result: Result) -> None:
    """The name of the check that was done, on a terminal's last line."""
    print(f"\r\x1b[K{result.check.name:.100}", end="", file=sys.stderr, flush=True)


def explain_command(args: argparse.Namespace) -> int:
    from .introspect import explain

    for name in plugins.scan(plugins.EXTENSIONS):  # their ops are known once they are imported
        _extension(name)
    try:
        print(explain(args.op))
    except LookupError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    return 0


def new_backend_command(args: argparse.Namespace) -> int:
    """Write the package and say what to do next; 2 where the name or the folder is refused."""
    from .scaffold import new_backend

    try:
        root = new_backend(args.name, args.out)
    except (PlugradError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"wrote {root}, which passes the suite as it is. Next:")
    print(f"    cd {root}\n    python -m pip install -e . pytest\n    python -m plugrad check {args.name}")
    return 0
