"""Patterns of random programs: every nonzero of the Jacobian and of the Hessian is in them, at whatever point."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import wengert as wg
from fuzz.program import generated, text_of
from wengert.errors import Signal, WengertError

COUNT, CHUNK = 60, 10


def nonzeros(operator, function, args) -> np.ndarray | None:
    """Where a dense derivative is not zero; None if the program does not run there."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return np.nan_to_num(np.asarray(operator(function)(*args))) != 0
        except Exception:
            return None


def pattern_of(function, order, local, args) -> np.ndarray | None:
    """None if there is no one pattern for all values."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return wg.sparsity(function, order, local=local)(*args).toarray()
        except (WengertError, Signal):
            if local:
                raise
            return None


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, COUNT, CHUNK))
@pytest.mark.parametrize("order", [1, 2])
def test_patterns_are_never_too_small(start, order):
    found = 0
    for seed in range(start, start + CHUNK):
        program = generated(seed)
        function = program.module.flat if order == 1 else program.module.total
        operator = wg.jacfwd if order == 1 else wg.hessian
        here = nonzeros(operator, function, program.points[0].arguments())
        if here is None:
            continue
        local = pattern_of(function, order, True, program.points[0].arguments())
        assert not (here.reshape(local.shape) & ~local).any(), text_of(program)
        wide = pattern_of(function, order, False, program.points[0].arguments())
        if wide is None:
            continue
        found += 1
        assert not (local & ~wide).any(), text_of(program)
        for point in program.points:
            *rest, _ = point.arguments()
            there = nonzeros(operator, function, (*rest, program.points[0].data[3]))
            if there is not None:
                assert not (there.reshape(wide.shape) & ~wide).any(), text_of(program)
    assert found > CHUNK // 2


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 24, 6))
@pytest.mark.parametrize("order", [1, 2])
def test_sparse_derivatives_are_the_dense_ones(start, order):
    for seed in range(start, start + 6):
        program = generated(seed)
        function = program.module.flat if order == 1 else program.module.total
        dense, sparse = (wg.jacfwd, wg.jacobian) if order == 1 else (wg.hessian, wg.hessian)
        for transform in (lambda f: f, wg.jit):
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    expected = np.asarray(dense(function)(*program.points[0].arguments()))
                    found = transform(sparse(function, sparse=True))(*program.points[0].arguments()).toarray()
                except (Exception, Signal):
                    continue  # other tests say what must run
            expected = expected.reshape(found.shape)
            scale = np.max(np.abs(expected), where=np.isfinite(expected), initial=1.0)
            near = np.abs(found - expected) <= (1e-3 if program.is_single else 1e-9) * scale
            assert (near | ~np.isfinite(expected)).all(), text_of(program)
