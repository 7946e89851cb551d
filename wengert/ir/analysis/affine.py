"""Integers of a nest of loops as sums of counters, and what is certain of them.

An `Affine` is a number plus multiples of atoms: the counters of loops, and integers that the nest does not change. The
smallest value that one can have is found by putting bounds in place of the atoms, innermost first: a counter is at
least zero, and less than the number of iterations, which is itself a sum of counters further out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Atom(NamedTuple):
    """An integer that is not a sum of others.

    `depth` is that of the loop whose counter it is (-1 if it is not a counter). `later` tells the counters of an
    iteration from those of another one, which comes later.
    """

    key: int
    depth: int
    later: bool = False


class Affine(NamedTuple):
    """A number plus multiples of atoms.

    >>> k = Affine.of(Atom(1, 0))
    >>> (k + 2 - k).number
    2
    """

    number: int
    terms: Mapping[Atom, int]

    @classmethod
    def of(cls, x: int | Atom) -> Affine:
        return cls(0, {x: 1}) if isinstance(x, Atom) else cls(x, {})

    def plus(self, other: Affine, factor: int = 1) -> Affine:
        terms = dict(self.terms)
        for atom, c in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor * c
        return Affine(self.number + factor * other.number, {atom: c for atom, c in terms.items() if c})

    def __add__(self, other: Affine | int) -> Affine:  # type: ignore[override]
        return self.plus(other if isinstance(other, Affine) else Affine.of(other))

    def __sub__(self, other: Affine | int) -> Affine:
        return self.plus(other if isinstance(other, Affine) else Affine.of(other), -1)

    def scaled(self, factor: int) -> Affine:
        return Affine(0, {}).plus(self, factor)

    def with_later(self, keys: frozenset[int]) -> Affine:
        """With the counters of a later iteration in place of these."""
        return Affine(self.number, {a._replace(later=True) if a.key in keys else a: c for a, c in self.terms.items()})


Bounds = Mapping[Atom, tuple[Affine | None, Affine | None]]
"""The smallest and the largest value of atoms, in terms of atoms further out."""


def least(x: Affine, bounds: Bounds) -> int | None:
    """A number that an integer is never less than; None if there is none to be found."""
    while x.terms:
        # Counters of later iterations are bounded by those of the iteration before.
        atom = max(x.terms, key=lambda a: (a.depth, a.later))
        c = x.terms[atom]
        bound = bounds.get(atom, (None, None))[0 if c > 0 else 1]
        if bound is None:
            return None
        x = x.plus(Affine.of(atom), -c).plus(bound, c)
    return x.number
