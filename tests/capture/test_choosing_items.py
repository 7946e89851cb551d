"""Items that are chosen by what is computed: truth values as keys, factors with their pivots, ranges of numbers."""

import numpy as np
import pytest
import scipy.linalg

import wengert as wg


def by_a_truth_value(x):
    return {True: x * 2, False: x * x}[x > 1] * x


def of_a_list(x):
    return [x * x, x * 3][x > 1] * x


def of_a_list_of_numbers(x):
    return (2.0, 3.0)[x > 1] * x


def of_arrays(x):
    rows = {False: np.array([1.0, x]), True: np.array([x, 2.0])}
    return np.sum(rows[x * x > 1] ** 2)


def factors(x):
    a = np.array([[1.0, 2.0, 0.5], [4.0, x, 1.0], [2.0, 1.0, 3.0 * x]])
    lu = scipy.linalg.lu_factor(a)
    b = np.array([1.0, 2.0, x])
    return np.sum(scipy.linalg.lu_solve(lu, b) ** 2) + np.sum(scipy.linalg.lu_solve(lu, b, trans=1))


@pytest.mark.parametrize(
    "f", [by_a_truth_value, of_a_list, of_a_list_of_numbers, of_arrays, factors], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("x", [0.75, 1.5])
def test_choices(f, x):
    h = 1e-6
    slope = (f(x + h) - f(x - h)) / (2 * h)
    np.testing.assert_allclose(wg.jit(f)(x), f(x))
    for gradient in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        np.testing.assert_allclose(gradient(x), slope, rtol=1e-6)


def test_factors_of_examples():
    xs = np.array([0.75, 1.5, 6.0])
    np.testing.assert_allclose(wg.vmap(factors)(xs), [factors(x) for x in xs])
    np.testing.assert_allclose(wg.vmap(wg.grad(factors))(xs), [wg.grad(factors)(x) for x in xs])


def quarters(x):
    return np.sum(np.arange(x, x + 2.0, 0.25) ** 2)


def halves(x):
    return np.sum(np.arange(0.0, x, 0.5) ** 2) * x


@pytest.mark.parametrize("f", [quarters, halves], ids=lambda f: f.__name__)
def test_ranges_of_examples(f):
    xs = np.array([3.2, 3.6, 1.1])
    np.testing.assert_allclose(wg.vmap(f)(xs), [f(x) for x in xs])
    np.testing.assert_allclose(wg.vmap(wg.grad(f))(xs), [wg.grad(f)(x) for x in xs])
    np.testing.assert_allclose(wg.grad(f)(3.2), (f(3.2 + 1e-6) - f(3.2 - 1e-6)) / 2e-6, rtol=1e-6)


def test_a_part_at_a_computed_place_is_taken_apart():
    table = np.array([-2.0, 1.0, 0.5, 3.0, -1.0, 4.0, 2.0, 0.3])

    def f(t):
        k = np.floor(t * 2).astype(int)
        a, b = table[k : k + 2]
        return a * t + b * t * t

    compiled, slope = wg.jit(f), wg.jit(wg.grad(f))
    for t in (0.3, 1.7):
        assert compiled(t) == f(t)
        np.testing.assert_allclose(slope(t), wg.grad(f)(t), rtol=1e-14)
    with pytest.raises(ValueError, match="not enough values to unpack"):
        compiled(3.6)


def perhaps_a_number(x, k):
    rest = x[k:]
    found = (x[0], None)[k % 2]
    return np.sum(rest) if found is None else found * np.sum(x)


def perhaps_an_array(x, k):
    found = [None, x, "all"][k]
    if found is None:
        return x[1]
    return np.sum(x) if isinstance(found, str) else found @ found


def perhaps_a_function(x, k):
    found = (np.sin, None, x[1])[-k]
    if found is None:
        return x[0]
    return found(x[2]) if callable(found) else found * found


@pytest.mark.parametrize("f", [perhaps_a_number, perhaps_an_array, perhaps_a_function], ids=lambda f: f.__name__)
def test_items_of_different_kinds(f):
    xs, ks = np.linspace(0.3, 2.0, 9).reshape(3, 3), np.array([2, 0, 1])
    expected = [f(x, k) for x, k in zip(xs, ks, strict=True)]
    gradients = [wg.grad(f)(x, k) for x, k in zip(xs, ks, strict=True)]
    compiled = wg.jit(f)
    np.testing.assert_allclose([compiled(x, k) for x, k in zip(xs, ks, strict=True)], expected)
    for batch in (wg.vmap(f), wg.vmap(compiled), wg.jit(wg.vmap(f))):
        np.testing.assert_allclose(batch(xs, ks), expected)
    for batch in (wg.vmap(wg.grad(f)), wg.vmap(wg.grad(compiled)), wg.jit(wg.vmap(wg.grad(f)))):
        np.testing.assert_allclose(batch(xs, ks), gradients)
    with pytest.raises(IndexError):
        wg.jit(perhaps_an_array)(xs[0], 5)


def test_a_length_that_differs_between_examples_is_refused_by_what_needs_it():
    def windows(x, n):
        y = np.zeros(n + 1) + x[0]
        return np.sum(np.lib.stride_tricks.sliding_window_view(y, 2) ** 2)

    xs, ns = np.linspace(0.3, 2.0, 6).reshape(2, 3), np.array([3, 2])
    np.testing.assert_allclose(wg.vmap(wg.jit(windows))(xs, ns), [windows(x, n) for x, n in zip(xs, ns, strict=True)])
    with pytest.raises(wg.errors.ConcretizationError, match="depends on a value"):
        wg.jit(wg.vmap(windows))(xs, ns)


def test_texts_at_places_that_are_known():
    def f(x, k):
        names = np.array(["a", "b", "c"])
        missing = names[np.where(~np.isin(names, ["a", "c"]))]
        if len(missing) > 1:
            raise ValueError(missing)
        return x * k * len(missing)

    assert wg.jit(f)(2.0, 3.0) == f(2.0, 3.0) == 6.0
    assert wg.jit(wg.grad(f))(2.0, 3.0) == 3.0


def test_questions_about_the_type_of_what_data_select():
    def f(x):
        y = x[x > 1.0]
        return np.sum(y) * (np.isrealobj(y) + 2 * np.iscomplexobj(y * 1j) + (np.result_type(y, 1.0) == np.float64))

    x = np.array([0.5, 2.0, 3.0])
    np.testing.assert_allclose(wg.jit(f)(x), 20.0)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x), [0.0, 4.0, 4.0])
