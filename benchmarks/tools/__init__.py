"""The tools: one file each, named as `--tools` names them.

A tool is a module with `TITLE` (the heading of its column), `version()` (what is measured), and for each suite that it
takes part in, functions that return a function without arguments, which returns only when the numbers are there:

- eager: `prepare(problem, arguments)`: the gradient of the problem's objective in its first argument;
- compiled: `function(problem, arguments)`: the objective, and `derivative(problem, arguments)`: the derivative that the
  problem asks for. Either may be missing, or raise `problems.NotStated`.

All that a user would do once (converting the arguments, making the gradient function, compiling) belongs in these
functions or in the first call of what they return; what a user does for every derivative is in what they return.

`numpy` computes the objective itself: it is the yardstick. A module is imported only when its tool is asked for, so
one that is missing disturbs nobody.
"""

import importlib
from types import ModuleType

SUITES = {
    "eager": ("numpy", "wengert", "autograd", "torch", "jax", "jax_jit"),
    "compiled": ("numpy", "wengert_jit", "numba", "jax_jit", "casadi", "torch", "autograd"),
}
OURS = ("numpy", "wengert", "wengert_jit")
COMPILED_NAMES = {"wengert": "wengert_jit", "jax": "jax_jit"}


def of_suite(suite: str, asked: list[str] | None) -> list[str]:
    """Return the tools of a suite that are asked for (all, if None), in the order of its columns; NumPy is always."""
    if asked is None:
        return list(SUITES[suite])
    if suite == "compiled":
        asked = [COMPILED_NAMES.get(name, name) for name in asked]
    return [name for name in SUITES[suite] if name in asked or name == "numpy"]


def load(name: str) -> ModuleType:
    """Import a tool; raises whatever its import raises if it is not there or does not work."""
    return importlib.import_module(f"tools.{name}")
