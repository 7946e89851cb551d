"""Arrays of which overlapping parts are written: put together of pieces, they have the same elements."""

import numpy as np
import pytest

import wengert as wg
from wengert.ir.check import check
from wengert.ir.interpret import run
from wengert.ir.node import all_nodes
from wengert.ir.parse import parse
from wengert.passes.dce import dce
from wengert.passes.join_writes import join_writes

N = 200


def written(random, shape, axis):
    """A program that writes random parts, some of which are computed from the same arrays."""
    n = shape[axis]
    name = ", ".join(map(str, shape))
    lines = [f"%y0: f64[{name}] = broadcast_to(f64(0.0), shape=({name},))"]
    lines.append(f"%e: f64[{name}] = exp(%a)")
    lines.append(f"%c: f64[{name}] = multiply(%e, %b)")
    lines.append(f"%d: f64[{name}] = subtract(%c, %a)")
    for k in range(random.integers(2, 5)):
        start = int(random.integers(0, n // 3))
        stop = int(random.integers(2 * n // 3, n + 1))
        before = int(random.integers(0, n - (stop - start) + 1))
        part = ", ".join(str(stop - start if j == axis else m) for j, m in enumerate(shape))
        source = random.choice(["a", "b", "c", "d", "e"])
        colons = ":, " * axis
        lines.append(f"%p{k}: f64[{part}] = index(%{source}, pattern=({colons}{before}:{before + stop - start},))")
        lines.append(f"%q{k}: f64[{part}] = multiply(%p{k}, %p{k})")
        op = random.choice(["add_at", "add_at", "store"])
        lines.append(f"%y{k + 1}: f64[{name}] = {op}(%y{k}, %q{k}, pattern=({colons}{start}:{stop},))")
    return (
        f"block(%a: f64[{name}], %b: f64[{name}]) {{ {' '.join(line + chr(10) for line in lines)} return %y{k + 1} }}"
    )


@pytest.mark.parametrize("seed", range(30))
def test_random_parts(seed):
    random = np.random.default_rng(seed)
    shape, axis = [((N,), 0), ((N, 3), 0), ((4, N), 1)][seed % 3]
    before = parse(written(random, shape, axis))
    check(before)
    after = dce(join_writes(before))
    check(after)
    names = [node.op.name for node in all_nodes(after)]
    assert "concatenate" in names
    assert not {"store", "add_at"} & set(names)
    args = [random.normal(size=shape), random.normal(size=shape)]
    np.testing.assert_array_equal(run(after, args)[0], run(before, args)[0])


def simple(*lines):
    before = parse(f"block(%a: f64[200], %b: f64[199]) {{ {chr(10).join(lines)} return %z }}")
    check(before)
    after = dce(join_writes(before))
    check(after)
    args = [np.linspace(-1, 1, 200), np.linspace(-2, 3, 199)]
    np.testing.assert_array_equal(run(after, args)[0], run(before, args)[0])
    return [node.op.name for node in after.nodes]


ZEROS = "%y: f64[200] = broadcast_to(f64(0.0), shape=(200,))"


def test_work_in_common_is_done_once():
    names = simple(
        ZEROS,
        "%e: f64[199] = exp(%b)",
        "%y1: f64[200] = add_at(%y, %e, pattern=(1:,))",
        "%z: f64[200] = add_at(%y1, %e, pattern=(:-1,))",
    )
    assert names.count("exp") == 1


def test_work_of_its_own_is_done_in_the_pieces():
    names = simple(
        ZEROS,
        "%e: f64[199] = exp(%b)",
        "%m: f64[199] = negative(%b)",
        "%y1: f64[200] = add_at(%y, %e, pattern=(1:,))",
        "%z: f64[200] = add_at(%y1, %m, pattern=(:-1,))",
    )
    assert names.count("exp") == 2  # of the inner elements, and of the last
    assert names.count("concatenate") == 1


def test_minus_zero_that_is_added_to_zero_is_zero():
    before = parse(
        f"block(%b: f64[199]) {{ {ZEROS} "
        "%y1: f64[200] = add_at(%y, %b, pattern=(1:,)) %z: f64[200] = add_at(%y1, %b, pattern=(:-1,)) return %z }"
    )
    found = run(join_writes(before), [np.full(199, -0.0)])[0]
    assert not np.signbit(found).any()


def test_what_others_see_stays():
    before = parse(
        f"block(%b: f64[199]) {{ {ZEROS} "
        "%y1: f64[200] = add_at(%y, %b, pattern=(1:,)) %z: f64[200] = add_at(%y1, %b, pattern=(:-1,)) return %y1, %z }"
    )
    after = join_writes(before)
    args = [np.linspace(0, 1, 199)]
    for found, wanted in zip(run(after, args), run(before, args), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_few_elements_of_many_are_written_where_they_are():
    names = simple(
        ZEROS, "%p: f64[3] = index(%a, pattern=(:3,))", "%y1: f64[200] = add_at(%y, %p, pattern=(5:8,))",
        "%z: f64[200] = add_at(%y1, %p, pattern=(6:9,))",
    )  # fmt: skip
    assert names.count("add_at") == 2


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2),
        lambda x: np.sum(np.exp(x[1:] - x[:-1]) * x[1:]),
        lambda x: np.sum(np.sqrt(1 + np.diff(x) ** 2)) + x[3] * x[-1],
    ],
)
def test_derivatives(f):
    x = np.random.default_rng(1).normal(size=301)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x), wg.grad(f)(x), rtol=1e-12)
    v = np.random.default_rng(2).normal(size=301)
    np.testing.assert_allclose(wg.jit(wg.hvp(f))(x, v), wg.hvp(f)(x, v), rtol=1e-11, atol=1e-12)
