"""Marks of a model that are put aside, to be computed with others that look alike (`alike.py`).

This is bookkeeping, done once for each mark: it is not followed (`packages.py`), so that it takes little time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from wengert.api.alternatives import laid_out
from wengert.infer import distributions


class PutAside(NamedTuple):
    """A mark whose log-density is computed later.

    `operands` are value and parameters, with the axes of discrete sites in front; each with the axes it has. `family`
    says which distribution it is: `alike.py` makes it again of them.
    """

    form: tuple
    family: tuple
    axes: list[Any]
    places: tuple[int, ...]
    operands: list[tuple[Any, list[Any]]]


def put_aside(dist: Any, value: Any, sites: dict[int, int], axes: list[Any]) -> PutAside | None:
    """A mark to be computed later; `None` if it depends on no discrete site, or the distribution is not one of numbers.

    `sites` has the number of a site by the identity of its axis.
    """
    found = _taken_apart(dist)
    if found is None:
        return None
    family, parameters = found
    operands = [laid_out(x, axes) for x in (value, *parameters)]
    numbers = {sites[id(axis)]: axis for _, own in operands for axis in own}
    if not numbers:
        return None
    places = tuple(sorted(numbers))
    used = [numbers[place] for place in places]
    form = [family, tuple([places[-1] - place for place in places]), tuple([axis.size for axis in used])]
    for x, own in operands:
        kind = x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
        form.append((kind, np.shape(x)[len(own) :], tuple([used.index(axis) for axis in own])))
    return PutAside(tuple(form), family, used, places, operands)


def _taken_apart(dist: Any) -> tuple[tuple, list[Any]] | None:
    """The family of a distribution of numbers, and its parameters."""
    name = distributions.family(dist)
    if hasattr(dist, "xk") and hasattr(dist, "pk"):
        return ("rv_discrete", tuple(np.asarray(dist.xk).tolist())), [dist.pk]
    scipy = getattr(stats, name, None)
    if not isinstance(scipy, (stats.rv_continuous, stats.rv_discrete)) or not hasattr(dist, "kwds"):
        return None
    return (name, len(dist.args), tuple(dist.kwds)), [*dist.args, *dist.kwds.values()]
