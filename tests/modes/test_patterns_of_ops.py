"""The pattern of every op of the table holds every nonzero of its Jacobian, whether its operands are known or not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from op_calls import CALLS, Call, floats

import wengert as wg
from wengert import tree
from wengert.errors import WengertError
from wengert.ops.derive import Control
from wengert.ops.op import TABLE

DIFFERENTIABLE = [p for p in CALLS if floats(p.values[1]) and not isinstance(TABLE[p.values[0]], Control)]


def as_function(name: str, c: Call, places):
    def function(*xs):
        args = [c.before(a) if c.before and k in floats(c) else a for k, a in enumerate(c.args)]
        for k, x in zip(places, xs, strict=True):
            args[k] = c.before(x) if c.before else x
        y = TABLE[name](*args, **c.params)
        return c.after(y) if c.after else y

    return function


@pytest.mark.parametrize(("name", "c"), DIFFERENTIABLE)
def test_every_nonzero_of_the_jacobian_is_in_the_pattern(name, c):
    """With all operands differentiated together, and each alone, so that the others are known."""
    for places in {tuple(floats(c)), *[(k,) for k in floats(c)]}:
        f = as_function(name, c, places)
        xs = [np.asarray(c.args[k]) for k in places]
        argnums = tuple(range(len(xs)))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                dense = tree.leaves(wg.jacfwd(f, argnums)(*xs))
            except WengertError:
                continue
            for local in (True, False):
                try:
                    found = tree.leaves(wg.sparsity(f, argnums=argnums, local=local)(*xs))
                except WengertError:
                    assert not local
                    continue
                for pattern, block in zip(found, dense, strict=True):
                    nonzero = (np.nan_to_num(block) != 0).reshape(pattern.shape)
                    assert not (nonzero & ~pattern.toarray()).any(), local
