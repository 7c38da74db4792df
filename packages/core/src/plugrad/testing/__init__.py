"""Gradient checks, case rows, and the conformance suite that every backend can borrow."""
