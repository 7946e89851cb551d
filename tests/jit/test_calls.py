"""Calls with containers, names and other things than arrays: native code takes them, and only those it was made for."""

import collections
import dataclasses
import gc
import sys
import threading
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest

import wengert as wg
from wengert.backend.llvm.calls import objects

pytestmark = pytest.mark.skipif(not objects.IS_POSSIBLE, reason="needs CPython with a GIL")


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclasses.dataclass
class Layer:
    weight: Any
    bias: Any
    name: str = dataclasses.field(default="plain", metadata={"static": True})


def is_native(f, *args, **kwargs):
    """Whether a call never comes to Python."""
    general = f._general
    f._general = lambda *_: pytest.fail("called Python")
    try:
        f(*args, **kwargs)
    except pytest.fail.Exception:
        return False
    finally:
        f._general = general
    return True


def total(p):
    """A number that tells leaves apart, whatever holds them."""
    return sum([(k + 1.0) * np.sum(x) for k, x in enumerate(leaves_of(p))])


def leaves_of(p):
    if isinstance(p, dict):
        return [x for part in p.values() for x in leaves_of(part)]
    if isinstance(p, (list, tuple)):
        return [x for part in p for x in leaves_of(part)]
    if isinstance(p, Layer):
        return [*leaves_of(p.weight), *leaves_of(p.bias)] + ([1.0] if p.name == "extra" else [])
    return [] if p is None else [p]


A, B, C = np.arange(3.0), np.full((2, 2), 5.0), np.array([7, 8])

CONTAINERS = [
    {"a": A, "b": B},
    {"b": B, "a": A},
    {"a": A, "b": B, "c": C},
    {"a": A, "c": B},
    {1: A, 2: B},
    [A, B],
    [A, B, C],
    (A, B),
    Pair(A, B),
    [A, [B, {"x": C}]],
    [A, [B, {"x": None}]],
    [A, [B, ()]],
    [[A, B]],
    [A, 2.0],
    [A, 2],
    [A, True],
    [A, np.float64(2.0)],
    [A, np.float32(2.0)],
    [A, 2j],
    [A, None],
    [A, np.array(2.5)],
    Layer(A, [B]),
    Layer(A, [B], "extra"),
    Layer(A, B),
    {"layers": [Layer(A, 1.0), Layer(B, 2.0)]},
    {},
    [],
    None,
    collections.OrderedDict(a=A, b=B),
    collections.OrderedDict(b=B, a=A),
    collections.defaultdict(list, a=A, b=B),
    collections.deque([A, B]),
]


def test_each_container_gets_its_own_program():
    f = wg.jit(total)
    for _ in range(3):
        for p in CONTAINERS:
            if isinstance(p, collections.deque):
                continue
            assert f(p) == total(p)
    for p in reversed(CONTAINERS[:8]):
        assert f(p) == total(p)


@pytest.mark.parametrize("p", CONTAINERS[:25], ids=lambda p: str(p)[:30])
def test_containers_go_the_native_way(p):
    f = wg.jit(total)
    assert f(p) == total(p)
    assert is_native(f, p)
    assert f(p) == total(p)


def changed(p, how):
    """The same container with other leaves."""
    if isinstance(p, Layer):
        return Layer(changed(p.weight, how), changed(p.bias, how), p.name)
    if isinstance(p, dict):
        return {k: changed(v, how) for k, v in p.items()}
    if isinstance(p, Pair):
        return Pair(*[changed(v, how) for v in p])
    if isinstance(p, (list, tuple)):
        return type(p)(changed(v, how) for v in p)
    return None if p is None else how(p)


@pytest.mark.parametrize("p", CONTAINERS[:25], ids=lambda p: str(p)[:30])
def test_other_leaves_of_the_same_and_of_other_types(p):
    f = wg.jit(total)
    f(p)
    for how in (lambda x: x * 3, lambda x: np.asarray(x)[..., None] * 1.0, lambda x: 1.5, lambda x: x):
        q = changed(p, how)
        for _ in range(2):
            assert f(q) == total(q)


@pytest.mark.parametrize(
    "make",
    [
        lambda x, y: {"b": x, "a": y},
        lambda x, y: [x, (y, None), {}],
        lambda x, y: Pair(x, [y]),
        lambda x, y: Layer(x, {"z": y}, "made"),
        lambda x, y: {"layers": [Layer(x, y), Pair(x, y)], 3: "text"},
        lambda x, y: (x, y),
        lambda x, y: [x + 1, x],
        lambda x, y: ((), []),
        lambda x, y: collections.OrderedDict(b=x, a=y),
    ],
)
def test_results_in_containers(make):
    compute = wg.jit(lambda p: make(p["x"] * 2, p["y"] + 1))
    same = wg.jit(lambda p: make(p["x"], p["y"]))
    p = {"x": A, "y": B}
    for f, expected in ((compute, make(A * 2, B + 1)), (same, make(A, B))):
        for _ in range(3):
            got = f(p)
            assert type(got) is type(expected)
            if isinstance(expected, dict):
                assert list(got) == list(expected)
            np.testing.assert_equal(leaves_of(got), leaves_of(expected))
        assert is_native(f, p)
    for given, got in zip(leaves_of(make(A, B)), leaves_of(same(p)), strict=True):
        assert got is given or not any(given is x for x in (A, B))


def test_names():
    def f(x, y=2.0, *, z=None):
        return x * 100 + y * 10 + (0.0 if z is None else z)

    g = wg.jit(f)
    for _ in range(3):
        for args, kwargs in [
            ((1.0,), {"y": 3.0}), ((), {"y": 3.0, "x": 1.0}), ((), {"x": 1.0, "y": 3.0}), ((1.0, 3.0), {}),
            ((1.0,), {"z": 4.0}), ((1.0,), {"z": 4.0, "y": 5.0}), ((1.0,), {"z": None}), ((1.0,), {"y": np.ones(2)}),
        ]:  # fmt: skip
            np.testing.assert_array_equal(g(*args, **kwargs), f(*args, **kwargs))
            np.testing.assert_array_equal(g(*args, **kwargs), f(*args, **kwargs))
        with pytest.raises(TypeError):
            g(1.0, x=2.0)
        with pytest.raises(TypeError):
            g(1.0, nobody=2.0)
    assert is_native(g, 1.0, z=4.0)
    assert len(g._versions) <= 7  # in which order arguments are named makes no other program


def test_a_function_sees_the_order_of_names_and_keys():
    def first(**named):
        return next(iter(named.values())) * 2.0

    def first_of(p):
        return next(iter(p.values())) * 2.0

    f, g = wg.jit(first), wg.jit(first_of)
    for _ in range(3):
        assert f(a=1.0, b=2.0) == 2.0
        assert f(b=2.0, a=1.0) == 4.0
        assert g({"a": 1.0, "b": 2.0}) == 2.0
        assert g({"b": 2.0, "a": 1.0}) == 4.0
        assert g(collections.defaultdict(float, b=2.0, a=1.0)) == 4.0
        assert g(collections.defaultdict(float, a=1.0, b=2.0)) == 2.0
    h = wg.jit(lambda t: first_of(t[0].weight))
    for _ in range(2):
        assert h([Layer({"a": 1.0, "b": 2.0}, None)]) == 2.0
        assert h([Layer({"b": 2.0, "a": 1.0}, None)]) == 4.0


def test_keys_that_are_equal_but_not_the_same():
    f = wg.jit(lambda p: p["".join(["ke", "y"])] * 2)
    x = np.arange(3.0)
    for k in range(4):
        name = "".join(["k", "e", "y"]) if k % 2 else "key"
        np.testing.assert_array_equal(f({name: x}), 2 * x)
    assert is_native(f, {"".join(["k", "e", "y"]): x})
    big = wg.jit(lambda p: p[10**6] * 2)
    big({10**6: x})
    assert is_native(big, {int("1000000"): x})
    with pytest.raises(KeyError):
        f({"other": x})


def test_subclasses_of_containers():
    class Keys(dict):
        def __getitem__(self, key):
            return 10.0 * dict.__getitem__(self, key)

    class Row(list):
        pass

    f = wg.jit(lambda p: p["a"] * 2.0)
    assert f({"a": 1.0}) == 2.0
    assert f(Keys(a=1.0)) == 20.0
    assert f({"a": 1.0}) == 2.0
    g = wg.jit(lambda p: (p[0] * 2.0, type(p) is list))
    assert g([1.0]) == (2.0, True)
    assert g(Row([1.0])) == (2.0, False)


def test_static_things_between_the_data():
    def f(p, how, k):
        return p["x"] * k if how == "mul" else p["x"] + k

    g = wg.jit(f, static_argnums=2)
    x = np.arange(3.0)
    for _ in range(3):
        for how, k in (("mul", 2), ("add", 2), ("mul", 2.0), ("mul", True), ("".join(["m", "ul"]), 2), ("mul", 10**9)):
            got, expected = g({"x": x}, how, k), f({"x": x}, how, k)
            np.testing.assert_array_equal(got, expected)
            assert got.dtype == expected.dtype
    assert is_native(g, {"x": x}, "mul", int("1000000000"))


def test_static_values_that_python_finds_equal():
    sign = wg.jit(lambda x, s: np.copysign(x, s), static_argnums=1)
    kind = wg.jit(lambda x, s: x * (10.0 if isinstance(s[0], bool) else s[0] / 2), static_argnums=1)
    for _ in range(2):
        assert sign(2.0, 0.0) == 2.0
        assert sign(2.0, -0.0) == -2.0
        assert sign(2.0, complex(0.0, -0.0).imag) == -2.0
        assert kind(1.0, (1,)) == 0.5
        assert kind(1.0, (True,)) == 10.0


def test_a_nan_that_is_static_is_compiled_once():
    f = wg.jit(lambda x, s: x + (0.0 if s != s else s), static_argnums=1)
    for _ in range(3):
        f(1.0, float("nan"))
    assert len(f._versions) == 1


@pytest.mark.parametrize("number", [2.0, 2, 2j, True])
def test_numbers_of_python_and_of_numpy(number):
    def f(x, p):
        return x * p["s"]

    x = np.ones(2, np.float32)
    of_numpy = np.asarray(number)[()]
    for values in ((number, of_numpy), (of_numpy, number), (np.asarray(number), number, of_numpy)):
        g = wg.jit(f)
        h = wg.jit(lambda x, s: x * s)
        for s in (*values, *values, values[0]):
            assert g(x, {"s": s}).dtype == f(x, {"s": s}).dtype
            assert h(x, s).dtype == (x * s).dtype


def test_methods():
    class Model:
        def __init__(self, w):
            self.w = w

        @wg.jit
        def __call__(self, p, scale=1.0):
            return self.w * p["x"] * scale

    x = np.arange(3.0)
    one, other = Model(np.ones(3)), Model(np.full(3, 2.0))
    for _ in range(3):
        np.testing.assert_array_equal(one({"x": x}), x)
        np.testing.assert_array_equal(other({"x": x}), 2 * x)
        np.testing.assert_array_equal(other({"x": x}, scale=3.0), 6 * x)
    one.w = np.full(3, 5.0)
    np.testing.assert_array_equal(one({"x": x}), 5 * x)
    one.w = 3.0
    np.testing.assert_array_equal(one({"x": x}), 3 * x)


def test_attributes_that_are_computed():
    @dataclasses.dataclass
    class Lazy:
        x: Any

        def __getattribute__(self, name):
            if name == "x" and flag:
                raise AttributeError("gone")
            return object.__getattribute__(self, name)

    flag: list = []
    f = wg.jit(lambda p: p.x * 2)
    np.testing.assert_array_equal(f(Lazy(A)), 2 * A)
    np.testing.assert_array_equal(f(Lazy(A)), 2 * A)
    flag.append(1)
    with pytest.raises(AttributeError):
        f(Lazy(A))


def test_arrays_in_any_order_inside_of_containers():
    def f(p):
        q = p["a"] * 1.0
        q.ravel()[0] = 100.0  # a view of q, or a copy, as its elements lie in memory
        return q, p["a"] @ p["b"]

    g = wg.jit(f)
    a, b = np.arange(12.0).reshape(3, 4), np.arange(8.0).reshape(4, 2)
    variants = [a, np.asfortranarray(a), np.repeat(a, 2, axis=1)[:, ::2], a[::-1][::-1], np.repeat(a, 2, axis=0)[::2]]
    for _ in range(3):
        for v in (a, np.asfortranarray(a), a.T.copy().T, a.copy()):
            for got, expected in zip(g({"a": v, "b": b}), f({"a": v, "b": b}), strict=True):
                np.testing.assert_allclose(got, expected)
    simple = wg.jit(lambda p: p["a"] @ p["b"])
    for v in variants:
        np.testing.assert_allclose(simple({"a": v, "b": b}), v @ b)
        assert is_native(simple, {"a": v, "b": b})
    unaligned = np.frombuffer(b"0" + a.tobytes(), np.uint8)[1:].view(np.float64).reshape(3, 4)
    np.testing.assert_allclose(simple({"a": unaligned, "b": b}), a @ b)
    swapped = a.astype(">f8")
    np.testing.assert_allclose(simple({"a": swapped, "b": b}), a @ b)


def test_no_references_are_lost_or_kept():
    f = wg.jit(lambda p, s, *, mode="x": {"y": [p["a"] * 2, p["b"][0]], "p": p["b"], "m": mode, "t": (s,)})
    x, y, p = np.arange(300.0), np.ones(300), {}
    row = [y]
    p.update(a=x, b=row)
    layer = Layer(x, [y])
    g = wg.jit(lambda q: Layer(q.weight * 2, q.bias))
    things = [x, y, p, row, layer, p["a"].dtype, Layer]
    for _ in range(3):
        f(p, 1.0), f(p, 1.0, mode="x"), g(layer), f({"a": x, "b": [x]}, 2.0), f({"b": row, "a": x[::2]}, 1.0)
    gc.collect()
    before = [sys.getrefcount(t) for t in things]
    for _ in range(200):
        f(p, 1.0), f(p, 1.0, mode="x"), g(layer), f({"a": x, "b": [x]}, 2.0), f({"b": row, "a": x[::2]}, 1.0)
        with pytest.raises(KeyError):
            f({"a": x, "c": row}, 1.0)
    gc.collect()
    after = [sys.getrefcount(t) for t in things]
    assert all(abs(p - q) < 20 for p, q in zip(before, after, strict=True)), (before, after)
    result = weakref.ref(f(p, 1.0)["y"][0])
    assert result() is None


def test_results_that_were_made_are_not_lost_when_an_argument_does_not_fit():
    # the numbers are looked at after the arrays; many results are made at once
    f = wg.jit(lambda p, s: [x * s for x in p])
    p = [np.ones(1000) for _ in range(8)]
    f(p, 2.0)
    f(p, 2)

    dtype = np.dtype(float)
    f(p, 2.0), f(p, 2)
    gc.collect()
    before = sys.getrefcount(dtype)
    for _ in range(100):
        f(p, 2.0), f(p, 2)
    gc.collect()
    assert abs(sys.getrefcount(dtype) - before) < 50  # each array has one


def test_a_compiled_function_can_be_collected():
    f = wg.jit(lambda p: p["a"] * 2)
    f({"a": A}), f({"a": A})
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def test_containers_that_another_thread_changes_meanwhile():
    """The kernel runs without the GIL; what it was given must stay alive."""
    n = 200_000
    f = wg.jit(lambda p: np.sum(np.sin(p[0]) * np.cos(p[0]) + np.sqrt(p[0])))
    expected = f([np.ones(n)])
    shared = [np.ones(n)]
    stop = threading.Event()

    def replace():
        while not stop.is_set():
            shared[0] = np.ones(n)
            np.full(n, np.nan)

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        for _ in range(60):
            assert f(shared) == pytest.approx(expected, 1e-12)
    finally:
        stop.set()
        thread.join()


def test_many_leaves():
    p = {f"k{k}": np.full(2, float(k)) for k in range(1000)}
    f = wg.jit(lambda p: p["k3"] + p["k999"])
    np.testing.assert_array_equal(f(p), [1002.0, 1002.0])
    assert is_native(f, p)


def test_errors_and_other_choices_with_containers():
    f = wg.jit(lambda p, i: p["x"][i])
    slope = wg.jit(wg.grad(lambda p: np.maximum(p["x"], 0.0)))
    for _ in range(3):
        assert f({"x": A}, 2) == 2.0
        with pytest.raises(IndexError):
            f({"x": A}, 3)
        assert slope({"x": 0.0}) == {"x": 0.5}
        with wg.subgradient(ties="last"):
            assert slope({"x": 0.0}) == {"x": 0.0}


def test_traced_values_in_containers_after_plain_ones():
    f = wg.jit(lambda p: np.sum(p["x"] ** 3) * p["s"])
    p = {"x": A, "s": 2.0}
    f(p), f(p)
    assert is_native(f, p)
    g = wg.grad(f)(p)
    np.testing.assert_allclose(g["x"], 6 * A**2)
    np.testing.assert_allclose(g["s"], np.sum(A**3))


def test_what_writes_into_containers_arrays():
    @wg.jit
    def f(p):
        p["x"][0] = 10.0
        return np.sum(p["x"])

    for _ in range(3):
        p = {"x": np.zeros(3)}
        assert f(p) == 10.0
        assert p["x"][0] == 10.0
