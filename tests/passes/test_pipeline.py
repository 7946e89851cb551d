"""All passes together."""

import numpy as np
import pytest
import random_ir
from hypothesis import given
from ir_comparing import assert_same, number_of_nodes, outcome
from ir_examples import ALL, branches, mean_square, newton, parameters, triangle

from wengert.ir.check import InvalidProgram
from wengert.ir.node import Block, Program, Var
from wengert.ir.parse import parse
from wengert.ir.show import show
from wengert.passes import pipeline
from wengert.passes.pipeline import optimise

EXAMPLES = [e for e in ALL if e is not parameters]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda f: f.__name__)
def test_what_becomes_of_examples(example, golden):
    golden(f"{example.__name__}.txt", show(optimise(example())))


@pytest.mark.parametrize(
    ("example", "args"),
    [
        (mean_square, [np.arange(8.0), 8]),
        (mean_square, [np.arange(8.0), 0]),
        (newton, [np.float64(2)]),
        (triangle, [np.tril(np.ones((5, 5))), np.ones(5)]),
        (branches, [np.float64(0.5), np.bool_(True)]),
        (branches, [np.float64(0.5), np.bool_(False)]),
    ],
)
def test_examples_compute_the_same(example, args):
    program = example()
    assert_same(outcome(program.block, args), outcome(optimise(program).block, args))


@pytest.mark.slow
@given(random_ir.programs(size=16, depth=3), random_ir.arguments())
def test_random_programs(program, args):
    found = optimise(program)
    assert_same(outcome(program.block, args), outcome(found.block, args))
    assert optimise(found).block is found.block, "something was left to do"


def test_passes_help_each_other():
    text = """program f(%x: f64[3], %n: i64~) {
      %two: i64~ = call two {
        %t: i64~ = add(1, 1)
        return %t
      }
      %c: bool = less(%two, 3)
      %y: f64[3] = cond %c {
        given %x, %n
        then {
          %a: f64[3] = loop %k < %n {
            carry %s: f64[3] = %x
            carry %unused: i64~ = 0
            given %x
            %b: f64[3] = exp(%x)
            %d: f64[3] = exp(%x)
            %e: f64[3] = add(%b, %d)
            %f: f64[3] = add(%s, %e)
            %g: i64~ = add(%unused, 1)
            next %f, %g
          }
          return %a
        }
        else {
          require(False, error='ValueError', message='')
          return %x
        }
      }
      return %y
    }"""
    text = text.replace("%a: f64[3] = loop", "%a: f64[3], %rest: i64~ = loop")
    program = parse(text)
    found = optimise(program)
    assert (
        show(found)
        == """program f(%x: f64[3], %n: i64~) {
  %b: f64[3] = exp(%x)
  %e: f64[3] = add(%b, %b)
  %a: f64[3] = loop %k < %n {
    carry %s: f64[3] = %x
    given %e
    %f: f64[3] = add(%s, %e)
    next %f
  }
  return %a
}
"""
    )
    assert number_of_nodes(found.block) < number_of_nodes(program.block)


def test_a_program_that_is_not_valid_is_found():
    with pytest.raises(InvalidProgram):
        optimise(Program("f", Block([], [], [Var(mean_square().block.params[0].type)])))


def test_long_programs_take_time_in_proportion():
    """Nothing recurses on the length of a program, or looks at all nodes for each."""
    nodes = "".join([f"%a{k}: f64 = sin(%a{k - 1}) " for k in range(1, 3000)])
    program = parse(f"program f(%a0: f64) {{ {nodes} return %a2999 }}")
    assert number_of_nodes(optimise(program).block) == 2999


def test_no_pass_looks_at_a_block_again_in_which_it_found_nothing(monkeypatch):
    asked = []

    def watched(run):
        def watching(block):
            after = run(block)
            if after is block:
                asked.append((run, block))
            return after

        return watching

    twins = {one.run: watched(one.run) for one in pipeline.REPEATED}
    monkeypatch.setattr(pipeline, "REPEATED", [one._replace(run=twins[one.run]) for one in pipeline.REPEATED])
    for example in EXAMPLES:
        optimise(example())
    assert len(asked) == len({(run, id(block)) for run, block in asked}) > 0
