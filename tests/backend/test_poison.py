"""Memory that is read before it was written to is not a number: `WENGERT_POISON=1`."""

import numpy as np
import pytest
from backend.building import Builder

import wengert as wg
from wengert.backend.llvm.arrays import writing
from wengert.backend.llvm.cache.digest import digest
from wengert.backend.llvm.machine import poison
from wengert.backend.llvm.native import compile_program

X = np.array([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def _on(monkeypatch):
    monkeypatch.setenv("WENGERT_POISON", "1")


def run(b, result):
    return compile_program(b.program(result))(*b.samples)


def pattern(a):
    """The words of an array that nobody has written to."""
    return a.view(np.uint64) == poison.WORD


def test_results_that_are_not_written():
    b = Builder(X)
    (x,) = b.params
    y = b.op("padded", x, shape=(7,))
    (found,) = run(b, y)
    np.testing.assert_array_equal(found[:3], X)
    assert pattern(found[3:]).all()


@pytest.mark.parametrize("n", [5, 40, 5000], ids=["on the stack", "in the arena", "in a large arena"])
def test_temporaries_that_are_not_written(n):
    b = Builder(X)
    (x,) = b.params
    y = b.op("padded", x, shape=(n,))
    total = b.op("sum", b.op("multiply", b.op("exp", y), y), axis=None, keepdims=False)
    for _ in range(2):  # the second call finds what the first one left
        (found,) = run(b, total)
        assert np.isnan(found)


def test_integers_that_are_not_written():
    b = Builder(np.array([1, 2]))
    (found,) = run(b, b.op("padded", b.params[0], shape=(4,)))
    assert found.tolist() == [1, 2, poison.WORD, poison.WORD]


def test_a_mistake_is_seen(monkeypatch):
    """A piece that is joined in two places counts as made in both."""
    monkeypatch.setattr(writing, "_lies_at", lambda em, piece, own, whole, at: own.within is not None)

    def f(x):
        y = np.sin(x) * x
        return np.concatenate([y, y])

    found = wg.jit(f)(X)
    np.testing.assert_allclose(found[:3], f(X)[:3])
    assert pattern(found[3:]).all()


def test_programs_on_disk_are_told_apart(monkeypatch):
    b = Builder(X)
    block = b.block(b.op("sin", b.params[0]))
    poisoned = digest(block)
    monkeypatch.setenv("WENGERT_POISON", "0")
    assert digest(block) != poisoned
