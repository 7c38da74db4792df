"""Files of tensors for plugrad: `from plugrad import io`."""

from .checkpoint import *
from .errors import *
from .files import *
from .gguf import *
from .mapping import *
from .npz import *
from .safetensors import *
from .torch_file import *
