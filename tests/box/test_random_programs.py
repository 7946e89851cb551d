"""Random programs of writes, views, aliases and reads do what they do in NumPy, and their derivatives are right.

A program is a list of instructions, run by one Python function, so that the same program runs on plain and on traced
arrays. It is made of analytic operations only, so the complex step (Squire and Trapp 1998) gives its derivative to
rounding.
"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import wengert as wg

VIEWS = {
    "transpose": lambda a: a.T,
    "flip": lambda a: np.flip(a),
    "reshape": lambda a: a.reshape(-1),
    "reshape to a column": lambda a: a.reshape(-1, 1),
    "ravel": lambda a: np.ravel(a),
    "swapaxes": lambda a: np.swapaxes(a, 0, -1),
    "expand_dims": lambda a: np.expand_dims(a, 0),
    "first row": lambda a: next(iter(a)),
    "halves": lambda a: np.array_split(a, 2)[0],
    "flatten": lambda a: a.flatten(),
    "copy": lambda a: a.copy(),
    "astype": lambda a: a.astype(a.dtype),
    "itself": lambda a: a,
    "whole": lambda a: a[...],
}


def run(program, x, y):
    """All numbers in the arrays of a program at its end."""
    return np.concatenate([np.ravel(a) for a in arrays_of(program, x, y)])


def arrays_of(program, x, y):
    """The interpreter. `env` holds the arrays of the program; two of them may be one, or views of each other."""
    env = [x, y, np.zeros((2, 3), x.dtype), x * y[0]]
    holder = {"kept": env[2]}
    for name, *rest in program:
        if name == "zeros":
            env.append(np.zeros(rest[0], x.dtype))
        elif name == "compute":
            a, b = rest
            env.append(np.sin(value(env, a)) + 0.5 * value(env, b))
        elif name == "view":
            a, kind = rest
            env.append(VIEWS[kind](env[a]))
        elif name == "slice":
            a, idx = rest
            env.append(env[a][idx])
        elif name == "write":
            a, idx, v = rest
            target = env[a]
            target[idx] = value(env, v)
        elif name == "write in a list":
            a, idx, v = rest
            env[a][idx] = value(env, v)
        elif name == "write in a dict":
            a, idx, v = rest
            holder["kept"] = env[a]
            holder["kept"][idx] = value(env, v)
        elif name == "+=":
            a, v = rest
            target = env[a]
            target += value(env, v)
        elif name == "*=":
            a, v = rest
            env[a] *= value(env, v)
        elif name == "item +=":
            a, idx, v = rest
            target = env[a]
            target[idx] += value(env, v)
        elif name == "item *=":
            a, idx, v = rest
            env[a][idx] *= value(env, v)
        elif name == "out":
            a, v = rest
            np.multiply(env[a], value(env, v), out=env[a])
        elif name == "add.at":
            a, idx, v = rest
            np.add.at(env[a], idx, value(env, v))
        elif name == "copyto":
            a, v = rest
            np.copyto(env[a], value(env, v))
        elif name == "swap":
            a, b = rest
            env[a], env[b] = env[b], env[a]
        elif name == "alias":
            env.append(env[rest[0]])
    return env


def value(env, v):
    """A number, an array of the program, or a function of one."""
    kind, which = v
    if kind == "number":
        return which
    return env[which] if kind == "array" else np.sin(env[which]) * 0.5


@st.composite
def programs(draw):
    """A program with arguments for which NumPy accepts it. The shapes are found by running it along."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3))
    x = np.linspace(0.2, 0.9, int(np.prod(shape))).reshape(shape)
    y = np.linspace(-0.7, 0.4, draw(st.integers(1, 4)))
    program = []
    for _ in range(draw(st.integers(1, 8))):
        shapes = [np.shape(a) for a in arrays_of(program, x.copy(), y.copy())]
        instruction = draw(instructions(shapes))
        try:
            arrays_of([*program, instruction], x.copy(), y.copy())
        except (ValueError, IndexError, TypeError):
            continue
        program.append(instruction)
    return program, x, y


@st.composite
def instructions(draw, shapes):
    arrays = st.integers(0, len(shapes) - 1)
    a = draw(arrays)
    v = draw(st.one_of(
        st.tuples(st.just("number"), st.sampled_from([0.0, 0.5, -1.25])),
        st.tuples(st.sampled_from(["array", "function"]), arrays),
    ))  # fmt: skip
    name = draw(st.sampled_from([
        "zeros", "compute", "view", "slice", "write", "write", "write in a list", "write in a dict", "+=", "*=",
        "item +=", "item *=", "out", "add.at", "copyto", "swap", "alias",
    ]))  # fmt: skip
    if name == "zeros":
        return name, draw(hnp.array_shapes(min_dims=1, max_dims=2, min_side=1, max_side=4))
    if name == "compute":
        return name, ("array", a), v
    if name == "view":
        return name, a, draw(st.sampled_from(list(VIEWS)))
    if name == "slice":
        idx = draw(hnp.basic_indices(shapes[a], allow_newaxis=True))
        return (name, a, idx) if np.broadcast_to(0, shapes[a])[idx].ndim else ("alias", a)
    if name in ("+=", "*=", "out", "copyto"):
        return name, a, v
    if name == "swap":
        return name, a, draw(arrays)
    if name == "alias":
        return name, a
    idx = draw(indices(shapes[a]))
    if name == "add.at":  # NumPy 2.4 crashes on some values that do not fit
        place = np.broadcast_to(0, shapes[a])[idx].shape
        if v[0] != "number" and shapes[v[1]] != place:
            v = ("number", 0.5)
    return name, a, idx, v


def indices(shape):
    choices = [hnp.basic_indices(shape, allow_newaxis=True)]
    if shape and min(shape) > 0:
        choices.append(hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(max_dims=2, max_side=4)))
        choices.append(hnp.arrays(bool, shape))
        choices.append(hnp.arrays(bool, shape[:1]))
    return st.one_of(choices)


@settings(max_examples=150)
@given(programs())
def test_values_and_derivatives(case):
    program, x, y = case
    f = lambda x, y: run(program, x, y)
    rng = np.random.default_rng(1)
    x_dot, y_dot = rng.normal(size=x.shape), rng.normal(size=y.shape)
    expected = run(program, x.copy(), y.copy())
    h = 1e-200
    slope = np.imag(run(program, x + 1j * h * x_dot, y + 1j * h * y_dot)) / h

    value, dot = wg.jvp(f, (x, y), (x_dot, y_dot))
    np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(dot, slope, rtol=1e-11, atol=1e-12)

    value, pullback = wg.vjp(f, x, y)
    np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-14)
    r = rng.normal(size=value.shape)
    x_bar, y_bar = pullback(r)
    np.testing.assert_allclose(np.sum(x_bar * x_dot) + np.sum(y_bar * y_dot), r @ dot, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(wg.linearize(f, x, y)[1].push(x_dot, y_dot), dot, rtol=1e-10, atol=1e-11)
    np.testing.assert_array_equal(x, np.linspace(0.2, 0.9, x.size).reshape(x.shape))
    np.testing.assert_array_equal(y, np.linspace(-0.7, 0.4, y.size))


@settings(max_examples=50)
@given(programs())
def test_jacobians_and_second_derivatives(case):
    program, x, y = case
    f = lambda x: run(program, x, np.copy(y))
    forward, reverse = wg.jacfwd(f)(x), wg.jacrev(f)(x)
    np.testing.assert_allclose(forward, reverse, rtol=1e-10, atol=1e-11)
    g = lambda x: np.sum(np.sin(run(program, x, np.copy(y))) ** 2)
    v = np.random.default_rng(2).normal(size=x.shape)
    first = wg.hvp(g)(x, v)
    scale = max(1.0, np.max(np.abs(first), initial=0.0))
    for mode in ("reverse-forward", "reverse-reverse"):
        np.testing.assert_allclose(wg.hvp(g, mode=mode)(x, v), first, rtol=1e-9, atol=1e-9 * scale)
