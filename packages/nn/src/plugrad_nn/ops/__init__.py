"""The ops of nn: those worth a kernel of their own."""

from .linear import Linear
from .loss import BCEWithLogits, BinaryCrossEntropy, CrossEntropy, SoftCrossEntropy
from .norm import LayerNorm

__all__ = ["BCEWithLogits", "BinaryCrossEntropy", "CrossEntropy", "LayerNorm", "Linear", "SoftCrossEntropy"]
