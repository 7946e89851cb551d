"""The plan of memory: what lives when, and what may share a place."""

import itertools

import numpy as np
from backend.building import Builder
from hypothesis import given
from hypothesis import strategies as st

from wengert.backend.llvm.arrays.composed import natively
from wengert.backend.plan.memory import Kind, Slot, lay_out, plan_program
from wengert.ir.node import Dyn, Type

F = np.dtype(float)


def plan_of(b, *results):
    return plan_program(b.block(*results), natively)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 8), st.integers(0, 50)), max_size=25))
def test_slots_that_live_together_do_not_overlap(wanted):
    slots = [Slot(Type((n,), F), first, first + length) for first, length, n in wanted]
    total = lay_out(slots)
    for p in slots:
        assert p.offset is not None
        assert p.offset % 64 == 0
        assert p.offset + p.nbytes <= total or not slots
    for p, q in itertools.combinations(slots, 2):
        if p.first <= q.last and q.first <= p.last:
            assert p.offset + p.nbytes <= q.offset or q.offset + q.nbytes <= p.offset


def test_slots_at_different_times_share():
    slots = [Slot(Type((100,), F), k, k) for k in range(10)]
    assert lay_out(slots) == 832


def test_outputs_and_unbounded_arrays_are_elsewhere():
    one, two = Slot(Type((3,), F), output=0), Slot(Type((Dyn(None),), F))
    assert lay_out([one, two]) == 0
    assert one.offset is None
    assert two.offset is None


def test_a_chain_is_computed_while_it_is_read():
    b = Builder(np.ones(5))
    x = b.op("exp", b.params[0])
    y = b.op("sin", x)
    z = b.op("sum", y, axis=(0,))
    plan, slots = plan_of(b, z)
    assert plan.kinds[x] is plan.kinds[y] is Kind.LAZY
    assert not slots


def test_what_is_read_twice_is_made():
    b = Builder(np.ones(5))
    x = b.op("exp", b.params[0])
    z = b.op("sum", b.op("multiply", x, x), axis=(0,))
    plan, slots = plan_of(b, z)
    assert plan.kinds[x] is Kind.MADE
    assert len(slots) == 1


def test_what_is_repeated_is_made():
    b = Builder(np.ones(5), np.ones((4, 5)))
    x, y = b.params
    e = b.op("exp", x)
    plan, _ = plan_of(b, b.op("multiply", e, y))
    assert plan.kinds[e] is Kind.MADE
    b = Builder(np.ones((5, 5)))
    e = b.op("exp", b.params[0])
    plan, _ = plan_of(b, b.op("matmul", e, b.params[0]))
    assert plan.kinds[e] is Kind.MADE


def test_views_cost_nothing():
    b = Builder(np.ones((4, 5)))
    t = b.op("transpose", b.params[0], axes=(1, 0))
    r = b.index(t, 2)
    plan, _ = plan_of(b, b.op("add", r, r), b.op("sum", t, axis=(0, 1)))
    assert plan.kinds[t] is plan.kinds[r] is Kind.VIEW


def test_results_are_made_in_their_place():
    b = Builder(np.ones(5))
    y = b.op("exp", b.params[0])
    for k in range(3):
        y = b.store(y, float(k), k)
    (z,) = b.loop(3, [y], [], lambda c, k, a: [c.store(a, 0.0, k)])
    _, slots = plan_of(b, z)
    assert [s.output for s in slots] == [0]


def test_a_loop_needs_one_slot_for_what_it_carries():
    b = Builder(np.ones(50))
    (y,) = b.loop(3, [b.params[0]], [], lambda c, k, a: [c.op("add", c.op("sin", a), 1.0)])
    _, slots = plan_of(b, b.op("sum", y, axis=(0,)))
    assert len(slots) == 1
