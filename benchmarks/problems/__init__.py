"""The problems: one file each, stating the program as its author would write it in NumPy.

A problem is a module with

- `SIZES`: the sizes n it is run at; each makes a case, called `<module>-<n>`;
- `title(n)`: what the tables call that case;
- `inputs(n)`: the arguments, always the same ones for the same n; the gradient is taken in the first, which may be
  nested lists and tuples of arrays;
- `objective(...)`: the function, written with plain `numpy` under the name `np`;
- `ANALYTIC = False` if the function cannot be evaluated at complex arguments (the checks then do without).

The compiled suite knows some more:

- `COMPILED_SIZES`: the sizes there, if they differ; sizes may be names, too;
- `DERIVATIVE`: which derivative is wanted, if it is not the gradient (`tools/derivatives.py`);
- `STATIC`: which arguments are part of the program, not data;
- `golden(n)`: the right function value and derivative, or None.

NumPy and wengert run that file as it stands. Another tool runs it with `np` replaced by its own namespace, if it has
one; a tool that has none, or cannot run the program so, gets a second file that states `objective` in its words:
`<module>_<tool>.py`, such as `helmholtz_torch.py`. Without either it sits the problem out. The second file may have

- `NOTE`: how its program differs, where the tables should say so;
- `SIZES`: the sizes that the tool is run at, where the others would take too long;
- `derivative`: the derivative, with the arguments of the objective, where the tool's operators are not enough;
- `arranged`: from what that returns to what the other tools return, for the comparison.
"""

import importlib.util
from collections.abc import Callable
from types import ModuleType

import numpy as np
import trees

NAMES = ("helmholtz", "recurrence", "mlp", "heat", "fill")


NUMPY = np


class NotStated(Exception):
    """The problem is not stated in the words of this tool."""


def load(name: str) -> ModuleType:
    """Load a fresh copy of a problem's module."""
    spec = importlib.util.find_spec(f"problems.{name}")
    if spec is None or spec.loader is None:
        raise NotStated(f"there is no problems/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stated_for(tool: str, name: str, namespace: ModuleType | None = None) -> ModuleType:
    """Load a problem in a tool's own words, or else as it is, with `namespace` in the place of `np`."""
    try:
        return load(f"{name}_{tool}")
    except NotStated:
        if namespace is None:
            raise
    module = load(name)
    module.np = namespace
    return module


def derivative_of(name: str) -> str | None:
    """Return which derivative a problem asks for."""
    return getattr(load(name), "DERIVATIVE", "gradient")


def static(name: str) -> tuple[int, ...]:
    """Return which arguments of a problem are part of the program."""
    return getattr(load(name), "STATIC", ())


def compiled_sizes(name: str) -> tuple:
    """Return the sizes at which the compiled suite runs a problem."""
    module = load(name)
    return getattr(module, "COMPILED_SIZES", module.SIZES)


def direction(point):
    """Return a direction to differentiate along: of the nesting and shapes of a point, always the same."""
    random = np.random.default_rng(0)
    return trees.map_leaves(lambda leaf: random.normal(size=np.shape(leaf)), point)


def in_own_words(tool: str, name: str, sizes: tuple | None = None) -> tuple[str | None, tuple]:
    """Return what the tables should say of a tool's own statement of a problem, and the sizes that it is run at."""
    sizes = load(name).SIZES if sizes is None else sizes
    try:
        own = load(f"{name}_{tool}")
    except NotStated:
        return None, sizes
    return getattr(own, "NOTE", None), getattr(own, "SIZES", sizes)


def arranged(tool: str, name: str, what: str) -> Callable:
    """Return how a tool's result is brought into the form that the others have."""
    try:
        own = load(f"{name}_{tool}")
    except NotStated:
        return lambda result: result
    return getattr(own, "arranged", lambda result: result) if what == "derivative" else lambda result: result


def cases(only: list[str] | None = None) -> list[tuple[str, str, int]]:
    """Return (case, problem, size) for every case, or for those that `only` names by case or by problem."""
    every = [(f"{name}-{size}", name, size) for name in NAMES for size in load(name).SIZES]
    if only is None:
        return every
    return [row for row in every if row[0] in only or row[1] in only]
