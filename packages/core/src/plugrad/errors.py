"""Every error plugrad raises, in one tree.

PlugradError
├── ShapeError          (ValueError)           shapes that do not fit the op
├── AxisError           (ShapeError, IndexError) an axis or an index out of range
├── DTypeError          (TypeError)            dtypes, or objects that are no tensors
├── DeviceError         (RuntimeError)         tensors on different devices, unknown devices
├── GraphError          (RuntimeError)         the way back: freed, missing, not a scalar
├── InPlaceError        (RuntimeError)         a write that would be lost or would break a gradient
├── LinAlgError         (ValueError)           a matrix without the inverse or factor that was asked for
├── NonFiniteError      (ArithmeticError)      found by `pg.nan_tracer()`
├── UnsupportedError    (NotImplementedError)  the backend lacks what the op needs
├── KernelError         (RuntimeError)         a kernel was forced and declined
├── ConformanceError    (AssertionError)       a check of the conformance suite failed
└── PluginError         (RuntimeError)         plugins: see below
    ├── PluginNotFoundError   (LookupError)    no installed distribution declares the name
    ├── DuplicatePluginError                   two distributions declare the same name
    ├── PluginLoadError                        installed, but does not start
    ├── InterfaceError                         written for another version of the interface
    └── UnavailableError      (DeviceError)    installed, but cannot run on this machine
"""


class PlugradError(Exception):
    """Base of every error that plugrad raises on purpose."""


class ShapeError(PlugradError, ValueError):
    """Shapes that do not fit the op."""


class AxisError(ShapeError, IndexError):
    """An axis or an index out of range."""


class DTypeError(PlugradError, TypeError):
    """Dtypes that do not fit the op, or objects that are no tensors."""


class DeviceError(PlugradError, RuntimeError):
    """Tensors on different devices, or a device that is not there."""


class GraphError(PlugradError, RuntimeError):
    """The way back is missing, was freed, or does not start at a scalar."""


class InPlaceError(PlugradError, RuntimeError):
    """A write that would be lost, or that would break a gradient."""


class LinAlgError(PlugradError, ValueError):
    """A matrix without the inverse or the factor that was asked for."""


class NonFiniteError(PlugradError, ArithmeticError):
    """An op, or its gradient, made a NaN or an infinity while a tracer was watching."""


class UnsupportedError(PlugradError, NotImplementedError, AttributeError):
    """The backend lacks a function or dtype that the op needs."""


class KernelError(PlugradError, RuntimeError):
    """A kernel was forced, and declined."""


class ConformanceError(PlugradError, AssertionError):
    """A check of the conformance suite failed."""


class PluginError(PlugradError, RuntimeError):
    """Something is wrong with a plugin."""


class PluginNotFoundError(PluginError, LookupError):
    """No installed distribution declares this name."""


class DuplicatePluginError(PluginError):
    """Two installed distributions declare the same name."""


class PluginLoadError(PluginError):
    """The plugin is installed, but does not start."""


class InterfaceError(PluginError):
    """The plugin was written for another version of the interface."""


class UnavailableError(PluginError, DeviceError):
    """The backend is installed, but cannot run on this machine."""
