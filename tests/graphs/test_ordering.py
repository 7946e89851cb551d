"""The orders of vertices, by definition."""

from __future__ import annotations

import numpy as np
import patterns as p
import pytest

from wengert.graphs.ordering import hops_of, ordered
from wengert.graphs.pattern import adjacency, as_pattern, columns_to_rows, rows_to_columns
from wengert.graphs.running import interpreted


def neighbours_and_hops(made, one_hop):
    pattern = as_pattern(made)
    if one_hop:
        return p.neighbours(made), hops_of(adjacency(pattern))
    shared = (made.T.astype(int) @ made) > 0
    return p.neighbours(shared), hops_of(columns_to_rows(pattern), rows_to_columns(pattern))


CASES = [pytest.param(made, one_hop, id=f"{name}-{'adjacency' if one_hop else 'columns'}")
         for one_hop, made_for in ((True, p.SQUARE), (False, p.ALL)) for name, made in made_for.items()]  # fmt: skip


@pytest.mark.parametrize(("made", "one_hop"), CASES)
def test_orders(made, one_hop):
    near, hops = neighbours_and_hops(made, one_hop)
    n = len(near)
    vertices = list(range(n))

    def order(name):
        found = ordered(hops, name, 3, interpreted).tolist()
        assert sorted(found) == vertices
        return found

    assert order("natural") == vertices
    assert order("random") == np.random.default_rng(3).permutation(n).tolist()
    assert order("largest-first") == sorted(vertices, key=lambda v: -len(near[v]))
    # Last comes who has the fewest neighbours among those that come before
    left, expected = set(vertices), []
    while left:
        expected.append(min(left, key=lambda v: (len(near[v] & left), v)))
        left.remove(expected[-1])
    assert order("smallest-last") == expected[::-1]
    # Next comes who has the most neighbours among those that came, of equals who has the most at all
    come = []
    while len(come) < n:
        come.append(min(set(vertices) - set(come), key=lambda v: (-len(near[v] & set(come)), -len(near[v]), v)))
    assert order("incidence") == come
