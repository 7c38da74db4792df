"""Optimizers for plugrad, each with its paper's formula: `from plugrad import optim`."""

from . import lr_scheduler, ops
from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "lr_scheduler", "ops"]
