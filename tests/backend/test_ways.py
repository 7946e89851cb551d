"""The ways by which Python calls kernels: one for all kernels with such arguments and results."""

import numpy as np
import pytest

import wengert as wg
from wengert.backend.llvm import native
from wengert.backend.llvm.calls.ways import Signature
from wengert.ir.node import Dyn, Type

X = np.array([1.0, 2.0, 4.0])


@pytest.fixture
def written(monkeypatch) -> list[Signature]:
    """The signatures for which something is written."""
    seen: list[Signature] = []
    real = native.ways
    monkeypatch.setattr(native, "ways", lambda signature: seen.append(signature) or real(signature))
    native._ways_to_call.cache_clear()
    return seen


def test_programs_with_the_same_types_share_them(written):
    twice, halved = wg.jit(lambda x: 2 * x), wg.jit(lambda x: x / 2)
    for _ in range(2):  # the second call goes the quick way
        np.testing.assert_array_equal(twice(X), 2 * X)
        np.testing.assert_array_equal(halved(X), X / 2)
    assert len(written) == 1
    np.testing.assert_array_equal(wg.jit(lambda x: 2 * x)(X[:2]), 2 * X[:2])
    np.testing.assert_array_equal(wg.jit(lambda x: x.astype(np.float32))(X), X.astype(np.float32))
    assert len(written) == 3


def test_each_program_raises_its_own_error():
    def of(message):
        def f(x):
            if x[0] > 0:
                raise ValueError(message)
            return x

        return wg.jit(f)

    functions = {message: of(message) for message in ("this one", "that one")}
    for _ in range(2):
        for message, f in functions.items():
            with pytest.raises(ValueError, match=message):
                f(X)
            np.testing.assert_array_equal(f(-X), -X)


def test_signatures_differ_where_types_do():
    real, single = np.dtype(float), np.dtype(np.float32)
    types = [Type((), real), Type((3,), real), Type((3,), single), Type((Dyn(),), real), Type((Dyn(3),), real)]
    both = [Signature((t,), (u,), long) for t in types for u in types for long in (True, False)]
    assert len({str(signature) for signature in both}) == len(set(both)) == len(both)
