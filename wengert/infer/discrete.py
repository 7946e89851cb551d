"""Discrete sites, summed out of the density.

A discrete site stands for all its values at once, on an axis of its own (`api/alternatives.py`); whatever depends on it
has this axis. What the model adds to the log-density is then a table over the axes of the sites it depends on, a term.
Sites are eliminated one after another: the terms that have the axis are added up and the axis is summed out (in
logarithms), which leaves a term over the axes of its neighbours. For sites of which each depends on
the one before this is the forward algorithm of hidden Markov models.

A site that is an array has one axis, too: all its elements have the same value at a time. That is right if every number
of a term depends on one element only, and which one that is has been found out, and tested, on numbers (`probing.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from wengert.api.alternatives import alternatives, laid_out
from wengert.infer import distributions
from wengert.infer.alike import AlikeTerms
from wengert.infer.handlers import ModelError

_MOST_VALUES = 1000
_LARGEST_TABLE = 10**6


def values_of(name: str, dist: Any) -> np.ndarray:
    """All values of a discrete distribution, along the first axis."""
    kind = distributions.family(dist)
    if hasattr(dist, "xk"):
        return np.unique(dist.xk)
    if hasattr(getattr(dist, "dist", None), "xk"):  # a list of values with a location
        return np.unique(dist.dist.xk) + dist.kwds.get("loc", dist.args[0] if dist.args else 0)
    if kind == "multinomial":
        if np.any(np.asarray(dist.n) != 1):
            raise ModelError(
                f"site {name!r} is multinomial with more than one trial, which is not summed out",
                remedy="write one trial for each, stats.multinomial(1, p), or observe the counts",
            )
        return np.eye(np.shape(dist.p)[-1], dtype=int)
    low, high = dist.support()
    if not (
        isinstance(low, _NUMBERS) and isinstance(high, _NUMBERS) and np.all(np.isfinite([np.min(low), np.max(high)]))
    ):
        raise ModelError(
            f"site {name!r} has infinitely many values ({kind}), which cannot be summed out",
            remedy="truncate it: stats.rv_discrete(values=(k, p)) with the values that matter; or sum it by hand",
        )
    count = int(np.max(high)) - int(np.min(low)) + 1
    if count > _MOST_VALUES:
        raise ModelError(
            f"site {name!r} has {count} values, which is too many to sum over",
            remedy=f"use a distribution with at most {_MOST_VALUES} values",
        )
    return np.arange(int(np.min(low)), int(np.max(high)) + 1)


_NUMBERS = (int, float, np.ndarray, np.generic)


class DiscreteSite(NamedTuple):
    """A site that is summed out: its values, the shape of the site, and the axis it is on."""

    name: str
    values: np.ndarray
    shape: tuple[int, ...]
    axis: Any

    @property
    def size(self) -> int:
        return math.prod(self.shape)


class TermOfSites(NamedTuple):
    """What one mark adds to the log-density: a table over the axes of discrete sites, in front of its own axes.

    `number` says which mark of the model it was.
    """

    table: Any
    axes: list[Any]
    number: int


def enumerated(name: str, values: np.ndarray, shape: tuple[int, ...], memo: dict) -> tuple[Any, DiscreteSite]:
    """A site that stands for all its values; sites with the same values share what is computed (`memo`)."""
    value, axis = alternatives(values, shape, memo)
    return value, DiscreteSite(name, values, shape, axis)


def term_of(logp: Any, sites: list[DiscreteSite], number: int) -> TermOfSites:
    """A contribution to the log-density as a table."""
    table, axes = laid_out(logp, [site.axis for site in sites])
    return TermOfSites(table, axes, number)


def summed_out(
    terms: list[TermOfSites],
    sites: list[DiscreteSite],
    places: dict[tuple[int, str], Any],
    alike: Sequence[AlikeTerms] = (),
) -> Any:
    """The logarithm of the sum over all values of all sites of exp(sum of terms).

    `places[number, name]` says, for a term and a site that is an array, on which element each number of it depends.
    Terms that look alike come together.
    """
    arrays = [site for site in sites if site.shape]
    shapes = {site.shape for site in arrays}
    if len(shapes) > 1 and any(sum(site.axis in t.axes for site in arrays) > 1 for t in terms):
        names = ", ".join(repr(site.name) for site in arrays)
        raise ModelError(
            f"something depends on discrete sites of different shapes: {names}",
            remedy="sample them in one shape, or sum one of them out by hand with np.logaddexp",
        )
    left = [_aligned(term, arrays, places) for term in terms]
    for site in reversed(arrays):
        left = _eliminated(left, site.axis, site.shape)
        others = [other for other in arrays if other is not site]
        left = [_collapsed(t, others) for t in left]
        arrays = others
    left = [_collapsed(term, []) for term in left]
    scalars = [site for site in sites if not site.shape]
    found = _as_chain(left, scalars, alike)
    if found is not None:
        return found
    for group in alike:
        left += [
            TermOfSites(group.table[k], [sites[number].axis for number in numbers], -1)
            for k, numbers in enumerate(group.sites)
        ]
    waiting = [site.axis for site in scalars]
    while waiting:
        neighbours = [len({id(a) for t in left if axis in t.axes for a in t.axes}) for axis in waiting]
        axis = waiting.pop(int(np.argmin(neighbours)))
        left = _eliminated(left, axis, ())
    total = 0.0
    for term in left:
        total = total + np.sum(term.table)
    return total


def _aligned(term: TermOfSites, arrays: list[DiscreteSite], places: dict[tuple[int, str], Any]) -> TermOfSites:
    """A term whose own axes are those of the arrays it depends on."""
    mine = [site for site in arrays if site.axis in term.axes]
    if not mine:
        return term
    shape, own = mine[0].shape, np.shape(term.table)[len(term.axes) :]
    place = places.get((term.number, mine[0].name))
    if place is None:
        return term
    axes = np.shape(term.table)[: len(term.axes)]
    flat = np.reshape(term.table, (*axes, math.prod(own)))
    gathered = np.zeros((*axes, math.prod(shape)))
    np.add.at(gathered, (*(slice(None),) * len(axes), place), flat)
    return term._replace(table=np.reshape(gathered, (*axes, *shape)))


def _collapsed(term: TermOfSites, arrays: list[DiscreteSite]) -> TermOfSites:
    """A term that depends on no array any more is summed over its own axes."""
    if any(site.axis in term.axes for site in arrays):
        return term
    own = tuple(range(len(term.axes), np.ndim(term.table)))
    return term._replace(table=np.sum(term.table, axis=own)) if own else term


def _eliminated(terms: list[TermOfSites], axis: Any, shape: tuple[int, ...]) -> list[TermOfSites]:
    """The terms after an axis was summed out."""
    mine = [term for term in terms if axis in term.axes]
    others = [term for term in terms if axis not in term.axes]
    if not mine:
        return terms
    axes = [axis]
    for term in mine:
        axes += [a for a in term.axes if a not in axes]
    if math.prod([a.size for a in axes]) * math.prod(shape) > _LARGEST_TABLE:
        raise ModelError(
            "discrete sites depend on one another so much that the table of their values would not fit into memory",
            remedy="sum some of them out by hand, or let each depend on fewer others",
        )
    total = 0.0
    for term in mine:
        total = total + _with_axes(term, axes, shape)
    return [*others, TermOfSites(_summed(total), axes[1:], -1)]


def _with_axes(term: TermOfSites, axes: list[Any], shape: tuple[int, ...]) -> Any:
    """The table of a term over more axes, in their order."""
    given = [a for a in axes if a in term.axes]
    order = [term.axes.index(a) for a in given]
    own = range(len(given), np.ndim(term.table))
    table = np.transpose(term.table, (*order, *own))
    lengths = [a.size if a in given else 1 for a in axes]
    return np.reshape(table, (*lengths, *np.shape(table)[len(given) :])) if shape or own else np.reshape(table, lengths)


def _summed(table: Any) -> Any:
    """log Σ exp along the first axis. What is impossible (−∞) counts nothing, and has no slope.

    The slope of log p where p is zero is infinite: `where` says that it is not asked for.
    """
    return logsumexp(np.where(table == -np.inf, -np.inf, table), axis=0)


def _as_chain(terms: list[TermOfSites], sites: list[DiscreteSite], alike: Sequence[AlikeTerms]) -> Any:
    """The sum over sites of which each depends on the one before, in one loop; `None` if they are otherwise."""
    if len(sites) < 4 or len({len(site.values) for site in sites}) > 1:
        return None
    index = {id(site.axis): k for k, site in enumerate(sites)}
    placed = [(term.table, [index[id(axis)] for axis in term.axes]) for term in terms]
    neighbours = [abs(places[0] - places[1]) for _, places in placed if len(places) == 2]
    neighbours += [step for group in alike if group.sites.shape[1] == 2 for step in np.diff(group.sites)[:, 0]]
    most = max([*[len(places) for _, places in placed], *[group.sites.shape[1] for group in alike]])
    if most > 2 or any(step != 1 for step in neighbours):
        return None
    count, rest = len(sites[0].values), 0.0
    singles = np.zeros((len(sites), count))
    doubles = np.zeros((len(sites) - 1, count, count))
    for table, places in placed:
        if not places:
            rest = rest + table
        elif len(places) == 1:
            singles[places[0]] += table
        else:
            doubles[min(places)] += table if places[0] < places[1] else np.transpose(table)
    for group in alike:
        np.add.at(singles if group.sites.shape[1] == 1 else doubles, group.sites[:, 0], group.table)
    return rest + _forward(singles, doubles)


def _forward(singles: Any, doubles: Any) -> Any:
    """log Σ over paths of exp(Σₜ singles[t, zₜ] + Σₜ doubles[t, zₜ, zₜ₊₁])."""
    alpha = singles[0]
    for t in range(1, len(singles)):
        alpha = _summed(np.expand_dims(alpha, 1) + doubles[t - 1]) + singles[t]
    return _summed(alpha)
