"""Every row states every trait, in the vocabulary of `ops/traits.py`."""

from __future__ import annotations

import pytest

from wengert.ops.op import TABLE, Op
from wengert.ops.traits import NAMES, Cost, Dtype, Raises, completed


@pytest.mark.parametrize("name", sorted(TABLE))
def test_every_row_has_every_trait(name):
    op = TABLE[name]
    assert all(hasattr(op, trait) for trait in NAMES)
    assert isinstance(op.raises, Raises)
    assert isinstance(op.cost, Cost)
    assert isinstance(op.dtype, Dtype)
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
