"""Every NumPy function that asks its arguments what it means has an answer here: a rule, or the reason for none."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.box.dispatch import FUNCTIONS, NONDIFFERENTIABLE, UFUNCS, name_of
from wengert.errors import UnsupportedFunctionError

MODULES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft}
DISPATCHER = type(np.sum)


def _walk(kind):
    found = {}
    for prefix, module in MODULES.items():
        for name, function in vars(module).items():
            if isinstance(function, kind) and not name.startswith("_"):
                found.setdefault(function, f"{prefix}.{name}")
    return found


UFUNCS_OF_NUMPY = _walk(np.ufunc)
FUNCTIONS_OF_NUMPY = _walk(DISPATCHER)


def test_the_walk_finds_numpy():
    assert len(UFUNCS_OF_NUMPY) > 80
    assert len(FUNCTIONS_OF_NUMPY) > 250


def test_every_ufunc_is_answered():
    missing = [name for f, name in UFUNCS_OF_NUMPY.items() if f not in {**UFUNCS, **FUNCTIONS, **NONDIFFERENTIABLE}]
    assert not missing


def test_every_function_is_answered():
    missing = [name for f, name in FUNCTIONS_OF_NUMPY.items() if f not in {**FUNCTIONS, **NONDIFFERENTIABLE}]
    assert not missing


def test_nothing_has_both_a_rule_and_a_reason_for_none():
    both = [name_of(f) for f in NONDIFFERENTIABLE if f in FUNCTIONS or f in UFUNCS]
    assert not both


def test_reasons_are_words():
    for function, reason in NONDIFFERENTIABLE.items():
        assert isinstance(reason, str), name_of(function)
        assert len(reason) > 10, name_of(function)


def test_an_unsupported_function_gives_its_reason():
    with pytest.raises(UnsupportedFunctionError, match="np.packbits"):
        wg.jvp(np.packbits, (np.ones(3),), (np.ones(3),))
    with pytest.raises(UnsupportedFunctionError, match=r"np\..*intersect1d"):
        wg.jvp(lambda x: np.intersect1d(x, x), (np.ones(3),), (np.ones(3),))
