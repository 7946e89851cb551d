"""Arrays that are put together and computed with, part by part: they have the same elements, bit by bit."""

import numpy as np
import pytest

import wengert as wg
from wengert.ir.check import check
from wengert.ir.interpret import run
from wengert.ir.node import all_nodes
from wengert.ir.parse import parse
from wengert.passes.cut_at_seams import cut_at_seams
from wengert.passes.dce import dce

N = 300


class Random:
    """Values of N rows, each made of earlier ones in a random way."""

    def __init__(self, seed, trailing):
        self.random, self.trailing = np.random.default_rng(seed), trailing
        self.lines, self.values = [], ["%a", "%b", "%e"]
        self.note("e", N, "exp(%a)")

    def note(self, name, rows, text):
        self.lines.append(f"%{name}: f64[{rows}{self.trailing}] = {text}")
        return f"%{name}"

    def some(self):
        return str(self.random.choice(self.values))

    def rows(self):
        start, stop = sorted(self.random.choice(N + 1, 2, replace=False).tolist())
        return start, stop

    def step(self, k):
        kind = self.random.choice(["store", "add_at", "concatenate", "multiply", "slice", "add", "zeros"])
        start, stop = self.rows()
        if kind in ("store", "add_at"):
            self.note(f"p{k}", stop - start, f"index({self.some()}, pattern=({start}:{stop},))")
            made = self.note(f"v{k}", N, f"{kind}({self.some()}, %p{k}, pattern=({start}:{stop},))")
        elif kind == "concatenate":
            self.note(f"p{k}", start, f"index({self.some()}, pattern=({N - start}:,))")
            self.note(f"q{k}", N - start, f"index({self.some()}, pattern=(:{N - start},))")
            made = self.note(f"v{k}", N, f"concatenate(%p{k}, %q{k}, axis=0)")
        elif kind == "slice":
            first = min(start, N // 2)
            self.note(f"p{k}", N - first, f"index({self.some()}, pattern=({first}:,))")
            self.note(f"q{k}", first, f"index(%p{k}, pattern=(:{first},))")
            made = self.note(f"v{k}", N, f"concatenate(%q{k}, %p{k}, axis=0)")
        elif kind == "zeros":
            made = self.note(f"v{k}", N, f"broadcast_to(f64({k}.0), shape=({N}{self.trailing},))")
        else:
            made = self.note(f"v{k}", N, f"{kind}({self.some()}, {self.some()})")
        self.values.append(made)

    def block(self, results):
        width = 1 if not self.trailing else int(self.trailing.strip(", "))
        for k, value in enumerate(self.values[-3:]):
            self.lines.append(f"%c{k}: f64[{N}, {width}] = reshape({value}, shape=({N}, {width}))")
        self.lines.append(f"%y: f64[{N}, {3 * width}] = concatenate(%c0, %c1, %c2, axis=1)")
        self.lines.append(f"%z: f64[{2 * N}{self.trailing}] = concatenate({self.some()}, {self.some()}, axis=0)")
        types = f"f64[{N}{self.trailing}]"
        return parse(f"block(%a: {types}, %b: {types}) {{ {chr(10).join(self.lines)} return {results} }}")


@pytest.mark.parametrize("seed", range(24))
def test_random_programs(seed):
    source = Random(seed, ["", ", 2"][seed % 2])
    for k in range(10):
        source.step(k)
    before = source.block("%y, %z")
    check(before)
    after = dce(cut_at_seams(before))
    check(after)
    shape = (N, *([2] if source.trailing else []))
    args = [source.random.normal(size=shape), source.random.normal(size=shape)]
    for x, y in zip(run(after, args), run(before, args), strict=True):
        np.testing.assert_array_equal(x, y)


def test_nothing_is_left_that_is_only_put_together():
    before = parse(
        """block(%a: f64[1000], %b: f64[999]) {
        %0: f64[1000] = broadcast_to(f64(0.0), shape=(1000,))
        %1: f64[1000] = store(%0, %b, pattern=(1:,))
        %2: f64[1000] = multiply(%1, %a)
        %3: f64[1000, 1] = reshape(%2, shape=(1000, 1))
        %4: f64[1000, 1] = reshape(%a, shape=(1000, 1))
        %5: f64[1000, 2] = concatenate(%3, %4, axis=1)
        return %5 }"""
    )
    after = dce(cut_at_seams(before))
    check(after)
    names = [node.op.name for node in all_nodes(after)]
    assert "store" not in names
    assert max(node.outs[0].type.shape[0] for node in all_nodes(after) if node.op.name == "multiply") == 999


def test_work_that_is_not_cheap_is_done_once():
    before = parse(
        """block(%a: f64[1000]) {
        %0: f64[1000] = exp(%a)
        %1: f64[999] = index(%0, pattern=(1:,))
        %2: f64[1000] = concatenate(%1, f64[1](2.0), axis=0)
        %3: f64[1000, 1] = reshape(%2, shape=(1000, 1))
        %4: f64[1000, 1] = reshape(%0, shape=(1000, 1))
        %5: f64[1000, 2] = concatenate(%3, %4, axis=1)
        return %5 }"""
    )
    after = dce(cut_at_seams(before))
    check(after)
    assert sum(node.op.name == "exp" for node in all_nodes(after)) == 1
    x = np.linspace(0.0, 1.0, 1000)
    np.testing.assert_array_equal(run(after, [x])[0], run(before, [x])[0])


@pytest.mark.parametrize("count", [2, 40])
@pytest.mark.parametrize("n", [1, 7, 50_000])
def test_interleaved_columns(count, n):
    """In one loop, or one after the other; of computed values, views and constants."""

    def columns(x):
        return np.stack([x * k if k % 3 else x[::-1] for k in range(count)], axis=-1)

    x = np.cos(np.arange(float(n)))
    np.testing.assert_array_equal(wg.jit(columns)(x), columns(x))
    pairs = lambda x: np.concatenate([x.reshape(-1, 1), 2 * x.reshape(-1, 1), np.ones((n, 1))], axis=1)
    np.testing.assert_array_equal(wg.jit(pairs)(x), pairs(x))
