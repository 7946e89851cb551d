"""Loops read rows of whole arrays; indices that are known to be inside are not checked, all others are."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.backend.execute import optimised
from wengert.ir.analysis.ranges import intervals
from wengert.ir.check import check
from wengert.ir.interpret import run
from wengert.ir.node import Block, Node, Program, Var, all_nodes
from wengert.ir.parse import parse
from wengert.passes.forward_slices import forward_slices
from wengert.passes.rewrite import const


def pairs(x):
    """What the inner loop saves has a length that differs from iteration to iteration."""
    s = 0.0
    for i in range(len(x)):
        for j in range(i):
            d = np.exp(x[i] - x[j])
            s += np.sin(d) * d
    return s


def orthogonal(V):
    Q = V.copy()
    for i in range(len(Q)):
        Q[i] /= np.sqrt(np.sum(Q[i] ** 2))
        for j in range(i + 1, len(Q)):
            Q[j] -= np.sum(Q[i] * Q[j]) * Q[i]
    return np.sum(np.sin(Q))


@pytest.mark.parametrize(("f", "shape"), [(pairs, (11,)), (orthogonal, (10, 13))])
def test_gradients(f, shape):
    x = np.random.default_rng(0).normal(size=shape)
    compiled = wg.jit(wg.grad(f))
    found = compiled._version(compiled._form((x,), {}))
    block = optimised(found.block, found.name).block
    check(Program(found.name, block))
    assert all(a.type.is_static for node in all_nodes(block) if node.op.name == "index" for a in node.args)
    expected = wg.grad(f)(x)
    np.testing.assert_allclose(run(block, [x])[0], expected, 1e-10, 1e-12)
    np.testing.assert_allclose(compiled(x), expected, 1e-10, 1e-12)
    np.testing.assert_allclose(wg.jit(wg.grad(wg.jit(f)))(x), expected, 1e-10, 1e-12)


LOOP = """program f(%x: f64[9], %m: i64~) {{
  %s: f64 = loop %i < 6 {{
    carry %s0: f64 = f64(0.0)
    given %x
    %y: f64[?<=9] = index(%x, pattern=(0:%i,))
    %t: f64 = loop %j < %i {{
      carry %t0: f64 = %s0
      given %y
      %k: i64~ = add(%j, {more})
      %v: f64 = index(%y, %k, pattern=(ARRAY,))
      %t1: f64 = add(%t0, %v)
      next %t1
    }}
    next %t
  }}
  return %s
}}"""


@pytest.mark.parametrize(("more", "is_inside"), [(0, True), (1, False), (-1, False)])
def test_only_rows_that_are_there(more, is_inside):
    """One row further there is an element of the whole array, but not of the part."""
    program = parse(LOOP.format(more=more))
    new = forward_slices(program.block)
    assert (new is not program.block) is is_inside
    x = np.arange(9.0)
    if is_inside:
        assert run(new, [x, 0]) == run(program.block, [x, 0])
    else:
        check(Program("f", new))


def test_intervals():
    block = parse(LOOP.format(more=2)).block
    (inner,) = [n for node in all_nodes(block) if node.op.name == "loop" for n in node.params["body"].nodes
                if n.op.name == "add" and n.outs[0].type.dtype == int]  # fmt: skip
    assert intervals(block)[inner.outs[0]] == (2, 6)


def test_intervals_of_a_block_in_several_places():
    """The same body, in a loop of 3 iterations and in one of 7, and in one whose iterations are not known to be few."""
    text = """program f(%x: f64[9], %n: i64~) {
      %a: f64 = loop %i < 3 {
        carry %s: f64 = f64(0.0)
        given %x
        %k: i64~ = add(%i, 1)
        %v: f64 = index(%x, %k, pattern=(ARRAY,))
        next %v
      }
      return %a
    }"""
    program = parse(text)
    (first,) = program.block.nodes
    body = first.params["body"]
    k = body.nodes[0].outs[0]

    def again(count):
        out = Var(first.outs[0].type)
        return Node(first.op, (count, *first.args[1:]), first.params, (out,))

    def of(*counts):
        return intervals(Block(program.block.params, [again(c) for c in counts], program.block.results))

    body.params[0].span = None
    assert of(const(3))[k] == (1, 3)
    assert of(const(7), const(3))[k] == (1, 7)
    assert k not in of(const(3), program.block.params[1])


@pytest.mark.parametrize("shift", [-1, 0, 1, 6])
def test_indices_that_may_be_outside_are_checked(shift):
    def f(x):
        s = 0.0
        for i in range(5):
            for j in range(i + 1):
                s += x[i - j + shift] * (i + 1)
        return s

    x = np.arange(1.0, 7.0)
    if shift == 6:
        with pytest.raises(IndexError):
            wg.jit(f)(x)
    else:
        assert wg.jit(f)(x) == f(x)
        np.testing.assert_allclose(wg.jit(wg.grad(f))(x), wg.grad(f)(x))
