"""The passes in order, until there is nothing left to do.

Each makes work for the others: constants that come into a block are folded there, what is folded makes branches known,
what is inlined has common subexpressions, what moved out of a loop is computed twice outside, and all leave dead code.
"""

from __future__ import annotations

from collections.abc import Callable

from wengert.ir.check import check as check_program
from wengert.ir.node import Block, Program
from wengert.passes.cse import cse
from wengert.passes.dce import dce
from wengert.passes.hoist import hoist
from wengert.passes.joint import joint
from wengert.passes.parts import parts
from wengert.passes.pieces import pieces
from wengert.passes.scaled import scaled
from wengert.passes.simplify import simplify
from wengert.passes.spread import spread
from wengert.passes.stay import stay
from wengert.passes.strips import strips
from wengert.passes.whole import whole

PASSES: tuple[Callable[[Block], Block], ...] = (simplify, dce, cse, stay, hoist, dce, joint)
"""Dead code goes first after simplification: what is left of it would be looked at by all others."""

ROUNDS = 16
"""So often at most. Each round takes calls and branches one level further apart; few programs need more than a few."""


def optimise(program: Program, check: bool = False) -> Program:
    """A program with the same results that does less. `check=True` makes sure, after each pass, that it is valid."""
    block = program.block
    if check:
        check_program(program)
    for _ in range(ROUNDS):
        before = block
        for one in PASSES:
            block = one(block)
            if check:
                check_program(Program(program.name, block))
        if block is before:
            break
    for last in (scaled, whole, spread, parts, pieces, strips):
        changed = last(block)
        if changed is not block:
            block = dce(cse(changed))
            if check:
                check_program(Program(program.name, block))
    return program if block is program.block else Program(program.name, block)
