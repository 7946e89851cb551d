"""Reading the printed form: what it accepts, and what it says of what it does not accept."""

import numpy as np
import pytest
from ir_examples import mean_square, newton, triangle

from wengert.ir.interpret import run
from wengert.ir.node import Dyn, Ref, Type
from wengert.ir.parse import ParseError, parse
from wengert.ir.show import show


def test_what_is_read_computes_the_same(rng):
    x = rng.standard_normal(8)
    np.testing.assert_allclose(run(parse(show(mean_square())).block, [x, 8]), [np.mean(x * x)])
    root, iterations, path = run(parse(show(newton())).block, [np.float64(2)])
    assert (root, iterations) == (pytest.approx(np.sqrt(2)), len(path))
    A = np.tril(rng.standard_normal((5, 5))) + 4 * np.eye(5)
    np.testing.assert_allclose(A @ run(parse(show(triangle())).block, [A, np.ones(5)])[0], np.ones(5))


def test_types():
    program = parse("block (%a: f64, %b: i32~, %c: c64[3, ?], %d: bool[?<=5]) { return }")
    assert [p.type for p in program.params] == [
        Type((), np.dtype("f8")),
        Type((), np.dtype("i4"), True),
        Type((3, Dyn()), np.dtype("c8")),
        Type((Dyn(5),), np.dtype(bool)),
    ]


def test_lengths_that_are_values():
    (node,) = parse(
        "block(%x: f64[3], %n: i64, %m: i64) { %y: f64[?] = index(%x, pattern=(%n:%m:%n,)) return %y }"
    ).nodes
    assert node.params == {"pattern": (slice(Ref(0), Ref(1), Ref(0)),)}
    assert [s.hint for s in node.sizes] == ["n", "m"]


def test_layout_is_free_and_other_comments_are_skipped():
    text = """
    # what it is: a test
    block(%x: f64) {  # note
      %y: f64 =
        add(%x,
            1.0,
           )  return
      %y }
    """
    block = parse(text)
    assert block.nodes[0].source is None
    assert run(block, [2.0]) == [3.0]


HEAD = "block(%x: f64) {\n  "

WRONG = [
    ("", 1, 1, "expected 'program' or 'block', found 'the end of the text'"),
    ("blok(%x: f64) { return }", 1, 1, "expected 'program' or 'block'"),
    ("block(%x f64) { return }", 1, 10, "expected ':'"),
    ("block(%x: q64) { return }", 1, 11, "expected a type, found 'q64'"),
    ("block(%x: f64, %x: f64) { return }", 1, 16, "%x is defined already"),
    (HEAD + "return %y\n}", 2, 10, "%y is not defined here"),
    (HEAD + "return %x", 2, 12, "expected '}'"),
    (HEAD + "return %x\n} more", 3, 3, "expected the end of the text"),
    (HEAD + "%y: f64 = nothing(%x)\n  return %y\n}", 2, 13, "there is no op named 'nothing'"),
    (HEAD + "%x: f64 = sin(%x)\n  return %x\n}", 2, 3, "%x is defined already"),
    (HEAD + "%y: f64 = add(%x, axis=1, %x)\n  return %y\n}", 2, 29, "an operand must stand before the parameters"),
    (HEAD + "%y: f64 = sin(%y)\n  return %y\n}", 2, 17, "%y is not defined here"),
    (HEAD + "%y: f64 = sin(@0)\n  return %y\n}", 2, 17, "@0 is not among the constants"),
    (HEAD + "%y: f64 = sin(<f 0>)\n  return %y\n}", 2, 17, "<f 0> is no data"),
    (HEAD + "%y: f64 = sin(f64[3](1.0, 2.0))\n  return %y\n}", 2, 17, "these numbers are not a f64[3]"),
    (HEAD + "%y: f64 = sin(%x) & return %y }", 2, 21, "'&' means nothing here"),
    (HEAD + "loop %k < 3 {\n    given %x\n    carry %s: f64 = %x\n    next %s\n  }\n}", 4, 5, "before what is given"),
    (HEAD + "loop %k < 3 {\n    carry %s: f64 = %x\n  }\n}", 4, 3, "1 values are carried"),
    (HEAD + "cond True {\n    carry %s: f64 = %x\n  }\n}", 3, 5, "a cond carries nothing"),
    (HEAD + "call f {\n    given %z\n  }\n}", 3, 11, "%z is not defined here"),
    (HEAD + "return %x\n}\nconstants {\n  @0: f64[3] = 'AAAA'\n}", 5, 16, "not the bytes of a f64[3]"),
]


@pytest.mark.parametrize(("text", "line", "column", "problem"), WRONG, ids=[w[3] for w in WRONG])
def test_errors_say_where_and_what(text, line, column, problem):
    with pytest.raises(ParseError) as caught:
        parse(text)
    message = str(caught.value)
    assert problem in message
    assert (caught.value.line, caught.value.column) == (line, column), message
    assert message.startswith(f"line {line}, column {column}: ")
    assert message.splitlines()[-1].index("^") == column + 1
