"""What the tests of the whole tree share: `array_api_strict` as a backend, so that `pg.device("strict")` works."""

from __future__ import annotations

import sys
from pathlib import Path

from plugrad import plugins

sys.path.append(str(Path(__file__).parent / "strict" / "site"))
plugins.refresh()
