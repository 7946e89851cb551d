"""Dead code."""

import pytest
import random_ir
from hypothesis import given
from ir_comparing import kept_by, number_of_nodes

import wengert.control  # noqa: F401  the ops that hold code
from wengert.ir.check import check
from wengert.ir.parse import parse
from wengert.ir.show import show
from wengert.passes.dce import dce


def lines(text: str) -> list[str]:
    block = parse(f"block(%x: f64, %y: f64, %n: i64~, %b: bool) {{ {text} }}")
    check(block)
    found = dce(block)
    check(found)
    assert [p.hint for p in found.params] == ["x", "y", "n", "b"]
    return [line.strip() for line in show(found).splitlines()[1:-1]]


def test_nodes_that_nobody_uses_go():
    assert lines("%a: f64 = sin(%x) %c: f64 = cos(%a) %d: f64 = exp(%x) return %d") == [
        "%d: f64 = exp(%x)",
        "return %d",
    ]


def test_effects_stay_and_what_they_use():
    text = "%a: bool = less(%x, 1.0) require(%a, error='ValueError', message='') return"
    assert len(lines(text)) == 3


LOOP = """%a: f64, %c: f64, %d: f64, %l: f64[?] = loop %k < %n {
    carry %p: f64 = %x
    carry %q: f64 = %x
    carry %r: f64 = %y
    given %x, %y
    %e: f64 = add(%p, %x)
    %f: f64 = multiply(%q, %e)
    %g: f64 = multiply(%r, %y)
    next %e, %f, %g
    yield %g
} """


def test_carried_values_that_only_compute_themselves_go():
    assert lines(LOOP + "return %a") == [
        "%a: f64 = loop %k < %n {",
        "carry %p: f64 = %x",
        "given %x",
        "%e: f64 = add(%p, %x)",
        "next %e",
        "}",
        "return %a",
    ]


def test_carried_values_that_others_need_stay():
    found = lines(LOOP + "return %c")
    assert found[:4] == ["%a: f64, %c: f64 = loop %k < %n {", "carry %p: f64 = %x", "carry %q: f64 = %x", "given %x"]


def test_stacks_that_nobody_uses_go():
    assert "yield %g" not in lines(LOOP + "return %a, %c, %d")
    assert "yield %g" in lines(LOOP + "return %l")


def test_a_loop_that_nobody_needs_goes():
    assert lines(LOOP + "return %x") == ["return %x"]


def test_values_that_need_each_other_and_nobody_else():
    assert lines("""%a: f64, %c: f64, %d: f64 = loop %k < %n {
        carry %p: f64 = %x
        carry %q: f64 = %x
        carry %r: f64 = %x
        %e: f64 = sin(%q)
        %f: f64 = sin(%p)
        %g: f64 = sin(%r)
        next %e, %f, %g
    } return %d""")[:2] == ["%d: f64 = loop %k < %n {", "carry %r: f64 = %x"]


def test_effects_in_a_loop_keep_it():
    found = lines("""%a: f64, %c: f64 = loop %k < %n {
        carry %p: f64 = %x
        carry %q: f64 = %x
        %e: f64 = sin(%p)
        %f: f64 = sin(%q)
        %ok: bool = less(%p, 1.0)
        require(%ok, error='ValueError', message='')
        next %e, %f
    } return""")
    assert found[:2] == ["%a: f64 = loop %k < %n {", "carry %p: f64 = %x"]
    assert "require(%ok, error='ValueError', message='')" in found


def test_what_the_test_of_a_while_needs_stays():
    assert lines("""%a: f64, %c: f64, %d: f64, %m: i64~, %l: f64[?] = while {
        carry %p: f64 = %x
        carry %q: f64 = %x
        carry %r: f64 = %x
        given %y
        test { %t: bool = less(%p, %y) return %t }
        %e: f64 = add(%p, 1.0)
        %f: f64 = sin(%q)
        %g: f64 = sin(%r)
        next %e, %f, %g
        yield %g
    } return %c""") == [
        "%a: f64, %c: f64, %m: i64~ = while {",
        "carry %p: f64 = %x",
        "carry %q: f64 = %x",
        "given %y",
        "test {",
        "%t: bool = less(%p, %y)",
        "return %t",
        "}",
        "%e: f64 = add(%p, 1.0)",
        "%f: f64 = sin(%q)",
        "next %e, %f",
        "}",
        "return %c",
    ]


def test_results_of_branches():
    assert lines("""%a: f64, %c: f64 = cond %b {
        given %x, %y
        then { %e: f64 = sin(%x) return %e, %y }
        else { %e: f64 = cos(%y) return %y, %e }
    } return %a""") == [
        "%a: f64 = cond %b {",
        "given %x, %y",
        "then {",
        "%e: f64 = sin(%x)",
        "return %e",
        "}",
        "else {",
        "return %y",
        "}",
        "}",
        "return %a",
    ]


def test_results_and_operands_of_calls():
    assert lines("""%a: f64, %c: f64 = call g {
        given %u: f64 = %x
        given %v: f64 = %y
        %e: f64 = sin(%u)
        %f: f64 = sin(%v)
        return %e, %f
    } return %c""") == [
        "%c: f64 = call g {",
        "given %v: f64 = %y",
        "%f: f64 = sin(%v)",
        "return %f",
        "}",
        "return %c",
    ]


def test_deep_inside():
    found = lines("""%a: f64 = loop %k < %n {
        carry %p: f64 = %x
        given %n
        %c: f64, %l: f64[?] = loop %j < %n {
            carry %q: f64 = %p
            %e: f64 = sin(%q)
            next %e
            yield %e
        }
        %dead: f64 = sum(%l, axis=(0,), keepdims=False)
        next %c
    } return %a""")
    assert not any("yield" in line or "dead" in line for line in found)


def test_nothing_to_do_gives_the_block_itself():
    block = parse("block(%x: f64, %y: f64, %n: i64~) { " + LOOP + "return %a, %c, %d, %l }")
    assert dce(block) is block


@pytest.mark.slow
@given(random_ir.programs(), random_ir.arguments())
def test_random_programs(program, args):
    block = kept_by(dce, program, args)
    assert number_of_nodes(block) <= number_of_nodes(program.block)
    assert dce(block) is block
