"""Reads of elements that no later turn overwrites: found where they are, and never taken for such where they are not."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ir_comparing import interpreted
from jit.random_programs import imported

import wengert as wg
from wengert.backend.execute import optimised
from wengert.control.affine import Affine, Atom, least
from wengert.ir.node import all_nodes

MANY = int(os.environ.get("WENGERT_RANDOM_PROGRAMS", "25"))
SIZE = 17


def stacks(f: Any, *args: Any) -> list[Any]:
    """The types of all arrays that loops of the gradient save."""
    compiled = wg.jit(wg.grad(f))
    leaves, key, rebuild, names = compiled._taken_apart(args, {})
    found, _ = compiled._version(leaves, key, rebuild, names)
    loops = [node for node in all_nodes(optimised(found.block, found.name).block) if node.op.name == "loop"]
    return [v.type for node in loops for v in node.outs[node.params["carried"] :]]


def test_least_value_of_a_sum_of_counters():
    i, j, n = Atom(0, 0), Atom(1, 1), Atom(2, -1)
    bounds = {i: (Affine.of(0), None), j: (Affine.of(0), Affine.of(i) - 1)}
    assert least(Affine.of(i) - Affine.of(j), bounds) == 1
    assert least(Affine.of(j) - Affine.of(i), bounds) is None
    assert least(Affine.of(j) + Affine.of(n) - Affine.of(n) + 3, bounds) == 3
    assert least(Affine.of(n), bounds) is None


def cholesky(A):
    n = len(A)
    L = np.zeros_like(A)
    for j in range(n):
        for i in range(j, n):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = np.sqrt(s) if i == j else s / L[j, j]
    return np.sum(L * np.cos(L))


def lu(A):
    n = len(A)
    B = A.copy()
    for k in range(n):
        for i in range(k + 1, n):
            B[i, k] /= B[k, k]
            for j in range(k + 1, n):
                B[i, j] -= B[i, k] * B[k, j]
    return np.sum(np.sin(B))


def by_rows(A):
    n = len(A)
    Q = A.copy()
    for i in range(n):
        Q[i] /= np.sqrt(np.sum(Q[i] ** 2))
        Q[i + 1 :] -= np.outer(Q[i + 1 :] @ Q[i], Q[i])
    return np.sum(np.sin(Q))


def backwards(A):
    n = len(A)
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        s = 1.0
        for j in range(i + 1, n):
            s -= A[i, j] * x[j] * x[j]
        x[i] = s / A[i, i]
    return np.sum(x**2)


@pytest.mark.parametrize("f", [cholesky, lu, backwards])
def test_nothing_is_saved_in_the_innermost_loop(f):
    A = np.random.default_rng(0).normal(size=(6, 6))
    A = A @ A.T + 6 * np.eye(6)
    assert all(t.ndim < 3 for t in stacks(f, A)), stacks(f, A)
    expected = wg.grad(f)(A)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(A), expected, 1e-10, 1e-12)
    np.testing.assert_allclose(wg.jit(wg.grad(lambda A: np.sum(wg.grad(f)(A) ** 2)))(A),
                               wg.grad(lambda A: np.sum(wg.grad(f)(A) ** 2))(A), 1e-8, 1e-10)  # fmt: skip


def test_rows():
    A = np.random.default_rng(0).normal(size=(6, 6))
    np.testing.assert_allclose(wg.jit(wg.grad(by_rows))(A), wg.grad(by_rows)(A), 1e-10, 1e-12)


# Nests of loops that read and write where they like: also behind themselves, and from the end.


@st.composite
def nests(draw: Any) -> str:
    def number(names: tuple) -> str:
        terms = [str(draw(st.integers(-2, 3)))]
        for name in names:
            c = draw(st.sampled_from([0, 0, 1, 1, -1, 2]))
            if c:
                terms.append(f"{c} * {name}")
        return " + ".join(terms)

    def place(names: tuple) -> str:
        kinds = st.sampled_from(["element", "element", "element", "row"])
        items = [number(names)] if draw(kinds) == "row" else [number(names), number(names)]
        return ", ".join(items)

    def statements(names: tuple, indent: str, depth: int) -> list[str]:
        lines = []
        for _ in range(draw(st.integers(1, 3))):
            kind = draw(st.sampled_from(["write", "write", "loop", "branch", "add"] if depth < 3 else ["write", "add"]))
            if kind == "loop":
                name = "ijkl"[len(names)]
                low, high = number(names), draw(st.sampled_from(["6", "5", *names]))
                lines.append(f"{indent}for {name} in range({low}, {high}):")
                lines += statements((*names, name), indent + "    ", depth + 1)
            elif kind == "branch":
                lines.append(f"{indent}if ({number(names)}) > 1:")
                lines += statements(names, indent + "    ", depth + 1)
                if draw(st.booleans()):
                    lines.append(f"{indent}else:")
                    lines += statements(names, indent + "    ", depth + 1)
            elif kind == "add":
                lines.append(f"{indent}s = np.sin(s + np.mean(A[{place(names)}] * np.cos(A[{place(names)}])))")
            else:
                value = f"np.mean(np.sin(A[{place(names)}]) * np.cos(A[{place(names)}]) + s)"
                lines.append(f"{indent}A[{place(names)}] {draw(st.sampled_from(['=', '*=', '-=']))} {value}")
        return lines

    body = statements(("i",), "        ", 1)
    turns = draw(st.sampled_from(["range(5)", "range(1, 7)", "range(5, -1, -1)"]))
    return "\n".join(["import numpy as np", "def f(X):", "    A = X.copy()", "    s = 0.5", f"    for i in {turns}:",
                      *body, "    return s + np.sum(np.cos(A))", ""])  # fmt: skip


@settings(max_examples=MANY, deadline=None, suppress_health_check=list(HealthCheck))
@given(nests())
def test_random_nests(source):
    f = imported(source).f
    X = np.random.default_rng(0).normal(size=(SIZE, SIZE))
    try:
        f(X)
    except IndexError:
        return
    expected = wg.grad(f)(X)
    with interpreted():
        np.testing.assert_allclose(wg.grad(wg.jit(f))(X), expected, 1e-9, 1e-9)
