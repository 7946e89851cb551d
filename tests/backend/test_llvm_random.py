"""Random programs, native and interpreted: straight lines full of writes and views, and all kinds of control flow."""

import numpy as np
import pytest
import random_ir
from backend.building import Builder, compare, compile_program
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from wengert.ir.interpret import run
from wengert.ir.node import Dyn, all_nodes

relaxed = settings(deadline=None, suppress_health_check=list(HealthCheck))


def agree(program, inputs):
    """Native code and interpreter give the same results, or both raise."""
    native = compile_program(program)
    with np.errstate(all="ignore"):
        try:
            expected = run(program.block, inputs)
        except Exception as problem:
            with pytest.raises(type(problem)):
                native(*inputs)
            return
    got = native(*inputs)
    for g, e, r in zip(got, expected, program.block.results, strict=True):
        assert np.shape(g) == np.shape(e)
        assert np.asarray(g).dtype == r.type.dtype
        single = r.type.dtype in (np.float32, np.complex64)
        np.testing.assert_allclose(g, e, rtol=1e-4 if single else 1e-9, atol=1e-5 if single else 1e-11)


def is_well_typed(program):
    """Whether lengths that elementwise ops take over from an operand are not said to be known."""
    for node in all_nodes(program.block):
        if node.op.elementwise:
            for a in node.args:
                own = zip(reversed(a.type.shape), reversed(node.outs[0].type.shape), strict=False)
                if any(isinstance(n, Dyn) and not isinstance(m, Dyn) for n, m in own):
                    return False
    return True


@relaxed
@given(random_ir.programs(), random_ir.arguments())
def test_random_control_flow(program, inputs):
    assume(is_well_typed(program))
    agree(program, inputs)


class Walk:
    """Versions of one array and of its views, read and written in any order."""

    def __init__(self, draw, b, first):
        self.draw, self.b, self.pool = draw, b, [first]

    def pick(self):
        return self.draw(st.sampled_from(self.pool))

    def step(self):
        b, draw = self.b, self.draw
        x, y = self.pick(), self.pick()
        kind = draw(st.integers(0, 8))
        i, j = draw(st.integers(0, 3)), draw(st.integers(0, 3))
        if kind == 0:
            new = b.store(x, b.index(y, i), j)
        elif kind == 1:
            new = b.store(x, b.op("multiply", b.index(y, slice(None), i), 0.5), slice(None), j)
        elif kind == 2:
            new = b.store(x, b.index(y, slice(i, i + 1), slice(0, 3)), slice(j, j + 1), slice(1, 4))
        elif kind == 3:
            new = b.op("add", b.op("multiply", x, 0.5), b.op("transpose", y, axes=(1, 0)))
        elif kind == 4:
            new = b.op("transpose", x, axes=(1, 0))
        elif kind == 5:
            new = b.op("flip", b.op("sin", x), axis=(0,))
        elif kind == 6:
            new = b.store(x, b.op("sum", y, axis=(0,)), i, name="add_at")
        elif kind == 7:
            new = b.op("multiply", x, y)
        else:
            new = b.op("reshape", b.op("reshape", x, shape=(2, 8)), shape=(4, 4))
        self.pool.append(new)


@st.composite
def walks(draw):
    b = Builder(np.random.default_rng(draw(st.integers(0, 99))).random((4, 4)))
    walk = Walk(draw, b, b.params[0])
    for _ in range(draw(st.integers(2, 12))):
        walk.step()
    results = [walk.pool[-1], *draw(st.lists(st.sampled_from(walk.pool), max_size=2))]
    return b, results


@relaxed
@given(walks())
def test_random_writes(walk):
    b, results = walk
    compare(compile_program(b.program(*results)), b.program(*results), b.samples, 1e-9, 1e-11)


@st.composite
def looped_walks(draw):
    b = Builder(np.random.default_rng(draw(st.integers(0, 99))).random((4, 4)) * 0.5)
    start = b.op("exp", b.params[0]) if draw(st.booleans()) else b.params[0]
    consts = [start] if draw(st.booleans()) else [b.params[0]]

    def body(c, k, *values):
        walk = Walk(draw, c, values[0])
        walk.pool += values[1:]
        for _ in range(draw(st.integers(1, 6))):
            walk.step()
        new = [c.op("sin", walk.pick()) if draw(st.booleans()) else walk.pick() for _ in range(2)]
        return [*new, walk.pick()]

    found = b.loop(draw(st.integers(0, 3)), [start, start if draw(st.booleans()) else b.params[0]], consts, body)
    return b, [*found, *([start] if draw(st.booleans()) else [])]


@relaxed
@given(looped_walks())
def test_random_writes_in_loops(walk):
    b, results = walk
    assume(all(np.all(np.isfinite(b.values[r])) for r in results))
    compare(compile_program(b.program(*results)), b.program(*results), b.samples, 1e-9, 1e-11)
