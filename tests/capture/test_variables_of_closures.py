"""Functions and rules that read variables which only one branch binds, or only a loop that runs."""

import numpy as np
import pytest

import wengert as wg

X = np.array([1.5, 0.7])


def read_by_a_function(x):
    if x[0] > 0:
        k, wave = 2.0, np.sin

    def g(u):
        return wave(u * k)

    return np.sum(g(x))


def read_by_a_generator(x):
    if x[0] > 0:
        k = x[1] * 3

    def items():
        for e in x:
            yield e * k

    return sum(items())


def function_of_one_branch(x):
    if x[0] > 0:

        def square(u):
            return u * u

        def twice(u):
            return square(u) * 2

    return twice(x[1]) if x[0] > 0 else x[1]


def forward_rule_of_one_branch(x):
    if x[0] > 0:

        @wg.custom_jvp
        def square(u):
            return u * u

        @square.defjvp
        def rule(primals, tangents):
            return square(*primals), 2 * primals[0] * tangents[0]

        return square(x[1])
    return x[1]


def reverse_rule_of_one_branch(x):
    if x[0] > 0:
        k = 3.0

        @wg.custom_vjp
        def scaled(u):
            return u * u * k

        scaled.defvjp(lambda u: (scaled(u), u), lambda u, ct: (2 * k * u * ct,))
        y = scaled(x[1])
    else:
        y = x[1]
    return y


def rule_of_a_loop(x):
    for _ in range(int(wg.stop_gradient(3 * x[0]))):

        @wg.custom_jvp
        def square(u):
            return u * u

        @square.defjvp
        def rule(primals, tangents):
            return square(*primals), 2 * primals[0] * tangents[0]

        x = x * 0.5 + square(x[1])
    return x[0]


PROGRAMS = [
    read_by_a_function, read_by_a_generator, function_of_one_branch, forward_rule_of_one_branch,
    reverse_rule_of_one_branch, rule_of_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives_are_those_of_plain_python(f):
    h = 1e-6
    expected = [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(2)]
    for way in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f)), wg.jacfwd(wg.jit(f)), wg.jit(wg.jacfwd(f))):
        np.testing.assert_allclose(way(X), expected, rtol=1e-7, atol=1e-9)


def test_a_variable_without_a_value_raises_what_python_raises():
    for way in (read_by_a_function, wg.jit(read_by_a_function)):
        with pytest.raises(NameError, match="free variable"):
            way(-X)
