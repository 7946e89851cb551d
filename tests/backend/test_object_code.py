"""Object code is kept for a while: the same IR is compiled once, other IR never gets it, and little memory is held."""

import numpy as np
import pytest

import wengert as wg
from wengert.backend.llvm.machine import engine, objects


@pytest.fixture
def made(monkeypatch):
    """The texts that LLVM has compiled since, with nothing kept from before."""
    texts = []

    class Counted(engine.OptimisedModule):
        def __init__(self, text, **options):
            texts.append(text)
            super().__init__(text, **options)

    monkeypatch.setattr(objects, "_kept", {})
    monkeypatch.setattr(engine, "OptimisedModule", Counted)
    return texts


def test_the_same_program_is_compiled_once_whatever_its_name(made):
    x = np.arange(3.0)

    def squares(x):
        return np.sum(x**2) + 1.5

    for f in (squares, lambda y: np.sum(y**2) + 1.5):
        assert wg.jit(f)(x) == 6.5
    assert len(made) == 1


def test_another_program_has_code_of_its_own(made):
    x = np.arange(3.0)
    found = [wg.jit(lambda x, k=k: x * k)(x) for k in (1.5, 2.5)] + [wg.jit(lambda x: x * 1.5)(np.arange(4.0))]
    np.testing.assert_array_equal(np.concatenate(found), [0, 1.5, 3, 0, 2.5, 5, 0, 1.5, 3, 4.5])
    assert len(made) == 3


def test_large_constants_are_not_part_of_the_code(made):
    x = np.arange(5000.0)
    tables = [np.sin(x), np.cos(x)]
    for table in tables:
        np.testing.assert_array_equal(wg.jit(lambda x, table=table: x + table)(x), x + table)


def test_how_much_is_kept(made, monkeypatch):
    monkeypatch.setattr(objects, "MOST_BYTES", 10_000)
    x = np.arange(3.0)
    for k in range(12):
        wg.jit(lambda x, k=k: x * (k + 0.5))(x)
    assert 0 < sum(len(kept.code) for kept in objects._kept.values()) <= 10_000
    wg.jit(lambda x: x * 11.5)(x)  # the last one is still there
    wg.jit(lambda x: x * 0.5)(x)  # the first one is not
    assert len(made) == 13


@pytest.mark.optimised
def test_what_is_done_for_a_module_belongs_to_the_key(made, monkeypatch):
    x = np.arange(3.0)
    wg.jit(lambda x: x * 2.5)(x)
    monkeypatch.setattr(engine, "SHORT", 0)
    wg.jit(lambda x: x * 2.5)(x)
    assert len(made) == 2


@pytest.mark.parametrize("level", "012")
def test_code_that_is_made_quickly_does_the_same(level, monkeypatch):
    x = np.linspace(0.0, 1.0, 1001)

    def f(x):
        y = np.zeros_like(x)
        for i in range(1, len(x) - 1):
            y[i] = (x[i - 1] + x[i + 1]) / 2
        return np.sum(np.sin(y) * x) + np.max(x[::3])

    expected = wg.jit(wg.value_and_grad(f))(x)
    monkeypatch.setenv("WENGERT_OPT", level)
    found = wg.jit(wg.value_and_grad(f))(x)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-13)


def test_other_levels_are_refused(monkeypatch):
    monkeypatch.setenv("WENGERT_OPT", "fast")
    with pytest.raises(ValueError, match="WENGERT_OPT is 0, 1, 2 or 3, not fast"):
        wg.jit(lambda x: x * 1.25)(1.0)
