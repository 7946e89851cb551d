"""Functions that join, split, repeat and pad traced arrays, and make or read diagonals."""

import itertools

import numpy as np
import pytest
from cases import check_case, check_error, check_hidden_axis
from harness import check
from programs import check_program

import wengert as wg
from wengert.errors import InPlaceError, UnsupportedFunctionError

CASES = {
    "concatenate": (lambda x, y: np.concatenate([x, y]), (2, 3), (1, 3)),
    "concatenate axis": (lambda x, y: np.concatenate((x, y), axis=-1), (2, 3), (2, 1)),
    "concatenate flat": (lambda x, y: np.concatenate([x, y], axis=None), (2, 3), ()),
    "concatenate constant": (lambda x: np.concatenate([np.ones(2), x, [3.0, 4]]), (2,)),
    "concatenate list of traced": (lambda x: np.concatenate([x, [x[0], 1.0, x[1]]]), (2,)),
    "concatenate integers": (lambda x: np.concatenate([x, np.arange(3)]), (2,)),
    "concatenate itself": (lambda x: np.concatenate([x, x, x]), (2, 2)),
    "concatenate rows": (lambda x: np.concatenate(x), (2, 3)),
    "concatenate one": (lambda x: np.concatenate([x]), (2,)),
    "concatenate empty": (lambda x, y: np.concatenate([x, y]), (0, 2), (1, 2)),
    "concat": (lambda x, y: np.concat([x, y]), (2,), (1,)),
    "stack": (lambda x, y: np.stack([x, y]), (2, 3), (2, 3)),
    "stack axis": (lambda x, y: np.stack([x, y], axis=1), (2, 3), (2, 3)),
    "stack last axis": (lambda x, y: np.stack([x, y], axis=-1), (2, 3), (2, 3)),
    "stack scalars": (lambda x, y: np.stack([x, 1.0, y, 2]), (), ()),
    "stack rows": (lambda x: np.stack(x, axis=1), (2, 3)),
    "vstack": (lambda x, y: np.vstack([x, y]), (3,), (2, 3)),
    "vstack scalars": (lambda x: np.vstack([x, 1.0]), ()),
    "hstack": (lambda x, y: np.hstack([x, y]), (3,), (2,)),
    "hstack 2-d": (lambda x, y: np.hstack([x, y]), (2, 3), (2, 1)),
    "hstack scalars": (lambda x: np.hstack([x, 1.0, x]), ()),
    "dstack": (lambda x, y: np.dstack([x, y]), (3,), (3,)),
    "dstack 2-d": (lambda x, y: np.dstack([x, y]), (2, 3), (2, 3)),
    "column_stack": (lambda x, y: np.column_stack([x, y]), (3,), (3, 2)),
    "column_stack list": (lambda x: np.column_stack([x, [1.0, 2.0]]), (2,)),
    "block": (lambda x, y: np.block([[x, np.eye(2)], [np.zeros((1, 2)), y]]), (2, 2), (1, 2)),
    "block 1-d": (lambda x, y: np.block([x, y, 1.0]), (2,), ()),
    "block one": (lambda x: np.block(x), (2,)),
    "block deep": (lambda x, y: np.block([[[x]], [[y]]]), (2,), (2,)),
    "block of more axes": (lambda x: np.block([x, x]), (2, 2, 2)),
    "append": (lambda x, y: np.append(x, y), (2, 3), (2,)),
    "append axis": (lambda x, y: np.append(x, y, axis=0), (2, 3), (1, 3)),
    "append scalar": (lambda x: np.append(x, 3.0), (2,)),
    "insert": (lambda x, y: np.insert(x, 1, y), (3,), ()),
    "insert negative": (lambda x, y: np.insert(x, -1, y), (3,), ()),
    "insert flat": (lambda x, y: np.insert(x, 2, y), (2, 2), ()),
    "insert several at one": (lambda x, y: np.insert(x, 1, y), (3,), (2,)),
    "insert several places": (lambda x, y: np.insert(x, [0, 2, 2], y), (3,), (3,)),
    "insert one at several": (lambda x, y: np.insert(x, [2, 0], y), (3,), ()),
    "insert slice": (lambda x, y: np.insert(x, slice(0, 3, 2), y), (3,), (2,)),
    "insert mask": (lambda x, y: np.insert(x, np.array([True, False, True]), y), (3,), (2,)),
    "insert row": (lambda x, y: np.insert(x, 1, y, axis=0), (2, 3), (3,)),
    "insert column": (lambda x, y: np.insert(x, 1, y, axis=1), (2, 3), (2,)),
    "insert column by list": (lambda x, y: np.insert(x, [1], y, axis=1), (2, 3), (2, 1)),
    "insert columns": (lambda x, y: np.insert(x, [1, 3], y, axis=-1), (2, 3), (2, 2)),
    "insert constant": (lambda x: np.insert(x, 1, 5.0), (3,)),
    "delete": (lambda x: np.delete(x, 1), (3,)),
    "delete several": (lambda x: np.delete(x, [0, -1]), (4,)),
    "delete slice": (lambda x: np.delete(x, slice(None, None, 2), axis=1), (2, 3)),
    "delete flat": (lambda x: np.delete(x, 4), (2, 3)),
    "delete mask": (lambda x: np.delete(x, [True, False, True]), (3,)),
    "split": (lambda x: np.split(x, 3), (6,)),
    "split axis": (lambda x: np.split(x, 2, axis=-1), (2, 4)),
    "split places": (lambda x: np.split(x, [1, 4]), (6, 2)),
    "split beyond": (lambda x: np.split(x, [2, 1, 9]), (4,)),
    "array_split": (lambda x: np.array_split(x, 4), (6,)),
    "array_split axis": (lambda x: np.array_split(x, 2, axis=1), (2, 3)),
    "hsplit": (lambda x: np.hsplit(x, 2), (2, 4)),
    "hsplit 1-d": (lambda x: np.hsplit(x, [1]), (3,)),
    "vsplit": (lambda x: np.vsplit(x, [1]), (3, 2)),
    "dsplit": (lambda x: np.dsplit(x, 2), (1, 2, 4)),
    "unstack": (lambda x: np.unstack(x), (2, 3)),
    "unstack axis": (lambda x: np.unstack(x, axis=-1), (2, 3)),
    "tile": (lambda x: np.tile(x, 3), (2, 2)),
    "tile several": (lambda x: np.tile(x, (2, 1, 2)), (2, 3)),
    "tile fewer": (lambda x: np.tile(x, (2,)), (2, 3)),
    "tile zero": (lambda x: np.tile(x, 0), (2,)),
    "tile 0-d": (lambda x: np.tile(x, (2, 2)), ()),
    "repeat": (lambda x: np.repeat(x, 2), (2, 3)),
    "repeat axis": (lambda x: np.repeat(x, 3, axis=-1), (2, 3)),
    "repeat array": (lambda x: np.repeat(x, [1, 0, 2], axis=1), (2, 3)),
    "repeat array flat": (lambda x: np.repeat(x, np.array([2, 1, 0])), (3,)),
    "repeat array of one": (lambda x: np.repeat(x, [2]), (3,)),
    "repeat zero": (lambda x: np.repeat(x, 0), (3,)),
    "repeat 0-d": (lambda x: np.repeat(x, 3), ()),
    "repeat method": (lambda x: x.repeat(2, axis=0), (2, 3)),
    "tril": (lambda x: np.tril(x), (3, 3)),
    "tril k": (lambda x: np.tril(x, -1), (2, 3, 4)),
    "tril 1-d": (lambda x: np.tril(x), (3,)),
    "triu": (lambda x: np.triu(x), (3, 2)),
    "triu k": (lambda x: np.triu(x, 1), (3, 4)),
    "diag of vector": (lambda x: np.diag(x), (3,)),
    "diag of vector k": (lambda x: np.diag(x, -2), (3,)),
    "diag of matrix": (lambda x: np.diag(x), (3, 4)),
    "diag of matrix k": (lambda x: np.diag(x, 2), (3, 4)),
    "diag empty": (lambda x: np.diag(x), (0,)),
    "diagonal": (lambda x: np.diagonal(x), (3, 3)),
    "diagonal offset": (lambda x: np.diagonal(x, -1), (3, 4)),
    "diagonal far": (lambda x: np.diagonal(x, 7), (3, 4)),
    "diagonal axes": (lambda x: np.diagonal(x, 1, 2, 0), (3, 2, 4)),
    "diagonal method": (lambda x: x.diagonal(1), (3, 3)),
    "linalg.diagonal": (lambda x: np.linalg.diagonal(x, offset=1), (2, 3, 3)),
    "diagflat": (lambda x: np.diagflat(x, 1), (2, 2)),
    "meshgrid": (lambda x, y: np.meshgrid(x, y), (2,), (3,)),
    "meshgrid ij": (lambda x, y: np.meshgrid(x, y, indexing="ij"), (2,), (3,)),
    "meshgrid sparse": (lambda x, y: np.meshgrid(x, y, sparse=True, copy=False), (2,), (3,)),
    "meshgrid three": (lambda x, y: np.meshgrid(x, y, [1.0, 2.0])[:2], (2,), ()),
    "meshgrid one": (lambda x: np.meshgrid(x), (2,)),
    "vander": (lambda x: np.vander(x), (3,)),
    "vander N": (lambda x: np.vander(x, 4, increasing=True), (3,)),
    "vander nothing": (lambda x: np.vander(x, 0), (3,)),
}

PADS = {
    "constant": {},
    "constant value": dict(mode="constant", constant_values=3.0),
    "constant pair": dict(mode="constant", constant_values=(3.0, 4.0)),
    "edge": dict(mode="edge"),
    "reflect": dict(mode="reflect"),
    "reflect even": dict(mode="reflect", reflect_type="even"),
    "reflect odd": dict(mode="reflect", reflect_type="odd"),
    "symmetric": dict(mode="symmetric"),
    "symmetric odd": dict(mode="symmetric", reflect_type="odd"),
    "wrap": dict(mode="wrap"),
    "linear_ramp": dict(mode="linear_ramp"),
    "linear_ramp ends": dict(mode="linear_ramp", end_values=(3.0, -1.0)),
    "maximum": dict(mode="maximum"),
    "maximum stat_length": dict(mode="maximum", stat_length=2),
    "minimum": dict(mode="minimum"),
    "minimum stat_length": dict(mode="minimum", stat_length=(1, 2)),
    "mean": dict(mode="mean"),
    "mean stat_length": dict(mode="mean", stat_length=2),
    "median": dict(mode="median"),
    "median stat_length": dict(mode="median", stat_length=(2, 3)),
}
WIDTHS = {
    "1-d": (2, (4,)),
    "1-d far": ((7, 11), (4,)),
    "1-d one side": ((0, 3), (3,)),
    "1-d singleton": ((2, 1), (1,)),
    "2-d": (((1, 2), (3, 0)), (2, 3)),
    "3-d": ((2, 1), (3, 1, 2)),
    "none": (0, (3,)),
    "axis": ({-1: (1, 2)}, (2, 3)),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    check_case(*CASES[name], single="vander" not in name)


@pytest.mark.parametrize("name", CASES)
def test_hidden_axis(name):
    check_hidden_axis(*CASES[name])


@pytest.mark.parametrize(("mode", "widths"), list(itertools.product(PADS, WIDTHS)), ids=str)
def test_pad(mode, widths):
    width, shape = WIDTHS[widths]
    options = PADS[mode]
    check_case(lambda x: np.pad(x, width, **options), shape, second=widths in ("2-d", "1-d far"))
    check_hidden_axis(lambda x: np.pad(x, width, **options), shape)


def test_pad_with_traced_values():
    check(lambda x, c: np.pad(x * x, 2, constant_values=c * c), np.ones((2, 3)), 2.0)
    check(lambda x, c: np.pad(x * x, (1, 2), mode="linear_ramp", end_values=c * c), np.arange(3.0), [2.0, 3.0])
    check(lambda x, c: np.pad(x, 1, constant_values=c), np.ones((2, 3)), np.arange(4.0).reshape(2, 2))
    check(lambda x, c: np.pad(x, 1, constant_values=((c, 1.0), (2.0, c))), np.ones((2, 3)), 5.0)


def test_pad_of_empty_and_0d():
    check(lambda x: np.pad(x, 2, constant_values=1.0), np.zeros((0, 2)))
    check(lambda x: np.pad(x, ((0, 0), (1, 1)), mode="edge"), np.zeros((0, 2)))
    check(lambda x: np.pad(x, 0), np.float64(1.0))


def test_pad_empty_leaves_the_middle_and_has_no_other_derivative():
    x = np.arange(6.0).reshape(2, 3)
    g = wg.grad(lambda x: np.sum(np.pad(x, 2, mode="empty")[2:-2, 2:-2] ** 2))(x)
    np.testing.assert_allclose(g, 2 * x)


def test_pad_by_a_function_is_refused():
    with pytest.raises(UnsupportedFunctionError, match="concatenate"):
        wg.grad(lambda x: np.sum(np.pad(x, 1, lambda *args: None)))(np.ones(2))


def test_many_pieces_cost_linear_time():
    n = 20_000
    g = wg.grad(lambda x: np.sum(np.stack(list(x)) * np.arange(n)))(np.ones(n))
    np.testing.assert_allclose(g, np.arange(n))


def test_dtypes():
    x = np.ones(2, np.float32)
    y, y_dot = wg.jvp(lambda x: np.concatenate([x, np.ones(1)]), (x,), (x,))
    assert y.dtype == y_dot.dtype == np.float64
    assert wg.grad(lambda x: np.sum(np.concatenate([x, np.ones(1)])))(x).dtype == np.float32
    y, y_dot = wg.jvp(lambda x: np.stack([x, x], dtype=np.float32), (np.ones(2),), (np.ones(2),))
    assert y.dtype == y_dot.dtype == np.float32
    y, y_dot = wg.jvp(lambda x: np.hstack([x, x], dtype=complex), (np.ones(2),), (np.ones(2),))
    assert y.dtype == y_dot.dtype == np.complex128
    with pytest.raises(TypeError):
        wg.jvp(lambda x: np.concatenate([x, x], dtype=int), (np.ones(2),), (np.ones(2),))
    y, y_dot = wg.jvp(lambda x: np.concatenate([x, x], dtype=int, casting="unsafe") * 1.0, (np.ones(2),), (np.ones(2),))
    np.testing.assert_array_equal(y_dot, np.zeros(4))


X = np.arange(6.0).reshape(2, 3)
AXIS = np.exceptions.AxisError
ERRORS = {
    "concatenate nothing": (lambda x: np.concatenate(x[:0]), ValueError),
    "concatenate scalars": (lambda x: np.concatenate([x[0, 0], x[0, 1]]), ValueError),
    "concatenate shapes": (lambda x: np.concatenate([x, np.ones((2, 2))]), ValueError),
    "concatenate ranks": (lambda x: np.concatenate([x, np.ones(3)], axis=1), ValueError),
    "concatenate axis": (lambda x: np.concatenate([x, x], axis=2), AXIS),
    "stack shapes": (lambda x: np.stack([x, x[0]]), ValueError),
    "stack axis": (lambda x: np.stack([x, x], axis=3), AXIS),
    "block tuple": (lambda x: np.block((x, x)), TypeError),
    "block depths": (lambda x: np.block([x, [x]]), ValueError),
    "block empty": (lambda x: np.block([[x], []]), ValueError),
    "insert range": (lambda x: np.insert(x, 9, 1.0, axis=0), IndexError),
    "insert shape": (lambda x: np.insert(x, 1, np.ones(7), axis=0), ValueError),
    "delete range": (lambda x: np.delete(x, 9), IndexError),
    "split unequal": (lambda x: np.split(x, 2, axis=1), ValueError),
    "split axis": (lambda x: np.array_split(x, 2, axis=2), IndexError),
    "split nothing": (lambda x: np.array_split(x, 0), ValueError),
    "hsplit": (lambda x: np.hsplit(x[0, 0], 1), ValueError),
    "vsplit": (lambda x: np.vsplit(x[0], 1), ValueError),
    "dsplit": (lambda x: np.dsplit(x, 1), ValueError),
    "unstack": (lambda x: np.unstack(x[0, 0]), ValueError),
    "repeat negative": (lambda x: np.repeat(x, -1), ValueError),
    "repeat count": (lambda x: np.repeat(x, [1, 2], axis=1), ValueError),
    "tile negative": (lambda x: np.tile(x, -1), ValueError),
    "pad mode": (lambda x: np.pad(x, 1, mode="nonsense"), ValueError),
    "pad option": (lambda x: np.pad(x, 1, mode="edge", constant_values=1), ValueError),
    "pad negative": (lambda x: np.pad(x, -1), ValueError),
    "pad float": (lambda x: np.pad(x, 1.5), TypeError),
    "pad widths": (lambda x: np.pad(x, ((1, 2), (1, 2), (1, 2))), ValueError),
    "pad nothing": (lambda x: np.pad(x[:0], 1, mode="edge"), ValueError),
    "pad stat_length": (lambda x: np.pad(x, 1, mode="maximum", stat_length=0), ValueError),
    "diag rank": (lambda x: np.diag(x[None]), ValueError),
    "diagonal rank": (lambda x: np.diagonal(x[0]), ValueError),
    "diagonal axes": (lambda x: np.diagonal(x, 0, 1, 1), ValueError),
    "meshgrid indexing": (lambda x: np.meshgrid(x[0], indexing="yx"), ValueError),
    "vander rank": (lambda x: np.vander(x), ValueError),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_numpy(name):
    check_error(*ERRORS[name], X)


def test_out():
    plain = np.zeros((4, 3)), np.zeros((2, 2, 3))
    check_program(lambda x: np.concatenate([x, x * x], out=np.empty((4, 3))), X)
    check_program(lambda x: np.stack([x, x * x], out=np.empty((2, 2, 3))), X)
    for f in (lambda x: np.concatenate([x, x], out=plain[0]), lambda x: np.stack([x, x], out=plain[1])):
        with pytest.raises(InPlaceError, match="out="):
            wg.grad(lambda x, f=f: np.sum(f(x)))(X)
    assert not any(np.any(out) for out in plain)


def test_fill_diagonal_of_a_plain_array_is_refused():
    plain = np.zeros((2, 2))
    with pytest.raises(InPlaceError, match="remedy: create"):
        wg.grad(lambda x: [np.fill_diagonal(plain, x[0, 0]), np.sum(x)][1])(X)
    assert not np.any(plain)


@pytest.mark.parametrize("options", [{"sparse": s, "copy": c} for s in (True, False) for c in (True, False)], ids=str)
def test_what_meshgrid_gives(options):
    """A list or a tuple, as in NumPy, where one option decides."""
    x, kinds = np.arange(3.0), []

    def f(x):
        grids = np.meshgrid(x, np.ones(2), **options)
        kinds.append(type(grids))
        return sum(np.sum(g) for g in grids)

    f(x), wg.grad(f)(x)
    assert kinds[0] is kinds[1]


DELETED = {
    "places that data say": lambda x: np.sum(np.delete(x, np.nonzero(x < 0)[0]) ** 2),
    "a mask": lambda x: np.sum(np.delete(x, x < 0) ** 3),
    "of a constant": lambda x: x[0] * np.sum(np.delete(np.arange(5.0), np.where(x < 0)[0])),
    "columns": lambda x: np.sum(np.delete(np.outer(x, x), np.argsort(x)[:2], axis=1)),
    "from the end": lambda x: np.sum(np.delete(x, np.array([-1, 0, -1]) * (np.argmax(x) > 0)) ** 2),
    "nothing": lambda x: np.sum(np.delete(x, np.nonzero(x > 100)[0]) ** 2),
}


@pytest.mark.parametrize("name", DELETED)
@pytest.mark.parametrize("way", [wg.grad, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))])
def test_delete_at_places_that_data_say(name, way):
    f, x = DELETED[name], np.array([1.0, -2.0, 3.0, -4.0, 5.0])
    slopes = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(5)]
    np.testing.assert_allclose(way(f)(x), slopes, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-14)


def test_delete_at_a_place_that_is_not_there():
    with pytest.raises(IndexError):
        wg.jit(lambda x: np.sum(np.delete(x, np.argsort(x) + 4)))(np.arange(5.0))
