"""On which element of a discrete site each number of a term depends: found out on numbers, and tested.

The model is run with given values of its discrete sites. Numbers that change when some elements get another value
depend on these; elements are told apart by the bits of their positions, so that few runs are enough. A number may be
the same for many values (zero, where fewer are there than were counted), so a few others are tried. Then the tables
that are summed are compared with runs for random values. A model for which the
sum would be wrong is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.infer.discrete import DiscreteSite, TermOfSites
from wengert.infer.handlers import ModelError

_TRIALS = 4


def places_of(terms: list[TermOfSites], sites: list[DiscreteSite], run: Callable, rng: np.random.Generator) -> dict:
    """For terms and sites that are arrays: on which element each number depends, where that is not its own position.

    `run(values)` gives what each mark adds to the log-density, by its number, for given values of the sites.
    """
    found: dict[tuple[int, str], np.ndarray] = {}
    first = {site.name: np.broadcast_to(site.values[0], (*site.shape, *site.values.shape[1:])) for site in sites}
    for site in sites:
        if not site.shape:
            continue
        mine = [t for t in terms if site.axis in t.axes]
        if mine:
            found |= _places(mine, site, run, first)
    _compare(terms, sites, run, found, rng)
    return found


def _places(terms: list[TermOfSites], site: DiscreteSite, run: Callable, first: dict[str, Any]) -> dict:
    before = run(first)
    numbers = np.arange(1, site.size + 1).reshape(site.shape)
    codes: dict[int, Any] = {term.number: 0 for term in terms}
    last = len(site.values) - 1
    for bit, other in itertools.product(range(int(site.size).bit_length()), sorted({min(1, last), last // 2, last})):
        value = site.values[other * ((numbers >> bit) & 1)]
        after = run({**first, site.name: value})
        for term in terms:
            changed = ~np.isclose(before[term.number], after[term.number], rtol=1e-13, atol=0, equal_nan=True)
            codes[term.number] = codes[term.number] | (changed.astype(int) << bit)
    found, own = {}, np.arange(site.size)
    for number, code in codes.items():
        # What does not change may be put anywhere; where it has the form of the site, at its own position.
        unchanged = own if np.shape(code) == site.shape else 0
        place = np.where(np.ravel(code) == 0, unchanged, np.clip(np.ravel(code) - 1, 0, site.size - 1))
        if np.shape(code) != site.shape or not np.array_equal(place, own):
            found[number, site.name] = place
    return found


def _compare(
    terms: list[TermOfSites], sites: list[DiscreteSite], run: Callable, places: dict, rng: np.random.Generator
) -> None:
    """Raise unless the tables give what the model gives for values at random."""
    by_axis = {id(site.axis): site for site in sites}
    for _ in range(_TRIALS):
        chosen = {site.name: rng.integers(0, len(site.values), site.shape) for site in sites}
        given = {site.name: site.values[chosen[site.name]] for site in sites}
        expected = run(given)
        for term in terms:
            if not term.axes:
                continue
            own = np.shape(term.table)[len(term.axes) :]
            index: list[Any] = []
            for axis in term.axes:
                site = by_axis[id(axis)]
                picked = chosen[site.name]
                place = places.get((term.number, site.name))
                index.append(np.reshape(np.ravel(picked)[place], own) if place is not None else picked)
            positions = np.indices(own) if own else ()
            table = np.asarray(term.table)[(*index, *positions)]
            reference = np.broadcast_to(expected[term.number], np.shape(table))
            same = np.isclose(table, reference, rtol=1e-8, atol=1e-10, equal_nan=True)
            if not np.all(same):
                names = ", ".join(repr(by_axis[id(axis)].name) for axis in term.axes)
                raise ModelError(
                    f"the discrete sites {names} cannot be summed out one by one: something depends on several of "
                    "their elements at once",
                    remedy="let an observation depend on one element, as infer.observe(y, stats.norm(mu[z], s)) does; "
                    "give infer.factor a number for each element, not their sum; "
                    'for chains write a loop, z = infer.sample(f"z{t}", …), where each depends on the one before',
                )
