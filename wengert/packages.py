"""Which code is followed into: the user's own and that of installed packages, with a short list of those left alone.

Code that is followed is compiled once more from its source, with hooks (`capture/`). Left alone is what computes in
compiled code and has rules here (NumPy, SciPy), what has a calculus of its own that must not be disturbed (JAX,
PyTorch, SymPy), what speaks NumPy's protocols by itself (Dask, pandas), and tools that have nothing to do with numbers.
The standard library is left alone but for a few modules that compute with numbers in Python.

`wg.instrument` and `wg.leave_alone` decide otherwise.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path

_PACKAGE = str(Path(__file__).parent) + os.sep
_STANDARD = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})
_FOLLOWED = tuple(
    _PACKAGE + os.path.join(*names)
    for names in (
        ("algorithms", ""),
        ("graphs", "kernels", ""),
        ("capture", "followed", ""),
        ("nn", ""),
        ("infer", ""),
        ("optimize", "first_order", ""),
        ("box", "distributions", "expansions.py"),
    )
)
"""Code of this package that is written, and followed, like a user's, so that it compiles."""
_BOOKKEEPING = (_PACKAGE + os.path.join("infer", "aside.py"),)
"""Files in these folders that compute nothing, and are not followed."""
_INSTALLED = ("site-packages", "dist-packages")

_LEFT_ALONE = frozenset(
    (
        "numpy", "scipy", "optree", "llvmlite", "numba", "jax", "jaxlib", "torch", "tensorflow", "keras", "dask",
        "distributed", "cupy", "pandas", "xarray", "polars", "pyarrow", "sympy", "mpmath", "gmpy2", "symengine",
        "sparse", "autograd", "pytensor", "aesara", "theano", "casadi", "pyomo", "cvxpy", "pint", "unyt",
        "uncertainties", "astropy.units", "quantities", "pytest", "_pytest", "pluggy", "hypothesis", "coverage",
        "xdist", "execnet", "IPython", "ipykernel", "jupyter_client", "traitlets", "matplotlib", "matplotlib_inline",
        "mpl_toolkits", "PIL", "plotly", "bokeh", "tqdm", "setuptools", "pkg_resources", "pip", "wheel", "attr",
        "attrs", "pydantic", "typing_extensions", "cffi", "pycparser", "Cython", "joblib", "cloudpickle", "dill",
        "psutil", "yaml", "requests", "urllib3", "click", "rich", "pygments", "mypy", "ruff", "line_profiler",
        "memory_profiler", "debugpy", "pydevd", "_pydevd_bundle",
    )
)  # fmt: skip
_PROGRAMS_OF_LIBRARIES = frozenset(
    [f"scipy.signal.{name}" for name in ("_arraytools", "_czt", "_filter_design", "_lti_conversion", "_ltisys",
                                         "_polyutils", "_signaltools", "_spline_filters", "_waveforms")]
    + ["scipy._lib._array_api", "numpy.lib._polynomial_impl"]
    + [f"numpy.polynomial.{name}" for name in ("chebyshev", "hermite", "hermite_e", "laguerre", "legendre",
                                               "polynomial", "polyutils", "_polybase")]
)  # fmt: skip
"""Modules of SciPy and NumPy that are NumPy programs: filters and what they do, chirps, systems and their answers,
zoomed transforms, polynomials. Functions in them that have rules (those that call C) are not followed."""
_ARRAY_CLASSES_OF_NUMPY = frozenset(("numpy.matrixlib.defmatrix", "numpy.ma.core", "numpy.ma.extras"))
"""Modules of NumPy with a class of arrays that is derived as users derive theirs."""
_STANDARD_FOLLOWED = frozenset(("statistics.py", "colorsys.py"))

_decided: dict[str, bool] = {}
"""Folders (and files) of packages -> whether they are followed, as was decided otherwise."""


def decide(name: str, followed: bool) -> None:
    """Follow a package or module, by its name, or leave it alone."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None) or importlib.util.find_spec(name)
    if spec is None or not (spec.submodule_search_locations or spec.origin):
        raise ModuleNotFoundError(f"there is no package named {name!r}", name=name)
    for place in [folder + os.sep for folder in spec.submodule_search_locations or ()] or [str(spec.origin)]:
        _decided[place] = followed
    is_followed.cache_clear()


@lru_cache(maxsize=8192)
def is_followed(filename: str) -> bool:
    """Whether code of a file is followed."""
    if filename.startswith((_PACKAGE, "<frozen")):
        return filename.startswith(_FOLLOWED) and filename not in _BOOKKEEPING
    for place in sorted(_decided, key=len, reverse=True):
        if filename.startswith(place):
            return _decided[place]
    name = installed_name(filename)
    if name is not None:
        if name in _PROGRAMS_OF_LIBRARIES or name in _ARRAY_CLASSES_OF_NUMPY:
            return True
        parts = name.split(".")
        return not any(".".join(parts[: k + 1]) in _LEFT_ALONE for k in range(len(parts)))
    if filename.startswith(_STANDARD):
        return filename.endswith(tuple(_STANDARD_FOLLOWED)) and os.path.basename(filename) in _STANDARD_FOLLOWED
    return True


@lru_cache(maxsize=8192)
def is_program_of_library(filename: str) -> bool:
    """Whether a file is one of those modules of SciPy and NumPy that are followed as programs: what goes wrong in it is
    to be told of the library's function."""
    return installed_name(filename) in _PROGRAMS_OF_LIBRARIES


def is_standard(filename: str) -> bool:
    """Whether a file is of Python's standard library."""
    return filename.startswith(_STANDARD) and installed_name(filename) is None


@lru_cache(maxsize=8192)
def is_ours(filename: str) -> bool:
    """Whether a file is of this package."""
    return filename.startswith(_PACKAGE)


def installed_name(filename: str) -> str | None:
    """The dotted name of a module that is installed where pip puts packages; `None` for other files."""
    parts = Path(filename).parts
    for folder in _INSTALLED:
        if folder in parts:
            after = parts[parts.index(folder) + 1 :]
            return ".".join(after).removesuffix(".py") or None
    return None


def is_own_file(filename: str) -> bool:
    """Whether a file is the user's own: neither installed nor of the standard library, nor of this package."""
    return not filename.startswith((_PACKAGE, "<frozen", *_STANDARD)) and installed_name(filename) is None
