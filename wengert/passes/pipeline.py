"""The passes, each with its reasons, in the order in which they run.

Those of `REPEATED` make work for each other: constants that come into a block are folded there, what is folded makes
branches known, what is inlined has common subexpressions, what was hoisted is computed twice outside, and all leave
dead code. So they run until nothing changes. Those of `ONCE` change how a program goes through memory and would hide
from the others what it computes; each is followed by common subexpressions and dead code.

Before all others `keep_raising` looks for what is dead and may raise, and once more after identities have been applied:
of `x[i] > 0 and False` nothing is left, and x[i] raises all the same.

A pass maps valid programs to valid programs with the same results, and returns the block it was given if it has found
nothing to do. Its file opens with a program before and after.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from wengert.ir.check import check as check_program
from wengert.ir.node import Block, Program
from wengert.passes.cse import cse
from wengert.passes.cut_at_seams import cut_at_seams
from wengert.passes.dce import dce
from wengert.passes.elide_moves import elide_moves
from wengert.passes.factor_scales import factor_scales
from wengert.passes.forward_slices import forward_slices
from wengert.passes.fuse_adds import fuse_adds
from wengert.passes.hoist import hoist
from wengert.passes.join_writes import join_writes
from wengert.passes.keep_raising import keep_raising
from wengert.passes.merge_selections import merge_selections
from wengert.passes.simplify import simplify
from wengert.passes.sink_sums import sink_sums
from wengert.passes.strip_mine import strip_mine


class Pass(NamedTuple):
    """A pass and its place: `needs` is what it finds only after others, `why_here` what would go wrong elsewhere."""

    run: Callable[[Block], Block]
    does: str
    example: str
    needs: str
    provides: str
    why_here: str


REPEATED = (
    Pass(
        simplify,
        does="Folds constants and applies identities that hold bit by bit.",
        example="y = multiply(x, 1)   →   x",
        needs="nothing",
        provides="known shapes, branches and trip counts; calls inlined",
        why_here="first, because everything else is shorter afterwards",
    ),
    Pass(
        dce,
        does="Removes nodes, parameters, carried values and results that nobody needs.",
        example="a = exp(x); b = sin(x); return b   →   b = sin(x); return b",
        needs="nothing",
        provides="each value has a use",
        why_here="before all that count uses; what is dead would be looked at by all others",
    ),
    Pass(
        cse,
        does="Computes once what is computed several times from the same operands.",
        example="a = sin(x); b = sin(x)   →   a = sin(x); b = a",
        needs="operands that simplify has made equal",
        provides="one variable for one value",
        why_here="before elide_moves, which recognises a value by its variable",
    ),
    Pass(
        elide_moves,
        does="Leaves in its array what is taken out of it and added back at the same place.",
        example="t = x[p]; y = store(x, 0, p); w = add_at(y, t, p)   →   w = x",
        needs="one variable for one place (cse)",
        provides="loops that carry a cotangent untouched",
        why_here="before hoist, which then sees that the value does not change",
    ),
    Pass(
        hoist,
        does="Computes before a loop what is the same in all its iterations.",
        example="loop k < n: y = y + sin(x)   →   s = sin(x); loop k < n: y = y + s",
        needs="bodies without dead code and repetition",
        provides="bodies that hold only what varies",
        why_here="after cse inside the body, so that nothing is hoisted twice",
    ),
    Pass(
        dce,
        does="Removes what hoisting has left behind.",
        example="loop parameters that no node uses any more go",
        needs="nothing",
        provides="each value has a use",
        why_here="merge_selections counts uses",
    ),
    Pass(
        merge_selections,
        does="Takes several parts of one array as one selection, where nothing else of it is used.",
        example="y[a], y[b]   →   r = y[[*a, *b]]; r[: len(a)], r[len(a) :]",
        needs="exact counts of uses (dce)",
        provides="one selection, which simplify pushes into what computes y",
        why_here="last of a round: the next one begins with simplify",
    ),
)

ONCE = (
    Pass(
        factor_scales,
        does="Takes a scalar factor of a vector out of a product with a matrix.",
        example="A @ (s * x)   →   s * (A @ x), where A @ x or x @ A is there already",
        needs="cse: the product that is shared must be one variable",
        provides="products that strip_mine computes in one reading of A",
        why_here="only when nothing else makes new products",
    ),
    Pass(
        forward_slices,
        does="Lets loops read rows in the array itself instead of in a slice that begins where the array does.",
        example="y = x[0:n]; loop k < n: … y[k] …   →   loop k < n: … x[k] …",
        needs="known ranges of loop counters",
        provides="arrays of static lengths in backward loops",
        why_here="before sink_sums, which works on arrays of static length",
    ),
    Pass(
        sink_sums,
        does="Adds after a loop what the loop adds to elements of an array that it does not read.",
        example="loop k < n: x = add_at(x, u * y[k], k + 1)   →   x = add_at(x, u * y[0:n], 1 : n + 1)",
        needs="loops without invariant work (hoist)",
        provides="several sums into slices of one array, side by side",
        why_here="before fuse_adds, for which it makes the sums",
    ),
    Pass(
        fuse_adds,
        does="Computes several sums into overlapping parts of one array in one sweep.",
        example="y = add_at(x, a, :-1); z = add_at(y, b, 1:)   →   z = add_parts(x, a, b; :-1, 1:)",
        needs="sums side by side (sink_sums)",
        provides="one writer where there were several",
        why_here="before join_writes, which takes the arrays that start as zeros",
    ),
    Pass(
        join_writes,
        does="Concatenates an array that starts as zeros from the pieces that are written to it.",
        example="y = zeros(n); y[:-1] += a; y[1:] += b   →   y = concatenate(a[:1], a[1:] + b[:-1], b[-1:])",
        needs="writes into slices",
        provides="elementwise work, which fuses",
        why_here="after fuse_adds: inside loops one sweep over the array is better",
    ),
    Pass(
        cut_at_seams,
        does="Computes arrays that are put together of parts, and then put together with others, part by part.",
        example="y = table(concatenate(a, b), c)   →   y = concatenate(table(a, c[:n]), table(b, c[n:]))",
        needs="arrays that are put together (join_writes)",
        provides="parts that are elementwise work on what lies in memory",
        why_here="before strip_mine, which counts how often memory is gone through",
    ),
    Pass(
        strip_mine,
        does="Does work along a long axis for a few rows at a time, while they are in the cache.",
        example="y = sum(exp(x @ w))   →   loop over strips of x: s = s + sum(exp(strip @ w))",
        needs="the final elementwise work and reductions",
        provides="temporaries as large as a strip",
        why_here="last: a loop hides its nodes from the others",
    ),
)

ROUNDS = 16
"""So often at most. Each round takes calls and branches one level further apart; few programs need more than a few."""


def optimise(program: Program, strips: bool = True) -> Program:
    """A program with the same results that does less. Without `strips` no work is done for a few rows at a time: where
    there is no cache to speak of. With `WENGERT_CHECK=1` in the environment, which tests set, it is made sure, before
    the first pass and after each, that the program is valid."""
    check = os.environ.get("WENGERT_CHECK", "") not in ("", "0")
    if check:
        check_program(program)
    block = keep_raising(simplify(keep_raising(program.block)))
    done: dict[Callable[[Block], Block], Block] = {}
    """For each pass, the block in which it has found nothing to do."""
    for _ in range(ROUNDS):
        before = block
        for one in REPEATED:
            if done.get(one.run) is block:
                continue
            changed = one.run(block)
            if changed is block:
                done[one.run] = block
            block = changed
            if check:
                check_program(Program(program.name, block), weak=False)
        if block is before:
            break
    for one in ONCE if strips else ONCE[:-1]:
        changed = one.run(block)
        if changed is not block:
            block = dce(cse(changed))
            if check:
                check_program(Program(program.name, block), weak=False)
    return program if block is program.block else Program(program.name, block)
