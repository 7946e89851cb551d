"""Relations between regions of arrays, against NumPy's own indexing of an array of numbers 0, 1, 2, …"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wengert.ir.analysis.regions import disjoint, region
from wengert.ir.node import Const, Dyn, Ref, Type, Var
from wengert.ops.index import ARRAY, FLAG

BOUND = st.none() | st.integers(-7, 7)
SLICE = st.builds(slice, BOUND, BOUND, st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3]))


@st.composite
def places(draw, shape):
    """An index of slices and numbers, some with new axes or an Ellipsis, of an array of some shape."""
    items = [draw(SLICE | st.integers(-n, n - 1)) for n in shape]
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), None)
    if draw(st.booleans()) and shape:
        k = draw(st.integers(0, len(items) - 1))
        if items[k] is not None:
            items[k] = Ellipsis
    return tuple(items)


@st.composite
def pairs(draw):
    shape = tuple(draw(st.lists(st.integers(1, 7), min_size=1, max_size=3)))
    return shape, draw(places(shape)), draw(places(shape))


def elements(shape, pattern):
    return np.arange(np.prod(shape)).reshape(shape)[pattern]


@given(pairs())
def test_relations_of_static_regions_are_those_of_the_sets_of_their_elements(pair):
    shape, p, q = pair
    a, b = region(shape, p), region(shape, q)
    xs, ys = elements(shape, p), elements(shape, q)
    first, second = set(xs.ravel().tolist()), set(ys.ravel().tolist())
    assert disjoint(a, b) == first.isdisjoint(second)
    if a == b:
        assert xs.shape == ys.shape
        assert (xs == ys).all()
    if a.is_whole:
        assert np.array_equal(xs, elements(shape, ()))
    assert a.part == xs.shape
    assert a.exists
    assert a.is_once
    if a.box is not None:
        assert (elements(shape, a.box) == xs).all()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_progressions_are_apart_exactly_if_they_share_no_number(n):
    spans = [slice(a, b, s) for a, b, s in itertools.product(range(n), [n], range(1, 4))]
    for p, q in itertools.product(spans, spans):
        expected = set(range(*p.indices(n))).isdisjoint(range(*q.indices(n)))
        assert disjoint(region((n,), (p,)), region((n,), (q,))) == expected


def test_what_is_whole():
    for pattern in [(), (Ellipsis,), (slice(0, 3), slice(None, 9)), (slice(-3, None), slice(None, None, 1))]:
        assert region((3, 2), pattern).is_whole
    for pattern in [(slice(None, None, -1),), (slice(1, None),), (0,), (None,)]:
        assert not region((3, 2), pattern).is_whole


I = np.dtype(np.int64)


def test_computed_places_are_the_same_only_if_their_operands_are():
    i, j = Var(Type((), I)), Var(Type((), I))
    at_i, at_j = region((6,), (ARRAY,), (i,)), region((6,), (ARRAY,), (j,))
    assert at_i == region((6,), (ARRAY,), (i,))
    assert at_i != at_j
    assert not disjoint(at_i, at_j)
    assert not at_i.exists
    assert not at_i.is_whole


def test_a_number_in_an_operand_is_a_number():
    two = Const(-4, Type((), I, True))
    assert region((6,), (ARRAY,), (two,)) == region((6,), (2,))


def test_arrays_may_name_an_element_twice():
    rows = Var(Type((3,), I))
    named = region((6, 2), (ARRAY, 0), (rows,))
    assert not named.is_once
    assert not named.exists
    assert disjoint(named, region((6, 2), (slice(None), 1)))
    assert not disjoint(named, region((6, 2), (0,)))


def test_what_a_mask_names_is_not_known():
    flag = Const(True, Type((), np.dtype(bool)))
    named = region((3,), (FLAG,), (flag,))
    assert not named.exists
    assert not named.is_whole
    assert named.part is None


def test_slices_with_computed_bounds():
    i, j = Var(Type((), I)), Var(Type((), I))
    named = region((Dyn(6),), (slice(Ref(0), Ref(1)),), (), (i, j))
    assert named.exists
    assert named == region((Dyn(6),), (slice(Ref(1), Ref(0)),), (), (j, i))
    assert named != region((Dyn(6),), (slice(Ref(0), Ref(1)),), (), (j, i))
    assert region((Dyn(6),), (slice(None),)).is_whole


def test_numbers_outside_do_not_exist():
    assert not region((3,), (3,)).exists
    assert not region((3,), (-4,)).exists
    assert not region((Dyn(3),), (2,)).exists
