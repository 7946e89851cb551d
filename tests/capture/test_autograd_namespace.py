"""Programs that import `autograd.numpy`: what they call is NumPy's.

autograd itself need not be there: a stand-in wraps functions as it does, and computes with boxes of its own.
"""

import functools
import types

import numpy as np
import pytest

import wengert as wg

WRITTEN_ANEW = """
def array(A, *args, **kwargs):
    raise TypeError("looks into lists for its own boxes, and at the classes of what is there")
"""


def primitive(f):
    @functools.wraps(f)
    def f_wrapped(*args, **kwargs):
        boxed = any(isinstance(a, OwnBox) for a in args)
        plain = [a.value if isinstance(a, OwnBox) else a for a in args]
        assert not any(type(a).__module__.startswith("wengert") for a in plain), "it does not know us"
        y = f(*plain, **kwargs)
        return OwnBox(y) if boxed else y

    f_wrapped.fun, f_wrapped._is_autograd_primitive = f, True
    return f_wrapped


class OwnBox:
    def __init__(self, value):
        self.value = value


OwnBox.__module__ = "autograd.tracer"
anp = types.ModuleType("autograd.numpy.numpy_wrapper")
exec(WRITTEN_ANEW, anp.__dict__)
for _name in ("exp", "sum", "zeros", "where", "dot"):
    setattr(anp, _name, primitive(getattr(np, _name)))
anp.norm = primitive(np.linalg.norm)


def f(a, b):
    x = anp.array([a, b, 1.0])
    z = anp.zeros(3)
    z[1] = a * b
    return anp.sum(anp.exp(x) * z) + anp.norm(x) * anp.dot(x, x) + anp.sum(anp.where(x > 1, x, 2 * x))


def by_hand(p):
    a, b = p
    r = np.sqrt(a * a + b * b + 1)
    return np.exp(b) * a * b + r**3 + 2 * a + b + 2


@pytest.mark.parametrize("compiled", [False, True])
def test_its_functions_are_numpys(compiled):
    gradient = wg.grad(f, argnums=(0, 1))
    found = (wg.jit(gradient) if compiled else gradient)(0.7, 1.9)
    np.testing.assert_allclose(
        found, wg.numerical.grad(by_hand, method="complex-step")(np.array([0.7, 1.9])), rtol=1e-12
    )
    values = (wg.jit(wg.vmap(f)) if compiled else wg.vmap(f))(np.array([0.7, 0.2]), np.array([1.9, 1.1]))
    np.testing.assert_allclose(values, [by_hand((0.7, 1.9)), by_hand((0.2, 1.1))])


def test_boxes_of_its_own_are_left_to_it():
    def g(x):
        held = anp.exp(OwnBox(0.5))
        return x * held.value

    np.testing.assert_allclose(wg.grad(g)(2.0), np.exp(0.5))
