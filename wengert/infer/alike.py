"""Log-densities of marks that look alike, computed all at once.

A chain is written as a loop, `z = infer.sample(f"z{t}", stats.bernoulli(P[z]))`, whose iterations have names of their
own and are written out therefore. Their distributions are put aside, with parameters and values (`aside.py`). Those of
the same family and form, which depend on discrete sites in the same way, become one log-density with an axis for the
marks in front: what is compiled, and what is computed, is one formula for the whole chain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from wengert.infer.aside import PutAside


class AlikeTerms(NamedTuple):
    """Tables of marks that look alike along the first axis; `sites` has the numbers of the sites of each."""

    table: Any
    sites: np.ndarray


def computed(marks: list[PutAside]) -> list[AlikeTerms]:
    """The tables of all marks, those that look alike together."""
    groups: dict[tuple, list[PutAside]] = {}
    for mark in marks:
        groups.setdefault(mark.form, []).append(mark)
    return [_at_once(group) for group in groups.values()]


def _log_density(family: tuple, x: Any, *given: Any) -> Any:
    """log p(x) of a family with these parameters; of a list of values, probabilities are along their last axis."""
    if family[0] == "rv_discrete":
        hits = np.expand_dims(x, -1) == np.array(family[1])
        one = np.sum(np.where(hits, given[0], 0.0), axis=-1)
        return np.where(one > 0, np.log(np.where(one > 0, one, 1.0)), -np.inf)
    name, count, names = family
    dist = getattr(stats, name)(*given[:count], **dict(zip(names, given[count:], strict=True)))
    return dist.logpmf(x) if isinstance(getattr(stats, name), stats.rv_discrete) else dist.logpdf(x)


def _at_once(group: list[PutAside]) -> AlikeTerms:
    first = group[0]
    events = [1 if k and first.family[0] == "rv_discrete" else 0 for k in range(len(first.operands))]
    own = max([np.ndim(x) - len(has) - event for (x, has), event in zip(first.operands, events, strict=True)])
    stacked = []
    for k, event in enumerate(events):
        parts = [mark.operands[k][0] for mark in group]
        has = first.operands[k][1]
        same = len(set(map(id, parts))) == 1
        x = np.expand_dims(parts[0], 0) if same else np.stack(parts)
        used = [axis for axis in first.axes if axis in has]
        behind = range(1 + len(has), np.ndim(x))
        x = np.transpose(x, (0, *[1 + has.index(axis) for axis in used], *behind))
        shape = np.shape(x)[1 + len(has) :]
        lengths = [axis.size if axis in has else 1 for axis in first.axes]
        ones = (1,) * (own + event - len(shape))
        stacked.append(np.reshape(x, (np.shape(x)[0], *lengths, *ones, *shape)))
    table = _log_density(first.family, *stacked)
    sizes = tuple([axis.size for axis in first.axes])
    inside = tuple(range(1 + len(sizes), np.ndim(table)))
    table = np.sum(table, axis=inside) if inside else table
    return AlikeTerms(np.broadcast_to(table, (len(group), *sizes)), np.array([mark.places for mark in group]))
