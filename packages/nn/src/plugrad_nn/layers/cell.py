"""Recurrent cells: one step at a time."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import plugrad as pg
from plugrad.errors import ShapeError

from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter

if TYPE_CHECKING:
    from plugrad import Tensor

    States = tuple[Tensor, ...]

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]


class _Cell(Module):
    """What the cells share: a step is a sequence of one step."""

    gates: int
    states = 1

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        n = self.gates * hidden_size
        made = {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(pg.zeros(n, input_size, **made))
        self.weight_hh = Parameter(pg.zeros(n, hidden_size, **made))
        self.bias_ih = Parameter(pg.zeros(n, **made)) if bias else None
        self.bias_hh = Parameter(pg.zeros(n, **made)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the starting values anew."""
        bound = 1 / sqrt(self.hidden_size) if self.hidden_size else 0.0
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def _step(self, input: Tensor, hx: States | None) -> States:
        """The next states; of a vector, vectors."""
        if input.ndim not in (1, 2) or input.shape[-1] != self.input_size:
            raise ShapeError(
                f"{type(self).__name__}: it takes (batch, {self.input_size}) or ({self.input_size},), "
                f"not input of shape {input.shape}"
            )
        shape = (*input.shape[:-1], self.hidden_size)
        states = (pg.zeros(shape, device=input.device, dtype=input.dtype),) * self.states if hx is None else hx
        if [s.shape for s in states] != [shape] * self.states:
            have = ", ".join(str(s.shape) for s in states)
            raise ShapeError(f"{type(self).__name__}: the state has shape {have}; input {input.shape} needs {shape}")
        if input.ndim == 1:
            return tuple(s[0] for s in self._run(input.reshape(1, 1, -1), tuple(s.expand_dims(0) for s in states)))
        return self._run(input.expand_dims(0), states)

    def _run(self, x: Tensor, states: States) -> States:
        raise NotImplementedError

    @property
    def _weights(self) -> tuple[Any, Any, Any, Any]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def extra_repr(self) -> str:
        bias = "" if self.bias else ", bias=False"
        return f"{self.input_size}, {self.hidden_size}{bias}"


class RNNCell(_Cell):
    """h' = φ(W x + b + U h + d), φ = tanh or relu        x: (b, input) or (input,)   h: (b, hidden) or (hidden,)

    All parameters start uniform in ±1/√hidden.
    """

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNNCell: nonlinearity {nonlinearity!r} is none of 'tanh', 'relu'")
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(input, None if hx is None else (hx,))[0]

    def _run(self, x: Tensor, states: States) -> States:
        return (F.rnn(x, states[0], *self._weights, nonlinearity=self.nonlinearity)[1],)

    def extra_repr(self) -> str:
        return super().extra_repr() + ("" if self.nonlinearity == "tanh" else f", nonlinearity={self.nonlinearity}")


class LSTMCell(_Cell):
    """h' = o tanh c', c' = f c + i u        i, f, o = σ(W x + b + U h + d)   u = tanh(W x + b + U h + d)

    Takes and returns (h, c); gates stand in the order i, f, u, o. See RNNCell.
    """

    gates, states = 4, 2

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        h, c = self._step(input, hx)
        return h, c

    def _run(self, x: Tensor, states: States) -> States:
        h, c = states
        return F.lstm(x, (h, c), *self._weights)[1]


class GRUCell(_Cell):
    """h' = (1 - v) c + v h        r, v = σ(W x + b + U h + d)   c = tanh(W x + b + r (U h + d))

    Gates stand in the order r, v, c. See RNNCell.
    """

    gates = 3

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(input, None if hx is None else (hx,))[0]

    def _run(self, x: Tensor, states: States) -> States:
        return (F.gru(x, states[0], *self._weights)[1],)
