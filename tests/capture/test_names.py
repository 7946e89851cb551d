"""Which names syntax binds: summaries of nested statements say what a walk through all of them says."""

import argparse
import ast
import inspect
import typing

import pytest

from wengert.capture.names import Summaries, bound, own_nodes, stored

_SUITES = ("body", "orelse", "finalbody")

CASES = """
match x:
    case [a, *rest] if (b := a): c[0] = b
    case {"k": d, **others}: pass
    case e: e += 1
"""


@pytest.mark.parametrize("source", [CASES, *map(inspect.getsource, (argparse, typing, inspect))], ids=range(4))
def test_summaries_are_what_a_walk_finds(source):
    tree = ast.parse(source)
    summaries = Summaries()
    held = [getattr(node, field, None) for node in ast.walk(tree) for field in _SUITES]
    for suite in [suite for suite in held if isinstance(suite, list)]:
        found = summaries.of(suite)
        assert list(found.bound) == bound(suite)
        assert list(found.stored) == stored(suite)
        assert found.calls == any(isinstance(node, ast.Call) for node in own_nodes(suite))


def test_arrays_of_different_lengths_change_places():
    """Another name of one of them sees what is written to it, wherever it is by then."""

    def two(x, n):
        u, v = x * 1.0, np.zeros(1)
        first = u
        for _ in range(n):
            u[...] += 0.5
            u, v = v, u
        return first, np.sum(u), np.sum(v)

    def three(x, n):
        u, v, z = x * 1.0, np.zeros(3), np.ones(2)
        last, i = z, 0
        while i < n:
            u[0] += x[i % 4]
            u, v, z = v, z, u
            i += 1
        return last, np.sum(u), np.sum(v), np.sum(z)

    x = np.array([0.5, 0.8, 0.3, -0.2])
    for f in (two, three):
        for n in (5, 4, 1, 0):
            for got, wanted in zip(wg.jit(f)(x, n), f(x, n), strict=True):
                np.testing.assert_allclose(got, wanted, rtol=1e-14)
        with pytest.raises(wg.errors.StagingError, match="names of an array"):
            wg.jit(wg.vmap(f))(np.stack([x, x]), np.array([2, 3]))
