"""Layers, losses and starting values for plugrad: `from plugrad import nn`."""

from . import functional, init, ops, utils
from .containers import ModuleDict, ModuleList, Sequential
from .errors import StateDictError
from .layers import *  # noqa: F403
from .module import Module
from .parameter import Parameter

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "Dropout", "Embedding", "Flatten", "GELU", "Identity", "L1Loss",
    "LayerNorm", "LeakyReLU", "Linear", "LogSoftmax", "MSELoss", "Module", "ModuleDict", "ModuleList", "NLLLoss",
    "Parameter", "ReLU", "Sequential", "SiLU", "Sigmoid", "Softmax", "StateDictError", "Tanh", "functional", "init",
    "ops", "utils",
]  # fmt: skip
