"""The checker: what is well formed passes, and each rule is violated once."""

import numpy as np
import pytest
import random_ir
from hypothesis import given
from ir_examples import ALL, COUNTER, SCALAR, TRUTH, F, I, Making, branches, mean_square, parameters, vector

from wengert.ir.check import InvalidProgram, check
from wengert.ir.node import Block, Const, Dyn, Node, Program, Ref, Type, Var
from wengert.ops.elementwise import sin
from wengert.ops.index import ARRAY
from wengert.ops.op import Op


@pytest.mark.parametrize("example", [e for e in ALL if e is not parameters], ids=lambda f: f.__name__)
def test_good_programs_pass(example):
    check(example())
    check(example().block, types=False)


@pytest.mark.slow
@given(random_ir.programs())
def test_random_programs_pass(program):
    check(program)


WEAK = Type((), F, True)


def loop_with(count=3, types=(SCALAR, SCALAR), results=None, carried=1, outs=(SCALAR,), counter=COUNTER, **params):
    """A loop over one carried value and one constant, with something wrong."""
    body = Making(("k", counter), *[("p", t) for t in types])
    results = body.params[1:2] if results is None else results
    m = Making(("x", SCALAR), ("a", SCALAR))
    m.add("loop", count, *m.params, body=body.block(*results), carried=carried, out=list(outs), **params)
    return m.program("f")


def while_with(answer=True, types=(SCALAR,), test_types=(SCALAR,), results=None, outs=(SCALAR, COUNTER), carried=1):
    body, test = Making(*[("p", t) for t in types]), Making(*[("p", t) for t in test_types])
    results = body.params if results is None else results
    answers = answer if isinstance(answer, tuple) else (answer,)
    m = Making(("x", SCALAR))
    m.add("while", *m.params, body=body.block(*results), test=test.block(*answers), carried=carried, out=list(outs))
    return m.program("f")


def cond_with(pred=True, then=(0.5,), orelse=(0.5,), outs=(WEAK,), types=(SCALAR,)):
    branches = [Making(*[("p", t) for t in types]).block(*results) for results in (then, orelse)]
    m = Making(("x", SCALAR))
    m.add("cond", pred, m.params[0], then=branches[0], orelse=branches[1], out=list(outs))
    return m.program("f")


def call_with(types=(SCALAR,), results=(0.5,), outs=(WEAK,), name="g"):
    body = Making(*[("p", t) for t in types])
    m = Making(("x", SCALAR))
    m.add("call", m.params[0], body=body.block(*results), name=name, out=list(outs))
    return m.program("f")


def one(op, *args, out=SCALAR, sizes=(), given=(("x", SCALAR),), **params):
    """A program of one node; strings among operands are names of parameters."""
    m = Making(*given)
    names = {p.hint: p for p in m.params}
    operands = [names[a] if isinstance(a, str) else a for a in args]
    m.add(op, *operands, out=out, sizes=tuple([names[s] if isinstance(s, str) else s for s in sizes]), **params)
    return m.program("f")


def used_too_early():
    m = Making(("x", SCALAR))
    later = Var(SCALAR, "later")
    m.add("sin", later)
    m.nodes.append(Node(sin, (m.params[0],), {}, (later,)))
    return m.program("f")


def defined_twice():
    m = Making(("x", SCALAR))
    y = m.add("sin", m.params[0], hint="y")
    m.nodes.append(Node(sin, (m.params[0],), {}, (y,)))
    return m.program("f")


def defined_inside_too():
    m = Making(("x", SCALAR))
    m.add("call", m.params[0], body=Block([m.params[0]], [], []), name="g", out=[])
    return m.program("f")


def not_closed():
    m = Making(("x", SCALAR))
    m.add("call", body=Block([], [], [m.params[0]]), name="g", out=[SCALAR])
    return m.program("f")


def unknown_op():
    m = Making(("x", SCALAR))
    lost = object.__new__(Op)
    lost.name = "lost"
    m.nodes.append(Node(lost, (m.params[0],), {}, (Var(SCALAR),)))
    return m.program("f")


def constant_of_another_type(value, type):
    return Program("f", Block([], [], [Const(value, type)]))


V3, V4 = ("v", vector(3)), ("u", vector(4))

WRONG = {
    "used too early": (used_too_early, "%later is used before it is defined\n  in %0: f64 = sin(%"),
    "not defined": (lambda: one("sin", Var(SCALAR, "z")), "%?z is not defined"),
    "not a result": (lambda: Making().program("f", Var(SCALAR)), "%? is not defined"),
    "defined twice": (defined_twice, "is defined twice"),
    "defined inside too": (defined_inside_too, "%x is defined twice"),
    "not closed": (not_closed, "%x belongs to an outer block; blocks are closed"),
    "unknown op": (unknown_op, "there is no op 'lost'"),
    "weak array": (lambda: Making(("x", Type((2,), F, True))).program("f"), "only scalars can be weak"),
    "constant: weak": (lambda: constant_of_another_type(2.0, SCALAR), "a constant of type f64~ says that it is f64"),
    "constant: dtype": (lambda: constant_of_another_type(np.zeros(3), vector(3, I)), "of type f64[3] says"),
    "constant: shape": (lambda: constant_of_another_type(np.zeros(3), vector(4)), "says that it is f64[4]"),
    "ref out of range": (
        lambda: one("iota", n=Ref(1), sizes=("n",), out=vector(Dyn(), I), given=[("n", COUNTER)]),
        "there is no size number 1",
    ),
    "ref deep inside": (
        lambda: one("index", "v", pattern=(slice(None, Ref(0)),), out=vector(Dyn()), given=[V3]),
        "there is no size number 0",
    ),
    "size is no integer": (
        lambda: one("iota", n=Ref(0), sizes=("x",), out=vector(Dyn(), I)),
        "a size must be an integer, not f64",
    ),
    "size is an array": (
        lambda: one("iota", n=Ref(0), sizes=("j",), out=vector(Dyn(), I), given=[("j", vector(2, I))]),
        "a size must be an integer, not i64[2]",
    ),
    # types of results
    "elementwise shape": (
        lambda: one("sin", "v", given=[V3]),
        "%0 is f64, but the op gives f64[3]\n  in %0: f64 = sin(%v)",
    ),
    "elementwise dtype": (lambda: one("less", "x", 1.0), "but the op gives bool"),
    "elementwise weak": (lambda: one("add", "x", 1.0, out=Type((), F, True)), "%0 is f64~, but the op gives f64"),
    "broadcasting": (lambda: one("add", "v", "u", given=[V3, V4]), "cannot be broadcast to a single shape"),
    "bound": (lambda: one("sin", "v", out=vector(Dyn(2)), given=[V3]), "is f64[?<=2], but the op gives f64[3]"),
    "reshape": (lambda: one("reshape", "v", shape=(4,), out=vector(4), given=[V3]), "cannot be reshaped to f64[4]"),
    "broadcast_to": (lambda: one("broadcast_to", "v", shape=(4,), out=vector(4), given=[V3]), "cannot be broadcast to"),
    "index": (lambda: one("index", "v", pattern=(slice(2),), out=vector(3), given=[V3]), "but the op gives f64[2]"),
    "store": (lambda: one("store", "v", 0.0, pattern=(0,), out=vector(4), given=[V3]), "but the op gives f64[3]"),
    "number of results": (lambda: one("sin", "x", out=[SCALAR, SCALAR]), "results: 2, but there must be 1"),
    "matmul": (lambda: one("matmul", "v", "v", out=vector(3), given=[V3]), "but the op gives f64"),
    "iota": (lambda: one("iota", n=3, out=vector(4, I)), "but the op gives i64[3]"),
    "size: axis": (lambda: one("size", "v", axis=1, out=COUNTER, given=[V3]), "a f64[3] has no axis 1"),
    "size: type": (lambda: one("size", "v", axis=0, out=Type((), I), given=[V3]), "but the op gives i64~"),
    "require: results": (lambda: one("require", True, error="E", message=""), "results: 1, but there must be 0"),
    "require: params": (
        lambda: one("require", True, error="E", out=[]),
        "the parameters of require are error, message",
    ),
    # loop
    "loop: parameters": (lambda: loop_with(unroll=3), "the parameters of loop are body, carried"),
    "loop: count": (lambda: loop_with(count=2.0), "the number of iterations must be an integer, not f64~"),
    "loop: carried": (lambda: loop_with(carried=3), "carried=3 of 2 operands"),
    "loop: counter": (lambda: loop_with(counter=Type((), I)), "it must be i64~"),
    "loop: operands": (lambda: loop_with(types=(SCALAR,)), "parameters of body: 1, but there must be 2"),
    "loop: returns": (lambda: loop_with(results=()), "the body must return 1 carried values"),
    "loop: results": (lambda: loop_with(outs=(SCALAR, SCALAR)), "results: 2, but there must be 1"),
    "loop: start": (
        lambda: loop_with(types=(COUNTER, SCALAR), outs=(COUNTER,)),
        "carried value 0 have different types: f64, i64~, i64~, i64~",
    ),
    "loop: next": (lambda: loop_with(results=(2,)), "different types: f64, f64, i64~, f64"),
    "loop: end": (lambda: loop_with(outs=(vector(3),)), "different types: f64, f64, f64, f64[3]"),
    "loop: constant": (lambda: loop_with(types=(SCALAR, vector(2))), "of body is f64[2] and gets a f64"),
    "loop: stack": (
        lambda: loop_with(results=(2.0,), carried=0, outs=(vector(4),)),
        "%0 is f64[4], but it stacks up a f64[3]",
    ),
    # while
    "while: answers": (lambda: while_with(answer=(True, True)), "results of test: 2, but there must be 1"),
    "while: answer": (lambda: while_with(answer=1), "the test must return true or false, not i64~"),
    "while: test": (lambda: while_with(test_types=(TRUTH,)), "of test is bool and gets a f64"),
    "while: carried": (lambda: while_with(types=(TRUTH,)), "have different types: f64, bool, bool, f64"),
    "while: results": (lambda: while_with(outs=(SCALAR,)), "results: 1, but there must be 2"),
    "while: count": (lambda: while_with(outs=(SCALAR, SCALAR)), "counts the iterations: it must be i64~"),
    "while: stack": (
        lambda: while_with(results=(0.5,), carried=0, outs=(COUNTER, SCALAR)),
        "is f64, but it stacks up a f64[?]",
    ),
    # cond and call
    "cond: condition": (lambda: cond_with(pred=1), "the condition must be true or false, not i64~"),
    "cond: branches": (
        lambda: cond_with(orelse=(1,)),
        "both branches and result 0 have different types: f64~, i64~, f64~",
    ),
    "cond: result": (lambda: cond_with(outs=(TRUTH,)), "different types: f64~, f64~, bool"),
    "cond: number": (lambda: cond_with(then=()), "results of then: 0, but there must be 1"),
    "cond: operands": (lambda: cond_with(types=()), "parameters of then: 0, but there must be 1"),
    "call: operands": (lambda: call_with(types=(TRUTH,)), "of body is bool and gets a f64"),
    "call: results": (lambda: call_with(outs=()), "results: 0, but there must be 1"),
    "call: types": (lambda: call_with(outs=(TRUTH,)), "different types: f64~, bool"),
    "call: name": (lambda: call_with(name=3), "the name must be a text"),
}


@pytest.mark.parametrize("case", WRONG)
def test_each_rule(case):
    make, problem = WRONG[case]
    with pytest.raises(InvalidProgram) as caught:
        check(make())
    assert problem in str(caught.value)


def test_inside_blocks():
    program = mean_square()
    body = program.block.nodes[0].params["body"]
    body.nodes[1].outs[0].type = vector(2)
    with pytest.raises(InvalidProgram, match=r"in %1: f64\[2\] = multiply\(%0, %0\)"):
        check(program)


def test_types_may_say_less_than_is_known():
    check(one("sin", "v", out=vector(Dyn(5)), given=[V3]))
    check(one("sin", "v", out=vector(Dyn()), given=[V3]))
    check(loop_with(results=(2.0,), carried=0, outs=(vector(Dyn()),)))


def test_branches_may_have_other_lengths():
    check(cond_with(then=(np.ones(1),), orelse=(np.ones(4),), outs=(vector(Dyn(4)),)))
    with pytest.raises(InvalidProgram, match="both branches and result 0 have different types"):
        check(cond_with(then=(np.ones(5),), orelse=(np.ones(4),), outs=(vector(Dyn(4)),)))


def test_types_are_left_out_if_wanted():
    program = one("sin", "v", given=[V3])
    check(program, types=False)


def test_what_raises_is_no_matter_of_types():
    check(one("index", "v", pattern=(7,), given=[V3]))
    check(one("index", "v", 1, pattern=(ARRAY,), given=[V3]))


def test_numbers_of_python_are_weak_and_arrays_of_them_are_not():
    check(one("python_number", 2.0, out=Type((), np.dtype(float), True)))
    check(one("python_number", "v", out=vector(3), given=[V3]))


def test_one_block_may_stand_in_two_places():
    check(branches())
