"""Plain arrays in a differentiated function: those that traced values may be written into, and those they may not; and
constants of which the derivative depends on the values they had when they were used.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from programs import check_program

import wengert as wg
from wengert.errors import ConcretizationError, InPlaceError

# ------------------------------------------------------------------------------------------ plain arrays from elsewhere

TABLE = np.array([1.0, 2.0, 3.0])


def test_a_constant_of_a_closure_is_used_and_its_product_written():
    weights = np.array([1.0, 2.0, 3.0])

    def f(x):
        a = weights * 2.0
        a[1] = x[0] ** 2
        b = TABLE + 1.0
        b += x
        c = TABLE[::-1].copy()
        c[0] *= x[2]
        d = np.copy(weights)
        d[2] = x[0]
        return a, b, c, d

    check_program(f, np.array([1.5, -0.5, 2.5]))
    np.testing.assert_array_equal(weights, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(TABLE, [1.0, 2.0, 3.0])


def test_plain_arrays_in_containers():
    def f(x):
        arrays = [TABLE * 2.0, TABLE + 1.0]
        table = {"a": TABLE * 3.0}
        for k in range(2):
            arrays[k][k] = x[k] * x[2]
            arrays[k] *= x
        for key in table:
            table[key][0] = x[0]
        return *arrays, table["a"]

    check_program(f, np.array([1.5, -0.5, 2.5]))


def test_several_targets():
    def f(x):
        a, b = TABLE * 2.0, TABLE + 1.0
        a[0] = b[1] = x[0] * x[1]
        a[1], b[0] = x[2], x[0]
        (a[2], i), *b[2:] = (x[1], 1), x[2]
        a[i], i = a[i] * x[0], 0
        c = TABLE * 3.0
        for c[i], k in zip(x, (1, 2, 3), strict=True):
            c[1] += k * c[i]
        return a, b, c

    check_program(f, np.array([1.5, -0.5, 2.5]))


def test_a_plain_argument_is_written_to():
    def f(x, buffer):
        buffer[:2] = x[:2] ** 2
        buffer += x
        return buffer * x

    x, buffer = np.array([1.5, -0.5, 2.5]), np.array([7.0, 8.0, 9.0])
    expected = f(x, buffer.copy())
    y, y_dot = wg.jvp(lambda x: f(x, buffer.copy()), (x,), (np.ones(3),))
    np.testing.assert_allclose(y, expected)
    np.testing.assert_allclose(wg.jacrev(f)(x, buffer) @ np.ones(3), y_dot)
    np.testing.assert_allclose(wg.jacfwd(f)(x, buffer), wg.jacrev(f)(x, buffer))
    np.testing.assert_array_equal(buffer, [7.0, 8.0, 9.0])


def test_a_plain_argument_that_is_handed_on():
    def inner(x, buffer):
        buffer[:2] = x[:2] ** 2
        return buffer * x

    def f(x, buffer):
        return np.sum(inner(x, buffer))

    buffer = np.array([7.0, 8.0, 9.0])
    x = np.array([1.5, -0.5, 2.5])
    np.testing.assert_allclose(wg.grad(f)(x, buffer), [3 * x[0] ** 2, 3 * x[1] ** 2, 9.0])
    np.testing.assert_array_equal(buffer, [7.0, 8.0, 9.0])


def write_to_a_global(x):
    TABLE[0] = x[0]
    return x


def add_to_a_global_item(x):
    TABLE[1] += x[0]
    return x


def write_to_an_alias_of_a_global(x):
    table = TABLE
    table[0] = x[0]
    return x


def add_to_an_alias_of_a_global(x):
    table = TABLE
    table += x
    return x


def write_to_a_view_of_a_global(x):
    table = TABLE[1:]
    table[0] = x[0]
    return x


def write_to_an_item_of_a_container(x):
    holder = {"table": TABLE}
    holder["table"][0] = x[0]
    return x


def write_to_an_attribute(x):
    holder = SimpleNamespace(table=TABLE)
    holder.table[0] = x[0]
    return x


def add_to_an_attribute(x):
    holder = SimpleNamespace(table=TABLE)
    holder.table += x
    return x


def out_is_a_global(x):
    np.multiply(x, x, out=TABLE)
    return x


def copyto_a_global(x):
    np.copyto(TABLE, x)
    return x


def add_at_a_global(x):
    np.add.at(TABLE, [0], x[0])
    return x


def put_into_a_global(x):
    np.put(TABLE, [0], x[0])
    return x


REFUSED = [
    write_to_a_global, add_to_a_global_item, write_to_an_alias_of_a_global, add_to_an_alias_of_a_global,
    write_to_a_view_of_a_global, write_to_an_item_of_a_container, write_to_an_attribute, add_to_an_attribute,
    out_is_a_global, copyto_a_global, add_at_a_global, put_into_a_global,
]  # fmt: skip


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_arrays_that_others_hold_are_refused(f):
    line = r"test_plain_arrays.py:\d+: "
    with pytest.raises(InPlaceError, match=line):
        wg.jvp(f, (np.ones(3),), (np.ones(3),))
    with pytest.raises(InPlaceError, match=line):
        wg.grad(lambda x: np.sum(f(x)))(np.ones(3))
    np.testing.assert_array_equal(TABLE, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("write", [
    lambda x: TABLE.fill(x[0]), lambda x: TABLE.put([0], x[0]), lambda x: TABLE.__setitem__(0, x[0]),
], ids=["fill", "put", "__setitem__"])  # fmt: skip
def test_methods_of_plain_arrays_refuse_traced_values(write):
    with pytest.raises((ConcretizationError, InPlaceError)):
        wg.grad(lambda x: [write(x), np.sum(x)][1])(np.ones(3))
    np.testing.assert_array_equal(TABLE, [1.0, 2.0, 3.0])


def test_plain_writes_to_a_global_are_plain():
    memory = np.zeros(3)

    def f(x):
        memory[0] += 1.0
        memory[1:] = [5.0, 6.0]
        return x * memory

    np.testing.assert_array_equal(wg.jacrev(f)(np.ones(3)), np.diag([1.0, 5.0, 6.0]))
    np.testing.assert_array_equal(memory, [1.0, 5.0, 6.0])


# -------------------------------------------------------------------------- plain arrays that the derivative depends on

CONSTANTS = np.array([1.0, 2.0, 3.0])
GLOBAL_BUFFER = np.zeros(3)


def write_a_constant_after_use(x):
    w = CONSTANTS * 2.0
    y = x * w
    w[0] = 100.0
    return y


def add_to_a_constant_after_use(x):
    w = CONSTANTS * 2.0
    y = x * w
    w += 100.0
    return y


def add_to_a_part_of_a_constant_after_use(x):
    w = CONSTANTS * 2.0
    y = x / w
    z = np.sin(x) * w[1:].sum() + x * w
    w[1:] *= 100.0
    return y, z


def write_a_view_of_a_constant_after_use(x):
    w = CONSTANTS * 2.0
    part = w[1:]
    y = x * w
    part[0] = 100.0
    return y


def write_a_constant_of_which_a_view_was_used(x):
    w = CONSTANTS * 2.0
    y = x[1:] * w[1:]
    w[:] = 100.0
    return y


def write_a_matrix_after_use(x):
    a = np.outer(CONSTANTS, CONSTANTS)
    b = CONSTANTS[:, None] + CONSTANTS
    y = a @ x + b @ x + x @ b.T
    a[1] = 0.0
    b[1] = 0.0
    return y


def write_a_constant_by_several_targets(x):
    w = CONSTANTS * 2.0
    y = x * w
    w[0] = w[1] = 7.0
    z = x * w
    w[0], (w[1], k), *w[2:] = 8.0, (9.0, 1), 11.0
    u = x * w
    for w[k] in (3.0, 4.0):
        u = u + x * w
    w[2]: float = 13.0
    return y, z, u, x * w


def out_is_a_constant_that_was_used(x):
    w = CONSTANTS * 2.0
    y = x * w
    np.add(w, 100.0, out=w)
    z = x * w
    np.negative(w, w)
    return y, z


def sort_a_constant_that_was_used(x):
    w = CONSTANTS[::-1] * 2.0
    y = x * w
    w.sort()
    z = x * w
    w.fill(0.0)
    return y, z


def functions_that_write_a_constant_that_was_used(x):
    w = CONSTANTS * 2.0
    y = x * w
    np.copyto(w, 5.0)
    z = x * w
    np.put(w, [0], 7.0)
    u = x * w
    np.add.at(w, [1, 1], 3.0)
    return y, z, u


def refill_a_global_buffer(x):
    total = 0.0
    for k in range(3):
        GLOBAL_BUFFER[:] = 0.0
        GLOBAL_BUFFER[k] = k + 1.0
        total = total + np.sum(np.sin(x) * GLOBAL_BUFFER)
    return total


def refill_a_local_buffer(x):
    buffer = np.empty(3)
    total = 0.0
    for k in range(3):
        np.multiply(CONSTANTS, k + 1.0, out=buffer)
        total = total + np.sum(np.sin(x) * buffer)
    return total


def write_an_index_after_use(x):
    k = np.array([0, 1, 2])
    y = x[k] * x[0]
    a = np.zeros(3)
    a[k] = x * x
    k[:] = 2
    return y, a


def write_a_mask_after_use(x):
    mask = np.array([True, False, True])
    y = np.where(mask, x * x, 0.0)
    z = x[mask]
    mask[:] = False
    return y, z


CHANGED = [
    write_a_constant_after_use, add_to_a_constant_after_use, add_to_a_part_of_a_constant_after_use,
    write_a_view_of_a_constant_after_use, write_a_constant_by_several_targets,
    write_a_constant_of_which_a_view_was_used, write_a_matrix_after_use, out_is_a_constant_that_was_used,
    sort_a_constant_that_was_used, functions_that_write_a_constant_that_was_used, refill_a_global_buffer,
    refill_a_local_buffer, write_an_index_after_use, write_a_mask_after_use,
]  # fmt: skip


@pytest.mark.parametrize("f", CHANGED, ids=lambda f: f.__name__)
def test_constants_that_are_written_after_use(f):
    check_program(f, np.array([1.5, -0.5, 2.5]))
