"""The quick way into compiled code: static arguments, arrays in any order, arguments that come back."""

import sys
import threading
import weakref

import numpy as np
import pytest

import wengert as wg


def twice(f, *args):
    """The result of the second call: the first one finds the quick way."""
    f(*args)
    return f(*args)


def test_an_argument_comes_back_itself():
    x = np.ones(3)
    f = wg.jit(lambda x: x)
    assert twice(f, x) is x
    g = wg.jit(lambda x, y: (y, 2 * x, y))
    a, b, c = twice(g, x, x + 1)
    assert a is c
    assert np.array_equal(b, [2, 2, 2])
    assert twice(wg.jit(lambda x: ()), x) == ()
    assert twice(wg.jit(lambda x: None), x) is None
    assert twice(wg.jit(lambda x: (3, x)), x)[0] == 3


def test_other_arguments_after_an_argument_that_came_back():
    f = wg.jit(lambda x: x)
    assert twice(f, np.ones(3)).shape == (3,)
    y = np.ones((2, 2), np.float32)
    assert twice(f, y) is y
    assert f(2.5) == 2.5


def test_static_arguments():
    f = wg.jit(lambda n, x, name: n * x if name == "mul" else n + x, static_argnums=(0, 2))
    x = np.arange(3.0)
    for n, name, wanted in (
        (2, "mul", 2 * x),
        (2, "mul", 2 * x),
        (3, "mul", 3 * x),
        (3, "add", 3 + x),
        (2, "add", 2 + x),
    ):
        np.testing.assert_array_equal(twice(f, n, x, name), wanted)
    np.testing.assert_array_equal(f(2, x[:2], "mul"), 2 * x[:2])
    with pytest.raises(TypeError):
        f(2, x)


def test_static_arguments_that_are_equal_but_not_the_same():
    f = wg.jit(lambda shape, x: np.full(shape, 1.0) * x, static_argnums=0)
    for _ in range(3):
        np.testing.assert_array_equal(f(tuple(np.ones((2, 3)).shape), np.ones(3)), np.ones((2, 3)))
        np.testing.assert_array_equal(f(tuple(np.ones((4, 3)).shape), np.ones(3)), np.ones((4, 3)))


def test_static_arguments_by_name_and_position():
    f = wg.jit(lambda x, power: x**power, static_argnames="power")
    x = np.arange(1.0, 4.0)
    for _ in range(2):
        np.testing.assert_allclose(f(x, 2), x**2)
        np.testing.assert_allclose(f(x, power=3), x**3)
        np.testing.assert_allclose(f(x, 2), x**2)


def test_arrays_in_any_order():
    f = wg.jit(lambda a, b: a @ b)
    a, b = np.arange(12.0).reshape(3, 4), np.arange(8.0).reshape(4, 2)
    for _ in range(2):
        np.testing.assert_allclose(f(a, b), a @ b)
        np.testing.assert_allclose(f(np.asfortranarray(a), b), a @ b)
        np.testing.assert_allclose(f(np.repeat(a, 2, axis=1)[:, ::2], b[::-1][::-1]), a @ b)
    small = np.asfortranarray(a.astype(np.float32))
    assert f(small, b.astype(np.float32)).dtype == np.float32
    assert f(np.asfortranarray(a[:2]), b).shape == (2, 2)


def test_programs_that_write_get_the_array_itself():
    @wg.jit
    def f(x):
        if x.shape[0] == 4:
            x[0] = 10.0
        return np.sum(x)

    base = np.zeros((6, 2))
    assert twice(f, base[:3, 0]) == 0.0
    view = base[:4, 1]
    assert f(view) == 10.0
    assert base[0, 1] == 10.0
    assert base[0, 0] == 0.0


def test_threads():
    f = wg.jit(lambda x: 2 * x)
    arrays = [np.full((4, 4), float(k)) for k in range(4)]
    wrong: list[int] = []

    def work(k: int) -> None:
        x = arrays[k] if k % 2 else np.repeat(arrays[k], 2, axis=1)[:, ::2]
        for _ in range(300):
            if not np.array_equal(f(x), 2 * arrays[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


# ------------------------------------------------------------------------------------ calls that are native altogether


def test_one_result_several_results_and_none():
    x, y = np.arange(3.0), np.ones(3)
    both = wg.jit(lambda x, y: (x + y, x - y))
    for _ in range(3):
        total, difference = both(x, y)
        np.testing.assert_array_equal(total, x + y)
        np.testing.assert_array_equal(difference, x - y)
        assert isinstance(both(x, y), tuple)
    one = wg.jit(lambda x: (2 * x,))
    assert isinstance(twice(one, x), tuple)
    listed = wg.jit(lambda x, y: [x + y, x - y])
    assert isinstance(twice(listed, x, y), list)
    second = wg.jit(lambda x, y: y)
    assert twice(second, x, y) is y


def test_named_arguments_and_wrong_numbers_of_arguments():
    f = wg.jit(lambda x, y=2.0: x * y)
    x = np.arange(3.0)
    for _ in range(2):
        np.testing.assert_array_equal(f(x, 3.0), 3 * x)
        np.testing.assert_array_equal(f(x, y=4.0), 4 * x)
        np.testing.assert_array_equal(f(y=4.0, x=x), 4 * x)
        np.testing.assert_array_equal(f(x), 2 * x)
        with pytest.raises(TypeError):
            f()
        with pytest.raises(TypeError):
            f(x, 3.0, 5.0)


def test_no_references_are_lost_or_kept():
    f = wg.jit(lambda x, y: (x + y, np.sum(x)))
    g = wg.jit(lambda x: x)
    x, y = np.arange(300.0), np.ones(300)
    f(x, y), g(x), f(x, y), g(x)
    before = sys.getrefcount(x), sys.getrefcount(y)
    for _ in range(50):
        f(x, y), g(x), f(x[:10], y[:10]), g(x[::2])
    f(x, y), g(x)
    assert (sys.getrefcount(x), sys.getrefcount(y)) == before
    result = weakref.ref(f(x, y)[0])
    assert result() is None


def test_errors_come_out_of_native_calls():
    f = wg.jit(lambda x, i: x[i])
    x = np.arange(4.0)
    for _ in range(2):
        assert f(x, 3) == 3.0
        with pytest.raises(IndexError):
            f(x, 4)


def test_a_choice_in_this_or_another_thread():
    slope = wg.jit(wg.grad(lambda x: np.maximum(x, 0.0)))
    assert twice(slope, 0.0) == 0.5
    with wg.subgradient(ties="last"):
        assert twice(slope, 0.0) == 0.0
    assert twice(slope, 0.0) == 0.5
    begun, done, found = threading.Event(), threading.Event(), []

    def other():
        with wg.subgradient(ties="first"):
            found.append(slope(0.0))
            begun.set()
            done.wait()

    thread = threading.Thread(target=other)
    thread.start()
    begun.wait()
    assert twice(slope, 0.0) == 0.5
    done.set()
    thread.join()
    assert found == [1.0]
    assert slope(0.0) == 0.5


def test_traced_arguments_after_plain_ones():
    f = wg.jit(lambda x: np.sum(x**3))
    x = np.arange(4.0)
    twice(f, x)
    np.testing.assert_allclose(wg.grad(f)(x), 3 * x**2)
    np.testing.assert_allclose(wg.jit(wg.grad(lambda x: f(2 * x)))(x), 24 * x**2)
    assert f(x) == 36.0


def test_a_compiled_function_is_a_method_of_a_class():
    class Model:
        factor = 3.0

        @wg.jit
        def scaled(self, x):
            return 3.0 * x

    model = Model()
    np.testing.assert_array_equal(twice(model.scaled, np.ones(2)), [3.0, 3.0])


FACTOR = 2.0


def test_numbers_from_outside_may_change(monkeypatch):
    f = wg.jit(lambda x: FACTOR * x)
    x = np.arange(3.0)
    np.testing.assert_array_equal(twice(f, x), 2 * x)
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    np.testing.assert_array_equal(twice(f, x), 5 * x)
    monkeypatch.setitem(globals(), "FACTOR", np.float32(3.0))
    np.testing.assert_array_equal(twice(f, x), 3 * x)


def test_numbers_without_native_registers():
    f = wg.jit(lambda x: x * 2)
    for n in (3, 3, 4, 5):
        np.testing.assert_array_equal(f(np.ones(n, np.float16)), np.full(n, 2, np.float16))
    assert f(np.ones(2)).dtype == np.float64
    assert f(np.ones(2, np.float16)).dtype == np.float16


def test_arrays_from_outside_may_become_others(monkeypatch):
    f = wg.jit(lambda x: x * DATA)
    x = np.arange(3.0)
    for data in (np.ones(3), np.full(3, 2.0, np.float32), np.ones((2, 3)), np.arange(6.0).reshape(3, 2).T, 5.0):
        monkeypatch.setitem(globals(), "DATA", data)
        for _ in range(3):
            np.testing.assert_array_equal(f(x), x * data)


DATA = np.ones(3)


def test_the_order_in_memory_is_looked_at_in_every_call():
    def f(x):
        y = 2.0 * x
        y.ravel()[0] = 100.0  # a view of y, or of a copy
        return y

    compiled = wg.jit(f)
    a = np.arange(6.0).reshape(2, 3)
    arrays = [a, np.asfortranarray(a), np.asfortranarray(a).astype(np.float32), np.asfortranarray(a[:, :2])]
    for x in [*arrays, *arrays[::-1], arrays[1], arrays[1], arrays[0], arrays[2], arrays[1]]:
        np.testing.assert_array_equal(compiled(x), f(x))
    other = wg.jit(f)
    for x in [arrays[1], arrays[1], arrays[0], arrays[1], arrays[2], arrays[3]]:
        found = other(x)
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found, f(x))


def test_the_order_of_arrays_from_outside_is_looked_at_in_every_call():
    outside = {"x": np.arange(6.0).reshape(2, 3)}

    def f(s):
        y = s * outside["x"]
        y.ravel()[0] = 100.0
        return y

    compiled = wg.jit(f)
    for x in [outside["x"], np.asfortranarray(outside["x"])] * 2:
        outside["x"] = x
        for _ in range(3):
            np.testing.assert_array_equal(compiled(2.0), f(2.0))
