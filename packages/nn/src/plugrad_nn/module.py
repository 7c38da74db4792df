"""The module: what layers, models and losses are."""

from __future__ import annotations

from contextvars import ContextVar
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

from plugrad import Tensor
from plugrad.context import current
from plugrad.dtypes import BY_NAME
from plugrad.errors import DTypeError

from .errors import placed
from .hooks import Hook
from .parameter import Parameter, give
from .state import load, state_of
from .tree import Branch, attributes, held, join, once, slotted, tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Self

    from plugrad.context import State

    from .state import Keys

running: ContextVar[Module | None] = ContextVar("plugrad_nn.running", default=None)
PRIVATE = ("_buffers", "_names", "_hooks", "_pre_hooks")  # names of a module's own book-keeping


class Module(Branch):
    """A layer or a model: write `forward`, put parameters and other modules in attributes, call the object.

    Whatever is an attribute is found: parameters and modules, also inside lists, tuples, dicts and dataclasses. There
    is nothing to call in `__init__`, and nothing to register but buffers (`register_buffer`).

        class Net(nn.Module):
            def __init__(self):
                self.layers = [nn.Linear(64, 32), nn.Linear(32, 10)]

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x).relu()
                return x
    """

    training: bool = True
    _buffers: Mapping[str, bool] = {}  # name → persistent
    _names: Mapping[int, tuple[Any, ...]] = {}  # see _inside
    _hooks: Iterable[Callable[..., Any]] = ()
    _pre_hooks: Iterable[Callable[..., Any]] = ()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f"{type(self).__name__}.forward(self, ...) is not written")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """`forward`, with hooks, under the module's name (errors and tracers tell it)."""
        state = current.set(_inside(running.get(), self, current.get()))
        inner = running.set(self)
        try:
            if not self._hooks and not self._pre_hooks:
                return self.forward(*args, **kwargs)
            return self._hooked(args, kwargs)
        except Exception as error:
            placed(error, ".".join(current.get().path))
            raise
        finally:
            running.reset(inner)
            current.reset(state)

    def _hooked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for hook in tuple(self._pre_hooks):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        out = self.forward(*args, **kwargs)
        for hook in tuple(self._hooks):
            changed = hook(self, args, out)
            out = out if changed is None else changed
        return out

    # -- what it holds ------------------------------------------------------------------------------------------

    def _parts(self) -> Iterable[tuple[str, Any]]:
        return [(name, value) for name, value in attributes(self) if name not in PRIVATE]

    def named_modules(self, prefix: str = "", remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:
        """(name, module) of this one (name "") and all below, parents first."""
        return once(tree(self, prefix), remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all below, parents first."""
        return (m for _, m in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """(name, module) of the modules that this one holds itself."""
        return once((name, part) for name, part in held(self) if isinstance(part, Module))

    def children(self) -> Iterator[Module]:
        """The modules that this one holds itself."""
        return (m for _, m in self.named_children())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(name, parameter), a module's own before those of its children; a shared one once, under its first name."""
        everything = self._tensors(prefix, recurse)
        return once(((name, t) for name, t, _ in everything if isinstance(t, Parameter)), remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """(name, tensor) of what was given to `register_buffer`."""
        everything = self._tensors(prefix, recurse)
        return once(((name, t) for name, t, persistent in everything if persistent is not None), remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once."""
        return (t for _, t in self.named_buffers(recurse=recurse))

    def _tensors(self, prefix: str, recurse: bool = True) -> Iterator[tuple[str, Tensor, bool | None]]:
        """(name, tensor, is it a persistent buffer? None: no buffer), shared ones under each of their names."""
        for path, module in tree(self, prefix) if recurse else [(prefix, self)]:
            for name, part in held(module):
                if isinstance(part, Tensor):
                    yield join(path, name), part, module._buffers.get(name)

    def get_submodule(self, target: str) -> Module:
        """The module called `target`, as in `named_modules`."""
        found = dict(self.named_modules(remove_duplicate=False))
        if target not in found:
            raise AttributeError(
                f"{type(self).__name__} has no module {target!r}; it has {', '.join(filter(None, found))}"
            )
        return found[target]

    def get_parameter(self, target: str) -> Parameter:
        """The parameter called `target`, as in `named_parameters`."""
        found = dict(self.named_parameters(remove_duplicate=False))
        if target not in found:
            raise AttributeError(f"{type(self).__name__} has no parameter {target!r}; it has {', '.join(found)}")
        return found[target]

    # -- putting things in --------------------------------------------------------------------------------------

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Make the attribute `name` part of the module's state, though nothing learns it; saved if persistent."""
        self._own("_buffers", dict)[name] = persistent
        setattr(self, name, tensor)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """The same as setting the attribute."""
        if param is not None and not isinstance(param, Parameter):
            raise DTypeError(f"register_parameter: {name} is a {type(param).__name__}; write nn.Parameter(...)")
        setattr(self, name, param)

    def add_module(self, name: str, module: Module | None) -> None:
        """The same as setting the attribute, for names that are no identifiers."""
        setattr(self, name, module)

    register_module = add_module

    def register_forward_hook(self, hook: Callable[..., Any]) -> Hook:
        """Call `hook(module, args, output)` after `forward`; what it returns, if anything, is the output instead."""
        self._own("_hooks", list).append(hook)
        return Hook(self._hooks, hook)  # type: ignore[arg-type]

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> Hook:
        """Call `hook(module, args)` before `forward`; what it returns, if anything, are the arguments instead."""
        self._own("_pre_hooks", list).append(hook)
        return Hook(self._pre_hooks, hook)  # type: ignore[arg-type]

    def _own(self, name: str, kind: type) -> Any:
        """Book-keeping of this very module, made when it is first needed (there may have been no `__init__`)."""
        return vars(self).setdefault(name, kind())

    # -- its state ----------------------------------------------------------------------------------------------

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """Name → value of parameters and persistent buffers. Values: later steps do not change them."""
        return {f"{prefix}{name}": t.detach() for name, t in state_of(self).items()}

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> Keys:
        """Give parameters and buffers the values in `state_dict`, in their own dtype, on their own device.

        strict    raise where names are missing or unknown; else return them. Other shapes always raise. All faults are
                  named at once, and nothing has been written when it raises.
        """
        return load(self, state_dict, strict)

    # -- changing all of it -------------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Say that the module is being trained: dropout drops. Returns the module."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Say that the module is being used: dropout lets everything pass. Returns the module."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Learn, or stop learning, all parameters."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters (or fill them with zeros)."""
        for p in self.parameters():
            if p.grad is not None:
                p.grad = None if set_to_none else p.new_zeros(p.shape)

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` on every module, children first."""
        for module in reversed(list(self.modules())):
            fn(module)
        return self

    def to(self, device: Any = None, dtype: Any = None) -> Self:
        """Move parameters and buffers to a device, cast floating ones to a dtype: `to("cuda")`, `to(pg.float16)`."""
        if dtype is None and _is_dtype(device):
            device, dtype = None, device
        for _, t in once([*self.named_parameters(), *self.named_buffers()]):
            give(t, t.detach().to(device=device, dtype=dtype if t.dtype.is_floating_point else None))
        return self

    def float(self) -> Self:
        """Cast to float32."""
        return self.to(dtype="float32")

    def double(self) -> Self:
        """Cast to float64."""
        return self.to(dtype="float64")

    def half(self) -> Self:
        """Cast to float16."""
        return self.to(dtype="float16")

    def cpu(self) -> Self:
        """Move to the best CPU backend that is installed."""
        return self.to("cpu")

    # -- how it looks -------------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What stands between the brackets, before the children."""
        return ""

    @recursive_repr("(...)")
    def __repr__(self) -> str:
        children = [f"({name}): {m!r}".replace("\n", "\n  ") for name, m in held(self) if isinstance(m, Module)]
        inside = "".join(f"\n  {line}" for line in [self.extra_repr(), *children] if line) + "\n"
        return f"{type(self).__name__}({inside if children else self.extra_repr()})"

    def __getstate__(self) -> Any:
        own = {name: _kept(value) for name, value in vars(self).items() if name != "_names"}
        slots = {name: _kept(value) for name, value in slotted(self)}
        return (own, slots) if slots else own


def _kept(value: Any) -> Any:
    """What a copy takes along: a tensor that an op made (a weight made of others) without its way back."""
    return value.detach() if isinstance(value, Tensor) and not value.is_leaf else value


def _is_dtype(spec: Any) -> bool:
    return isinstance(spec, type) or str(spec) in BY_NAME


def _inside(outer: Module | None, module: Module, now: State) -> State:
    """`now`, but with the name of `module` at the end of the path: the model's class, then names, ("Net", "layers.3").

    Names are found once, and kept by the module that calls, with the last state made of them. What is kept is checked,
    so that a changed model is told right.
    """
    holder, key, part = (module, 0, None) if outer is None else (outer, id(module), module)
    kept = holder._names.get(key)
    if kept is None or kept[0] is not part:
        names: dict[int, Any] = {id(m): (m, name, None, None) for name, m in tree(holder) if name}
        kept = names.setdefault(key, (part, type(module).__name__, None, None))
        vars(holder)["_names"] = names
    if kept[2] is not now:
        kept = part, kept[1], now, now.change(path=(*now.path, kept[1]))
        if not now.watchers:  # else the watcher would live as long as the model
            vars(holder)["_names"][key] = kept
    return kept[3]  # type: ignore[no-any-return]
