"""Simplification: each identity, and those that look like one but are not."""

import numpy as np
import pytest
import random_ir
from hypothesis import given
from ir_comparing import kept_by, number_of_nodes

import wengert as wg
import wengert.control  # the ops that hold code
from wengert.ir.check import check
from wengert.ir.interpret import run
from wengert.ir.parse import parse
from wengert.ir.show import show
from wengert.passes.dce import dce
from wengert.passes.simplify import simplify

PARAMS = """%x: f64[3], %s: f64, %z: c128[3], %i: i64~, %m: i64[3], %n: i64, %b: bool, %w: f32[3], %A: f64[2, 3],
            %v: f64[?<=5], %p: f64~, %c: bool[3]"""


def lines(nodes: str, result: str, times: int = 1) -> list[str]:
    """The nodes and results of a block after simplification; `nodes` are separated by semicolons."""
    block = parse(f"block({PARAMS}) {{ {nodes.replace(';', ' ')} return {result} }}")
    check(block)
    for _ in range(times):
        block = simplify(block)
        check(block)
        block = dce(block)
    return [line.strip() for line in show(block).splitlines()[1:-1]]


def becomes(expression: str, type: str, wanted: str) -> None:
    """That one node becomes another node, or (`return …`) a value."""
    found = lines(f"%y: {type} = {expression}", "%y")
    assert found == ([wanted] if wanted.startswith("return") else [f"%y: {type} = {wanted}", "return %y"])


SAME_X = [
    *("multiply(%x, 1)", "multiply(1.0, %x)", "multiply(%x, f64(1.0))", "multiply(%x, f64[3](1.0, 1.0, 1.0))"),
    *("divide(%x, 1)", "divide(%x, 1.0)", "add(%x, -0.0)", "add(-0.0, %x)", "subtract(%x, 0.0)", "subtract(%x, 0)"),
    *("power(%x, 1)", "positive(%x)", "conjugate(%x)", "real(%x)", "copy(%x)", "astype(%x, dtype=f64)"),
    *("reshape(%x, shape=(3,))", "broadcast_to(%x, shape=(3,))", "transpose(%x, axes=(0,))", "maximum(%x, %x)"),
    *("index(%x, pattern=(:,))", "index(%x, pattern=(...,))", "index(%x, pattern=())", "index(%x, pattern=(0:3,))"),
    *("where(%b, %x, %x)", "where(True, %x, 2.0)", "where(False, 2.0, %x)", "where(bool[3](True, True, True), %x, %s)"),
]


@pytest.mark.parametrize("expression", SAME_X)
def test_nothing_is_done_to_x(expression):
    becomes(expression, "f64[3]", "return %x")


@pytest.mark.parametrize(
    ("expression", "type", "wanted"),
    [
        ("multiply(%x, -1)", "f64[3]", "negative(%x)"),
        ("multiply(-1.0, %s)", "f64", "negative(%s)"),
        ("multiply(%m, -1)", "i64[3]", "negative(%m)"),
        ("power(%x, 2)", "f64[3]", "square(%x)"),
        ("power(%m, 2)", "i64[3]", "square(%m)"),
        ("multiply(%m, 0)", "i64[3]", "broadcast_to(i64(0), shape=(3,))"),
        ("multiply(0, %n)", "i64", "return i64(0)"),
        ("multiply(%i, 0)", "i64~", "return 0"),
        ("subtract(%m, %m)", "i64[3]", "broadcast_to(i64(0), shape=(3,))"),
        ("add(%m, 0)", "i64[3]", "return %m"),
        ("add(%i, 0)", "i64~", "return %i"),
        ("multiply(%i, 1)", "i64~", "return %i"),
        ("floor_divide(%m, 1)", "i64[3]", "return %m"),
        ("sum(%m, axis=(), keepdims=False)", "i64[3]", "return %m"),
        ("less(%n, %n)", "bool", "return bool(False)"),
        ("equal(%n, %n)", "bool", "return bool(True)"),
        ("logical_and(%c, True)", "bool[3]", "return %c"),
        ("logical_and(%b, False)", "bool", "return bool(False)"),
        ("logical_or(%b, True)", "bool", "return bool(True)"),
        ("logical_or(%b, %b)", "bool", "return %b"),
        ("where(True, %s, %x)", "f64[3]", "broadcast_to(%s, shape=(3,))"),
        ("size(%A, axis=1)", "i64~", "return 3"),
        ("index(%A, pattern=(:, 0:5))", "f64[2, 3]", "return %A"),
        ("subtract(%z, 0)", "c128[3]", "return %z"),
        ("add(%z, -0.0-0.0j)", "c128[3]", "return %z"),
    ],
)
def test_identities(expression, type, wanted):
    becomes(expression, type, wanted)


@pytest.mark.parametrize(
    ("expression", "type"),
    [
        ("add(%x, 0.0)", "f64[3]"),  # -0.0 + 0.0 is 0.0
        ("add(%x, 0)", "f64[3]"),
        ("subtract(%x, -0.0)", "f64[3]"),
        ("multiply(%x, 0)", "f64[3]"),  # inf · 0 is NaN
        ("subtract(%x, %x)", "f64[3]"),
        ("multiply(%z, 1)", "c128[3]"),  # (inf + 0j) · (1 + 0j) has a NaN
        ("divide(%z, 1)", "c128[3]"),
        ("add(%z, -0.0)", "c128[3]"),
        ("power(%s, 2)", "f64"),  # C's pow(x, 2) is not always x·x
        ("multiply(%w, f64(1.0))", "f64[3]"),  # promotes
        ("multiply(%m, 1.0)", "f64[3]"),
        ("multiply(%s, f64[3](1.0))", "f64[3]"),
        ("divide(%m, 1)", "f64[3]"),
        ("sum(%x, axis=(), keepdims=False)", "f64[3]"),
        ("copy(%p)", "f64"),  # a Python number becomes a NumPy number
        ("stop_gradient(%x)", "f64[3]"),  # says something about derivatives
        ("index(%x, pattern=(None, :))", "f64[1, 3]"),
        ("index(%x, pattern=(1:,))", "f64[2]"),
        ("equal(%x, %x)", "bool[3]"),  # NaN
        ("size(%v, axis=0)", "i64~"),
        ("conjugate(%z)", "c128[3]"),
        ("logical_and(%x, True)", "bool[3]"),
    ],
)
def test_what_is_no_identity_stays(expression, type):
    becomes(expression, type, expression)


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        ("%a: f64[3] = negative(%x); %y: f64[3] = negative(%a)", ["return %x"]),
        ("%a: c128[3] = conjugate(%z); %y: c128[3] = conjugate(%a)", ["return %z"]),
        ("%a: bool = logical_not(%b); %y: bool = logical_not(%a)", ["return %b"]),
        ("%a: f64[3] = flip(%x, axis=(0,)); %y: f64[3] = flip(%a, axis=(0,))", ["return %x"]),
        ("%a: f64[3, 2] = transpose(%A, axes=(1, 0)); %y: f64[2, 3] = transpose(%a, axes=(1, 0))", ["return %A"]),
        (
            "%a: f64[6] = reshape(%A, shape=(6,)); %y: f64[3, 2] = reshape(%a, shape=(3, 2))",
            ["%y: f64[3, 2] = reshape(%A, shape=(3, 2))", "return %y"],
        ),
        ("%a: f64[6] = reshape(%A, shape=(6,)); %y: f64[2, 3] = reshape(%a, shape=(2, 3))", ["return %A"]),
        (
            "%a: f64[3] = broadcast_to(%s, shape=(3,)); %y: f64[2, 3] = broadcast_to(%a, shape=(2, 3))",
            ["%y: f64[2, 3] = broadcast_to(%s, shape=(2, 3))", "return %y"],
        ),
        ("%a: f64[3] = broadcast_to(1.0, shape=(3,)); %y: f64[3] = multiply(%x, %a)", ["return %x"]),
        ("%a: f64[3] = broadcast_to(%s, shape=(3,)); %y: f64 = index(%a, pattern=(1,))", ["return %s"]),
        ("%a: f64[3] = negative(%x); %y: f64[3] = add(%w, %a)", ["%y: f64[3] = subtract(%w, %x)", "return %y"]),
        ("%a: f64[3] = negative(%x); %y: f64[3] = subtract(%w, %a)", ["%y: f64[3] = add(%w, %x)", "return %y"]),
        ("%a: f64[3] = negative(%x); %y: f64[3] = absolute(%a)", ["%y: f64[3] = absolute(%x)", "return %y"]),
        ("%a: bool = logical_not(%b); %y: f64[3] = where(%a, %x, %w)", ["%y: f64[3] = where(%b, %w, %x)", "return %y"]),
        ("%a: f64[3] = astype(%w, dtype=f64); %y: f32[3] = astype(%a, dtype=f32)", ["return %w"]),
        ("%a: i64~ = add(%i, 2); %y: i64~ = add(%a, -3)", ["%y: i64~ = add(%i, -1)", "return %y"]),
        ("%a: i64~ = add(%i, 2); %y: i64~ = subtract(%a, 2)", ["return %i"]),
        ("%a: i64~ = subtract(%i, 2); %y: i64~ = add(1, %a)", ["%y: i64~ = add(%i, -1)", "return %y"]),
        ("%a: i64~ = multiply(%i, 2); %y: i64~ = multiply(3, %a)", ["%y: i64~ = multiply(%i, 6)", "return %y"]),
        ("%a: i64~ = size(%v, axis=0); %c0: i64~ = add(%i, %a); %y: i64~ = subtract(%c0, %i)",
         ["%a: i64~ = size(%v, axis=0)", "return %a"]),
        # lengths
        ("%a: f64[?<=5] = sin(%v); %d: f64[?<=5] = multiply(%s, %a); %y: i64~ = size(%d, axis=0)",
         ["%y: i64~ = size(%v, axis=0)", "return %y"]),
        ("%a: f64[?, 3] = broadcast_to(%x, shape=(%i, 3)); %y: i64~ = size(%a, axis=0)", ["return %i"]),
        ("%a: f64[?, 3] = broadcast_to(%x, shape=(%i, 3)); %t: f64[3, ?] = transpose(%a, axes=(1, 0)); "
         "%y: i64~ = size(%t, axis=1)", ["return %i"]),
        ("%a: i64~ = size(%v, axis=0); %y: f64[?<=5] = reshape(%v, shape=(%a,))", ["return %v"]),
        ("%a: i64~ = add(1, 2); %y: i64[?] = iota(n=%a)", ["%y: i64[?] = iota(n=3)", "return %y"]),
        # constants
        ("%a: f64 = sin(f64(0.5)); %y: f64 = multiply(%a, f64(0.0))", ["return f64(0.0)"]),
        ("%a: i64 = index(i64[3](4, 5, 6), 2, pattern=(ARRAY,)); %y: i64 = add(%a, i64(1))", ["return i64(7)"]),
    ],
)  # fmt: skip
def test_identities_of_two_nodes(nodes, wanted):
    assert lines(nodes, "%y", times=2) == wanted


@pytest.mark.parametrize(
    "node",
    [
        "%y: f64 = divide(f64(1.0), f64(0.0))",  # warns
        "%y: f64 = log(f64(-1.0))",
        "%y: f64[2, 2] = inv(f64[2, 2](0.0))",  # raises
        "%y: f64 = index(f64[2](1.0, 2.0), 5, pattern=(ARRAY,))",
        "%y: f64[100] = broadcast_to(f64(1.0), shape=(100,))",  # large
        "%y: f64[3] = broadcast_to(f64(1.0), shape=(3,))",  # made out of nothing
        "%y: i64~ = multiply(9223372036854775807, 2)",  # too large for 64 bits
        "%y: i64[3] = iota(n=3)",
        "%y: i64~ = add(%i, 4611686018427387904)",
    ],
)
def test_what_is_not_folded(node):
    assert lines(node, "%y") == [node, "return %y"]


WRITE = "%a: f64[3] = store(%x, %s, pattern=({})); "
WRITE_AT = "%a: f64[3] = store(%x, {}, {}, pattern=(ARRAY,)); "


@pytest.mark.parametrize(
    ("nodes", "results", "wanted"),
    [
        (WRITE.format("1,") + "%y: f64 = index(%a, pattern=(1,))", "%y", "return %s"),
        (WRITE.format("1,") + "%y: f64 = index(%a, pattern=(0,))", "%y", "index(%x, pattern=(0,))"),
        # 1 and -2 are the same place, written differently
        (
            WRITE.format("1,") + "%q: f64[3] = store(%a, 1.0, pattern=(2,)); %y: f64 = index(%q, pattern=(-2,))",
            "%y",
            "return %s",
        ),
        (WRITE.format("1,").replace("%s", "2.5") + "%y: f64 = index(%a, pattern=(1,))", "%y", "return f64(2.5)"),
        (WRITE.format("1,").replace("%s", "%p") + "%y: f64 = index(%a, pattern=(1,))", "%y", "astype(%p, dtype=f64)"),
        (WRITE_AT.format("%s", "%n") + "%y: f64 = index(%a, %n, pattern=(ARRAY,))", "%a, %y", "return %a, %s"),
        # out of range it must raise, and nobody else needs the write
        (WRITE_AT.format("%s", "%n") + "%y: f64 = index(%a, %n, pattern=(ARRAY,))", "%y", "index(%a, %n"),
        # of places that are named twice the last write counts
        (WRITE_AT.format("%x", "%m") + "%y: f64[3] = index(%a, %m, pattern=(ARRAY,))", "%a, %y", "index(%a, %m"),
        # the value is spread over several places
        (WRITE.format("1:,") + "%y: f64[2] = index(%a, pattern=(1:,))", "%y", "index(%a, pattern=(1:,))"),
        (WRITE_AT.format("%s", "%n") + "%y: f64 = index(%a, pattern=(0,))", "%y", "index(%a, pattern=(0,))"),
    ],
)
def test_reading_what_was_written(nodes, results, wanted):
    found = lines(nodes, results, times=2)
    assert any(wanted in line for line in found), found


# --------------------------------------------------------------------------------------------------- ops that hold code


def test_calls_are_inlined_each_with_values_of_its_own():
    text = """block(%x: f64) {
      %a: f64 = call g {
        given %u: f64 = %x
        %t: f64 = sin(%u)
        return %t
      }
      return %a
    }"""
    block = parse(text)
    (node,) = block.nodes
    twice = type(block)(block.params, [node, type(node)(node.op, node.outs, node.params, (parse(text).params[0],))], [])
    twice.results.append(twice.nodes[1].outs[0])
    found = simplify(twice)
    check(found)
    assert [n.op.name for n in found.nodes] == ["sin", "sin"]
    assert run(found, [1.0]) == [np.sin(np.sin(1.0))]


def test_a_branch_that_is_known():
    text = """%y: f64 = cond {} {{
        given %s, %n
        then {{ %a: f64 = sin(%s) return %a }}
        else {{ require(False, error='ValueError', message='no') return %s }}
    }}"""
    assert lines(text.format("True"), "%y") == ["%a: f64 = sin(%s)", "return %a"]
    assert lines(text.format("False"), "%y")[0].startswith("require(False")


def test_results_that_no_branch_changes():
    text = """%y: f64, %t: f64, %u: f64[3], %r: f64 = cond %b {
        given %s, %x
        then { %a: f64 = sin(%s) return %a, %s, %x, f64(2.0) }
        else { return %s, %s, %x, f64(2.0) }
    }"""
    assert lines(text, "%t, %u, %r") == ["return %s, %x, f64(2.0)"]
    assert lines(text, "%t, %y")[0] == "%y: f64 = cond %b {"


def test_a_branch_knows_what_the_condition_was():
    text = """%y: f64 = cond %b {
        given %b, %s
        then { %a: f64 = where(%b, %s, f64(1.0)) return %a }
        else { %d: bool = logical_not(%b) %a: f64 = where(%d, %s, f64(2.0)) return %a }
    }"""
    assert lines(text, "%y", times=3) == ["return %s"]


LOOP = """%t: f64, %l: f64[{n}] = loop %k < {n} {{
        carry %c0: f64 = %s
        given %x
        %e: f64 = index(%x, %k, pattern=(ARRAY,))
        %f: f64 = add(%c0, %e)
        next %f
        yield %e
    }}"""


def test_a_loop_that_never_runs():
    assert lines(LOOP.format(n=0), "%t, %l") == ["return %s, f64[0]()"]
    assert lines(LOOP.format(n=0).replace("< 0", "< -2"), "%t, %l") == ["return %s, f64[0]()"]


def test_a_loop_of_one_round():
    assert lines(LOOP.format(n=1), "%t, %l") == [
        "%e: f64 = index(%x, 0, pattern=(ARRAY,))",
        "%f: f64 = add(%s, %e)",
        "%0: f64[1] = reshape(%e, shape=(1,))",
        "return %f, %0",
    ]


def test_a_while_that_never_runs():
    text = """%t: f64, %l: i64~ = while {
        carry %c0: f64 = %s
        test { %f: bool = less(f64(2.0), f64(1.0)) return %f }
        %e: f64 = sin(%c0)
        next %e
    }"""
    assert lines(text, "%t, %l") == ["return %s, 0"]


def test_constants_go_into_blocks():
    text = """%t: f64 = loop %k < %i {
        carry %c0: f64 = %s
        given %g: f64 = f64(2.0)
        given %h: f64 = f64(3.0)
        %e: f64 = multiply(%g, %h)
        %f: f64 = add(%c0, %e)
        next %f
    }"""
    assert "%f: f64 = add(%c0, f64(6.0))" in lines(text, "%t", times=2)


def test_a_condition_that_is_met():
    assert lines("require(True, error='ValueError', message='')", "%x") == ["return %x"]
    assert lines("require(bool[2](True, True), error='ValueError', message='')", "%x") == ["return %x"]
    assert lines("require(False, error='ValueError', message='')", "%x")[0].startswith("require")


def test_nothing_to_do_gives_the_block_itself():
    block = parse(f"block({PARAMS}) {{ %y: f64[3] = sin(%x) {LOOP.format(n=3)} return %y, %t }}")
    assert simplify(block) is block


def test_inner_blocks_that_do_not_change_are_shared():
    block = parse(f"block({PARAMS}) {{ %y: f64[3] = multiply(%x, 1) {LOOP.format(n=3)} return %y, %t }}")
    assert simplify(block).nodes[-1] is block.nodes[-1]


@pytest.mark.slow
@given(random_ir.programs(), random_ir.arguments())
def test_random_programs(program, args):
    block = kept_by(simplify, program, args)
    assert number_of_nodes(dce(block)) <= number_of_nodes(program.block) + 8 * show(program).count("loop")


NEVER_NEGATIVE = "%a: f64 = multiply(%s, %s); %e: f64 = exp(%s); %q: f64 = add(%a, %e); "
ANY_SIGN = "%a: f64 = multiply(%s, %p); %e: f64 = exp(%s); %q: f64 = add(%a, %e); "


def test_what_is_never_negative_is_not_less_than_zero():
    assert lines(NEVER_NEGATIVE + "%y: bool = less(%q, 0)", "%y") == ["return bool(False)"]
    read = "%a: f64 = index(%x, pattern=(1,)); %d: f64 = index(%x, pattern=({},)); %q: f64 = multiply(%a, %d); "
    assert lines(read.format(1) + "%y: bool = less(%q, 0)", "%y") == ["return bool(False)"]
    for nodes in (
        read.format(2) + "%y: bool = less(%q, 0)",
        ANY_SIGN + "%y: bool = less(%q, 0)",
        NEVER_NEGATIVE + "%y: bool = less(%q, 1)",
        NEVER_NEGATIVE + "%y: bool = less(0, %q)",
        "%q: i64 = multiply(%n, %n); %y: bool = less(%q, 0)",  # which may overflow
    ):
        assert len(lines(nodes, "%y")) > 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_factors_that_are_powers_of_two_are_joined_exactly(dtype, rng):
    """c·(p·x) is (c·p)·x bit by bit, at the ends of the range as well; where it would not be, it stays."""
    about = np.finfo(dtype)
    ends = [0.0, -0.0, about.max, about.max / 3, about.tiny, about.smallest_subnormal, np.inf, -np.inf, np.nan]
    x = np.concatenate([np.array([*ends, *np.negative(ends)]), rng.normal(size=50) * about.tiny, rng.normal(size=50)])
    x = x.astype(dtype)
    functions = [
        lambda x: 100 * (2 * (-2.0 * x)),
        lambda x: (x * 4) * 1.1,
        lambda x: 0.5 * (2 * x),  # 2x may be infinite
        lambda x: 2 * (0.5 * x),  # x/2 may be rounded
        lambda x: 3 * (1.1 * x),
    ]
    for f in functions:
        with np.errstate(all="ignore"):
            wanted = f(x)
        got = wg.jit(f)(x)
        np.testing.assert_array_equal(got, wanted)
        np.testing.assert_array_equal(np.signbit(got[x == x]), np.signbit(wanted[x == x]))


def test_factors_are_joined():
    nodes = "%a: f64[3] = multiply(%x, f64(-4.0)); %y: f64[3] = multiply(f64(100.0), %a)"
    assert lines(nodes, "%y", times=2) == ["%y: f64[3] = multiply(%x, f64(-400.0))", "return %y"]
    for inner, outer in (3.0, 2.0), (2.0, 0.5), (0.5, 2.0), (8.0, 1e308):
        nodes = f"%a: f64[3] = multiply(%x, f64({inner})); %y: f64[3] = multiply(f64({outer}), %a)"
        assert len(lines(nodes, "%y", times=2)) == 3
