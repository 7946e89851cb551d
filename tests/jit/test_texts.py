"""Texts made of numbers in compiled functions: a loop that names things by its counter is unrolled, never misread."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert.errors import ConcretizationError


def network(p, x):
    for i in range(len(p) // 2):
        x = np.tanh(x @ p[f"w{i}"] + p["b" + str(i)])
    return np.sum(x**2)


def formatted(p, x):
    for i in range(len(p) // 2):
        x = np.tanh(x @ p["w{}".format(i)] + p["b" + format(i, "d")])  # noqa: UP032
    return np.sum(x**2)


class Layers:
    def __init__(self, p):
        for name, value in p.items():
            setattr(self, name, value)


def attributes(p, x):
    layers = Layers(p)
    for i in range(len(p) // 2):
        x = np.tanh(x @ getattr(layers, f"w{i}") + getattr(layers, f"b{i}"))
    return np.sum(x**2)


@pytest.mark.parametrize("f", [network, formatted, attributes])
def test_names_with_a_number(f, rng):
    p = {}
    for i in range(7):
        p[f"w{i}"], p[f"b{i}"] = rng.normal(size=(3, 3)), rng.normal(size=3)
    x = rng.normal(size=(2, 3))
    np.testing.assert_allclose(wg.jit(f)(p, x), f(p, x), rtol=1e-12)
    found, want = wg.jit(wg.grad(f))(p, x), wg.grad(f)(p, x)
    for name in p:
        np.testing.assert_allclose(found[name], want[name], rtol=1e-10, atol=1e-14)


def test_the_text_of_a_value_is_refused():
    with pytest.raises(ConcretizationError, match="text"):
        wg.jit(lambda x: {"1.0": x}.get(str(x), -x))(1.0)


def test_percent_names(rng):
    def f(p):
        s = 0.0
        for i in range(6):
            s = s + p["w%d" % i] ** 2  # noqa: UP031
        return s

    p = {f"w{i}": float(i) for i in range(6)}
    assert wg.jit(f)(p) == f(p)


MESSAGES = {
    "text of a text": lambda x: "%s, %r and %s" % (str(x), f"{x:.2f}", [str(x), x]),  # noqa: UP031
    "f-string": lambda x: f"x is {x:.2f}, not {1 + 1}",
    "percent": lambda x: "x is %.2f" % x,  # noqa: UP031
    "percent of several": lambda x: "%s: %.2f and %d" % ("x", x, 3),  # noqa: UP031
    "format": lambda x: "{} is {value:.1f}".format("x", value=x),
    "str": lambda x: "x is " + str(x),
    "join": lambda x: ", ".join(["x", str(x), f"{x!r:>8}"]),
    "nested": lambda x: f"<{f'{x:.3f}'}>",
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_a_message_of_an_exception_that_is_not_raised(kind):
    message = MESSAGES[kind]

    def f(x):
        if x < 0:
            text = message(x)
            raise ValueError(text)
        return x * 2

    compiled = wg.jit(f)
    assert compiled(1.5) == 3.0
    assert wg.jit(wg.grad(f))(1.5) == 2.0
    with pytest.raises(ValueError):
        compiled(-1.0)


@pytest.mark.parametrize("kind", MESSAGES)
def test_what_is_printed(kind, capsys):
    message = MESSAGES[kind]

    def f(x):
        for _ in range(6):
            x = x * 1.5
            print(message(x))
        return x

    f(0.7)
    want = capsys.readouterr().out
    compiled = wg.jit(f)
    for _ in range(2):
        compiled(0.7)
        assert capsys.readouterr().out == want


def test_numbers_are_not_joined():
    def f(x):
        return ", ".join(["x", x])

    with pytest.raises(TypeError, match="expected str"):
        wg.jit(f)(1.0)


def test_texts_that_are_returned():
    def f(x):
        size = "large" if x > 1 else "small"
        return f"{size}: {x!r}, {np.sqrt(x):.3f}", [f"{x:g}"], x * x

    for run in (wg.jit(f), wg.jit(lambda x: wg.jit(f)(x))):
        for x in (0.25, 2.5):
            assert run(x) == f(x)
    (value, text), slope = wg.value_and_grad(wg.jit(lambda x: (x * x, f"{x:.1f}")), has_aux=True)(1.5)
    assert (value, text, slope) == (2.25, "1.5", 3.0)
    np.testing.assert_array_equal(wg.vmap(wg.jit(lambda x: f"{x:.1f}"))(np.arange(3.0)), ["0.0", "1.0", "2.0"])


def test_words_that_data_choose_are_joined(capsys):
    def f(x):
        steps = ["up" if x * math.sin(k) > 0.3 else "down" for k in range(7)]
        print("-".join(steps))
        return x

    for x in (1.0, -0.5):
        f(x)
        wg.jit(f)(x)
        ours, theirs = capsys.readouterr().out.splitlines()
        assert ours == theirs
