"""docs/coverage.md says what is true."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy

DOCS = Path(__file__).parent.parent / "docs"
VERSIONS = f"NumPy {np.__version__}, SciPy {scipy.__version__}"


@pytest.mark.skipif(
    VERSIONS not in (DOCS / "coverage.md").read_text() or importlib.util.find_spec("jax") is not None,
    reason="the page was generated with other versions",
)
def test_the_page_is_what_would_be_generated():
    run = subprocess.run([sys.executable, DOCS / "make_coverage.py", "--check"], capture_output=True, text=True)
    assert run.returncode == 0, f"run `python docs/make_coverage.py`\n{run.stderr}"
