"""Layers, losses and starting values for plugrad: `from plugrad import nn`."""

from . import functional, init, ops, utils
from .containers import ModuleDict, ModuleList, Sequential
from .errors import StateDictError
from .layers.activation import GELU, LeakyReLU, LogSoftmax, ReLU, Sigmoid, SiLU, Softmax, Tanh
from .layers.dropout import Dropout
from .layers.linear import Embedding, Flatten, Identity, Linear
from .layers.loss import BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from .layers.norm import LayerNorm
from .module import Module
from .parameter import Parameter

__all__ = [
    "GELU", "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "Dropout", "Embedding", "Flatten", "Identity", "L1Loss",
    "LayerNorm", "LeakyReLU", "Linear", "LogSoftmax", "MSELoss", "Module", "ModuleDict", "ModuleList", "NLLLoss",
    "Parameter", "ReLU", "Sequential", "SiLU", "Sigmoid", "Softmax", "StateDictError", "Tanh", "functional", "init",
    "ops", "utils",
]  # fmt: skip
