"""During a capture the garbage collector looks at what the capture made, and afterwards at everything again."""

import gc
import weakref

import numpy as np
import pytest

import wengert as wg
from wengert.capture.garbage import only_what_is_made


def seen():
    return len(gc.get_objects())


def test_what_was_there_before_is_put_aside():
    gc.collect()  # what is garbage now might go meanwhile
    everything = seen()

    @wg.jit
    def g(x):
        if seen() > everything // 2:
            raise ValueError("a collection would look at everything")
        return x * 2

    np.testing.assert_array_equal(g(np.ones(3)), 2.0)
    assert gc.get_freeze_count() == 0
    assert seen() > everything // 2


def test_it_comes_back_when_the_capture_fails():
    def f(x):
        raise KeyError("x")

    with pytest.raises(KeyError):
        wg.jit(f)(np.ones(3))
    assert gc.get_freeze_count() == 0


def test_a_capture_inside_another_leaves_it_aside():
    with only_what_is_made():
        count = gc.get_freeze_count()
        with only_what_is_made():
            assert gc.get_freeze_count() == count
        assert gc.get_freeze_count() == count > 0
    assert gc.get_freeze_count() == 0


def test_what_others_put_aside_stays_there():
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        np.testing.assert_array_equal(wg.jit(lambda x: x * 3)(np.ones(3)), 3.0)
        assert 0 < gc.get_freeze_count() <= count
    finally:
        gc.unfreeze()


def test_cycles_that_are_made_meanwhile_are_found():
    class Cycle:
        pass

    with only_what_is_made():
        cycle = Cycle()
        cycle.itself = cycle
        seen_by = weakref.ref(cycle)
        del cycle
        gc.collect()
        assert seen_by() is None
