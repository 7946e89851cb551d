"""Write docs/coverage.md: every public function of NumPy's and SciPy's main modules, and what Wengert makes of it.

    python docs/make_coverage.py            rewrite the page
    python docs/make_coverage.py --check    exit 1 if the page is not what it would be

Run with autograd and JAX installed it also counts what they have, into docs/coverage_peers.json, from which the page
takes these figures otherwise.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import scipy

import wengert as wg
from wengert.box.dispatch import BLIND, CALLABLES, CALLERS, FUNCTIONS, NONDIFFERENTIABLE, UFUNCS
from wengert.capture.instrument import is_user_code
from wengert.capture.replacements import REPLACEMENTS
from wengert.imported import look_for_imports

HERE = Path(__file__).parent
PAGE, PEERS = HERE / "coverage.md", HERE / "coverage_peers.json"

VERSIONS = f"NumPy {np.__version__}, SciPy {scipy.__version__}"
"""What the page is for; other versions have other functions."""

MODULES = (
    "numpy",
    "numpy.linalg",
    "numpy.fft",
    "scipy.special",
    "scipy.linalg",
    "scipy.fft",
    "scipy.signal",
    "scipy.interpolate",
    "scipy.integrate",
    "scipy.ndimage",
    "scipy.spatial.distance",
    "scipy.spatial.transform",
    "scipy.optimize",
)
DISTRIBUTIONS = (
    *("norm", "t", "cauchy", "beta", "gamma", "invgamma", "chi2", "f", "expon", "laplace", "logistic", "lognorm"),
    *("weibull_min", "pareto", "uniform", "truncnorm", "poisson", "binom", "nbinom", "bernoulli", "geom"),
    *("dirichlet", "multinomial", "multivariate_normal", "multivariate_t", "wishart"),
)
METHODS = ["pdf", "logpdf", "cdf", "logcdf", "sf", "ppf", "pmf", "logpmf", "entropy"]


NO_NUMBERS = {
    "numpy": "asmatrix bartlett base_repr binary_repr blackman bmat broadcast_shapes datetime_data diag_indices "
    "format_float_positional format_float_scientific from_dlpack fromfile fromregex fromstring get_include "
    "get_printoptions getbufsize geterr geterrcall hamming hanning indices info isdtype isfortran issubdtype iterable "
    "load mask_indices mintypecode nested_iters printoptions promote_types set_printoptions setbufsize seterr "
    "seterrcall show_config show_runtime test tril_indices triu_indices typename frompyfunc",
    "numpy.linalg": "test",
    "numpy.fft": "fftfreq rfftfreq test",
    "scipy.special": "errstate geterr seterr test",
    "scipy.linalg": "find_best_blas_type get_blas_funcs get_lapack_funcs hadamard helmert hilbert invhilbert invpascal "
    "pascal dft test ishermitian issymmetric bandwidth",
    "scipy.fft": "fftfreq get_workers next_fast_len prev_fast_len register_backend rfftfreq set_backend "
    "set_global_backend set_workers skip_backend test",
    "scipy.spatial.distance": "is_valid_dm is_valid_y num_obs_dm num_obs_y",
    "scipy.optimize": "BFGS Bounds BroydenFirst HessianUpdateStrategy InverseJacobian KrylovJacobian "
    "LbfgsInvHessProduct LinearConstraint NonlinearConstraint OptimizeResult RootResults SR1 linprog_verbose_callback "
    "show_options",
}
"""Functions without a floating-point array to differentiate: settings, types, files, tables of integers."""


def public_functions(module: Any) -> dict[str, Any]:
    """The functions, ufuncs and callable classes that a module offers by name."""
    names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    found = {}
    for name in sorted(set(names)):
        thing = getattr(module, name, None)
        if callable(thing) and not name.startswith("_") and not _is_type(thing):
            found[name] = thing
    return found


def _is_type(thing: Any) -> bool:
    """Types of numbers, exceptions and the like are no functions; classes that are called (splines) count."""
    return isinstance(thing, type) and (
        issubclass(thing, (np.generic, BaseException, np.dtype, np.ndarray)) or thing.__module__.startswith("numpy")
    )


def status_of(function: Any, module: str = "", name: str = "") -> tuple[str, str]:
    """("supported" | "followed" | "not differentiable" | "not yet", reason)."""
    if name in NO_NUMBERS.get(module, "").split():
        return "not differentiable", "takes no floating-point arrays"
    try:
        tables = (FUNCTIONS, UFUNCS, BLIND, CALLERS, CALLABLES, REPLACEMENTS)
        makers = (
            [getattr(function, n) for n in dir(function) if n.startswith("from_")] if isinstance(function, type) else []
        )
        if any(thing in table for thing in (function, *makers) for table in tables) or (
            not isinstance(function, type) and type(function) in CALLABLES
        ):
            return "supported", ""
        reason = NONDIFFERENTIABLE.get(function, "")
    except TypeError:  # unhashable
        reason = ""
    if not reason and isinstance(function, FunctionType) and is_user_code(function.__code__):
        return "followed", ""
    if reason:
        return ("not yet" if "yet" in reason else "not differentiable"), reason
    return "not yet", ""


def count_peers() -> dict[str, dict[str, int]]:
    """How many functions of each module autograd has a rule for, and how many JAX offers under the same name."""
    counts: dict[str, dict[str, int]] = {}
    tools = {
        "autograd": {"numpy": "autograd.numpy", "scipy": "autograd.scipy"},
        "JAX": {"numpy": "jax.numpy", "scipy": "jax.scipy"},
    }
    for tool, roots in tools.items():
        if importlib.util.find_spec(tool.lower()) is None:
            return {}
        counts[tool] = {}
        for name in MODULES:
            root, _, rest = name.partition(".")
            try:
                theirs = importlib.import_module(f"{roots[root]}.{rest}" if rest else roots[root])
            except ImportError:
                counts[tool][name] = 0
                continue
            ours = public_functions(importlib.import_module(name))
            counts[tool][name] = sum(1 for n in ours if _has(tool, getattr(theirs, n, None)))
    return counts


def _has(tool: str, function: Any) -> bool:
    if function is None or not callable(function):
        return False
    if tool == "autograd":
        core = sys.modules["autograd.core"]
        return getattr(function, "fun", None) is not None and function in core.primitive_vjps
    return True


def page() -> str:
    """The text of the page."""
    peers = count_peers()
    if peers:
        PEERS.write_text(json.dumps(peers, indent=1, sort_keys=True) + "\n")
    peers = json.loads(PEERS.read_text()) if PEERS.exists() else {}
    modules = {name: public_functions(importlib.import_module(name)) for name in MODULES}
    stats = importlib.import_module("scipy.stats")
    look_for_imports()
    lines = [
        "# Coverage",
        "",
        "Generated by `python docs/make_coverage.py`; do not edit. A function counts as *supported* if its result is",
        "differentiable in its floating-point arguments, or exactly constant (a comparison). SciPy's functions that do",
        "not dispatch on traced values are supported in functions whose source can be read. *Followed* is code of",
        "SciPy's that is treated as yours: what it does must be supported.",
        "",
        f"With {VERSIONS}.",
        "",
        "autograd: functions with a derivative rule. JAX: functions of the same name, differentiable or not.",
        "",
        "| module | functions | supported | followed | not differentiable | not yet | autograd | JAX |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    details = []
    for name, functions in modules.items():
        groups: dict[str, list[str]] = {"supported": [], "followed": [], "not differentiable": [], "not yet": []}
        for short, function in functions.items():
            groups[status_of(function, name, short)[0]].append(short)
        figures = " | ".join(str(len(groups[g])) for g in groups)
        theirs = " | ".join(str(peers.get(tool, {}).get(name, "–")) for tool in ("autograd", "JAX"))
        lines.append(f"| `{name}` | {len(functions)} | {figures} | {theirs} |")
        details += ["", f"## {name}", ""]
        details += [f"**{g}**: {', '.join(f'`{n}`' for n in groups[g]) or '–'}" + "\n" for g in groups]
    details += ["", "## scipy.stats", "", "| distribution | methods |", "|---|---|"]
    for name in DISTRIBUTIONS:
        distribution = getattr(stats, name)
        methods = [
            m for m in METHODS if hasattr(distribution, m) and status_of(getattr(distribution, m))[0] == "supported"
        ]
        details.append(f"| `{name}` | {', '.join(f'`{m}`' for m in methods) or 'not yet'} |")
    of_samples = [
        name
        for name, function in public_functions(stats).items()
        if isinstance(function, FunctionType) and status_of(function, "scipy.stats", name)[0] == "supported"
    ]
    details += ["", f"**functions of samples**: {', '.join(f'`{n}`' for n in of_samples)}"]
    return "\n".join([*lines, *details]).rstrip() + "\n"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = page()
    if arguments.check:
        return 0 if PAGE.read_text() == text else 1
    PAGE.write_text(text)
    print(f"{PAGE.name}: wengert {wg.__version__}, numpy {np.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
