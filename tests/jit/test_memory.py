"""What nobody holds is freed: functions, their rewritten code, compiled programs."""

import gc
import linecache
import weakref

import numpy as np
import pytest

import wengert as wg
from wengert.capture import locate

X = np.arange(1.0, 4.0)

SOURCE = """
def f(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > {k}:
            total = total + np.sin(x[i]) * {k}
    return total
"""


def function_of_its_own(k):
    """A function with source that nobody else has."""
    name, text = f"<memory {k}>", SOURCE.format(k=k)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


WAYS = {
    "grad": wg.grad,
    "jit": wg.jit,
    "jit of grad": lambda f: wg.jit(wg.grad(f)),
    "grad of jit": lambda f: wg.grad(wg.jit(f)),
    "jit of vmap": lambda f: wg.jit(lambda x: wg.vmap(f)(np.stack([x, x]))),
}


@pytest.mark.parametrize("way", WAYS)
def test_functions_and_their_code_are_freed(way):
    alive = []
    for k in range(3):
        f = function_of_its_own(k + 0.5)
        derived = WAYS[way](f)
        derived(X)
        alive += [weakref.ref(f), weakref.ref(f.__code__), weakref.ref(derived)]
        for attribute in ("__wengert_twin__", "__wengert_staged_twin__"):
            twin = f.__dict__.get(attribute)
            if twin is not None:
                alive += [weakref.ref(twin[1]), weakref.ref(twin[1].__code__)]
        for kept in getattr(derived, "_versions", {}).values():
            alive += [weakref.ref(found) for found in kept]
        del f, derived
    twin = kept = found = None  # noqa: F841
    gc.collect()
    assert not [ref() for ref in alive if ref() is not None]


def test_the_arguments_of_a_call_are_not_kept():
    compiled, x = wg.jit(lambda x: np.sum(x * 2)), np.ones(1000)
    compiled(x)
    gradient = wg.grad(lambda x: np.sum(np.sin(x) * x))(x)
    assert gradient.shape == (1000,)
    held = weakref.ref(x)
    del x
    gc.collect()
    assert held() is None


def test_few_syntax_trees_are_kept():
    for k in range(20):
        wg.grad(function_of_its_own(k * 0.01))(X)
    assert len(locate._index) <= locate._MOST_FILES
