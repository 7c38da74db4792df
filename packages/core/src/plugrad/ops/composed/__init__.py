"""What a backend lacks, composed from REQUIRED functions on the same device (see `backend.composed`)."""

from . import creation, division, elementary, index, order, philox, reduce, scan, special  # noqa: F401
