"""The quick way to call a kernel: it takes what it should, hands on the rest, and counts references right."""

import gc
import sys
import weakref

import numpy as np
import pytest
from backend.building import Builder, Ref, compile_program

from wengert.backend.llvm.calls import entry

pytestmark = pytest.mark.skipif(not entry.IS_POSSIBLE, reason="needs CPython with a GIL")


def doubled():
    b = Builder(np.ones((2, 3)), 2.0)
    return b.check(b.op("multiply", *b.params), b.op("sum", b.params[0], axis=(0, 1)))


def plain_calls(native, monkeypatch):
    """The calls that went the plain way."""
    seen = []
    real = native._plain.call
    native._plain.call = lambda *args: seen.append(args) or real(*args)
    return seen


def test_good_arguments_go_the_quick_way(monkeypatch):
    native = doubled()
    seen = plain_calls(native, monkeypatch)
    x = np.arange(6.0).reshape(2, 3)
    for factor in (2.0, np.float64(2.0)):
        y, s = native(x, factor)
        np.testing.assert_array_equal(y, 2 * x)
        assert s == 15.0
        assert type(s) is np.float64
    assert not seen
    y, _ = native(x.T.copy().T, 2.0)
    np.testing.assert_array_equal(y, 2 * x)
    native(x, 2)
    native(x, np.float32(2))
    native(x.astype(">f8"), 2.0)
    native(x.view(type("Sub", (np.ndarray,), {})), 2.0)
    assert len(seen) == 5


@pytest.mark.parametrize(
    ("sample", "others"),
    [
        (3, [3, -1, np.int64(4), 2**62, True, np.int32(7)]),
        (True, [True, False, np.bool_(True), np.bool_(False)]),
        (1.5, [1.5, np.float64(2.5), 7, np.float32(0.5), np.array(3.5)]),
        (1j, [2j, np.complex128(1 + 2j), 1.5, 3]),
        (np.float32(1.5), [np.float32(2.5)]),
        (np.int8(3), [np.int8(-4)]),
        (np.uint64(3), [np.uint64(2**63)]),
        (np.complex64(3), [np.complex64(1j)]),
    ],
)
def test_scalars(sample, others):
    b = Builder(sample)
    native = compile_program(b.program(b.params[0]))
    for value in others:
        (got,) = native(value)
        assert got == value
        assert got.dtype == b.params[0].type.dtype


def test_integers_that_do_not_fit():
    b = Builder(3)
    native = compile_program(b.program(b.params[0]))
    for bad in (2**63, -(2**63) - 1):
        with pytest.raises((OverflowError, TypeError)):
            native(bad)


def test_wrong_arguments():
    native = doubled()
    with pytest.raises(TypeError):
        native()
    with pytest.raises(ValueError, match="shape"):
        native(np.ones((3, 2)), 1.0)
    with pytest.raises(TypeError, match="dtype"):
        native(np.ones((2, 3), int), 1.0)
    with pytest.raises((TypeError, ValueError)):
        native("abc", 1.0)
    with pytest.raises(TypeError):
        native(np.ones((2, 3)), 1.0, extra=1)


def test_references_are_counted():
    b = Builder(np.ones(4), 2.0, 1)
    x, s, i = b.params
    part = b.op("index", x, pattern=(slice(None, Ref(0)),), sizes=[i], dyn={0: 4})
    native = b.check(b.op("multiply", x, s), b.index(x, i), part, i, b.op("less", s, 1.0))
    a, f, k = np.ones(4), 1234.5, 3
    things = [a, f, np.dtype(float), np.ndarray, np.float64, native.enter, np.False_]
    gc.collect()  # what others have left
    before = [sys.getrefcount(t) for t in things]
    for _ in range(1000):
        native(a, f, k)
        with pytest.raises(IndexError):
            native(a, f, 7)
    gc.collect()
    after = [sys.getrefcount(t) for t in things]
    assert all(abs(p - q) < 100 for p, q in zip(before, after, strict=True)), (before, after)
    results = native(a, f, k)
    counts = [sys.getrefcount(results[k]) for k in range(3)]
    assert counts == [2, 2, 2]  # the list's, and that of the call


def test_code_lives_as_long_as_its_entry():
    native = doubled()
    enter, plain = native.enter, weakref.ref(native._plain)
    del native
    gc.collect()
    np.testing.assert_array_equal(enter(np.ones((2, 3)), 3.0)[0], np.full((2, 3), 3.0))
    with pytest.raises(ValueError):
        enter(np.ones((5, 3)), 3.0)
    del enter
    gc.collect()
    assert plain() is None


def test_an_empty_array():
    b = Builder(np.ones((0, 3)))
    b.check(b.op("exp", b.params[0]), b.op("sum", b.params[0], axis=(0,)))
