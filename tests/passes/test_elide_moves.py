"""Elements that are taken out of an array and added again."""

from __future__ import annotations

import numpy as np
import pytest

from wengert.ir.check import check
from wengert.ir.interpret import run
from wengert.ir.node import Program
from wengert.ir.parse import parse
from wengert.passes.dce import dce
from wengert.passes.elide_moves import elide_moves

MOVED = """
program p(%x: f64[5], %i: i64~, %j: i64~, %v: f64) {
  %t: f64 = index(%x, %i, pattern=(ARRAY,))
  %y: f64[5] = store(%x, 0, %i, pattern=(ARRAY,))
  %z: f64[5] = add_at(%y, %v, %j, pattern=(ARRAY,))
  %w: f64[5] = add_at(%z, %t, %i, pattern=(ARRAY,))
  return %w
}
"""
SEEN = MOVED.replace("return %w", "return %w, %z")
ELSEWHERE = MOVED.replace("%t, %i", "%t, %j")
ANOTHER = MOVED.replace("store(%x, 0", "store(%x, 1")


@pytest.mark.parametrize(("source", "shorter"), [(MOVED, True), (SEEN, False), (ELSEWHERE, False), (ANOTHER, False)])
@pytest.mark.parametrize("j", [2, 3])
def test_elements_stay(source, shorter, j):
    program = parse(source)
    block = dce(elide_moves(program.block))
    check(Program("p", block))
    assert len(block.nodes) == (1 if shorter else 4)
    args = [np.arange(1.0, 6.0), 2, j, np.float64(0.5)]
    for a, b in zip(run(block, args), run(program.block, args), strict=True):
        np.testing.assert_array_equal(a, b)


def test_twice():
    source = """
program p(%x: f64[5], %i: i64~, %j: i64~) {
  %t: f64 = index(%x, %i, pattern=(ARRAY,))
  %y: f64[5] = store(%x, 0, %i, pattern=(ARRAY,))
  %z: f64[5] = add_at(%y, %t, %i, pattern=(ARRAY,))
  %s: f64 = index(%z, %j, pattern=(ARRAY,))
  %u: f64[5] = store(%z, 0, %j, pattern=(ARRAY,))
  %w: f64[5] = add_at(%u, %s, %j, pattern=(ARRAY,))
  return %w
}
"""
    program = parse(source)
    block = dce(elide_moves(program.block))
    args = [np.arange(1.0, 6.0), 2, 3]
    np.testing.assert_array_equal(run(block, args)[0], args[0])
