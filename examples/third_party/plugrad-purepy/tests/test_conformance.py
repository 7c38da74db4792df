"""The whole conformance suite, in one line."""

from plugrad.testing import backend_suite

TestPurePy = backend_suite("purepy")
