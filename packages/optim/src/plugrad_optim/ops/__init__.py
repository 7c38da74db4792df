"""The update rules: one op for each, so that a backend may fuse it. They run under no_grad and carry no gradient.

p is the parameter, g its gradient, η the learning rate, λ the weight decay; κ, what p is multiplied by, is 1 but where
the decay is apart from the gradient (decoupled): there it is 1 - η λ. Each rule gives the new p, then its new state.
"""

from .each import *
from .matrix import *
from .moments import *
from .scaled import *
from .steps import *
