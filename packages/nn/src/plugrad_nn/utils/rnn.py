"""Sequences of unequal length, under PyTorch's name for the place: `nn.utils.rnn`."""

from ..layers.packed import *  # noqa: F403
