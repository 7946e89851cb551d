"""Common subexpressions."""

import pytest
import random_ir
from hypothesis import given
from ir_comparing import kept_by, number_of_nodes

import wengert.control  # noqa: F401  the ops that hold code
from wengert.ir.check import check
from wengert.ir.parse import parse
from wengert.ir.show import show
from wengert.passes.cse import cse
from wengert.passes.dce import dce


def lines(text: str) -> list[str]:
    block = parse(f"block(%x: f64, %y: f64, %z: c128, %n: i64~, %A: f64[3], %b: bool) {{ {text} }}")
    check(block)
    found = cse(block)
    check(found)
    return [line.strip() for line in show(dce(found)).splitlines()[1:-1]]


def test_the_same_is_computed_once():
    assert lines("%a: f64 = sin(%x) %b0: f64 = sin(%x) %c: f64 = add(%a, %b0) return %c") == [
        "%a: f64 = sin(%x)",
        "%c: f64 = add(%a, %a)",
        "return %c",
    ]


def test_operands_may_be_swapped_where_that_changes_no_bit():
    swapped = "%a: {t} = {op}({p}, {q}) %c: {t} = {op}({q}, {p}) return %a, %c"
    for op in ("add", "multiply"):
        assert lines(swapped.format(t="f64", op=op, p="%x", q="%y"))[-1] == "return %a, %a"
    assert lines(swapped.format(t="bool", op="equal", p="%x", q="%y"))[-1] == "return %a, %a"
    assert lines(swapped.format(t="c128", op="add", p="%z", q="%x"))[-1] == "return %a, %a"
    assert lines(swapped.format(t="c128", op="multiply", p="%z", q="%x"))[-1] == "return %a, %c"
    assert lines(swapped.format(t="f64", op="maximum", p="%x", q="%y"))[-1] == "return %a, %c"  # of -0.0 and 0.0
    assert lines(swapped.format(t="f64", op="subtract", p="%x", q="%y"))[-1] == "return %a, %c"


def test_parameters_and_constants_tell_apart():
    different = [
        ("f64", "index(%A, pattern=(0,))", "index(%A, pattern=(1,))"),
        ("f64[?]", "index(%A, pattern=(:%n,))", "index(%A, pattern=(%n:,))"),
        ("f64", "add(%x, 0.0)", "add(%x, -0.0)"),
        ("f64", "add(%x, 1)", "add(%x, 1.0)"),
        ("f64", "add(%x, True)", "add(%x, 1)"),
    ]
    for type, one, other in different:
        assert lines(f"%a: {type} = {one} %c: {type} = {other} return %a, %c")[-1] == "return %a, %c"
        assert lines(f"%a: {type} = {one} %c: {type} = {one} return %a, %c")[-1] == "return %a, %a"


def test_equal_loops_are_one_loop():
    loop = """%{0}: f64 = loop %k{0} < %n {{
        carry %s{0}: f64 = %x
        given %y
        %t{0}: f64 = multiply(%s{0}, %y)
        next %t{0}
    }} """
    found = lines(loop.format("a") + loop.format("c") + "return %a, %c")
    assert found[-1] == "return %a, %a"
    assert sum("loop" in line for line in found) == 1
    other = loop.format("c").replace("multiply", "add")
    assert lines(loop.format("a") + other + "return %a, %c")[-1] == "return %a, %c"


def test_effects_stay_two():
    found = lines("require(%b, error='E', message='') require(%b, error='E', message='') return %x")
    assert len(found) == 3


def test_inside_blocks():
    found = lines("""%a: f64 = cond %b {
        given %x
        then { %c: f64 = sin(%x) %d: f64 = sin(%x) %e: f64 = add(%c, %d) return %e }
        else { return %x }
    } return %a""")
    assert "%e: f64 = add(%c, %c)" in found
    assert sum("sin" in line for line in found) == 1


def test_parameters_bound_to_the_same_value_are_one():
    found = lines("""%a: f64 = loop %k < %n {
        carry %s: f64 = %x
        given %y
        given %u: f64 = %y
        %c: f64 = sin(%y) %d: f64 = sin(%u) %e: f64 = add(%c, %d)
        next %e
    } return %a""")
    assert found[1:-2] == [
        "carry %s: f64 = %x",
        "given %y",
        "%c: f64 = sin(%y)",
        "%e: f64 = add(%c, %c)",
        "next %e",
    ] or ("%e: f64 = add(%c, %c)" in found and not any("%u" in line for line in found))


def test_what_comes_in_need_not_be_computed_again():
    found = lines("""%a: f64 = sin(%x)
    %c: f64 = cond %b {
        given %x, %a
        then { %d: f64 = sin(%x) %e: f64 = add(%d, %a) return %e }
        else { return %a }
    } return %c""")
    assert sum("sin" in line for line in found) == 1
    assert "%e: f64 = add(%a, %a)" in found


CARRIED = """%a: f64, %c: f64, %d: f64 = loop %k < %n {{
        carry %p: f64 = %x
        carry %q: f64 = %x
        carry %r: f64 = {start}
        %e: f64 = sin(%p) %f: f64 = sin({second}) %g: f64 = sin(%r)
        next %e, %f, %g
    }} return %a, %c, %d"""


def test_carried_values_that_are_always_alike():
    assert lines(CARRIED.format(start="%x", second="%q"))[-1] == "return %a, %a, %a"
    assert lines(CARRIED.format(start="%y", second="%q"))[-1] == "return %a, %a, %d"
    assert lines(CARRIED.format(start="%y", second="%r"))[-1] == "return %a, %c, %d"


def test_nothing_to_do_gives_the_block_itself():
    block = parse("block(%x: f64) { %a: f64 = sin(%x) %b: f64 = cos(%x) return %a, %b }")
    assert cse(block) is block


@pytest.mark.slow
@given(random_ir.programs(), random_ir.arguments())
def test_random_programs(program, args):
    block = kept_by(cse, program, args)
    assert number_of_nodes(block) <= number_of_nodes(program.block)
