"""What a backend lacks, composed from REQUIRED functions on the same device (see `backend.composed`)."""
