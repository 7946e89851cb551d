"""`wg.jit` as users meet it: when it compiles, what it notices, what it refuses and how it says so."""

from __future__ import annotations

import copy
import math
import pickle
import threading
import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.errors import WengertError

RNG = np.random.default_rng(11)
X = RNG.normal(size=8)
FACTOR = 2.0
OFFSETS = np.array([1.0, 2.0, 3.0])
OPTIONS = {"power": 2, "weights": np.array([1.0, -1.0])}


def versions(compiled) -> int:
    return sum(len(found) for found in compiled._versions.values())


def smoothed(x, rate=0.5, *, shift=0.0):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = rate * x[i] + (1 - rate) * y[i - 1] + shift
    return y


# --------------------------------------------------------------------------------------------------------- versions


def test_one_version_per_type():
    f = wg.jit(lambda x: x * 2)
    for _ in range(3):
        f(X)
    assert versions(f) == 1
    f(X[:4])
    assert versions(f) == 2
    f(X.astype(np.float32))
    assert versions(f) == 3
    f(X + 1)
    f(X[:4] * 3)
    assert versions(f) == 3
    assert f(1.5) == 3.0
    assert f(2) == 4
    assert versions(f) == 5
    f(2.5)
    f(7)
    assert versions(f) == 5


def test_arrays_that_are_not_contiguous():
    f = wg.jit(lambda x: np.cumsum(x) * x[0])
    A = RNG.normal(size=(6, 4))
    for x in (A[:, 1], A[::-1, 2], A[::2, 0], A[3]):
        np.testing.assert_allclose(f(x), np.cumsum(x) * x[0])
    g = wg.jit(lambda A: A @ A.T + A.sum(axis=1))
    for B in (A, A.T, A[::2, ::-1], np.asfortranarray(A)):
        np.testing.assert_allclose(g(B), B @ B.T + B.sum(axis=1))


def test_writes_into_parts_of_arrays():
    @wg.jit
    def f(x):
        for i in range(len(x)):
            x[i] = i

    A = np.zeros((4, 6))
    f(A[1])
    f(A[:, 5])
    f(A[2, ::2])
    np.testing.assert_array_equal(A[1, :5], np.arange(5))
    np.testing.assert_array_equal(A[:, 5], np.arange(4))
    np.testing.assert_array_equal(A[2], [0, 0, 1, 0, 2, 2])


def test_the_gradient_of_a_part_of_unknown_length():
    def f(x, n):
        w = np.zeros(6)
        w[n:] = x[n:] ** 2
        return np.sum(w)  # its cotangent is a plain array of ones

    x = np.arange(1.0, 7.0)
    np.testing.assert_array_equal(wg.jit(wg.grad(f))(x, 2), wg.grad(f)(x, 2))


def test_the_first_rows_of_a_fresh_array():
    def f(x, n):
        total = 0.0
        for i in range(n):
            z = np.full((7, 3), 0.5)
            z[:i] = x[:i] * 2
            y = np.full(5, 2.0)
            y[: i - 3] = x[0, 0]  # from the end, at first
            total += np.sum(z * z) + z[6, 2] + np.sum(y * np.arange(5.0))
        return total

    x = np.arange(21.0).reshape(7, 3)
    np.testing.assert_allclose(wg.jit(f)(x, 7), f(x, 7), 1e-14)
    np.testing.assert_allclose(wg.jit(wg.grad(f))(x, 7), wg.grad(f)(x, 7), 1e-14)


def test_arguments_that_overlap():
    def f(x, y):
        for i in range(1, len(x)):
            x[i] = x[i - 1] + y[i]

    A, B = np.ones(9), np.ones(9)
    f(A[1:], A[:-1])
    wg.jit(f)(B[1:], B[:-1])
    np.testing.assert_array_equal(A, B)


@pytest.mark.parametrize(
    "parts",
    [lambda w: (w[1:], w), lambda w: (w[:3], w[3:]), lambda w: (w[::2], w[1::2]), lambda w: (w, w)],
    ids=["overlapping", "apart", "interleaved", "the same"],
)
def test_traced_arguments_that_overlap(parts):
    def move(u, v):
        u[0] = v[1] * 2.0
        v[2] = u[1] * 3.0

    def f(x, move):
        w = x * 1.0
        move(*parts(w))
        return np.sum(w * np.arange(1.0, 7.0))

    x, compiled = np.linspace(0.5, 1.5, 6), wg.jit(move)
    for way in (
        lambda f: wg.grad(f)(x), lambda f: wg.jit(wg.grad(f))(x), lambda f: wg.jvp(f, (x,), (x,))[1],
        lambda f: wg.vmap(f)(np.stack([x, x])),
    ):  # fmt: skip
        np.testing.assert_allclose(way(lambda x: f(x, compiled)), way(lambda x: f(x, move)), rtol=1e-14)


def test_rows_of_a_new_array_at_computed_places():
    def f(a, k):
        w = np.ones((2, 3))
        w[k[0]] *= a
        w[k[1]] *= w[k[0]] * a
        return np.sum(w**2) + a

    for k in (np.array([1, 0]), np.array([0, 0])):
        for way in (
            wg.jit(wg.grad(f)),
            wg.grad(wg.jit(f)),
            wg.jit(lambda a, k: wg.vjp(lambda a: f(a, k), a)[1](1.0)[0]),
        ):
            assert way(1.5, k) == pytest.approx(wg.grad(f)(1.5, k), rel=1e-14)


def test_the_result_is_the_argument_itself():
    @wg.jit
    def f(x):
        x[0] = 5.0
        return x

    x = np.zeros(3)
    assert f(x) is x
    assert x[0] == 5.0


def test_empty_arrays():
    np.testing.assert_array_equal(wg.jit(smoothed)(np.zeros(0)), np.zeros(0))
    assert wg.jit(lambda x: np.sum(x * 2))(np.zeros((0, 3))) == 0


# ------------------------------------------------------------------------------------------------- ways of calling


def test_keywords_and_defaults():
    f = wg.jit(smoothed)
    np.testing.assert_allclose(f(X), smoothed(X))
    np.testing.assert_allclose(f(X, 0.3), smoothed(X, 0.3))
    np.testing.assert_allclose(f(X, rate=0.2), smoothed(X, 0.2))
    np.testing.assert_allclose(f(x=X, shift=0.1), smoothed(X, shift=0.1))
    np.testing.assert_allclose(f(X, shift=0.1, rate=0.9), smoothed(X, 0.9, shift=0.1))


def test_decorators():
    @wg.jit
    def f(x):
        """Of f."""
        return x + 1

    @wg.jit(static_argnums=1)
    def g(x, n):
        return x * n

    assert f.__name__ == "f"
    assert f.__doc__ == "Of f."
    assert f(1.0) == 2.0
    assert g(2.0, 3) == 6.0
    assert "f" in repr(f)


def test_static_arguments():
    def f(x, kind, n=2):
        for _ in range(n):
            x = x * 2 if kind == "double" else x + 1
        return x

    compiled = wg.jit(f, static_argnums=(2,), static_argnames="kind")
    assert compiled(1.0, "double", 3) == 8.0
    assert compiled(1.0, "double", 2) == 4.0
    assert compiled(1.0, kind="more", n=2) == 3.0
    assert compiled(5.0, "double", 3) == 40.0
    assert versions(compiled) == 3


def test_text_and_none_are_static():
    @wg.jit
    def f(x, mode, extra=None):
        y = x.sum() if mode == "sum" else x.max()
        return y if extra is None else y + extra

    assert f(X, "sum") == pytest.approx(X.sum())
    assert f(X, "max") == X.max()
    assert f(X, "max", 1.0) == X.max() + 1
    assert f(X, "sum", None) == pytest.approx(X.sum())


def test_functions_as_arguments():
    @wg.jit
    def apply(f, x):
        s = 0.0
        for v in x:
            s += f(v)
        return s

    assert apply(np.sin, X) == pytest.approx(np.sin(X).sum())
    assert apply(lambda v: v * v if v > 0 else 0.0, X) == pytest.approx((X[X > 0] ** 2).sum())


class Model:
    def __init__(self, w):
        self.w = w
        self.bias = 1.0

    @wg.jit
    def predict(self, x):
        s = self.bias
        for i in range(len(x)):
            s += self.w[i] * x[i]
        return s

    @wg.jit
    def remember(self, k, v):
        self.w[k] = v

    @staticmethod
    @wg.jit
    def twice(x):
        return 2 * x


def test_methods():
    a, b = Model(X.copy()), Model(-X)
    for model in (a, b, a):
        assert model.predict(X) == pytest.approx(model.bias + model.w @ X)
    a.w[0] = 100.0
    assert a.predict(X) == pytest.approx(1 + a.w @ X)
    a.bias = 7.0
    assert a.predict(X) == pytest.approx(7 + a.w @ X)
    a.w = np.ones(8)
    assert a.predict(X) == pytest.approx(7 + X.sum())
    a.remember(3, 50.0)
    assert a.w[3] == 50.0
    assert Model.twice(4.0) == 8.0
    bound = wg.jit(b.predict)
    assert bound(X) == pytest.approx(1 - X @ X)


def test_jit_of_jit():
    inner = wg.jit(smoothed)
    outer = wg.jit(lambda x: inner(inner(x)) * inner(x, 0.1))
    np.testing.assert_allclose(outer(X), smoothed(smoothed(X)) * smoothed(X, 0.1))
    np.testing.assert_allclose(wg.jit(wg.jit(smoothed))(X), smoothed(X))
    gradient = wg.grad(lambda x: np.sum(outer(x)))(X)
    np.testing.assert_allclose(gradient, wg.grad(lambda x: np.sum(smoothed(smoothed(x)) * smoothed(x, 0.1)))(X))


def test_recursion_on_known_integers():
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    assert wg.jit(power, static_argnums=1)(1.5, 6) == pytest.approx(1.5**6)


# ------------------------------------------------------------------------------------- what lies outside is watched


def test_globals_are_looked_at_again(monkeypatch):
    @wg.jit
    def f(x):
        return x * FACTOR + OFFSETS[1]

    assert f(1.0) == 4.0
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert f(1.0) == 7.0
    monkeypatch.setitem(globals(), "OFFSETS", np.array([0.0, 10.0, 0.0]))
    assert f(1.0) == 15.0
    OFFSETS[1] = 20.0
    assert f(1.0) == 25.0


def test_containers_are_looked_at_again(monkeypatch):
    @wg.jit
    def f(x):
        return np.sum(x ** OPTIONS["power"] * OPTIONS["weights"])

    x = np.array([3.0, 2.0])
    assert f(x) == 5.0
    monkeypatch.setitem(OPTIONS, "power", 3)
    assert f(x) == 19.0
    monkeypatch.setitem(OPTIONS, "weights", np.array([1.0, 1.0]))
    assert f(x) == 35.0


def test_closures_are_looked_at_again():
    scale, table = 2.0, np.array([1.0, 2.0])

    @wg.jit
    def f(x):
        return x * scale + table[0]

    assert f(1.0) == 3.0
    scale = 10.0
    assert f(1.0) == 11.0
    table[0] = 5.0
    assert f(1.0) == 15.0
    table = np.array([7.0])
    assert f(1.0) == 17.0


def test_functions_that_are_replaced(monkeypatch):
    @wg.jit
    def f(x):
        return helper(x)

    assert f(2.0) == 4.0
    monkeypatch.setitem(globals(), "helper", lambda x: x + 100)
    assert f(2.0) == 102.0


def helper(x):
    return x * 2


def test_arrays_outside_that_are_written_to():
    memory = np.zeros(4)

    @wg.jit
    def f(k, v):
        memory[k] += v
        return memory.sum()

    assert f(1, 2.0) == 2.0
    assert f(3, 1.0) == 3.0
    assert f(1, 2.0) == 5.0
    np.testing.assert_array_equal(memory, [0, 4, 0, 1])


# ------------------------------------------------------------------------------------------------- errors when it runs


def test_index_error():
    f = wg.jit(lambda x, i: x[i] * 2)
    assert f(X, -8) == X[0] * 2
    for i in (8, -9, 1000):
        with pytest.raises(IndexError):
            f(X, i)

    @wg.jit
    def g(x, n):
        s = 0.0
        for i in range(n):
            s += x[i]
        return s

    assert g(X, 8) == pytest.approx(X.sum())
    with pytest.raises(IndexError):
        g(X, 9)

    @wg.jit
    def h(x, i):
        x[i] = 1.0

    with pytest.raises(IndexError):
        h(X.copy(), 8)


def test_division_of_integers_by_zero():
    f = wg.jit(lambda a, b: a // b)
    assert f(7, 2) == 3
    with pytest.raises(ZeroDivisionError):
        f(7, 0)
    with pytest.raises(ZeroDivisionError):
        wg.jit(lambda a, b: a % b)(7, 0)


def test_division_of_arrays_by_zero():
    f = wg.jit(lambda a, b: a / b)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(f(np.array([1.0, -1.0]), np.zeros(2)), [np.inf, -np.inf])


def test_singular_matrices():
    with pytest.raises(np.linalg.LinAlgError):
        wg.jit(np.linalg.solve)(np.zeros((3, 3)), np.ones(3))
    with pytest.raises(np.linalg.LinAlgError):
        wg.jit(lambda A: np.linalg.cholesky(A))(-np.eye(3))


def test_assert_and_raise():
    @wg.jit
    def f(x):
        assert x[0] > 0, "must be positive"
        total = 0.0
        for v in x:
            if v > 10:
                raise ValueError("too large")
            total += v
        return total

    assert f(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])) == 21.0
    with pytest.raises(AssertionError, match="must be positive"):
        f(np.array([-1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    with pytest.raises(ValueError, match="too large"):
        f(np.array([1.0, 2.0, 3.0, 4.0, 50.0, 6.0]))


def test_arguments_are_not_written_to_when_it_fails():
    """The program is a function: its writes are seen when it has succeeded."""

    @wg.jit
    def f(x, i):
        x[0] = 9.0
        return x[i]

    x = np.zeros(3)
    with pytest.raises(IndexError):
        f(x, 5)
    assert x[0] == 0.0


def test_mismatch_of_lengths():
    f = wg.jit(lambda x, n, m: x[:n] + x[:m])
    np.testing.assert_allclose(f(X, 3, 3), 2 * X[:3])
    with pytest.raises(ValueError):
        f(X, 3, 4)


# ---------------------------------------------------------------------------------------------- what cannot be staged


def more_axes(x):
    for _ in range(1000):
        x = x[None]
    return x


def different_shapes(x):
    y = x[:2] if x[0] > 0 else x.reshape(2, 4)
    return y.sum()


def different_kinds(x):
    kind = "positive" if x[0] > 0 else "negative"
    return x if kind == "positive" else -x


def arrays_of_all_lengths(x):
    out, y = [], x[0]
    while y < 100.0:
        out.append(np.zeros(len(out) + 1))
        y = y * 2.0
    return y


def asked(x):
    return x + float(input())


def printed(x):
    return float(f"{x[0]}")


@pytest.mark.parametrize("f", [different_shapes, different_kinds], ids=lambda f: f.__name__)
def test_branches_that_cannot_be_put_together(f):
    g = wg.jit(f)
    for x in (X, -X, X + 1):
        np.testing.assert_allclose(g(x), f(x), rtol=1e-14)


@pytest.mark.parametrize("f", [more_axes, arrays_of_all_lengths, asked], ids=lambda f: f.__name__)
def test_refusals_say_where_and_what_to_do(f):
    with pytest.raises(WengertError) as caught:
        wg.jit(f)(X)
    text = str(caught.value)
    assert "test_api.py:" in text
    assert "remedy: " in text


def test_arrays_that_grow():
    def grown(x, n):
        y = np.zeros(1)
        for k in range(n):
            if x[k % 8] > 0:
                y = np.append(y, x[k % 8])
        return y

    np.testing.assert_allclose(wg.jit(grown)(X, 20), grown(X, 20))


def test_containers_of_arrays_are_looked_at_again():
    parts, table = [X.copy(), X + 1], {"a": X.copy()}

    def f(s):
        for part in parts:
            s = s + part.sum()
        first, second = parts
        for name in table:
            s = s + table[name][1]
        return s + first[0] * second[1] + sum(np.max(part) for part in parts) + np.concatenate(parts)[3]

    compiled = wg.jit(f)
    for _ in range(3):
        assert compiled(1.0) == pytest.approx(f(1.0))
        parts[0][:] += 1
        parts[1] = parts[1] * 2
        table["a"] = table["a"] - 3


def test_fallback():
    f = wg.jit(arrays_of_all_lengths, fallback=True)
    with pytest.warns(RuntimeWarning, match="runs as ordinary Python") as caught:
        np.testing.assert_array_equal(f(X), arrays_of_all_lengths(X))
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(f(X), arrays_of_all_lengths(X))
        np.testing.assert_array_equal(wg.jit(smoothed, fallback=True)(X), smoothed(X))


def test_what_is_no_function():
    with pytest.raises(wg.errors.NotAFunctionError, match="wants a function, and was given a ndarray"):
        wg.jit(np.ones(3))


def test_errors_of_numpy_come_when_it_is_captured():
    with pytest.raises(ValueError):
        wg.jit(lambda x: x + np.ones(3))(X)
    with pytest.raises(IndexError):
        wg.jit(lambda x: x[8])(X)
    with pytest.raises(TypeError):
        wg.jit(smoothed)()


# -------------------------------------------------------------------------------------------------- looking at programs


def test_lower():
    lowered = wg.jit(smoothed).lower(X)
    assert "loop" in lowered.ir
    assert "program smoothed" in lowered.ir
    assert "define" in lowered.llvm
    assert lowered.assembly
    assert lowered.report is not None
    scope: dict = {}
    exec(lowered.python, scope)
    np.testing.assert_allclose(scope["smoothed"](X), smoothed(X))


def test_python_of_a_gradient():
    source = wg.jit(wg.grad(lambda x: np.sum(np.sin(x) ** 2))).python(X)
    assert "wengert" not in source
    scope: dict = {}
    exec(source, scope)
    functions = [f for f in scope.values() if hasattr(f, "__code__")]
    np.testing.assert_allclose(functions[-1](X), 2 * np.sin(X) * np.cos(X))


# ------------------------------------------------------------------------------------------------- pickling, threads

module_level = wg.jit(smoothed)


@wg.jit
def decorated(x):
    return x * 3


def test_pickling():
    again = pickle.loads(pickle.dumps(module_level))
    np.testing.assert_allclose(again(X), smoothed(X))


def test_threads():
    f = wg.jit(smoothed)
    g = wg.jit(wg.grad(lambda x: np.sum(smoothed(x) ** 2)))
    expected = [smoothed(X[:n] + n) for n in range(1, 9)]
    gradients = [wg.grad(lambda x: np.sum(smoothed(x) ** 2))(X[:n] + n) for n in range(1, 9)]
    failures: list = []

    def work(n):
        try:
            for _ in range(5):
                np.testing.assert_allclose(f(X[:n] + n), expected[n - 1])
                np.testing.assert_allclose(g(X[:n] + n), gradients[n - 1])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(1 + k % 4,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


# ----------------------------------------------------------------------------------------------------- composition


def test_every_operator():
    def f(x):
        s = 0.0
        for i in range(1, len(x)):
            s += math.sin(x[i]) * x[i - 1] if x[i] > 0 else x[i] ** 2
        return s

    v = np.cos(X)
    for plain, compiled in (
        (wg.grad(f), wg.jit(wg.grad(f))),
        (wg.grad(f), wg.grad(wg.jit(f))),
        (wg.hessian(f), wg.jit(wg.hessian(f))),
        (wg.hessian(f), wg.hessian(wg.jit(f))),
        (wg.jacfwd(f), wg.jit(wg.jacfwd(f))),
        (wg.jacrev(smoothed), wg.jit(wg.jacrev(smoothed))),
        (wg.jacrev(smoothed), wg.jacrev(wg.jit(smoothed))),
        (lambda x: wg.jvp(f, (x,), (v,)), wg.jit(lambda x: wg.jvp(f, (x,), (v,)))),
        (lambda x: wg.hvp(f)(x, v), wg.jit(lambda x: wg.hvp(f)(x, v))),
        (wg.value_and_grad(f), wg.jit(wg.value_and_grad(f))),
        (wg.grad(lambda x: np.sum(wg.grad(f)(x) ** 2)), wg.jit(wg.grad(lambda x: np.sum(wg.grad(f)(x) ** 2)))),
    ):
        for a, b in zip(wg.tree.leaves(compiled(X)), wg.tree.leaves(plain(X)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_linearize_and_vjp_of_compiled():
    y, pull = wg.vjp(wg.jit(smoothed), X)
    expected_y, expected_pull = wg.vjp(smoothed, X)
    np.testing.assert_allclose(y, expected_y)
    for a, b in zip(wg.tree.leaves(pull(X)), wg.tree.leaves(expected_pull(X)), strict=True):
        np.testing.assert_allclose(a, b)


def test_examples_that_go_different_ways():
    @wg.jit
    def f(x, k):
        if x[0] > 0:
            return x[k % 8] ** 2
        n = 0
        while x[1] * n < 1.0 and n < 50:
            n += 1
        return n * x[k % 3]

    xs = RNG.normal(size=(6, 8))
    ks = np.array([0, 3, 11, 5, 2, 7])
    expected = [f._f(x, k) for x, k in zip(xs, ks, strict=True)]
    np.testing.assert_allclose(wg.vmap(f)(xs, ks), expected)
    np.testing.assert_allclose(wg.jit(wg.vmap(f))(xs, ks), expected)


def test_loops_of_different_lengths_in_a_batch():
    @wg.jit
    def f(x, n):
        s = 0.0
        for i in range(n):
            s += x[i]
        return s

    ns = np.array([0, 3, 8])
    xs = RNG.normal(size=(3, 8))
    np.testing.assert_allclose(wg.vmap(f)(xs, ns), [x[:n].sum() for x, n in zip(xs, ns, strict=True)])


def test_an_error_in_a_branch_that_is_not_taken():
    @wg.jit
    def f(x):
        if x < 0:
            raise ValueError("negative")
        return np.sqrt(x)

    np.testing.assert_allclose(wg.vmap(f)(np.array([1.0, 4.0])), [1.0, 2.0])
    with pytest.raises(ValueError, match="negative"):
        wg.vmap(f)(np.array([1.0, -4.0]))


def test_subnormal_and_special_values():
    f = wg.jit(lambda x: x * 1.0)
    special = np.array([np.inf, -np.inf, np.nan, -0.0, 5e-324])
    got = f(special)
    np.testing.assert_array_equal(got, special)
    assert math.copysign(1, got[3]) == -1


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_are_functions(copied):
    """They are pickled as where their code is; a copy is made of the function itself."""
    for f in (wg.grad(np.sin), wg.jit(wg.grad(np.sin)), wg.vmap(wg.grad(wg.grad(np.sin)))):
        x = np.array([0.3]) if "vmap" in repr(f) else 0.3
        assert copied(f)(x) == f(x)
        assert repr(copied(f)) == repr(f)
