"""What a backend lacks, composed from REQUIRED functions on the same device (see `backend.composed`)."""

from . import philox
from . import index
from . import order
from . import reduce
from . import scan
from . import division
from . import elementary
from . import special
