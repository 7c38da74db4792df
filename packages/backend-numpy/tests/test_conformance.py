"""NumPy passes the suite that every backend can borrow."""

from plugrad.testing import backend_suite

TestNumPy = backend_suite("numpy")
