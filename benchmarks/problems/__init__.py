"""The problems: one file each, stating the program as its author would write it in NumPy.

A problem is a module with

- `SIZES`: the sizes n it is run at; each makes a case, called `<module>-<n>`;
- `title(n)`: what the tables call that case;
- `inputs(n)`: the arguments, always the same ones for the same n; the gradient is taken in the first, which may be
  nested lists and tuples of arrays;
- `objective(...)`: the function, written with plain `numpy` under the name `np`;
- `ANALYTIC = False` if the function cannot be evaluated at complex arguments (`check.py` then does without).

NumPy and wengert run that file as it stands. Another tool runs it with `np` replaced by its own namespace, if it has
one; a tool that has none, or cannot run the program so, gets a second file that states `objective` in its words:
`<module>_<tool>.py`, such as `helmholtz_torch.py`. Without either it sits the problem out. The second file may have

- `NOTE`: how its program differs, where the tables should say so;
- `SIZES`: the sizes that the tool is run at, where the others would take too long.
"""

import importlib.util
from types import ModuleType

NAMES = ("helmholtz", "recurrence", "mlp", "heat", "fill")


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


def in_own_words(tool: str, name: str) -> tuple[str | None, tuple[int, ...]]:
    """Return what the tables should say of a tool's own statement of a problem, and the sizes that it is run at."""
    module = load(name)
    try:
        own = load(f"{name}_{tool}")
    except NotStated:
        return None, module.SIZES
    return getattr(own, "NOTE", None), getattr(own, "SIZES", module.SIZES)


def cases(only: list[str] | None = None) -> list[tuple[str, str, int]]:
    """Return (case, problem, size) for every case, or for those that `only` names by case or by problem."""
    every = [(f"{name}-{size}", name, size) for name in NAMES for size in load(name).SIZES]
    if only is None:
        return every
    unknown = set(only) - {case for case, _, _ in every} - set(NAMES)
    if unknown:
        raise SystemExit(f"no such case: {', '.join(sorted(unknown))} (there are {', '.join(c for c, _, _ in every)})")
    return [row for row in every if row[0] in only or row[1] in only]
