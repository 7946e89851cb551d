"""Functions that numba compiles: given traced values, the Python that they were made of runs instead.

numba itself is never imported; its functions are known by the module of their class. `@njit` and `@jit` keep the Python
function as `py_func`; `@vectorize` keeps it within, and applies it to each element.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def python_of(f: Any) -> Any:
    """The Python function that a function of numba's was made of; `None` for anything else."""
    if not type(f).__module__.startswith("numba."):
        return None
    if hasattr(f, "py_func"):
        return f.py_func
    within = getattr(getattr(f, "_dispatcher", None), "py_func", None)
    return None if within is None else np.vectorize(within)
