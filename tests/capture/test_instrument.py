"""Instrumentation follows the user's code, wherever it goes, and leaves everything else as it was."""

import contextlib
import dataclasses
import functools
import linecache
import math
import sys
import traceback

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
from programs import check_program

import wengert as wg
from wengert.capture import instrument as instrumentation
from wengert.capture.hooks import instrument
from wengert.counted import with_references

# ----------------------------------------------------------------------------------------- where there is nothing to do


def test_functions_without_source():
    scope = {"np": np, "math": math}
    exec("def f(x):\n    return np.sin(x) * x\ndef g(x):\n    return math.sin(x)", scope)
    f, g = scope["f"], scope["g"]
    np.testing.assert_allclose(wg.grad(f)(0.7), np.sin(0.7) + 0.7 * np.cos(0.7))
    np.testing.assert_allclose(wg.grad(g)(0.7), np.cos(0.7))
    assert instrument(g).__code__.co_code == with_references(g.__code__).co_code
    np.testing.assert_allclose(wg.grad(lambda x: f(x) * math.sin(x))(0.7), wg.numerical.derivative(
        lambda x: f(x) * math.sin(x))(0.7), rtol=1e-7)  # fmt: skip
    h = eval("lambda x: x * x", scope)
    assert instrument(h) is h


def test_source_that_was_entered_at_a_prompt():
    """IPython, doctest and pdb put what was typed into `linecache`."""
    source = "def f(x):\n    out = np.zeros(2)\n    out[0] = math.sin(x)\n    return out[0] * x\n"
    linecache.cache["<prompt-1>"] = (len(source), None, source.splitlines(True), "<prompt-1>")
    scope = {"np": np, "math": math}
    exec(compile(source, "<prompt-1>", "exec"), scope)
    np.testing.assert_allclose(wg.grad(scope["f"])(0.7), np.sin(0.7) + 0.7 * np.cos(0.7))


def test_source_that_was_edited_since(tmp_path):
    """A file that no longer fits the code is not used."""
    path = tmp_path / "edited_module.py"
    path.write_text("import numpy as np\n\ndef f(x):\n    return np.sin(x)\n")
    scope = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    path.write_text("import numpy as np\n\n\n\ndef g(x):\n    return np.cos(x)\n")
    linecache.checkcache(str(path))
    assert wg.grad(scope["f"])(0.0) == 1.0


def test_library_code_is_not_rewritten():
    for f in (np.linspace, scipy.optimize.minimize, functools.wraps, dataclasses.replace, wg.grad, contextlib.suppress):
        assert instrument(f) is f
    for f in (len, math.sin, np.sin, np.sum, [].append, "a".join, np.random.default_rng, type, object, dict):
        assert instrument(f) is f


def test_functions_are_called_normally_as_before():
    def f(x, out):
        out[0] = math.sin(x)
        return np.zeros(2), type(x), isinstance(out, np.ndarray)

    wg.grad(lambda x: f(x, np.zeros(1))[0].sum() + x)(1.0)
    out = np.zeros(1)
    zeros, kind, is_array = f(0.5, out)
    assert type(zeros) is np.ndarray
    assert kind is float
    assert is_array
    assert out[0] == math.sin(0.5)
    assert "_wengert_call" not in f.__code__.co_freevars
    assert f.__name__ == "f"


def test_the_twin_looks_like_the_function():
    def f(x: float, *, scale: float = 2.0) -> float:
        """What it does."""
        return math.sin(x) * scale

    f.note = "kept"
    twin = instrument(f)
    assert twin is not f
    assert (twin.__name__, twin.__qualname__, twin.__module__) == (f.__name__, f.__qualname__, f.__module__)
    assert twin.__doc__ == "What it does."
    assert twin.note == "kept"
    assert twin.__kwdefaults__ == {"scale": 2.0}
    assert twin.__code__.co_filename == __file__
    assert twin.__code__.co_firstlineno == f.__code__.co_firstlineno


# ----------------------------------------------------------------------------------------------------- the user's lines


def raises_in_line_three(x):
    y = math.sin(x)
    z = y * 2.0
    raise KeyError("here")
    return z


def calls_what_raises(x):
    a = np.zeros(2)
    a[0] = x
    return sum(
        raises_in_line_three(t)
        for t in a
    )  # fmt: skip


def test_tracebacks_point_at_the_users_lines():
    with pytest.raises(KeyError) as caught:
        wg.grad(calls_what_raises)(1.0)
    frames = [frame for frame in traceback.extract_tb(caught.tb) if frame.filename == __file__]
    assert [(frame.name, frame.line) for frame in frames[1:]] == [
        ("calls_what_raises", "return sum("),
        ("<genexpr>", "raises_in_line_three(t)"),
        ("raises_in_line_three", 'raise KeyError("here")'),
    ]
    first = raises_in_line_three.__code__.co_firstlineno
    assert frames[-1].lineno == first + 3


def test_there_are_no_frames_of_ours():
    with pytest.raises(KeyError) as caught:
        wg.grad(calls_what_raises)(1.0)
    assert [frame.filename for frame in traceback.extract_tb(caught.tb)] == [__file__] * 4


def test_a_switch_shows_our_frames(monkeypatch):
    monkeypatch.setenv("WENGERT_FULL_TRACEBACK", "1")
    with pytest.raises(KeyError) as caught:
        wg.grad(calls_what_raises)(1.0)
    files = [frame.filename for frame in traceback.extract_tb(caught.tb)]
    last_of_ours = max(k for k, name in enumerate(files) if "/wengert/" in name and "tests" not in name)
    assert files[last_of_ours + 1 :] == [__file__] * 3


def test_errors_in_stores_name_the_statement():
    def f(x):
        a = np.zeros(2)
        a[5] = x * x
        return a

    with pytest.raises(IndexError) as caught:
        wg.jvp(f, (1.0,), (1.0,))
    lines = [frame.line for frame in traceback.extract_tb(caught.tb) if frame.filename == __file__]
    assert lines[-1] == "a[5] = x * x"


def lines_run(f, *args):
    """The lines of this file that run, in order, as a debugger or a coverage tool sees them."""
    seen = []

    def local(frame, event, argument):
        if event == "line":
            seen.append((frame.f_code.co_name, frame.f_lineno))
        return local

    def trace(frame, event, argument):
        return local if frame.f_code.co_filename == __file__ and frame.f_code.co_name in NAMES else None

    old = sys.gettrace()
    sys.settrace(trace)
    try:
        f(*args)
    finally:
        sys.settrace(old)
    return seen


def stepping(x):
    a = np.zeros(3)
    for i in range(3):
        a[i] = stepping_inner(x, i)
        if i == 1:
            a[i] += 1.0
            continue
        a *= 2.0
    return np.sum(
        a
    )  # fmt: skip


def stepping_inner(x, i):
    if i == 0:
        return math.sin(x)
    return x * i


NAMES = {"stepping", "stepping_inner"}


def test_debuggers_and_coverage_see_the_users_lines():
    plain = lines_run(stepping, 0.5)
    assert len(plain) > 15
    assert lines_run(wg.grad(stepping), 0.5) == plain
    assert lines_run(lambda x: wg.jvp(stepping, (x,), (1.0,)), 0.5) == plain


def test_locals_in_a_debugger_are_the_users():
    seen = []

    def f(x):
        a = np.zeros(2)
        a[0] += x
        b = a[0] * 2.0
        seen.append(sorted(locals()))
        return b

    wg.grad(f)(1.0)
    assert [name for name in seen[0] if not name.startswith("_wengert")] == ["a", "b", "seen", "x"]


def test_frame_functions_work():
    def f(x):
        scale = 2.0
        assert "x" in locals()
        assert "instrument" in globals()
        assert set(vars()) >= {"x", "scale"}
        assert "scale" in dir()
        return eval("x * scale") * math.sin(x)

    check_program(f, 0.7)


# ----------------------------------------------------------------------------------------------------------------- cost


def test_a_function_is_compiled_once(monkeypatch):
    compiled = []
    original = instrumentation._compile_twin
    monkeypatch.setattr(
        instrumentation, "_compile_twin", lambda code, *rest: (compiled.append(code), original(code, *rest))[1]
    )

    def make(scale):
        def helper(x):
            return math.sin(x) * scale

        return helper

    def f(x):
        return make(2.0)(x) * make(3.0)(x)

    for _ in range(5):
        wg.grad(f)(0.5)
        wg.jvp(f, (0.5,), (1.0,))
    assert len(compiled) == len({id(code) for code in compiled})
    assert [code.co_name for code in compiled].count("f") == 1


def test_threads_instrument_a_function_together():
    from concurrent.futures import ThreadPoolExecutor

    def f(x):
        a = np.zeros(3)
        a[1] = math.sin(x)
        return a[1] * x

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(wg.grad(f), [0.7] * 32))
    np.testing.assert_allclose(found, np.sin(0.7) + 0.7 * np.cos(0.7))


def _noted(f):
    return f


@_noted
def chooses(x):
    return x * 2 if x[0] > 0 else x * 3


def _wrapped(f):
    @functools.wraps(f)
    def wrapper(x):
        return f(x) if x[1] > 0 else f(-x)

    return wrapper


def test_what_is_compiled_inside_a_differentiated_function_is_the_function_itself():
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(wg.grad(lambda z: np.sum(wg.jit(chooses)(z * 1.0)))(x), [2.0, 2.0])
    np.testing.assert_array_equal(wg.grad(lambda z: np.sum(wg.jit(_wrapped(chooses))(z * 1.0)))(-x), [-2.0, -2.0])
