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
