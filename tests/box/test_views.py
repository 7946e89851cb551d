"""Views: what is written to an array shows in its views, and what is written to a view in its array, as in NumPy."""

from types import SimpleNamespace

import numpy as np
import pytest
from cases import traced
from programs import check_program

import wengert as wg
from wengert.errors import InPlaceError
from wengert.ops.op import Traced
from wengert.strides import is_small_part

RNG = np.random.default_rng(5)
X = RNG.normal(size=(3, 4)) + 1.5

# ------------------------------------------------------------------------------------------- which functions make views

# Each is a view, or a copy, of the 3×4 array x, as plain NumPy has it.
EXPRESSIONS = {
    "slice": lambda x: x[1:],
    "row": lambda x: x[1],
    "column": lambda x: x[:, 2],
    "negative step": lambda x: x[::-2, ::-1],
    "slice of a slice": lambda x: x[1:][:, 1:][::-1],
    "Ellipsis": lambda x: x[...],
    "no index": lambda x: x[()],
    "newaxis": lambda x: x[:, None, 1:],
    "array index": lambda x: x[[0, 2]],
    "mask": lambda x: x[x > -9.0],
    "slice and array": lambda x: x[1:, [0, 1]],
    "True": lambda x: x[True],
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "transpose": lambda x: np.transpose(x, (1, 0)),
    "transpose to itself": lambda x: x.transpose(0, 1),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "moveaxis": lambda x: np.moveaxis(x, 0, 1),
    "rollaxis": lambda x: np.rollaxis(x, 1),
    "real": lambda x: x.real,
    "reshape": lambda x: x.reshape(4, 3),
    "reshape to itself": lambda x: x.reshape(3, 4),
    "reshape of a transpose": lambda x: x.T.reshape(12),
    "reshape of a transpose back": lambda x: x.T.reshape(2, 6).T,
    "reshape of rows": lambda x: x[1:].reshape(8),
    "reshape of columns": lambda x: x[:, :2].reshape(6),
    "reshape of columns, apart": lambda x: x[:, :2].reshape(3, 2, 1),
    "reshape in Fortran order": lambda x: x.reshape(12, order="F"),
    "transpose in Fortran order": lambda x: x.T.reshape(12, order="F"),
    "ravel": lambda x: x.ravel(),
    "ravel of a transpose": lambda x: x.T.ravel(),
    "ravel of a column": lambda x: x[:, 0].ravel(),
    "ravel of a row": lambda x: x[1].ravel(),
    "ravel in Fortran order": lambda x: np.ravel(x, order="F"),
    "ravel of a reversed row": lambda x: x[0, ::-1].ravel(),
    "flatten": lambda x: x.flatten(),
    "flatten of a row": lambda x: x[0].flatten(),
    "squeeze": lambda x: x[None].squeeze(),
    "squeeze of nothing": lambda x: np.squeeze(x),
    "expand_dims": lambda x: np.expand_dims(x, 1),
    "atleast_1d": lambda x: np.atleast_1d(x),
    "atleast_2d": lambda x: np.atleast_2d(x[0]),
    "atleast_3d": lambda x: np.atleast_3d(x),
    "flip": lambda x: np.flip(x),
    "fliplr": lambda x: np.fliplr(x),
    "flipud": lambda x: np.flipud(x),
    "rot90": lambda x: np.rot90(x),
    "split": lambda x: np.split(x, 3)[1],
    "array_split": lambda x: np.array_split(x, 2, axis=1)[1],
    "hsplit": lambda x: np.hsplit(x, 2)[0],
    "vsplit": lambda x: np.vsplit(x, [1])[1],
    "iteration": lambda x: list(x)[1],
    "unpacking": lambda x: (lambda a, b, c: b)(*x),
    "diagonal": lambda x: x.diagonal(),
    "diag": lambda x: np.diag(x),
    "diag of a diagonal": lambda x: np.diag(x[0]),
    "einsum": lambda x: np.einsum("ij->ji", x),
    "einsum of a diagonal": lambda x: np.einsum("ii->i", x[:, :3]),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, 3, 4)),
    "copy": lambda x: x.copy(),
    "np.copy": lambda x: np.copy(x),
    "np.array": lambda x: np.array(x),
    "asarray": lambda x: np.asarray(x),
    "ascontiguousarray": lambda x: np.ascontiguousarray(x),
    "astype": lambda x: x.astype(float),
    "astype without copy": lambda x: x.astype(float, copy=False),
    "np.astype": lambda x: np.astype(x, float),
    "concatenate": lambda x: np.concatenate([x]),
    "stack": lambda x: np.stack([x])[0],
    "vstack": lambda x: np.vstack([x]),
    "column_stack": lambda x: np.column_stack([x]),
    "block": lambda x: np.block([x]),
    "pad by nothing": lambda x: np.pad(x, 0),
    "roll by nothing": lambda x: np.roll(x, 0),
    "tile once": lambda x: np.tile(x, 1),
    "repeat once": lambda x: np.repeat(x, 1, axis=0),
    "positive": lambda x: +x,
    "plus nothing": lambda x: x + 0.0,
    "conj": lambda x: np.conj(x),
    "abs": lambda x: abs(x),
    "sum over nothing": lambda x: np.sum(x, axis=()),
    "clip": lambda x: np.clip(x, -9.0, 9.0),
    "sort": lambda x: np.sort(x),
    "take": lambda x: np.take(x, [0, 1, 2], axis=0),
    "where": lambda x: np.where(x > -9.0, x, 0.0),
    "triu of all": lambda x: np.triu(x, -9),
    "delete nothing": lambda x: np.delete(x, [], axis=0),
    "reshape of a product of transposes": lambda x: (x.T * 2.0).reshape(12),
    "ravel of a copy of a transpose": lambda x: np.copy(x.T).ravel(),
}


def write_to_the_array(make):
    def f(x):
        a = x * x
        y = make(a)
        a[1, 1:3] = x[0, :2]
        a *= 2.0
        a[0, 0] = 5.0
        return a, y * 1.0

    return f


def write_to_the_result(make):
    def f(x):
        a = x * x
        y = make(a)
        y[...] = y * np.arange(1.0, y.size + 1.0).reshape(y.shape)
        y[:1] += x[0, 0]
        y[-1] = 3.0
        return a, y * 1.0

    return f


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_writes_to_an_array_show_in_its_views_only(name):
    check_program(write_to_the_array(EXPRESSIONS[name]), X, second=name in ("slice", "T", "reshape", "flatten"))


@pytest.mark.parametrize("name", [name for name in EXPRESSIONS if name not in ("diagonal", "diag", "broadcast_to")])
def test_writes_to_views_show_in_the_array_only(name):
    check_program(write_to_the_result(EXPRESSIONS[name]), X, second=name in ("slice", "T", "reshape", "flatten"))


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_views_of_constants(name):
    make = EXPRESSIONS[name]

    def f(x):
        a = np.arange(12.0).reshape(3, 4).copy()
        y = make(a)
        a[1, 2] = x[0, 0] ** 2
        a[0] = x[1]
        return a, y * 1.0

    check_program(f, X, second=False)


@pytest.mark.parametrize("make", [
    lambda x: x.diagonal(), lambda x: np.diagonal(x, 1), lambda x: np.diag(x), lambda x: np.broadcast_to(x, (2, 3, 4)),
    lambda x: x.diagonal()[1:], lambda x: np.broadcast_to(x, (2, 3, 4))[0],
], ids=["diagonal", "np.diagonal", "diag", "broadcast_to", "slice of diagonal", "slice of broadcast"])  # fmt: skip
def test_read_only_views(make):
    def f(x):
        a = x * x
        view = make(a)
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1.0
        with pytest.raises(ValueError, match="read-only"):
            view += 1.0
        a[0, 0] = x[1, 1]
        return a, view

    check_program(f, X)


# -------------------------------------------------------------------------------------------------------------- aliases


def two_names(x):
    a = x * x
    b = a
    b += x
    b[0] = 7.0
    a[1] *= b[0]
    return a, b


def names_are_rebound(x):
    a = x * x
    b = a
    a = a + 1.0
    a[0] = x[1]
    b[1] = x[0]
    return a, b


def swap(x):
    a, b = x * x, np.sin(x)
    a, b = b, a
    a[0] = b[1]
    a, b = b, a
    b[1] *= a[2]
    return a, b


def swap_rows(x):
    a = x * x
    a[0], a[1] = a[1].copy(), a[0].copy()
    a[[1, 2]] = a[[2, 1]]
    return a


def swap_rows_without_a_copy(x):
    a = x * x
    a[0], a[1] = a[1], a[0]  # the classic mistake: both become row 1
    return a


def double_buffering(x):
    old, new = x * 1.0, np.zeros((3, 4))
    for _ in range(3):
        for i in range(3):
            new[i] = 0.5 * (old[i - 1] + old[(i + 1) % 3]) + 0.1 * np.sin(old[i])
        old, new = new, old
    return old, new


def views_of_views(x):
    a = x * x
    rows = a[1:]
    part = rows[:, 1:3]
    last = part[-1]
    last[0] = 4.0 * x[0, 0]
    part *= x[1:, :2]
    rows[0] = last[1]
    a += 1.0
    return a, rows, part, last


def overlapping_views(x):
    a = x[0] * x[0]
    left, right = a[:-1], a[1:]
    left += right
    right[:] = left
    a[::2], a[1::2] = a[1::2] * 2.0, a[::2] * 3.0
    return a, left, right


def shift_within(x):
    a = x[0] * x[0]
    a[1:] = a[:-1]
    a[:-1] += a[1:]
    a[::-1] *= a
    return a


def transposed_writes(x):
    a = np.zeros((4, 3))
    t = a.T
    t[...] = x
    t[0] *= 2.0
    a[0] += t[:, 1]
    return a, t


def reshaped_writes(x):
    a = x * x
    flat = a.reshape(-1)
    blocks = a.reshape(3, 2, 2)
    flat[::5] = x[0, :3]
    blocks[:, 0] += blocks[:, 1]
    a[1] = flat[4:8] * 2.0
    return a, flat, blocks


def pieces(x):
    a = x * x
    left, right = np.split(a, 2, axis=1)
    left += right
    for piece in np.array_split(a, 2):
        piece[0] *= 2.0
    top, *rest = a
    top[0] = 9.0 * x[0, 0]
    rest[0][1] = top[0]
    return a, left, right


def rows_by_iteration(x):
    a = np.zeros((3, 4))
    for row, source in zip(a, x, strict=True):
        row[:] = source * source
        row[0] += 1.0
    for k, row in enumerate(a):
        row *= k + 1.0
    return a


def flat_view(x):
    a = x.T * x.T  # not in C order
    flat = a.flat
    flat[3] = 7.0 * x[0, 0]
    a.flat[5:7] = x[0, :2]
    return a, flat[:] * 1.0


def a_view_outlives_its_array(x):
    def part():
        a = np.zeros(6)
        a[1:3] = x[0, :2]
        return a[1:5]

    view = part()
    view[2:] = x[1, :2]
    return view


def a_view_of_an_argument(x):
    row = x[1]
    row *= 2.0
    x[1, 0] = row[1] * row[2]
    return x, row


def arrays_in_containers(x):
    lists = [np.zeros(4), np.ones(4)]
    table = {"first": lists[0], "all": lists}
    pair = (np.zeros(4), x[0] * 1.0)
    lists[0][1] = x[0, 0]
    table["first"][2] = x[0, 1]
    table["all"][1] += x[1]
    pair[0][:2] = x[2, :2]
    pair[1][0] = 3.0
    for a in lists:
        a *= 2.0
    return lists[0], table["first"], lists[1], *pair


def arrays_in_objects(x):
    class Body:
        def __init__(self, position):
            self.position = position
            self.history = np.zeros((2, 4))

        def move(self, k, step):
            self.position += step
            self.history[k] = self.position

    body = Body(x[0] * 1.0)
    place = body.position
    body.move(0, x[1])
    body.move(1, x[2])
    other = SimpleNamespace(body=body)
    other.body.position[0] = 7.0
    return body.position, place, body.history


def views_before_the_first_traced_write(x):
    a = np.zeros((3, 4))
    row, column, flat = a[1], a[:, 2], a.reshape(-1)
    a[0, 0] = 1.0
    row[0] = 2.0
    row[1] = x[0, 0]
    column[2] = x[1, 1]
    flat[3] = x[2, 2]
    a[2, 2] *= 3.0
    return a, row, column, flat


def a_small_and_a_large_view(x):
    a = np.zeros(64)
    small, large = a[3:5], a[1:]
    a[4] = x[0, 0]
    large[0] = x[1, 1]
    small *= 2.0
    large[2:4] += x[0, :2]
    return small, large, a


def many_views(x):
    a = np.zeros((50, 4))
    rows = [a[i] for i in range(50)]
    for i, row in enumerate(rows):
        row[:] = x[i % 3] * i
    rows[3] += rows[2]
    return a, rows[3], rows[49]


def elements_of_stale_views(x):
    a = np.zeros((4, 5))
    inner = a[1:, 1:]
    for i in range(3):
        for j in range(4):
            inner[i, j] = x[i, j] + (inner[i, j - 1] if j else 0.0) * (inner[i - 1, j] if i else 1.0)
    return a, inner


PROGRAMS = [
    two_names, names_are_rebound, swap, swap_rows, swap_rows_without_a_copy, double_buffering, views_of_views,
    overlapping_views, shift_within, transposed_writes, reshaped_writes, pieces, rows_by_iteration, flat_view,
    a_view_outlives_its_array, a_view_of_an_argument, arrays_in_containers, arrays_in_objects,
    views_before_the_first_traced_write, a_small_and_a_large_view, many_views, elements_of_stale_views,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_with_aliases(f):
    check_program(f, X)


def test_an_argument_in_fortran_order():
    def f(x):
        a = x * 1.0
        flat = a.reshape(-1)
        flat[1] = 7.0
        back = a.T.reshape(-1)
        back[2] = 9.0
        return a, flat, back

    x = np.asfortranarray(X)
    for value, expected in zip(wg.jvp(f, (x,), (x,))[0], f(x), strict=True):
        np.testing.assert_array_equal(value, expected)


def test_a_view_keeps_its_identity():
    def f(x):
        a = x * x
        view = a[1:]
        same = view
        view += 1.0
        assert view is same
        a[2] = 0.0
        assert view is same
        return a

    check_program(f, X)


def test_constants_stay_plain_until_a_traced_value_is_written():
    def f(x):
        a = np.zeros(3)
        b = a * 2.0 + 1.0
        a[0] = 5.0
        return a, b, a[0], np.sin(a).sum()

    for y in traced(f, np.ones(2)):
        assert not isinstance(y, Traced) or y._is_cell


def test_what_is_returned_is_plain():
    def f(x):
        a = np.zeros(3)
        a[0] = 5.0
        b = np.zeros(3)
        b[1:] = x
        return a, a[1:], b, b[:2], np.arange(3.0)

    values, dots = wg.jvp(f, (np.ones(2),), (np.ones(2),))
    for y in (*values, *dots, *wg.vjp(f, np.ones(2))[0], *wg.jacrev(f)(np.ones(2))):
        assert type(y) is np.ndarray


def test_a_view_of_the_same_type():
    def f(x):
        w = np.ones(3)
        v = w.view()
        v[0] = x[0] * x[1]
        y = (x * 2.0).view()
        y[1] = 3.0
        return np.sum(w * x) + np.sum(y * y)

    check_program(f, np.array([0.3, -0.7, 1.1]))
    np.testing.assert_allclose(wg.jit(f)(np.array([0.3, -0.7, 1.1])), f(np.array([0.3, -0.7, 1.1])))


WITHOUT_AXES = {
    "ellipsis": lambda w: w[0, ...], "squeeze": lambda w: np.squeeze(w[:1]), "method": lambda w: w[:1].squeeze(),
    "reshape": lambda w: w[:1].reshape(()), "transposed": lambda w: w[0, ...].T, "part": lambda w: w[0, ...][...],
}  # fmt: skip


@pytest.mark.parametrize("view", WITHOUT_AXES.values(), ids=WITHOUT_AXES)
@pytest.mark.parametrize("start", [lambda x: np.zeros(4), lambda x: x * 0.5], ids=["plain", "traced"])
def test_views_of_no_axes_are_followed_both_ways(view, start):
    """Also of an array that holds no traced value (yet)."""

    def written_to_the_array(x):
        w = start(x)
        u = view(w)
        before = u * 2.0
        w[:2] = 3.0
        after = np.tanh(u)
        w[0] = x[1]
        return before + after + 5.0 * u

    def written_to_the_view(x):
        w = start(x)
        u = view(w)
        u[...] = 3.0
        before = np.sum(w)
        u += x[2]
        return before * np.sum(w)

    def in_a_loop(x):
        w = start(x)
        u = view(w)
        for i in range(7):
            u += x[i % 4]
            w[0] *= 0.5
        return u * w[0]

    x = np.array([0.3, 0.5, 0.7, 0.9])
    for f in (written_to_the_array, written_to_the_view, in_a_loop):
        differences = [(f(x + 1e-5 * e) - f(x - 1e-5 * e)) / 2e-5 for e in np.eye(4)]
        np.testing.assert_allclose(wg.grad(f)(x), differences, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(wg.jit(wg.grad(f))(x), wg.grad(f)(x), rtol=1e-14)
        np.testing.assert_allclose(wg.jit(f)(x), f(x), rtol=1e-14)
        np.testing.assert_allclose(wg.vmap(f)(np.stack([x, 2 * x])), [f(x), f(2 * x)], rtol=1e-14)


@pytest.mark.parametrize("transform", [lambda a: a.reshape(4, 3), lambda a: np.tile(a, (9, 1))[::2, ::5]])
def test_the_memory_of_an_array_need_not_be_an_array(transform):
    """As that of `np.frombuffer`, and of arrays with gaps that are made to lie as others do."""
    x = np.frombuffer(np.arange(1.0, 13.0).tobytes())
    assert not is_small_part(x)
    a = transform(x)
    f = lambda a: np.sum(np.sin(a.copy(order="K").T @ a)) + np.sum((a * 2).T[0] ** 2)
    found = wg.jvp(wg.grad(f), (a,), (a,))[1]
    np.testing.assert_allclose(found, wg.grad(lambda b: np.sum(wg.grad(f)(b) * a))(a), rtol=1e-12)


# ------------------------------------------------------------------------------------------ complex numbers as pairs


def as_pairs(a):
    z = np.array([a + 2j, a * 1j, 3.0 * a * a])
    x = z.view(float)
    return np.sum(x * np.arange(6.0)) + np.sum(x.view(complex).imag ** 2)


def as_pairs_of_what_is_written_to(a):
    z = np.array([a + 2j, a * 1j])
    x = z.view(np.float64)
    z[0] = a * a
    return np.sum(x * np.arange(1.0, 5.0))


def as_complex(a):
    x = np.zeros((2, 4))
    x[1] = a
    z = x.view(np.complex128)
    x[0, 2] = a * a
    return np.sum(np.abs(z) ** 2 + (z * z).imag) + z.shape[1]


@pytest.mark.parametrize("f", [as_pairs, as_pairs_of_what_is_written_to, as_complex])
@pytest.mark.parametrize("way", [wg.grad, lambda f: wg.jit(wg.grad(f)), lambda f: wg.grad(wg.jit(f))])
def test_complex_numbers_seen_as_pairs_of_real_ones(f, way):
    slope = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    np.testing.assert_allclose(way(f)(1.3), slope, rtol=1e-7)
    np.testing.assert_allclose(wg.jit(f)(1.3), f(1.3), rtol=1e-14)


@pytest.mark.parametrize("way", [wg.grad, wg.jit])
def test_writing_to_such_a_view_is_refused(way):
    def f(a):
        x = np.ones(4) * a
        x.view(complex)[0] = 1.0
        return np.sum(x)

    with pytest.raises(InPlaceError, match=r"x\.real and x\.imag"):
        way(f)(1.3)
    with pytest.raises(ValueError, match="divisor"):
        way(lambda a: np.sum(np.abs((a * np.ones(3)).view(complex))))(1.3)


@pytest.mark.parametrize("shape", [(2, 3), (4,), (), (2, 2, 2), (0, 3), None], ids=str)
def test_strides_that_are_not_given_are_those_of_the_shape(shape):
    """NumPy lays the shape over what lies in order."""
    x = np.arange(24.0).reshape(4, 6)
    f = lambda x: np.lib.stride_tricks.as_strided(x, shape)
    np.testing.assert_array_equal(wg.jvp(f, (x,), (2 * x,)), (f(x), 2 * f(x)))
