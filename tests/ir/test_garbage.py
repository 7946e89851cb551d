"""Collections during a capture: the first looks at everything, others at what is new."""

import gc
import weakref

import numpy as np
import pytest

import wengert as wg
from wengert.backend import execute
from wengert.ir.garbage import begin_work, collect, end_work, set_aside


@pytest.fixture(autouse=True)
def nothing_is_put_aside():
    """As in a process of a user's: here the tests themselves are (`conftest.py`)."""
    gc.unfreeze()
    yield
    gc.freeze()


class Cycle:
    def __init__(self):
        self.itself = self


def test_what_was_there_at_the_first_collection_is_put_aside():
    old = weakref.ref(Cycle())
    with set_aside():
        assert gc.get_freeze_count() == 0
        collect()
        assert old() is None
        count = gc.get_freeze_count()
        assert count > 0
        with set_aside():
            new = weakref.ref(Cycle())
            collect()
            assert new() is None
        assert 0 < gc.get_freeze_count() <= count  # (what was put aside may have been freed meanwhile: caches forget)
    assert gc.get_freeze_count() == 0


def test_it_comes_back_when_the_capture_fails():
    def f(x):
        collect()
        raise KeyError("x")

    with pytest.raises(KeyError):
        wg.jit(f)(np.ones(3))
    assert gc.get_freeze_count() == 0


def test_what_others_put_aside_stays_there():
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        with set_aside():
            collect()
        assert 0 < gc.get_freeze_count() <= count
    finally:
        gc.unfreeze()


def test_without_a_capture_nothing_is_put_aside():
    collect()
    assert gc.get_freeze_count() == 0


def test_while_a_program_is_made_python_looks_for_cycles_less_often(monkeypatch):
    seen = []
    before, real = gc.get_threshold(), execute.optimise
    monkeypatch.setattr(execute, "optimise", lambda program: seen.append(gc.get_threshold()) or real(program))
    wg.jit(lambda x: x * 2)(1.0)
    assert seen[0][0] > before[0]
    assert seen[0][1:] == before[1:]
    assert gc.get_threshold() == before


def test_what_others_say_of_the_collector_stays_so():
    before = gc.get_threshold()
    try:
        for chosen in ((0, 10, 10), (10**6, 5, 5)):  # never, and even less often
            gc.set_threshold(*chosen)
            begin_work()
            assert gc.get_threshold() == chosen
            end_work()
            assert gc.get_threshold() == chosen
        gc.set_threshold(*before)
        begin_work()
        gc.set_threshold(123)
        end_work()
        assert gc.get_threshold()[0] == 123
    finally:
        gc.set_threshold(*before)
