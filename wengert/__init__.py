"""Wengert: differentiate the Python and NumPy you already have, exactly, to any order, in any mode.

>>> import numpy as np, wengert as wg
>>> wg.grad(lambda x: np.sum(np.sin(x) ** 2))(np.array([0.0, np.pi / 4])).round(12)
array([0., 1.])
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from wengert import errors
from wengert.imported import when_imported

if TYPE_CHECKING:
    from wengert import infer, nn, optimize
    from wengert.api import numerical
    from wengert.api.check import check_gradients
    from wengert.api.checkpoint import checkpoint
    from wengert.api.coloring import coloring
    from wengert.api.custom import custom_jvp, custom_vjp, stop_gradient
    from wengert.api.derivative_tensor import derivative_tensor
    from wengert.api.devices import device, set_device
    from wengert.api.enclose import enclose, interval
    from wengert.api.fields import curl, curl_and_divergence, divergence, laplacian
    from wengert.api.following import instrument, leave_alone
    from wengert.api.grad import grad, value_and_grad
    from wengert.api.hessian import grad_and_hessian, grad_and_hvp, hessian, hvp, value_grad_and_hessian
    from wengert.api.jacobian import jacfwd, jacobian, jacrev, value_and_jacobian
    from wengert.api.jit import jit
    from wengert.api.linearize import linearize
    from wengert.api.products import directional, jvp, vjp
    from wengert.api.sparsity import sparsity
    from wengert.api.subgradient import subgradient
    from wengert.api.taylor import derivative, derivatives, jet, taylor
    from wengert.api.taylor_ode import taylor_ode
    from wengert.api.verified_minimum import verified_minimum
    from wengert.api.verified_roots import verified_roots
    from wengert.api.vmap import vmap
    from wengert.api.wirtinger import wirtinger
    from wengert.backend.llvm.threads.threads import get_num_threads, set_num_threads
    from wengert.box.functions.statistics import logsumexp
    from wengert.explain.algebra import symbolic
    from wengert.explain.nans import debug_nans
    from wengert.explain.profile import profile
    from wengert.explain.source import source
    from wengert.explain.swell import expression_swell
    from wengert.explain.trace import trace
    from wengert.explain.ways import compare_ways
    from wengert.explain.write import explain
    from wengert.graphs.checkpoints import checkpoint_schedule
    from wengert.interop.jax import to_jax
    from wengert.interop.scipy import to_scipy
    from wengert.interop.torch import to_torch
    from wengert.solvers.implicit import implicit
    from wengert.solvers.linear import linear_solve
    from wengert.solvers.native import argmin, fixed_point, root
    from wengert.solvers.odeint import odeint
    from wengert.solvers.quadratic import lp, qp
    from wengert.solvers.taylor import integrate_taylor

__version__ = "0.1.0"

__all__ = [
    "argmin", "check_gradients", "checkpoint", "checkpoint_schedule", "coloring", "compare_ways", "curl",
    "curl_and_divergence", "custom_jvp", "custom_vjp", "debug_nans", "derivative", "derivative_tensor", "derivatives",
    "device", "directional", "divergence", "enclose", "errors", "explain", "expression_swell", "fixed_point",
    "get_num_threads", "grad", "grad_and_hessian", "grad_and_hvp", "hessian", "hvp", "implicit", "infer",
    "instrument", "integrate_taylor", "interval", "jacfwd", "jacobian", "jacrev", "jet", "jit", "jvp", "laplacian",
    "leave_alone", "linear_solve", "linearize", "logsumexp", "lp", "nn", "numerical", "odeint", "optimize", "profile",
    "qp", "root", "set_device", "set_num_threads", "source", "sparsity", "stop_gradient", "subgradient", "symbolic",
    "taylor", "taylor_ode", "to_jax", "to_scipy", "to_torch", "trace", "value_and_grad", "value_and_jacobian",
    "value_grad_and_hessian", "verified_minimum", "verified_roots", "vjp", "vmap", "wirtinger",
]  # fmt: skip

_MODULES = {"infer": "infer", "nn": "nn", "numerical": "api.numerical", "optimize": "optimize"}
_HOMES = {
    "api.check": "check_gradients",
    "api.checkpoint": "checkpoint",
    "api.coloring": "coloring",
    "api.custom": "custom_jvp custom_vjp stop_gradient",
    "api.derivative_tensor": "derivative_tensor",
    "api.devices": "device set_device",
    "api.enclose": "enclose interval",
    "api.fields": "curl curl_and_divergence divergence laplacian",
    "api.following": "instrument leave_alone",
    "api.grad": "grad value_and_grad",
    "api.hessian": "grad_and_hessian grad_and_hvp hessian hvp value_grad_and_hessian",
    "api.jacobian": "jacfwd jacobian jacrev value_and_jacobian",
    "api.jit": "jit",
    "api.linearize": "linearize",
    "api.products": "directional jvp vjp",
    "api.sparsity": "sparsity",
    "api.subgradient": "subgradient",
    "api.taylor": "derivative derivatives jet taylor",
    "api.taylor_ode": "taylor_ode",
    "api.verified_minimum": "verified_minimum",
    "api.verified_roots": "verified_roots",
    "api.vmap": "vmap",
    "api.wirtinger": "wirtinger",
    "backend.llvm.threads.threads": "get_num_threads set_num_threads",
    "box.functions.statistics": "logsumexp",
    "explain.algebra": "symbolic",
    "explain.nans": "debug_nans",
    "explain.profile": "profile",
    "explain.source": "source",
    "explain.swell": "expression_swell",
    "explain.trace": "trace",
    "explain.ways": "compare_ways",
    "explain.write": "explain",
    "graphs.checkpoints": "checkpoint_schedule",
    "interop.jax": "to_jax",
    "interop.scipy": "to_scipy",
    "interop.torch": "to_torch",
    "solvers.implicit": "implicit",
    "solvers.linear": "linear_solve",
    "solvers.native": "argmin fixed_point root",
    "solvers.odeint": "odeint",
    "solvers.quadratic": "lp qp",
    "solvers.taylor": "integrate_taylor",
}
"""Where the public names are defined. They are imported when they are first asked for, so that a program loads only
what it uses: the compiler, the solvers and the pages that explain take longer to load than `grad`. The imports above
say the same to those who only read the source; `tests/test_importing.py` compares."""
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        found: Any = importlib.import_module(f"wengert.{_MODULES[name]}")
    elif name in _HOME:
        found = getattr(importlib.import_module(f"wengert.{_HOME[name]}"), name)
    else:
        raise AttributeError(  # which Python completes: Did you mean …
            f"module 'wengert' has no attribute {name!r}", name=name, obj=sys.modules[__name__]
        )
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """This package. When the folder `explain` is imported, Python would put it in place of the function `explain`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def _solvers_of_scipy(name: str, *modules: str) -> None:
    """What SciPy's solvers mean is loaded once someone has imported them."""
    for module in modules:
        when_imported(name)(lambda _, module=module: importlib.import_module(f"wengert.solvers.{module}"))


_solvers_of_scipy("scipy.integrate", "scipy_bvp", "scipy_ode")
_solvers_of_scipy("scipy.optimize", "scipy_minima", "scipy_roots", "scipy_searches", "scipy_assignments")
_solvers_of_scipy("scipy.sparse.linalg", "scipy_linear")
