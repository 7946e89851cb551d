"""Published families of sparse problems, with derivatives to 25 digits and numbers of colours of another program.

The data lie beside the repository where they are at hand. A pattern must never be too small; of these programs it is
not too large either, for all values and at a point. A colouring may be better than another greedy one, never than the
optimum.
"""

from __future__ import annotations

import json
import linecache
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import wengert as wg

FOLDER = Path(__file__).parents[3] / "shared" / "testdata" / "sparse"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the families of sparse problems are not here")

ORDERS = {"natural": "natural", "largest_first": "largest-first", "smallest_last": "smallest-last",
          "incidence_degree": "incidence"}  # fmt: skip
KINDS = {"column": ("column", "direct"), "row": ("row", "direct"), "star": ("symmetric", "direct"),
         "acyclic": ("symmetric", "substitution")}  # fmt: skip
COMPILED = {"Broyden tridiagonal", "arrow", "cumulative product", "over-determined curve fit", "ARWHEAD"}
"""Those whose derivatives are compiled, too: what their programs do differs."""


def families(name):
    return json.loads((FOLDER / f"{name}.json").read_text()) if FOLDER.is_dir() else {}


JACOBIANS, HESSIANS, PATTERNS = families("jacobians"), families("hessians"), families("patterns")


def program(name, text, n):
    """The function that a text means, with source that can be read."""
    source, file = f"def f(x):\n    return {text}\n", f"<family {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names = dict(np=np, sin=np.sin, cos=np.cos, exp=np.exp, pi=math.pi, prod=math.prod, n=n)
    exec(compile(source, file, "exec"), names)
    return names["f"]


def matrix(entries, shape):
    return sp.coo_array((entries["values"], (entries["rows"], entries["cols"])), shape=shape).toarray()


def agree(operator, f, order, x, expected, compiled):
    for local in (False, True):
        np.testing.assert_array_equal(wg.sparsity(f, order, local=local)(x).toarray(), expected != 0)
    size = np.max(np.abs(expected))
    for derivative in [operator(f, sparse=True)] + ([wg.jit(operator(f, sparse=True))] if compiled else []):
        np.testing.assert_allclose(derivative(x).toarray(), expected, rtol=1e-12, atol=1e-13 * size)


@pytest.mark.parametrize("name", JACOBIANS)
def test_jacobians(name):
    given = JACOBIANS[name]
    f = program(name, f"np.array({given['function']})", given["n"])
    x, expected = np.array(given["x"]), matrix(given["jacobian"], (given["m"], given["n"]))
    np.testing.assert_allclose(f(x), given["value"], rtol=1e-12)
    agree(wg.jacobian, f, 1, x, expected, name in COMPILED)


@pytest.mark.parametrize("name", HESSIANS)
def test_hessians(name):
    given = HESSIANS[name]
    f = program(name, given["function"], given["n"])
    lower = matrix(given["hessian_lower"], (given["n"],) * 2)
    x, expected = np.array(given["x"]), lower + np.tril(lower, -1).T
    np.testing.assert_allclose(f(x), given["f"], rtol=1e-12)
    agree(wg.hessian, f, 2, x, expected, name in COMPILED)


def entries(name):
    if name in JACOBIANS:
        return JACOBIANS[name]["jacobian"], JACOBIANS[name]["m"]
    if name in HESSIANS:
        lower = HESSIANS[name]["hessian_lower"]
        return dict(rows=lower["rows"] + lower["cols"], cols=lower["cols"] + lower["rows"]), HESSIANS[name]["n"]
    return PATTERNS[name], PATTERNS[name]["m"]


@pytest.mark.parametrize("name", [*JACOBIANS, *HESSIANS, *PATTERNS])
def test_numbers_of_colours(name):
    found, m = entries(name)
    family = (JACOBIANS | HESSIANS | PATTERNS)[name]
    ones = np.ones(len(found["rows"]), bool)
    pattern = sp.coo_array((ones, (found["rows"], found["cols"])), shape=(m, family["n"]))
    for kind, (partition, decompression) in KINDS.items():
        counts = family["colours"].get(kind, {"greedy": {}})
        for order, theirs in counts["greedy"].items():
            ours = wg.coloring(pattern, partition, ORDERS[order], decompression)
            assert counts.get("optimum", 0) <= ours.count <= theirs, (kind, order)
