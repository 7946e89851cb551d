"""The tools: one file each, named as `--tools` names them.

A tool is a module with

- `TITLE`: the heading of its column;
- `version()`: the version that is measured;
- `prepare(problem, arguments)`: a function without arguments that computes the gradient of the problem's objective in
  its first argument, and returns only when the numbers are there. All that a user would do once (converting the
  arguments, making the gradient function) belongs in `prepare`; what a user does for every gradient is in the function
  it returns.

`numpy` computes the objective itself: it is the yardstick. A module is imported only when its tool is asked for, so
one that is missing disturbs nobody.
"""

import importlib
from types import ModuleType

NAMES = ("numpy", "wengert", "autograd", "torch", "jax", "jax_jit")
PEERS = ("autograd", "torch", "jax", "jax_jit")


def load(name: str) -> ModuleType:
    """Import a tool; raises whatever its import raises if it is not there or does not work."""
    return importlib.import_module(f"tools.{name}")
