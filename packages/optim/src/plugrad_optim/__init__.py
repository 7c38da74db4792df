"""Optimizers for plugrad, each with its paper's formula."""
