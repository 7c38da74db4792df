"""Recurrent layers: RNN, LSTM and GRU, any number of layers, one direction or both."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any
from warnings import warn

import plugrad as pg
from plugrad.errors import ShapeError

from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter
from .packed import PackedSequence, silenced, steps_of, unrolled, whole_lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plugrad import Tensor

    States = tuple[Tensor, ...]

__all__ = ["GRU", "LSTM", "RNN"]


class _Recurrent(Module):
    """What the recurrent layers share: parameters by name, the order of layers and directions, layouts, lengths."""

    gates: int
    proj_size = 0

    def _build(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        bias: bool,
        batch_first: bool,
        dropout: float,
        bidirectional: bool,
        device: Any,
        dtype: Any,
    ) -> None:
        self.input_size, self.hidden_size, self.num_layers, self.bias = input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional = batch_first, float(dropout), bidirectional
        self._check()
        for layer in range(num_layers):
            for reverse in self._directions:
                for name, shape in self._shapes(layer, reverse).items():
                    setattr(self, name, Parameter(pg.zeros(*shape, device=device, dtype=dtype)))
        self.reset_parameters()

    def _check(self) -> None:
        kind = type(self).__name__
        for name in ("input_size", "hidden_size", "num_layers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{kind}: {name} is {getattr(self, name)}; it must be at least 1")
        if not 0 <= self.proj_size < self.hidden_size:
            raise ValueError(f"{kind}: proj_size is {self.proj_size}; it must be less than hidden_size, or 0 for none")
        if not 0 <= self.dropout <= 1:
            raise ValueError(f"{kind}: dropout is a probability, from 0 to 1, not {self.dropout}")
        if self.dropout and self.num_layers == 1:
            warn(f"{kind}: dropout comes between layers, and num_layers is 1: nothing is dropped", stacklevel=4)

    @property
    def _directions(self) -> tuple[bool, ...]:
        return (False, True) if self.bidirectional else (False,)

    @property
    def _sizes(self) -> tuple[int, ...]:
        """The size of each state."""
        return (self.proj_size or self.hidden_size,)

    def _shapes(self, layer: int, reverse: bool) -> dict[str, tuple[int, ...]]:
        """Name → shape of the parameters of one layer in one direction."""
        n, k = self.gates * self.hidden_size, self._sizes[0]
        biases = {"bias_ih": (n,), "bias_hh": (n,)} if self.bias else {}
        inputs = self.input_size if layer == 0 else k * len(self._directions)
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (n, inputs), "weight_hh": (n, k), **biases}
        if self.proj_size:
            shapes["weight_hr"] = (k, self.hidden_size)
        return {f"{name}_l{layer}{'_reverse' if reverse else ''}": shape for name, shape in shapes.items()}

    def reset_parameters(self) -> None:
        """Draw the starting values anew."""
        bound = 1 / sqrt(self.hidden_size)
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def forward(self, input: Any, hx: Any = None, *, lengths: Tensor | Sequence[int] | None = None) -> Any:
        """(output, last state) of a sequence.

        input      (steps, batch, input), (batch, steps, input) if `batch_first`, (steps, input), or a PackedSequence
        hx         the first state, (layers · directions, batch, state); 0 if None
        lengths    of each sequence of a padded batch: what comes after it is not looked at, its output is 0, and its
                   last state is the one at its own last step

        Of a PackedSequence the output is packed too.
        """
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        self._fits(input)
        axis = 0 if input.ndim == 3 and self.batch_first else 1
        x = input.swapaxes(0, 1) if axis == 0 else input if input.ndim == 3 else input.expand_dims(1)
        states = self._states(hx, x, input.ndim)
        if lengths is None:
            z, states = self._layers(x, states, None)
        else:
            live = steps_of(whole_lengths(type(self).__name__, lengths, *x.shape[:2]), x.shape[0], x.device)
            z, states = self._layers(silenced(x, live), states, live)
            z = silenced(z, live)
        if input.ndim == 2:
            return z.squeeze(1), self._given(tuple(s.squeeze(1) for s in states))
        return z.swapaxes(0, 1) if axis == 0 else z, self._given(states)

    def _packed(self, packed: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        """States come and go in the order of the batch; inside, the longest sequence is first."""
        if packed.data.ndim != 2 or packed.data.shape[1] != self.input_size:
            raise ShapeError(f"{type(self).__name__}: {self._takes} packed, and the data is {packed.data.shape}")
        x, live = unrolled(packed)
        states = tuple(_ordered(s, packed.sorted_indices) for s in self._states(hx, x, 3))
        z, states = self._layers(x, states, live)
        out = PackedSequence(z[live], *packed[1:])
        return out, self._given(tuple(_ordered(s, packed.unsorted_indices) for s in states))

    def _layers(self, x: Tensor, states: States, live: Tensor | None) -> tuple[Tensor, States]:
        """Layer after layer, each direction by itself."""
        last: list[States] = []
        for layer in range(self.num_layers):
            if layer:
                x = F.dropout(x, self.dropout, self.training)
            outputs = []
            for reverse in self._directions:
                weights = {n.partition("_l")[0]: getattr(self, n) for n in self._shapes(layer, reverse)}
                first = tuple(s[len(last)] for s in states)
                z, state = self._sequence(x, first, weights, mask=live, reverse=reverse)
                outputs.append(z)
                last.append(state)
            x = pg.concat(outputs, -1) if len(outputs) > 1 else outputs[0]
        return x, tuple(pg.stack(kind) for kind in zip(*last, strict=True))

    def _sequence(self, x: Tensor, states: States, weights: dict[str, Any], **how: Any) -> tuple[Tensor, States]:
        raise NotImplementedError

    @property
    def _takes(self) -> str:
        return f"it takes input of size {self.input_size}"

    def _fits(self, input: Tensor) -> None:
        kind = type(self).__name__
        if input.ndim not in (2, 3) or input.shape[-1] != self.input_size:
            axes = "(batch, steps, input)" if self.batch_first else "(steps, batch, input)"
            raise ShapeError(f"{kind}: {self._takes}, {axes} or (steps, input); this one is {input.shape}")
        if not input.shape[1 if input.ndim == 3 and self.batch_first else 0]:
            raise ShapeError(f"{kind}: input of shape {input.shape} has no steps; a sequence takes at least one")

    def _states(self, hx: Any, x: Tensor, ndim: int) -> States:
        """The first states, (layers · directions, batch, state), zeros if they are not given."""
        rows = self.num_layers * len(self._directions)
        shapes = [(rows, x.shape[1], n) for n in self._sizes]
        if hx is None:
            return tuple(pg.zeros(shape, device=x.device, dtype=x.dtype) for shape in shapes)
        states: States = tuple(hx) if isinstance(hx, (tuple, list)) else (hx,)
        wanted = [shape if ndim == 3 else (shape[0], shape[2]) for shape in shapes]
        if [s.shape for s in states] != wanted:
            have, want = (", ".join(map(str, shapes)) for shapes in ([s.shape for s in states], wanted))
            raise ShapeError(f"{type(self).__name__}: the first state has shape {have}; this input needs {want}")
        return states if ndim == 3 else tuple(s.expand_dims(1) for s in states)

    def _given(self, states: States) -> Any:
        """States as the user has them: one, or a tuple of several."""
        return states if len(states) > 1 else states[0]

    def extra_repr(self) -> str:
        default = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0}
        default["bidirectional"] = False
        told = [f"{n}={getattr(self, n)}" for n, value in default.items() if getattr(self, n) != value]
        return ", ".join([str(self.input_size), str(self.hidden_size), *told])


def _ordered(state: Tensor, order: Tensor | None) -> Tensor:
    return state if order is None else pg.take(state, order, axis=1)


class RNN(_Recurrent):
    """hₜ = φ(W xₜ + b + U hₜ₋₁ + d), φ = tanh or relu

    W is `weight_ih_l0`, U `weight_hh_l0`, b `bias_ih_l0`, d `bias_hh_l0`; layer k has `..._lk`, and in the other
    direction `..._lk_reverse`. All start uniform in ±1/√hidden. Returns (output, h_n): h of the last layer at every
    step, (steps, batch, directions · hidden), and the last h of every layer and direction, (layers · directions, batch,
    hidden).
    """

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN: nonlinearity {nonlinearity!r} is none of 'tanh', 'relu'")
        self.nonlinearity = nonlinearity
        self._build(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype)

    def _sequence(self, x: Tensor, states: States, weights: dict[str, Any], **how: Any) -> tuple[Tensor, States]:
        z, h = F.rnn(x, states[0], **weights, nonlinearity=self.nonlinearity, **how)
        return z, (h,)


class LSTM(_Recurrent):
    """hₜ = o tanh cₜ, cₜ = f cₜ₋₁ + i u        i, f, o = σ(W xₜ + b + U hₜ₋₁ + d)   u = tanh(W xₜ + b + U hₜ₋₁ + d)

    Gates stand in the order i, f, u, o in `weight_ih_l0`, (4 · hidden, input), and the other parameters (see RNN). With
    `proj_size`, hₜ = P (o tanh cₜ), and P is `weight_hr_l0`. Takes (h, c) and returns (output, (h_n, c_n)).
    """

    gates = 4

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self.proj_size = proj_size
        self._build(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return self.proj_size or self.hidden_size, self.hidden_size

    def _sequence(self, x: Tensor, states: States, weights: dict[str, Any], **how: Any) -> tuple[Tensor, States]:
        h, c = states
        return F.lstm(x, (h, c), **weights, **how)


class GRU(_Recurrent):
    """hₜ = (1 - v) c + v hₜ₋₁        r, v = σ(W xₜ + b + U hₜ₋₁ + d)   c = tanh(W xₜ + b + r (U hₜ₋₁ + d))

    Gates stand in the order r, v, c in `weight_ih_l0`, (3 · hidden, input), and the other parameters (see RNN).
    """

    gates = 3

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype)

    def _sequence(self, x: Tensor, states: States, weights: dict[str, Any], **how: Any) -> tuple[Tensor, States]:
        z, h = F.gru(x, states[0], **weights, **how)
        return z, (h,)
