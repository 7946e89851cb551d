"""The printed form: what it looks like (golden files), and that it says everything (it is read back)."""

import numpy as np
import pytest
import random_ir
from hypothesis import given
from ir_examples import ALL, COUNTER, SCALAR, Making, mean_square, parameters, triangle

from wengert.ir.literal import dtype_named, element, element_text, number, number_text
from wengert.ir.node import Block, Const, Program, Source, Type, Var
from wengert.ir.parse import parse
from wengert.ir.show import objects_of, show, show_node


@pytest.mark.parametrize("example", ALL, ids=lambda f: f.__name__)
def test_printed_form(example, golden):
    golden(f"{example.__name__}.txt", show(example()))


@pytest.mark.parametrize("example", ALL, ids=lambda f: f.__name__)
def test_what_is_read_back_prints_the_same(example):
    program = example()
    text = show(program)
    assert show(parse(text, objects_of(program))) == text


@pytest.mark.slow
@given(random_ir.programs())
def test_random_programs_are_read_back(program):
    text = show(program)
    assert show(parse(text)) == text
    assert show(parse(show(program.block))) == show(program.block)


def test_printing_changes_nothing_and_is_the_same_each_time():
    program = triangle()
    assert show(program) == show(program) == show(triangle())


def test_names_are_unique_and_plain():
    params = [Var(SCALAR, h) for h in ("x", "x", "not a name", "1st", "", None, "x")]
    text = show(Program("f", Block(params, [], params)))
    assert "%x: f64, %x.1: f64, %not_a_name: f64, %_1st: f64, %0: f64, %1: f64, %x.2: f64" in text
    assert show(parse(text)) == text


def test_a_value_that_is_handed_in_keeps_its_name():
    text = show(mean_square())
    assert "given %x\n" in text
    program = parse(text)
    body = program.block.nodes[0].params["body"]
    assert body.params[2] is not program.block.params[0]
    assert body.params[2].type == program.block.params[0].type


def test_the_same_value_handed_in_twice_has_two_names():
    body = Making(("k", COUNTER), ("a", SCALAR), ("b", SCALAR))
    m = Making(("x", SCALAR))
    m.add("loop", 2, m.params[0], m.params[0], body=body.block(), carried=0, out=[])
    text = show(m.program("f"))
    assert "given %x\n" in text
    assert "given %b: f64 = %x\n" in text
    assert show(parse(text)) == text


def test_what_is_not_well_formed_is_shown_in_the_general_form():
    body = Making(("s", SCALAR), ("k", COUNTER))
    m = Making(("x", SCALAR))
    m.add("loop", 2, m.params[0], body=body.block(body.params[0], 1.0), carried=7, out=[SCALAR])
    text = show(m.program("f", Var(SCALAR, "lost"), Var(SCALAR)))
    assert "loop(2, %x, carried=7) {\n    body(%s: f64, %k: i64~) {" in text
    assert "return %?lost, %?" in text


def test_one_node_is_shown_as_in_the_program():
    program = mean_square()
    node = program.block.nodes[0].params["body"].nodes[1]
    assert show_node(program, node) == "%1: f64 = multiply(%0, %0)"


@pytest.mark.parametrize("file", ["a.py", "/a b/c:d.py", "<string>", "", "'q'", " x ", "a\nb", "ü#.py"])
def test_files_are_read_back(file):
    m = Making(("x", SCALAR))
    for line in (3, 4):
        m.add("sin", m.params[0], line=Source(file, line))
    m.add("sin", m.params[0], line=Source("other.py", 5))
    text = show(m.program("f"))
    program = parse(text)
    assert [n.source for n in program.block.nodes] == [Source(file, 3), Source(file, 4), Source("other.py", 5)]
    assert show(program) == text


def test_source_lines_stand_in_one_column():
    lines = [line for line in show(triangle()).splitlines() if "  # " in line]
    assert len({line.index("  # ") for line in lines}) == 1


def test_objects_must_be_named_to_be_read():
    program = parameters()
    assert set(objects_of(program).values()) == {len, object}
    with pytest.raises(Exception, match="no data: say what it is"):
        parse(show(program))


NUMBERS = [0, -1, 2**63, 0.1, -0.0, 1e308, 5e-324, float("nan"), float("inf"), complex(-0.0, 0.0), complex("nan-infj")]


@pytest.mark.parametrize("x", NUMBERS, ids=str)
def test_numbers_are_read_back_exactly(x):
    back = number(number_text(x))
    assert type(back) is type(x)
    assert repr(back) == repr(x)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", "i1", "u8", "g", "G"])
def test_scalars_are_read_back_exactly(dtype, rng):
    dtype = np.dtype(dtype)
    parts = rng.standard_normal((2, 200)) * 10.0 ** rng.integers(-4, 4, 200)
    values = (parts[0] + 1j * parts[1] if dtype.kind == "c" else np.abs(parts[0])).astype(dtype)
    for x in values:
        back = element(element_text(x), dtype)
        assert back.dtype == dtype
        assert back == x


def test_dtypes_are_named():
    for code in "bhilBHILefdgFDG?":
        dtype = np.dtype(code)
        assert dtype_named(repr(Type((), dtype))) == dtype
    assert dtype_named("f7") is None
    assert dtype_named("f1024") is None
    assert dtype_named("x") is None


def test_large_constants_are_exact_and_shared(rng):
    array = rng.standard_normal((20, 5))
    array[0, :3] = np.nan, np.inf, -0.0
    strange = np.array([0x7FF8000000000001], np.uint64).view(float)  # a NaN with something in it
    operands = [Const(a, Type(a.shape, a.dtype)) for a in (array, array.T, strange, array)]
    back = parse(show(Program("f", Block([], [], operands)))).block.results
    for a, b in zip(operands, back, strict=True):
        assert b.type == a.type
        assert b.value.tobytes() == a.value.tobytes()
    assert back[0].value is back[3].value


def test_arrays_of_one_number_are_short():
    arrays = [np.zeros(100), np.full((2, 3), -0.0), np.ones((1, 1)), np.full(9, np.nan), np.array([0.0, -0.0] * 5)]
    text = show(Program("f", Block([], [], [Const(a, Type(a.shape, a.dtype)) for a in arrays])))
    assert "return f64[100](0.0), f64[2, 3](-0.0), f64[1, 1](1.0), f64[9](nan), @0" in text
    for a, b in zip(arrays, parse(text).block.results, strict=True):
        assert b.value.tobytes() == a.tobytes()
