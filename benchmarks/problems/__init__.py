"""The problems: one file each, stating the program as its author would write it in NumPy.

A problem is a module with

- `SIZES`: the sizes n it is run at; each makes a case, called `<module>-<n>`;
- `title(n)`: what the tables call that case;
- `inputs(n)`: the arguments, always the same ones for the same n; the gradient is taken in the first, which may be
  nested lists and tuples of arrays;
- `objective(...)`: the function, written with plain `numpy` under the name `np`;
- `ANALYTIC = False` if the function cannot be evaluated at complex arguments (`check.py` then does without).

A tool that brings a namespace like NumPy's own gets the same file with `np` replaced. For one that does not, a second
file states `objective` in its words, such as `helmholtz_torch.py`; without that file the tool sits the problem out.
"""

import importlib.util
from types import ModuleType

NAMES = ("helmholtz", "recurrence", "mlp")


class NotStated(Exception):
    """The problem is not stated in the words of this tool."""


def load(name: str, namespace: ModuleType | None = None) -> ModuleType:
    """Load a fresh copy of a problem's module, with `namespace` in the place of `np` if one is given."""
    spec = importlib.util.find_spec(f"problems.{name}")
    if spec is None or spec.loader is None:
        raise NotStated(f"there is no problems/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if namespace is not None:
        module.np = namespace
    return module


def cases(only: list[str] | None = None) -> list[tuple[str, str, int]]:
    """Return (case, problem, size) for every case, or for those that `only` names by case or by problem."""
    every = [(f"{name}-{size}", name, size) for name in NAMES for size in load(name).SIZES]
    if only is None:
        return every
    unknown = set(only) - {case for case, _, _ in every} - set(NAMES)
    if unknown:
        raise SystemExit(f"no such case: {', '.join(sorted(unknown))} (there are {', '.join(c for c, _, _ in every)})")
    return [row for row in every if row[0] in only or row[1] in only]
