"""Writes in place: as fast as they should be, and never a number that somebody still needs."""

import numpy as np
import pytest
from backend.building import Builder, constant, run

from wengert.backend.llvm.arrays.composed import natively
from wengert.backend.plan.memory import plan_program
from wengert.ir.interpret import run as run_program
from wengert.ir.parse import parse
from wengert.passes.pipeline import optimise

rng = np.random.default_rng(2)


def in_place(b, *results):
    """For each store of the outer block, in order: is it in place?"""
    block = b.block(*results)
    plan, _ = plan_program(block, natively)
    return [i in plan.in_place for i, node in enumerate(plan.block.nodes) if node.op.name in ("store", "add_at")]


def in_place_inside(b, which, *results):
    plan, _ = plan_program(b.block(*results), natively)
    found = []

    def visit(p):
        found.extend(i in p.in_place for i, node in enumerate(p.block.nodes) if node.op.name in ("store", "add_at"))
        for child in p.inner.values():
            visit(child)

    for (_, name), child in plan.inner.items():
        if name in which:
            visit(child)
    return found


def test_inputs_are_never_written():
    b = Builder(rng.random(5))
    (x,) = b.params
    y = b.store(x, 1.0, 2)
    assert in_place(b, y) == [False]
    b.check(y)


def test_constants_are_never_written():
    b = Builder(1.0)
    k = constant(np.zeros(5))
    y = b.store(k, b.params[0], 2)
    assert in_place(b, y) == [False]
    b.check(y)
    assert not k.value.any()


def test_a_chain_of_stores():
    b = Builder(rng.random(5))
    (x,) = b.params
    y = b.op("exp", x)
    for k in range(4):
        y = b.store(y, float(k), k)
    assert in_place(b, y) == [False] + [True] * 3  # exp is computed into the array that the first store makes
    b.check(y)


def test_old_version_is_used_later():
    b = Builder(rng.random(5))
    y = b.op("exp", b.params[0])
    z = b.store(y, 1.0, 2)
    assert in_place(b, z, y) == [False]
    b.check(z, y)
    b.check(b.op("add", z, y))


def test_old_version_is_a_result_only():
    b = Builder(rng.random(5))
    y = b.op("exp", b.params[0])
    z = b.store(y, 1.0, 2)
    w = b.store(z, 2.0, 3)
    assert in_place(b, w, y) == [False, True]
    b.check(w, y)
    assert in_place(b, w, z) == [False, False]  # exp is computed into the first
    b.check(w, z)


def test_a_view_of_the_old_version_is_used_later():
    b = Builder(rng.random((4, 5)))
    y = b.op("exp", b.params[0])
    row = b.index(y, 1)
    z = b.store(y, 7.0, 1)
    b.check(b.op("add", row, 1.0), z)  # the row is copied, not the matrix
    assert in_place(b, b.op("add", row, 1.0), z) == [True]


def test_swap_of_rows():
    b = Builder(rng.random((4, 5)), 1, 3)
    a, i, j = b.params
    a = b.op("add", a, 1.0)
    r, s = b.index(a, i), b.index(a, j)
    a1 = b.store(a, s, i)
    a2 = b.store(a1, r, j)
    assert in_place(b, a2) == [True, True]
    native = b.check(a2)
    np.testing.assert_array_equal(native(b.samples[0], 2, 2)[0], b.samples[0] + 1)


def test_a_large_view_is_not_worth_a_copy():
    b = Builder(rng.random((4, 5)))
    y = b.op("exp", b.params[0])
    t = b.op("broadcast_to", y, shape=(10, 4, 5))
    z = b.store(y, 7.0, 1)
    w = b.op("add", t, 1.0)
    b.check(w, z)


def test_a_lazy_value_reads_the_old_version():
    b = Builder(rng.random(6))
    y = b.op("exp", b.params[0])
    lazy = b.op("multiply", y, 2.0)
    z = b.store(y, 0.0, 3)
    b.check(b.op("add", lazy, z))
    b.check(b.op("sum", b.op("multiply", lazy, z), axis=(0,)))


def test_a_lazy_value_of_a_lazy_value():
    b = Builder(rng.random(6))
    y = b.op("exp", b.params[0])
    one = b.op("multiply", y, 2.0)
    two = b.op("sin", one)
    z = b.store(y, 0.0, 3)
    three = b.op("cos", two)
    b.check(b.op("add", three, z))


def test_the_value_reads_the_target():
    for shift in (1, 0, -1):
        b = Builder(rng.random(8))
        y = b.op("exp", b.params[0])
        lo, hi = 2 + shift, 6 + shift
        v = b.op("multiply", b.index(y, slice(lo, hi)), 2.0)
        z = b.store(y, v, slice(2, 6))
        assert in_place(b, z) == [True]
        b.check(z)


def test_the_value_is_a_view_of_the_target():
    b = Builder(rng.random(8))
    y = b.op("exp", b.params[0])
    z = b.store(y, b.op("flip", y, axis=(0,)), slice(None))
    b.check(z)
    b = Builder(rng.random((5, 5)))
    y = b.op("exp", b.params[0])
    z = b.store(y, b.op("transpose", y, axes=(1, 0)), ...)
    b.check(z)


def test_the_value_is_the_target():
    b = Builder(rng.random((5, 5)))
    y = b.op("exp", b.params[0])
    z = b.store(y, b.index(y, 0), slice(None))
    b.check(z)
    b = Builder(rng.random(5))
    y = b.op("exp", b.params[0])
    b.check(b.store(y, y, slice(None)), b.store(y, y, slice(None), name="add_at"))


def test_add_at_of_the_target_itself():
    b = Builder(rng.random(6))
    y = b.op("exp", b.params[0])
    where = constant(np.array([0, 0, 1, 1, 2, 2]))
    b.check(b.store(y, y, where, name="add_at"))
    b = Builder(rng.random(6))
    y = b.op("exp", b.params[0])
    part = b.index(y, where)
    b.check(b.store(y, part, where, name="add_at"))
    b = Builder(rng.random(6))
    y = b.op("exp", b.params[0])
    part = b.index(y, slice(1, 4))
    b.check(b.store(y, b.op("multiply", part, 3.0), slice(1, 4), name="add_at"))


def test_indices_read_the_target():
    b = Builder(np.array([2, 0, 1]))
    y = b.op("add", b.params[0], 0)
    b.check(b.store(y, 9, y), b.op("add", y, 1))
    b = Builder(np.array([2, 0, 1]))
    y = b.op("add", b.params[0], 0)
    z = b.store(y, 9, y)
    assert in_place(b, z) == [False]
    b.check(z)


def test_loop_carries_in_place():
    b = Builder(rng.random(6))
    (x,) = b.params
    (y,) = b.loop(6, [x], [], lambda c, k, a: [c.store(a, c.op("multiply", k, 2.0), k)])
    assert in_place_inside(b, ("body",), y) == [True]
    b.check(y)
    assert np.array_equal(b.samples[0], b.samples[0])


def test_loop_stacks_the_array_that_it_writes():
    b = Builder(rng.random(6))
    (x,) = b.params
    b.check(*b.loop(6, [x], [], lambda c, k, a: [c.store(a, 0.0, k), a]))
    b = Builder(rng.random(6))
    (x,) = b.params

    def after(c, k, a):
        new = c.store(a, 0.0, k)
        return [new, new]

    b.check(*b.loop(6, [x], [], after))


def test_loop_constant_is_never_written():
    b = Builder(rng.random(6))
    (x,) = b.params
    w = b.op("exp", x)

    def body(c, k, s, w):
        changed = c.store(w, 0.0, k)
        return [c.op("add", s, c.op("sum", changed, axis=(0,)))]

    (s,) = b.loop(6, [0.0], [w], body)
    assert in_place_inside(b, ("body",), s) == [False]
    b.check(s)


def test_carried_and_constant_are_one_array():
    b = Builder(rng.random(6))
    w = b.op("exp", b.params[0])
    (y,) = b.loop(6, [w], [w], lambda c, k, a, w: [c.store(a, c.op("sum", w, axis=(0,)), k)])
    b.check(y)
    b = Builder(rng.random(6))
    w = b.op("exp", b.params[0])
    (y,) = b.loop(6, [w], [b.index(w, slice(0, 3))], lambda c, k, a, w: [c.store(a, c.op("sum", w, axis=(0,)), k)])
    b.check(y)
    b = Builder(rng.random(6))
    w = b.op("exp", b.params[0])
    y, z = b.loop(6, [w, w], [], lambda c, k, p, q: [c.store(p, 1.0, k), c.op("add", q, p)])
    b.check(y, z)


def test_carried_array_is_used_after_the_loop():
    b = Builder(rng.random(6))
    w = b.op("exp", b.params[0])
    (y,) = b.loop(6, [w], [], lambda c, k, a: [c.store(a, 1.0, k)])
    b.check(y, w)
    b = Builder(rng.random(6))
    w = b.op("exp", b.params[0])
    v = b.index(w, slice(1, 3))
    (y,) = b.loop(6, [w], [], lambda c, k, a: [c.store(a, 1.0, k)])
    b.check(y, b.op("add", v, 1.0))


def test_lazy_reader_across_a_loop():
    b = Builder(rng.random(6))
    w = b.op("exp", b.params[0])
    lazy = b.op("multiply", w, 3.0)
    (y,) = b.loop(6, [w], [], lambda c, k, a: [c.store(a, 1.0, k)])
    b.check(b.op("add", lazy, y))


@pytest.mark.parametrize("sample", [True, False])
def test_cond_writes_its_argument(sample):
    for later in (False, True):
        b = Builder(sample, rng.random(6))
        p, x = b.params
        w = b.op("exp", x)
        (y,) = b.cond(p, [w], lambda c, a: [c.store(a, 1.0, 2)], lambda c, a: [a])
        assert in_place_inside(b, ("then",), *([y, w] if later else [y])) == [not later]
        b.check(*([y, w] if later else [y]))


@pytest.mark.parametrize("sample", [True, False])
def test_cond_gets_one_array_twice(sample):
    b = Builder(sample, rng.random(6))
    p, x = b.params
    w = b.op("exp", x)
    b.check(*b.cond(p, [w, w], lambda c, a, d: [c.store(a, 1.0, 2), d], lambda c, a, d: [d, c.store(a, 2.0, 1)]))


def test_elementwise_result_takes_the_place_of_an_operand():
    b = Builder(rng.random(100))
    y = b.op("exp", b.params[0])
    z = b.op("add", y, y)
    w = b.op("multiply", z, z)
    v = b.op("add", w, b.op("flip", w, axis=(0,)))
    u = b.op("multiply", v, v)
    b.check(u, b.op("sum", u, axis=(0,)))


def test_many_versions_stay_right():
    """A random walk through versions of one array, all of them results."""
    for seed in range(20):
        r = np.random.default_rng(seed)
        b = Builder(r.random(7))
        versions = [b.op("exp", b.params[0])]
        for _ in range(8):
            x = versions[r.integers(len(versions))]
            v = versions[r.integers(len(versions))]
            kind = r.integers(4)
            if kind == 0:
                versions.append(b.store(x, b.index(v, int(r.integers(7))), int(r.integers(7))))
            elif kind == 1:
                versions.append(b.store(x, b.index(v, slice(0, 3)), slice(2, 5)))
            elif kind == 2:
                versions.append(b.op("add", x, b.op("flip", v, axis=(0,))))
            else:
                versions.append(b.store(x, b.op("multiply", b.index(v, slice(1, 6)), 0.5), slice(1, 6)))
        b.check(versions[-1])
        b.check(*versions[::3])
        run(b.block(*versions), b.samples)


def test_columns_of_one_row_are_written_in_place_one_after_the_other():
    """That a column is not the one just written must not make anybody read the array as it was before the write."""
    body = """
        %p: f64 = index(%v, %j, pattern=(ARRAY, 0))
        %a: f64[9, 3] = store(%v, %p, %j, pattern=(ARRAY, 1))
        %q: f64 = index(%a, %j, pattern=(ARRAY, 0))
        %b: f64[9, 3] = store(%a, %q, %j, pattern=(ARRAY, 2))
        %r: f64 = index(%b, %k, pattern=(ARRAY, 0))
        %c: f64[9, 3] = store(%b, %r, %j, pattern=(ARRAY, 1))
        next %c"""
    program = parse(f"""program f(%x: f64[9, 3]) {{
      %e: f64[9, 3] = exp(%x)
      %y: f64[9, 3] = loop %k < 9 {{
        carry %v: f64[9, 3] = %e
        %j: i64~ = subtract(8, %k) {body}
      }}
      return %y
    }}""")
    block = optimise(program).block
    plan, _ = plan_program(block, natively)
    (inner,) = plan.inner.values()
    stores = [i in inner.in_place for i, node in enumerate(inner.block.nodes) if node.op.name == "store"]
    assert stores
    assert all(stores)
    x = rng.random((9, 3))
    expected = np.exp(x)
    for k in range(9):
        expected[8 - k, 1:] = expected[8 - k, 0]
        expected[8 - k, 1] = expected[k, 0]
    np.testing.assert_array_equal(run_program(block, [x])[0], expected)
