"""Every row states every trait, in the vocabulary of `ops/traits.py`."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from op_calls import EXAMPLES

from wengert.ir.infer import results
from wengert.ops.op import TABLE, Op
from wengert.ops.traits import NAMES, Cost, Dtype, Raises, completed


@pytest.mark.parametrize("name", sorted(TABLE))
def test_every_row_has_every_trait(name):
    op = TABLE[name]
    assert all(hasattr(op, trait) for trait in NAMES)
    assert isinstance(op.raises, Raises)
    assert isinstance(op.cost, Cost)
    assert isinstance(op.dtype, Dtype) or callable(op.dtype)
    assert set(op.commutes) <= set("biufc")
    if op.combine is not None:
        assert TABLE[op.combine].identity is not None
        assert TABLE[op.combine].elementwise
    if op.writes:
        assert op.dtype is Dtype.FIRST
    assert op.moves <= (op.cost <= Cost.CHEAP)


def test_what_cannot_be_derived_must_be_stated():
    with pytest.raises(TypeError, match="must state"):
        completed("new", {}, {"cost": Cost.CHEAP})
    with pytest.raises(TypeError, match="no op has traits"):
        completed("new", {}, {"cost": Cost.CHEAP, "raises": Raises.NEVER, "colour": 1})
    with pytest.raises(TypeError, match="must state"):
        Op("a row without traits", lambda x: x)
    assert "a row without traits" not in TABLE


_OF_THE_VALUES = {"python_number", "roots"}
"""Whose dtype depends on the values, or is a matter of precision alone; a compiled program settles it."""


@pytest.mark.parametrize("name", sorted(EXAMPLES.keys() & TABLE.keys() - _OF_THE_VALUES))
def test_types_of_results_are_those_of_the_implementation(name):
    """In all precisions, and of complex numbers: of singular values, say, which are real."""
    op = TABLE[name]
    for example in EXAMPLES[name]:
        inexact = [isinstance(a, (np.ndarray, np.generic)) and a.dtype.kind in "fc" for a in example.args]
        for dtype in (None, *([np.float32, np.complex64, np.complex128] if any(inexact) else [])):
            args = [a.astype(dtype or a.dtype) if so else a for a, so in zip(example.args, inexact, strict=True)]
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    _, found = results(op, args, example.params)
                    y = op.impl(*args, **example.params)
                except Exception:  # not for such numbers
                    continue
            for part, type in zip(y if isinstance(y, tuple) else (y,), found, strict=True):
                assert np.asarray(part).dtype == type.dtype, (dtype, type)
                assert all(n == m for n, m in zip(np.shape(part), type.shape, strict=True) if isinstance(m, int))
