"""What core's tests share: distributions made on the spot, and a fresh interpreter that sees only these."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import plugrad

SOURCE = str(Path(plugrad.__file__).parents[1])

#: A backend that starts and has a device, and nothing to compute with.
BACKEND = """
    from types import SimpleNamespace
    from plugrad.backend import Backend, Unavailable
    from plugrad.hookspecs import hookimpl
    class Mine(Backend):
        name = {name!r}
        api = {api}
        xp = SimpleNamespace(float32="f4", int64="i8", bool="b1")
    @hookimpl
    def plugrad_available():
        return {available}
    @hookimpl
    def plugrad_backend():
        return {made}
"""


class Site:
    """A folder of installed distributions, and interpreters that see these and no others as plugins."""

    def __init__(self, folder):
        self.folder = folder

    def add(self, dist, version, group, names, **modules):
        """A distribution: {name: module} in an entry point group, and the text of its modules."""
        info = self.folder / f"{dist.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: {version}\n")
        lines = [f"[plugrad.{group}]", *(f"{name} = {module}" for name, module in names.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        for module, text in modules.items():
            (self.folder / f"{module}.py").write_text(textwrap.dedent(text))

    def backend(self, name, dist=None, version="1.0", api=(1, 0), available=None, made="Mine()", before="", after=""):
        """A distribution with one backend; `before` and `after` are lines of its plugin module."""
        text = textwrap.dedent(BACKEND).format(name=name, api=api, available=available, made=made)
        text = f"{textwrap.dedent(before)}{text}{textwrap.dedent(after)}"
        self.add(dist or f"plugrad-{name}", version, "backends", {name: f"{name}_plugin"}, **{f"{name}_plugin": text})

    def run(self, code, *, args=(), **env):
        """What `code` prints in a fresh interpreter, with `sys`, `pg` and `fails(kind, f)` at hand."""
        done = self.start(["-c", self.prelude() + textwrap.dedent(code), *args], env)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def module(self, *args, **env):
        """`python -m plugrad *args`: the finished process."""
        code = f"{self.prelude()}from plugrad.__main__ import main\nraise SystemExit(main(sys.argv[1:]))"
        return self.start(["-c", code, *args], env)

    def prelude(self):
        return textwrap.dedent(f"""
            import sys
            from importlib import metadata
            sys.path[:0] = [{str(self.folder)!r}, {SOURCE!r}]
            every, version = metadata.distributions, metadata.version
            metadata.distributions = lambda **how: every(path=[{str(self.folder)!r}])
            metadata.version = lambda name: "0" if name == "plugrad" else version(name)
            import plugrad as pg
            def fails(kind, f):
                try:
                    f()
                except kind as error:
                    print(error)
                else:
                    raise SystemExit(f"no {{kind.__name__}} was raised")
        """)

    def start(self, command, env):
        cleared = {k: v for k, v in os.environ.items() if not k.startswith(("PLUGRAD_", "PYTHON"))}
        return subprocess.run(
            [sys.executable, *command],
            capture_output=True,
            text=True,
            env={**cleared, **env},
            cwd=self.folder,
            timeout=60,
        )


@pytest.fixture
def faulty():
    """Makes the default backend once more, with other functions in its namespace, or other methods."""
    whole = plugrad.device().backend

    def make(functions=None, **body):
        if functions:
            body["functions"] = {**whole.functions, **functions}
        made = copy.copy(whole)
        made.__class__ = type("Faulty", (type(whole),), body)
        for name in ("_namespaces", "_names", *body):
            made.__dict__.pop(name, None)
        return made

    return make


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)
