"""What is the same in every iteration."""

import pytest
import random_ir
from hypothesis import given
from ir_comparing import kept_by

import wengert.control  # noqa: F401  the ops that hold code
from wengert.ir.check import check
from wengert.ir.parse import parse
from wengert.ir.show import show
from wengert.passes.dce import dce
from wengert.passes.hoist import hoist


def lines(text: str) -> list[str]:
    block = parse(f"block(%x: f64, %y: f64, %n: i64~, %b: bool, %A: f64[3], %M: f64[3, 3]) {{ {text} }}")
    check(block)
    found = hoist(block)
    check(found)
    return [line.strip() for line in show(dce(found)).splitlines()[1:-1]]


def test_what_does_not_change_moves_out():
    assert lines("""%a: f64 = loop %k < %n {
        carry %p: f64 = %x
        given %y
        %e: f64 = sin(%y)
        %f: f64 = multiply(%e, 2.0)
        %g: f64 = add(%p, %f)
        next %g
    } return %a""") == [
        "%e: f64 = sin(%y)",
        "%f: f64 = multiply(%e, 2.0)",
        "%a: f64 = loop %k < %n {",
        "carry %p: f64 = %x",
        "given %f",
        "%g: f64 = add(%p, %f)",
        "next %g",
        "}",
        "return %a",
    ]


def test_out_of_all_loops_it_does_not_change_in():
    found = lines("""%a: f64 = loop %k < %n {
        carry %p: f64 = %x
        given %y, %n
        %c: f64 = loop %j < %n {
            carry %q: f64 = %p
            given %y, %k
            %e: f64 = sin(%y)
            %f: f64 = multiply(%e, %k)
            %g: f64 = add(%q, %f)
            next %g
        }
        next %c
    } return %a""")
    assert found[0] == "%e: f64 = sin(%y)"
    outer, inner = [i for i, line in enumerate(found) if "loop" in line]
    assert outer < next(i for i, line in enumerate(found) if "multiply" in line) < inner


def test_carried_values_that_stay_as_they_are():
    assert lines("""%a: f64, %c: f64 = loop %k < %n {
        carry %p: f64 = %x
        carry %q: f64 = %y
        %e: f64 = multiply(%p, %q)
        next %e, %q
    } return %a, %c""") == [
        "%a: f64 = loop %k < %n {",
        "carry %p: f64 = %x",
        "given %y",
        "%e: f64 = multiply(%p, %y)",
        "next %e",
        "}",
        "return %a, %y",
    ]


def test_carried_values_that_become_what_they_were():
    found = lines("""%a: f64, %c: f64 = loop %k < %n {
        carry %p: f64 = %x
        carry %q: f64 = %y
        given %y
        %e: f64 = multiply(%p, %q)
        next %e, %y
    } return %a, %c""")
    assert found[-1] == "return %a, %y"


RAISES = """%a: f64 = loop %k < {count} {{
    carry %p: f64 = %x
    given %n, %A, %b
    {before}
    %e: f64 = index(%A, %n, pattern=(ARRAY,))
    %g: f64 = add(%p, %e)
    next %g
}} return %a"""


def test_what_can_raise_moves_out_only_if_the_loop_runs():
    assert "index" in lines(RAISES.format(count="3", before=""))[0]
    assert "loop" in lines(RAISES.format(count="%n", before=""))[0]


def test_what_can_raise_does_not_overtake_effects():
    require = "require(%b, error='ValueError', message='')"
    assert "loop" in lines(RAISES.format(count="3", before=require))[0]
    assert lines(RAISES.format(count="3", before=require))[-1] == "return %a"


def test_a_place_that_exists_cannot_raise():
    text = RAISES.format(count="%n", before="").replace("index(%A, %n, pattern=(ARRAY,))", "index(%A, pattern=(2,))")
    assert "index" in lines(text)[0]
    assert "loop" in lines(text.replace("(2,)", "(3,)"))[0]


def test_linear_algebra_can_raise():
    text = """%a: f64[3, 3] = loop %k < {} {{
        carry %p: f64[3, 3] = %M
        given %M
        %e: f64[3, 3] = inv(%M)
        %g: f64[3, 3] = matmul(%p, %e)
        next %g
    }} return %a"""
    assert "inv" in lines(text.format(2))[0]
    assert "loop" in lines(text.format("%n"))[0]


WHILE = """%a: f64, %m: i64~ = while {{
    carry %p: f64 = %x
    given %y, %A, %n
    test {{
        %t: f64 = exp(%y)
        %c: bool = less(%p, %t)
        return %c
    }}
    %e: f64 = {}
    %f: f64 = add(%p, %e)
    next %f
}} return %a"""


def test_out_of_a_while_and_its_test():
    assert lines(WHILE.format("sin(%y)"))[:5] == [
        "%e: f64 = sin(%y)",
        "%t: f64 = exp(%y)",
        "%a: f64, %m: i64~ = while {",
        "carry %p: f64 = %x",
        "given %e, %t",
    ]


def test_what_can_raise_stays_in_a_while():
    found = lines(WHILE.format("index(%A, %n, pattern=(ARRAY,))"))
    assert found.index("%e: f64 = index(%A, %n, pattern=(ARRAY,))") > found.index("%a: f64, %m: i64~ = while {")


def test_nothing_moves_out_of_branches():
    text = "%a: f64 = cond %b { given %x then { %e: f64 = sin(%x) return %e } else { return %x } } return %a"
    assert lines(text)[0] == "%a: f64 = cond %b {"


def test_arrays_made_out_of_nothing_stay():
    text = """%a: f64[3] = loop %k < %n {
        carry %p: f64[3] = %A
        given %y
        %e: f64[3] = broadcast_to(%y, shape=(3,))
        %f: f64[3] = sin(%e)
        %g: f64[3] = add(%p, %e)
        %h: f64[3] = add(%g, %f)
        next %h
    } return %a"""
    found = lines(text)
    assert [line.split(" = ")[1] for line in found if "broadcast_to" in line] == ["broadcast_to(%y, shape=(3,))"] * 2
    assert found[1].endswith("sin(%e)")
    only = lines(text.replace("sin(%e)", "sin(%p)"))
    assert "loop" in only[0]


def test_effects_stay():
    text = """loop %k < 3 {
        given %b
        require(%b, error='ValueError', message='')
    } return"""
    assert lines(text)[0] == "loop %k < 3 {"


def test_an_inner_loop_as_a_whole():
    found = lines("""%a: f64 = loop %k < %n {
        carry %p: f64 = %x
        given %y
        %c: f64 = loop %j < 5 {
            carry %q: f64 = %y
            %e: f64 = sin(%q)
            next %e
        }
        %d: f64 = add(%p, %c)
        next %d
    } return %a""")
    assert found[0] == "%c: f64 = loop %j < 5 {"


def test_nothing_to_do_gives_the_block_itself():
    block = parse(
        "block(%n: i64~, %x: f64) { %a: f64 = loop %k < %n { carry %p: f64 = %x %e: f64 = sin(%p) next %e } return %a }"
    )
    assert hoist(block) is block


@pytest.mark.slow
@given(random_ir.programs(), random_ir.arguments())
def test_random_programs(program, args):
    kept_by(hoist, program, args)
