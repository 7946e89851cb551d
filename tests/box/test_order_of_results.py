"""What functions make lies in memory as NumPy makes it, whichever way the operands lie: whether `reshape(-1)` of it is
a view, and so what writing to that means, is the same in all modes and in compiled programs."""

import numpy as np
import pytest

import wengert as wg
from wengert.errors import WengertError

A = np.linspace(0.1, 1.2, 12).reshape(3, 4)
FUNCTIONS = {
    "take": lambda x: np.take(x, [0, 2], axis=1), "take two": lambda x: np.take(x, [[0, 1], [1, 0]], axis=1),
    "delete": lambda x: np.delete(x, 1, axis=0), "delete some": lambda x: np.delete(x, [0], axis=1),
    "insert": lambda x: np.insert(x, 1, 0.0, axis=0), "insert some": lambda x: np.insert(x, [1], 0.0, axis=1),
    "select": lambda x: np.select([x > 0.45], [x], 0.0), "choose": lambda x: np.choose((x > 0.45) * 1, [x, x * 2]),
    "sort": lambda x: np.sort(x, axis=0), "partition": lambda x: np.partition(x, 1, axis=0),
    "full": lambda x: np.full((3, 2), x[0, 0], order="F"), "plain full": lambda x: np.full((3, 2), 2.0, order="F"),
    "full_like": lambda x: np.full_like(x, x[0, 0]), "plain full_like": lambda x: np.full_like(x, 3.0),
    "zeros_like": np.zeros_like, "pad": lambda x: np.pad(x, 1), "edges": lambda x: np.pad(x, 1, mode="edge"),
    "array": lambda x: np.array([x, x * 2]), "array in order": lambda x: np.array(x, np.float32, order="F"),
    "gradient": lambda x: np.gradient(x, axis=0), "median": lambda x: np.median(np.stack([x, x * 2, x * 3]), axis=0),
    "piecewise": lambda x: np.piecewise(x, [x < 0.45], [lambda v: v, lambda v: v * 2]),
    "polyval": lambda x: np.polyval([1.0, 2.0, 3.0], x), "roll": lambda x: np.roll(x, 1, axis=0),
    "unwrap": lambda x: np.unwrap(x, axis=0), "cross": lambda x: np.cross(x[:, :3], x[:, 1:]),
    "compress": lambda x: np.compress([True, False, True], x, axis=0), "meshgrid": lambda x: np.meshgrid(x[0], x[1])[0],
    "einsum": lambda x: np.einsum("ij->ji", x) * 1, "index": lambda x: x[:, [0, 2]], "sum": lambda x: x + x[0],
    "solve": lambda x: np.linalg.solve(x[:, :3] + 3 * np.eye(3), x), "product": lambda x: (x @ x.T).T * 2,
    "column": lambda x: x * x[:, :1],
}  # fmt: skip
ORDERS = {"C": A, "F": np.asfortranarray(A), "backwards": np.ascontiguousarray(A[::-1])[::-1]}


def written(name):
    def f(x):
        y = FUNCTIONS[name](x)
        for write in WRITES:
            write(y)
        return y

    return f


WRITES = [lambda y: y.reshape(-1).__setitem__(1, 4.0), lambda y: np.ravel(y.T).__setitem__(3, 5.0)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_written_to_as_numpys_are(name, order):
    f, x = written(name), ORDERS[order]
    expected = f(x.copy("K"))
    np.testing.assert_array_equal(wg.jvp(f, (x,), (x,))[0], expected)
    np.testing.assert_array_equal(wg.vjp(f, x)[0], expected)
    for g in (wg.jit(f), wg.jit(lambda x: wg.jvp(f, (x,), (x,))[0])):
        try:
            found = g(x)
        except WengertError:  # how it lies is not known: such writes are refused
            continue
        np.testing.assert_allclose(found, expected, rtol=1e-14)


RAVELED = {
    "K": lambda y: y.ravel(order="K").__setitem__(1, 5.0), "A": lambda y: np.ravel(y, "A").__setitem__(2, 5.0),
    "reshaped": lambda y: y.reshape((2, 6), order="A").__setitem__(0, 5.0),
    "of a part": lambda y: y[::-1].ravel("K").__setitem__(slice(3), 7.0),
}  # fmt: skip


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", RAVELED)
def test_orders_that_depend_on_memory(name, order):
    def f(x):
        y = x.T * 2
        RAVELED[name](y)
        return y, np.ravel(y, "K"), y.flatten("A"), y.reshape(-1, order="A")

    x = ORDERS[order]
    for g in (lambda x: wg.jvp(f, (x,), (x,))[0], lambda x: wg.vjp(f, x)[0], wg.jit(f)):
        for found, expected in zip(g(x), f(x), strict=True):
            np.testing.assert_array_equal(found, expected)
