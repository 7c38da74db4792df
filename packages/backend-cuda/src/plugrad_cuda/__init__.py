"""The CUDA backend of plugrad. This release has no kernels yet: it finds the GPU and says what is missing."""
