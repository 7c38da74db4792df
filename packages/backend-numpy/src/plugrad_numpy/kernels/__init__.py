"""Fused kernels: one op each in fewer passes over memory than its formula takes; imported when the op first runs."""
