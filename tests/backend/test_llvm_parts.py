"""Native code for sums into parts of an array, and for arrays with room behind them."""

import numpy as np
import pytest
from backend.building import Builder, compile_program
from hypothesis import given, settings
from hypothesis import strategies as st

from wengert.ir.node import Ref


@st.composite
def boxes(draw, shape):
    box = []
    for n in shape:
        start = draw(st.integers(0, n - 1))
        box.append(slice(start, draw(st.integers(start + 1, n))))
    return tuple(box)


@st.composite
def cases(draw):
    shape = draw(st.sampled_from([(9,), (5, 12), (4, 3, 10)]))
    patterns = tuple(draw(st.lists(boxes(shape), min_size=1, max_size=4)))
    cleared = draw(st.none() | boxes(shape))
    return shape, patterns, cleared, draw(st.sampled_from([np.float64, np.float32])), draw(st.integers(0, 99))


@settings(deadline=None)
@given(cases())
def test_sums_into_parts(case):
    shape, patterns, cleared, dtype, seed = case
    random = np.random.default_rng(seed)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5])

    def numbers(shape):
        x = random.normal(size=shape)
        return np.where(random.random(shape) < 0.2, random.choice(special, shape), x).astype(dtype)

    inputs = [numbers(shape), *[numbers(np.empty(shape)[p].shape) for p in patterns]]
    b = Builder(*inputs)
    x, *args = b.params
    values = [b.op("multiply", a, dtype(2)) if k % 2 else a for k, a in enumerate(args)]
    y = b.op("add_parts", x, *values, patterns=patterns, cleared=cleared)
    with np.errstate(all="ignore"):
        doubled = [x * dtype(2) if k % 2 else x for k, x in enumerate(inputs[1:])]
        expected = inputs[0].copy()
        if cleared is not None:
            expected[cleared] = 0
        for v, pattern in zip(doubled, patterns, strict=True):
            expected[pattern] += v
    (got,) = compile_program(b.program(y))(*inputs)
    np.testing.assert_array_equal(got, expected)
    numbers_only = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got)[numbers_only], np.signbit(expected)[numbers_only])


@pytest.mark.parametrize("given", [np.arange(6.0), np.arange(12.0).reshape(6, 2), np.arange(6), np.arange(6) > 2])
def test_room_behind(given):
    """The first rows are where they should be, whether they were made there or brought there."""
    b = Builder(given, 4)
    x, n = b.params
    part = b.op("index", x, pattern=(slice(0, Ref(0)),), sizes=[n], dyn={0: 6})
    made = b.op("cumsum", part, axis=0) if given.dtype == float else part
    whole = b.op("padded", made, shape=(8, *given.shape[1:]))
    back = b.op("index", whole, pattern=(slice(0, Ref(0)),), sizes=[n], dyn={0: 6})
    (got,) = compile_program(b.program(back))(given, 4)
    np.testing.assert_array_equal(got, np.cumsum(given[:4], 0) if given.dtype == float else given[:4])


def test_room_behind_along_several_axes():
    given = np.arange(12.0).reshape(3, 4)
    b = Builder(given, 2, 3)
    x, n, m = b.params
    pattern = (slice(0, Ref(0)), slice(0, Ref(1)))
    part = b.op("index", x, pattern=pattern, sizes=[n, m], dyn={0: 3, 1: 4})
    whole = b.op("padded", b.op("multiply", part, 2.0), shape=(3, 4))
    (got,) = compile_program(b.program(b.op("index", whole, pattern=pattern, sizes=[n, m], dyn={0: 3, 1: 4})))(
        given, 2, 3
    )
    np.testing.assert_array_equal(got, 2 * given[:2, :3])
