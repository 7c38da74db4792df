"""Layers, losses and starting values for plugrad."""
