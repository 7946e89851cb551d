"""`wg.subgradient`: the derivative that is chosen where there is none."""

import numpy as np
import pytest

import wengert as wg


@pytest.mark.parametrize(("ties", "expected"), [("share", (0.5, 0.5)), ("first", (1, 0)), ("last", (0, 1))])
@pytest.mark.parametrize("f", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_two_equal_operands(f, ties, expected):
    with wg.subgradient(ties=ties):
        assert wg.grad(f, (0, 1))(2.0, 2.0) == expected
        assert wg.grad(f, (0, 1))(1.0, 2.0) in [(0, 1), (1, 0)]


@pytest.mark.parametrize("f", [np.max, np.min, np.nanmax, np.nanmin])
def test_equal_elements(f):
    x = np.array([[2.0, 2.0], [2.0, 2.0]])
    np.testing.assert_array_equal(wg.grad(f)(x), np.full((2, 2), 0.25))
    with wg.subgradient(ties="first"):
        np.testing.assert_array_equal(wg.grad(f)(x), [[1, 0], [0, 0]])
        np.testing.assert_array_equal(wg.jacobian(lambda x: f(x, axis=0))(x)[1], [[0, 1], [0, 0]])
    with wg.subgradient(ties="last"):
        np.testing.assert_array_equal(wg.grad(f)(x), [[0, 0], [0, 1]])
        np.testing.assert_array_equal(wg.jacobian(lambda x: f(x, axis=1))(x)[0], [[0, 1], [0, 0]])


@pytest.mark.parametrize(("kinks", "expected"), [("zero", 0), ("left", -1), ("right", 1)])
def test_absolute_value_at_zero(kinks, expected):
    with wg.subgradient(kinks=kinks):
        assert wg.grad(np.abs)(0.0) == expected
        np.testing.assert_array_equal(wg.jacfwd(np.abs)(np.array([-1.0, 0.0, 2.0])).diagonal(), [-1, expected, 1])


def test_it_ends_with_the_block_also_after_an_error():
    with pytest.raises(ZeroDivisionError), wg.subgradient(ties="first", kinks="left"):
        1 / 0
    assert wg.grad(np.maximum)(1.0, 1.0) == 0.5
    assert wg.grad(np.abs)(0.0) == 0


def test_blocks_nest():
    with wg.subgradient(ties="first"), wg.subgradient(kinks="right"):
        assert wg.grad(np.maximum)(1.0, 1.0) == 1
        assert wg.grad(np.abs)(0.0) == 1


def test_unknown_choices():
    with pytest.raises(ValueError, match="share, first, last"), wg.subgradient(ties="both"):
        pass
