"""The plugin is light, says when NumPy is missing, and offers bfloat16 only where ml_dtypes is installed."""

from __future__ import annotations

import subprocess
import sys


def output(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_the_plugin_module_imports_no_numpy():
    assert output("import sys, plugrad_numpy._plugin; print('numpy' in sys.modules)") == "False"


def test_numpy_itself_is_imported_with_the_first_device():
    code = "import sys, plugrad as pg; a = 'numpy' in sys.modules; pg.device('numpy'); print(a, 'numpy' in sys.modules)"
    assert output(code) == "False True"


def test_without_numpy_the_device_is_refused_with_the_remedy():
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "import plugrad as pg\n"
        "try: pg.device('numpy')\n"
        "except pg.errors.UnavailableError as error: print(error)"
    )
    assert "NumPy is not installed. pip install numpy" in output(code)


def test_without_ml_dtypes_there_is_no_bfloat16():
    code = (
        "import sys; sys.modules['ml_dtypes'] = None\n"
        "import plugrad as pg\n"
        "try: pg.ones(2, dtype='bfloat16', device='numpy')\n"
        "except pg.errors.DTypeError as error: print(error)"
    )
    assert "'numpy' has no bfloat16" in output(code)
