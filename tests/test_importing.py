"""`import wengert` is quick: what only some need, and takes long, is imported by those who need it."""

import subprocess
import sys


def test_what_is_not_imported():
    code = "import sys, wengert; print(*[m for m in sys.argv[1:] if m in sys.modules])"
    heavy = ["scipy.stats", "scipy.signal", "scipy.ndimage", "sympy", "pandas", "matplotlib", "torch", "jax", "dask"]
    ran = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []
