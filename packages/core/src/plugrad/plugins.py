"""Find plugins by entry point, load one when it is asked for, say what is wrong with those that do not start.

Listing imports nothing; a broken or unused plugin neither breaks nor slows `import plugrad`.
"""

from __future__ import annotations

import os
import threading
from importlib import metadata
from typing import TYPE_CHECKING, Any, NamedTuple

from .backend import API, Backend, Device, Unavailable
from .context import current
from .errors import (
    DeviceError,
    DuplicatePluginError,
    InterfaceError,
    PluginError,
    PluginLoadError,
    PluginNotFoundError,
    UnavailableError,
)
from .kernel import Kernel, as_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pluggy

    from .op import Op

BACKENDS, EXTENSIONS = "plugrad.backends", "plugrad.extensions"
EXTRAS = {"numpy": "numpy", "cuda": "cuda13x", "nn": "nn", "optim": "optim", "data": "data", "io": "io"}
CPU = ("native", "numpy")  # what "cpu" means: the first that is installed and can run


class Declared(NamedTuple):
    """One entry point as metadata says it; nothing has been imported."""

    group: str
    name: str
    value: str
    dist: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} = {self.value} ({self.dist} {self.version})"


_lock = threading.RLock()
_scanned: dict[str, dict[str, tuple[Declared, ...]]] = {}
_managers: dict[tuple[str, str], pluggy.PluginManager] = {}
_failures: dict[tuple[str, str], PluginError] = {}
_backends: dict[str, Backend] = {}
_devices: dict[tuple[str, int], Device] = {}
_kernels: dict[tuple[str, str], tuple[str, Callable[[], Any]]] = {}
_gathered: list[bool] = []
_best: list[str] = []  # what "cpu" means


def scan(group: str) -> Mapping[str, tuple[Declared, ...]]:
    """Every plugin that installed distributions declare in `group`, by name."""
    with _lock:
        if group not in _scanned:
            found: dict[str, dict[Declared, None]] = {}
            for ep in metadata.entry_points(group=group):
                dist = (ep.dist.name, ep.dist.version) if ep.dist else ("unknown", "?")
                found.setdefault(ep.name, {})[Declared(group, ep.name, ep.value, *dist)] = None
            _scanned[group] = {name: tuple(items) for name, items in sorted(found.items())}
        return _scanned[group]


def refresh() -> None:
    """Forget what was found and loaded: after installing a plugin in a running process, and in tests."""
    with _lock:
        for cache in (_scanned, _managers, _failures, _backends, _devices, _kernels):
            cache.clear()
        _gathered.clear()
        _best.clear()


def declared(group: str, name: str) -> Declared:
    """The one distribution that declares `name`."""
    found = scan(group).get(name, ())
    if len(found) == 1:
        return found[0]
    if found:
        raise DuplicatePluginError(
            f"plugin {name!r} in {group} is declared by {len(found)} distributions: "
            f"{'; '.join(map(str, found))}. Uninstall all but one."
        )
    hint = f" Try: pip install 'plugrad[{EXTRAS[name]}]'" if name in EXTRAS else ""
    raise PluginNotFoundError(f"no plugin {name!r} in {group}; installed: {', '.join(scan(group)) or 'none'}.{hint}")


def manager(group: str, name: str) -> pluggy.PluginManager:
    """A PluginManager with the one plugin `name` in it; its failure is kept and raised each time.

    One manager a plugin: pluggy keys its registry by the entry point's name alone, so plugins of equal name in two
    groups would hide each other, and one broken plugin would break them all.
    """
    with _lock:
        key = group, name
        if key in _failures:
            raise _failures[key]
        if key not in _managers:
            item = declared(group, name)
            try:
                _managers[key] = _load(item)
            except Exception as error:  # whatever a plugin's import may raise
                _failures[key] = PluginLoadError(f"cannot load plugin {item}: {type(error).__name__}: {error}")
                raise _failures[key] from error
        return _managers[key]


def _load(item: Declared) -> pluggy.PluginManager:
    import pluggy

    from . import hookspecs

    pm = pluggy.PluginManager("plugrad")
    pm.add_hookspecs(hookspecs)
    if not pm.load_setuptools_entrypoints(item.group, name=item.name):
        raise ImportError("its metadata vanished since it was scanned")
    pm.check_pending()
    return pm


def availability(name: str) -> Unavailable | None:
    """What the plugin says of this machine: None when it can run here."""
    item, hook = declared(BACKENDS, name), manager(BACKENDS, name).hook
    try:
        found = hook.plugrad_available()
    except Exception as error:
        raise PluginLoadError(f"cannot ask backend {item}: {type(error).__name__}: {error}") from error
    if found is not None and not isinstance(found, Unavailable):
        raise PluginLoadError(f"backend {item}: plugrad_available() returned {found!r}, not Unavailable(...) or None")
    return found


def unavailable(name: str) -> Unavailable | None:
    """None when the backend can run here, else the reason, in its own words or ours. Imports no array library."""
    try:
        return availability(name)
    except PluginError as error:
        return Unavailable(str(error))


def backend(name: str) -> Backend:
    """The backend `name`, loaded once."""
    with _lock:
        if name not in _backends:
            item = declared(BACKENDS, name)
            if why := availability(name):
                raise UnavailableError(f"backend {item} cannot run here: {why}")
            try:
                made = manager(BACKENDS, name).hook.plugrad_backend()
            except Exception as error:
                raise PluginLoadError(f"cannot start backend {item}: {type(error).__name__}: {error}") from error
            accept(made, item)
            _backends[name] = made
        return _backends[name]


def accept(made: Any, item: Declared) -> None:
    """Refuse what is no backend, or was written for another interface than ours."""
    if not isinstance(made, Backend):
        raise PluginLoadError(
            f"cannot start backend {item}: plugrad_backend() returned {made!r}, not a plugrad.Backend"
        )
    if made.name != item.name:
        raise PluginLoadError(f"cannot start backend {item}: it calls itself {made.name!r}")
    major, minor = made.api
    if major != API[0] or minor > API[1]:
        newer = (major, minor) > API
        raise InterfaceError(
            f"backend {item} was written for interface {major}.{minor}, this plugrad has {API[0]}.{API[1]}: "
            f"pip install -U {'plugrad' if newer else item.dist}"
        )


def device(spec: str | Device | None = None) -> Device:
    """The device called `spec`: "numpy", "cuda:1", "cpu"; None for the default.

    The default is the innermost `with device(...)`, then $PLUGRAD_DEVICE, then "cpu".
    """
    if spec is None:
        chosen = current.get().devices
        return chosen[-1] if chosen else device(os.environ.get("PLUGRAD_DEVICE") or "cpu")
    if isinstance(spec, Device):
        return spec
    name, _, digits = str(spec).partition(":")
    if digits and not digits.isdecimal():
        raise DeviceError(f"device {spec!r}: write the backend's name and a number, as in 'cuda:1'")
    return _device(cpu() if name == "cpu" else name, int(digits or 0))


def _device(name: str, index: int) -> Device:
    with _lock:
        if (name, index) not in _devices:
            made = backend(name)
            if index >= made.devices():
                raise DeviceError(f"device '{name}:{index}': there are {made.devices()} {name} devices, from 0")
            _devices[name, index] = Device(made, index, find_kernel)
        return _devices[name, index]


def cpu() -> str:
    """The best CPU backend that is installed and can run; looked up once."""
    if not _best:
        _best.append(_best_cpu())
    return _best[0]


def _best_cpu() -> str:
    names = scan(BACKENDS)
    for name in CPU:
        if name in names and unavailable(name) is None:
            return name
    others = [name for name in names if name not in CPU and unavailable(name) is None]
    if len(others) == 1:
        return others[0]
    if others:
        raise DeviceError(f"several backends are installed ({', '.join(others)}): name one, or set PLUGRAD_DEVICE")
    broken = "".join(f"\n    {name}: {unavailable(name)}" for name in names)
    raise DeviceError(f"no backend can run here: pip install 'plugrad[numpy]'{broken}")


def devices() -> list[Device]:
    """Every device that works on this machine."""
    names = [name for name in scan(BACKENDS) if unavailable(name) is None]
    return [_device(name, i) for name in names for i in range(backend(name).devices())]


def namespace(name: str) -> Any:
    """The module that the extension `name` gives: what `pg.nn` is."""
    return manager(EXTENSIONS, name).hook.plugrad_namespace()


def kernel_table() -> Mapping[tuple[str, str], tuple[str, Callable[[], Any]]]:
    """(backend, op) → (who registered it, load), of every plugin that loads; loads no kernel."""
    with _lock:
        if not _gathered:
            _gathered.append(True)
            for item in [d for group in (BACKENDS, EXTENSIONS) for ds in scan(group).values() for d in ds]:
                _gather(item)
        return _kernels


def _gather(item: Declared) -> None:
    """Let one plugin register its kernels; what goes wrong is kept, and raised when it is asked for."""

    def register(backend: str, op: str, load: Callable[[], Any]) -> None:
        other = _kernels.get((backend, op))
        if other is not None:
            load = _refusing(f"kernel {op} on {backend} is registered by {other[0]} and by {item}; uninstall one")
        _kernels[backend, op] = str(item), load

    try:
        manager(item.group, item.name).hook.plugrad_kernels(register=register)
    except PluginError:
        pass  # kept by `manager`; `python -m plugrad` shows it
    except Exception as error:
        told = f"plugin {item}: plugrad_kernels() raised {type(error).__name__}: {error}"
        _failures[item.group, item.name] = PluginLoadError(told)


def _refusing(message: str) -> Callable[[], Any]:
    def load() -> Any:
        raise DuplicatePluginError(message)

    return load


def find_kernel(backend: str, op: type[Op]) -> Kernel | None:
    """The kernel of an op class on a backend, loaded at its first use."""
    found = kernel_table().get((backend, op.key))
    if found is None:
        return None
    origin = f"{op.key} on {backend}, from {found[0]}"
    try:
        return as_kernel(found[1](), origin)
    except PluginError:
        raise
    except Exception as error:
        raise PluginLoadError(f"cannot load kernel {origin}: {type(error).__name__}: {error}") from error
