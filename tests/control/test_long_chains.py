"""Long chains of branches: what reverse mode keeps of them does not grow with each level."""

import functools
import linecache
import math

import numpy as np
import pytest

import wengert as wg
from wengert.ir.node import all_nodes


def made(source, name):
    """The function of a source that can be found again by its lines."""
    file = f"<{name}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    namespace = {"math": math, "np": np}
    exec(compile(source, file, "exec"), namespace)
    return namespace["f"]


def chain(n, value="math.exp(x * {c}) * y", test="x < {c}"):
    lines = ["def f(x, y):"]
    for k in range(n):
        lines.append(f"    {'elif' if k else 'if'} {test.format(c=k / n)}:")
        lines.append(f"        z = {value.format(c=(k + 1) / n)}")
    return made(
        "\n".join([*lines, "    else:", "        z = x * y * y", "    return z * x"]) + "\n", f"chain {n} {value}"
    )


@functools.cache
def compiled(n):
    """A chain, its gradient in both ways, and its second derivative: compiled once for all points."""
    f = chain(n)
    first = wg.jit(wg.grad(f, argnums=(0, 1))), wg.grad(wg.jit(f), argnums=(0, 1))
    return wg.jit(f), first, wg.jit(wg.grad(wg.grad(f)))


@pytest.mark.parametrize("x", [0.01, 0.42, 0.99, 2.0])
def test_a_chain_has_the_derivative_of_the_branch_that_is_taken(x):
    n, y = 25, 0.7
    f, gradients, curvature = compiled(n)
    c = min([(k + 1) / n for k in range(n) if x < k / n], default=None)
    if c is None:
        value = x * x * y * y
        first, second = (2 * x * y * y, 2 * x * x * y), 2 * y * y
    else:
        e = math.exp(c * x)
        value = x * y * e
        first, second = (y * e * (1 + c * x), x * e), y * e * c * (2 + c * x)
    assert np.isclose(f(x, y), value, rtol=1e-14)
    for gradient in gradients:
        assert np.allclose(gradient(x, y), first, rtol=1e-13)
    assert np.isclose(curvature(x, y), second, rtol=1e-13)


def looped(n):
    lines = ["def f(x):", "    s = 0.0", "    for i in range(len(x)):", "        v = x[i]"]
    for k in range(n):
        lines.append(f"        {'elif' if k else 'if'} v * v + {k} < {2 * k}:")
        lines.append(f"            s += math.exp(v * {k}) * np.sin(s)")
    return made("\n".join([*lines, "        else:", "            s += v * v", "    return s"]) + "\n", f"looped {n}")


def test_a_chain_in_a_loop(rng):
    f, x = looped(9), rng.uniform(-1.5, 1.5, 12)
    gradient = wg.jit(wg.grad(f))(x)
    for k in range(len(x)):
        direction = np.zeros(len(x))
        direction[k] = 1.0
        assert np.isclose(wg.jvp(f, (x,), (direction,))[1], gradient[k], rtol=1e-12)


@pytest.mark.parametrize("value", ["math.exp(x * {c}) * y", "np.sin(x * {c}) ** 2 + np.cos(y)"])
@pytest.mark.parametrize("test", ["x < {c}", "math.sin(x) < {c}"])
def test_levels_do_not_keep_what_the_levels_inside_keep(value, test):
    def widest(n):
        program = wg.jit(wg.grad(chain(n, value, test))).lower(0.3, 0.2).program
        return max(len(node.outs) for node in all_nodes(program.block))

    kept = widest(8), widest(16)
    assert kept[1] - kept[0] <= (0 if test == "x < {c}" else 8)  # what is expensive is kept: one number for each test
