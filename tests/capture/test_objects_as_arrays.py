"""Objects of users' classes that say by `__array__` which array they are, where that array is traced; properties that
are made of bound methods; templates of texts; selections that NumPy joins and broadcasts."""

import numpy as np
import pytest

import wengert as wg


class Lattice:
    def __init__(self, rows):
        self.rows = rows

    def __array__(self, dtype=None, copy=None):
        return self.rows


def determinant(x, lattice):
    return np.linalg.det(lattice)


def converted(x, lattice):
    return np.sum(np.asarray(lattice) ** 2) + np.array([lattice, lattice]).sum()


def product(x, lattice):
    return np.sum(np.dot(lattice, x[:2]) ** 2)


def of_a_ufunc(x, lattice):
    return np.sum(np.sin(lattice) * np.multiply(x[0], lattice))


def of_an_operator(x, lattice):
    return np.sum(x[0] * lattice + lattice.rows @ lattice.rows)


def stored(x, lattice):
    cell = np.zeros((2, 2))
    cell[:] = lattice
    return np.sum(cell**3)


def everywhere(f, x):
    return {
        "reverse": wg.grad(f)(x),
        "forward": wg.jacobian(f, mode="forward")(x),
        "jit(reverse)": wg.jit(wg.grad(f))(x),
        "reverse(jit)": wg.grad(wg.jit(f))(x),
        "vmap": wg.vmap(wg.grad(f))(np.stack([x, x]))[1],
    }


def by_complex_step(f, x):
    return np.array([f(x + 1e-30j * row).imag / 1e-30 for row in np.eye(len(x))])


@pytest.mark.parametrize("use", [determinant, converted, product, of_a_ufunc, of_an_operator, stored])
def test_array_of_an_object(use):
    def f(x):
        return use(x, Lattice(np.array([[x[0], 1.0], [2.0, x[1]]])))

    def reference(x):
        rows = np.array([[x[0], 1.0], [2.0, x[1]]])
        if use is stored:
            return np.sum(rows**3)
        lattice = Lattice(rows)
        return use(x, lattice)

    x = np.array([1.3, 0.7, 2.0])
    want = by_complex_step(reference, x)
    for way, found in everywhere(f, x).items():
        np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12, err_msg=way)


def cached(function):
    """A property made of a bound method, as some packages write it."""

    class Kept:
        def __init__(self, function):
            self.function = function

        def get(self, owner):
            if self.function.__name__ not in owner.kept:
                owner.kept[self.function.__name__] = self.function(owner)
            return owner.kept[self.function.__name__]

    return property(Kept(function).get)


class Gas:
    def __init__(self, temperature):
        self.temperature = temperature
        self.kept = {}

    @cached
    def levels(self):
        n = np.zeros(3)
        n[0] = self.temperature
        n[1] = n[0] ** 2
        return n


def test_property_of_a_bound_method():
    for way, found in everywhere(lambda x: np.sum(Gas(x[0]).levels), np.array([1.5])).items():
        np.testing.assert_allclose(found, [4.0], err_msg=way)


TEMPLATE = "%-8s%8.3f"


def test_templates():
    said = []

    def f(x):
        said.append(TEMPLATE % ("energy", x[0]))
        return np.sum(x**2)

    x = np.array([1.5, 2.0])
    wg.grad(f)(x)
    assert said == ["energy     1.500"]
    for way, found in everywhere(lambda x: (f"{x[0]:.3f}", np.sum(x**2))[1], x).items():
        np.testing.assert_allclose(found, 2 * x, err_msg=way)
    del said[:]
    wg.vmap(f)(np.stack([x, 2 * x]))
    assert said == ["energy     1.500", "energy     3.000"]


def test_replacements_of_nan_are_differentiated():
    def f(x):
        return np.sum(np.nan_to_num(x / (x - 1), posinf=5 * x[1]))

    with np.errstate(all="ignore"):
        for way, found in everywhere(f, np.array([1.0, 2.0, 3.0])).items():
            np.testing.assert_allclose(found, [0, 5 - 1, -0.25], err_msg=way)


def test_insert_in_front_of_a_selection():
    def f(x):
        chosen = x[x > 0.5]
        return np.sum(np.insert(chosen, 0, 0) * np.insert(chosen, 0, 2.0))

    x = np.array([1.0, 0.1, 3.0])
    for way, found in everywhere(f, x).items():
        np.testing.assert_allclose(found, [2, 0, 6], err_msg=way)


def test_broadcast_against_a_selection():
    def f(x):
        chosen = x[x > 0.5]
        table = np.outer(chosen, chosen)
        return np.sum(table / np.sum(table, axis=1, keepdims=True) * chosen)  # Σ c² / Σ c

    x = np.array([1.0, 0.1, 3.0])
    total, squares = 4.0, 10.0
    want = np.array([1, 0, 1]) * len(x[x > 0.5]) * (2 * x / total - squares / total**2)
    for way, found in everywhere(f, x).items():
        np.testing.assert_allclose(found, want, rtol=1e-12, err_msg=way)


def test_copy_if_needed():
    for copy in (True, None, np._CopyMode.IF_NEEDED, np._CopyMode.ALWAYS):
        found = wg.grad(lambda x, copy=copy: np.sum(np.array(x, copy=copy) ** 2))(np.array([1.0, 2.0]))
        np.testing.assert_array_equal(found, [2, 4])


def asked_for(x):
    y = np.array([x, 2 * x]) * 1.0
    y.__array__()[0] = 3.0  # the same array
    y.__array__(copy=True)[1] = 5.0
    return np.sum(y * x) + np.sum(y.__array__(np.float64) ** 2)


def test_arrays_that_a_program_asks_for_by_their_special_method():
    slope = (3 + 4 * 1.3) + 8 * 1.3  # of x·(3 + 2x) + 9 + 4x²
    for way in (wg.grad(asked_for), wg.jit(wg.grad(asked_for)), wg.grad(wg.jit(asked_for))):
        np.testing.assert_allclose(way(1.3), slope)
    np.testing.assert_allclose(wg.jit(asked_for)(1.3), asked_for(1.3))
