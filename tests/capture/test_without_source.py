"""Functions whose source is not in a file: given to `python -c` or on standard input, typed at a prompt, made by
`exec`, compiled without source, or of a file that has changed.
"""

import ast
import contextlib
import doctest
import importlib.util
import io
import linecache
import math
import os
import py_compile
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from harness import slope_by_differences
from test_readme import MARK, OPTIONAL, agree, blocks

import wengert as wg
from wengert.errors import InPlaceError, WengertError

ROOT = Path(__file__).parents[2]

PROGRAM = """
import math
import os
import numpy as np, wengert as wg
def helper(x):
    return math.exp(x)
def f(k):
    u = np.zeros(3)
    u[0] = k
    for i in range(2):
        u[i + 1] = math.sin(u[i]) + helper(k)
    return u @ u + sum(math.tanh(t) for t in u) + np.array([k, 2.0])[0]

"""
SCOPE: dict = {}
exec(compile(PROGRAM, str(Path(__file__).parent / "nowhere.py"), "exec"), SCOPE)


EXPECTED = slope_by_differences(SCOPE["f"], 0.3)


def python(*arguments, text="", file=None):
    with open(file) if file is not None else contextlib.nullcontext() as stdin:
        given = {"stdin": stdin} if file is not None else {"input": text}
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, timeout=100, cwd=ROOT, **given
        )
    return done.stdout, done.stderr


SHOWN = 'print("answer", wg.grad(f)(0.3), wg.jit(wg.grad(f))(0.3))\n'


def check_answer(out, err):
    answers = [float(word) for line in out.splitlines() if "answer" in line for word in line.split()[-2:]]
    assert len(answers) == 2, out + err
    np.testing.assert_allclose(answers, EXPECTED, rtol=1e-8)


def test_on_the_command_line():
    check_answer(*python("-c", PROGRAM + SHOWN))


def test_on_standard_input():
    check_answer(*python("-", text=PROGRAM + SHOWN))


def test_a_file_as_standard_input(tmp_path):
    loop = "\n\ndef g(x):\n    y = np.ones(2).copy()\n    if x > 0:\n        y[0] = x\n    return y.sum()\n"
    path = tmp_path / "program"
    path.write_text(PROGRAM + loop + SHOWN + 'print("compiled", wg.jit(wg.grad(g))(0.3))\n')
    out, err = python("-", file=path)
    check_answer(out, err)
    assert "compiled 1.0" in out, err


def test_typed_at_the_prompt():
    check_answer(*python("-i", "-q", text=PROGRAM.replace("\ndef", "\n\ndef") + SHOWN))


def test_exec():
    np.testing.assert_allclose(wg.grad(SCOPE["f"])(0.3), EXPECTED, rtol=1e-8)
    np.testing.assert_allclose(wg.jit(wg.grad(SCOPE["f"]))(0.3), EXPECTED, rtol=1e-8)
    np.testing.assert_allclose(wg.jvp(SCOPE["f"], (0.3,), (1.0,))[1], EXPECTED, rtol=1e-8)


def test_globals_are_looked_up_when_they_are_used():
    scope = {"np": np, "a": 2.0}
    exec("def f(x):\n    return np.sum(a * x) + g(x)\ndef g(x):\n    return x", scope)
    assert wg.grad(scope["f"])(1.0) == 3.0
    scope["a"] = 5.0
    exec("def g(x):\n    return 10 * x", scope)
    assert wg.grad(scope["f"])(1.0) == 15.0
    assert wg.jit(wg.grad(scope["f"]))(1.0) == 15.0
    with pytest.raises(NameError, match="missing"):
        exec("def h(x):\n    return np.sum(missing)", scope)
        wg.grad(scope["h"])(1.0)


def test_free_variables_and_functions_inside():
    scope = {"math": math, "np": np}
    exec(
        "def outer():\n    def helper(x):\n        return math.exp(x)\n    def f(x):\n"
        "        inner = lambda t: helper(t) * math.sin(t)\n        return inner(x)\n    return f",
        scope,
    )
    np.testing.assert_allclose(wg.grad(scope["outer"]())(0.5), math.exp(0.5) * (math.sin(0.5) + math.cos(0.5)))


def test_functions_that_bind_globals_keep_theirs():
    scope = {"np": np}
    exec("n = 0\ndef f(x):\n    global n\n    n = n + 1\n    return np.sin(x)", scope)
    assert wg.grad(scope["f"])(0.0) == 1.0
    assert scope["n"] == 1


def test_what_cannot_be_followed_says_so():
    scope = {"np": np, "START": np.ones(3)}
    exec("def fill(k):\n    y = START.copy()\n    y[0] = k\n    return y.sum()", scope)
    for g in (wg.grad(scope["fill"]), wg.jacfwd(scope["fill"]), lambda k: wg.vjp(scope["fill"], k)):
        with pytest.raises(InPlaceError, match=r"(?s)fill.*source.*cannot be had.*remedy.*file.*<string>:3"):
            g(1.0)


def test_control_flow_that_cannot_be_staged_says_why():
    scope = {"np": np}
    exec("def loop(x, n):\n    for _ in range(int(n)):\n        x = np.sin(x)\n    return x", scope)
    with pytest.raises(WengertError) as caught:
        wg.jit(scope["loop"])(1.0, 3.0)
    assert "source of loop cannot be had" in "".join(caught.value.__notes__)


def test_compiled_files_without_source(tmp_path):
    source = tmp_path / "without_source_module.py"
    source.write_text(PROGRAM)
    py_compile.compile(str(source), cfile=str(tmp_path / "without_source_module.pyc"), dfile="gone.py")
    source.unlink()
    spec = importlib.util.spec_from_file_location("without_source_module", tmp_path / "without_source_module.pyc")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    np.testing.assert_allclose(wg.grad(module.f)(0.3), EXPECTED, rtol=1e-8)


def test_a_file_that_has_changed(tmp_path):
    path = tmp_path / "changing_module.py"
    text = "import numpy as np\ndef f(x):\n    y = np.zeros(2)\n    y[0] = x * 3\n    return y.sum()\n"
    path.write_text(text)
    scope: dict = {}
    exec(compile(text, str(path), "exec"), scope)
    path.write_text(text.replace("x * 3", "x + 3"))
    linecache.checkcache(str(path))
    assert wg.grad(scope["f"])(2.0) == 3.0
    path.write_text(text)
    linecache.checkcache(str(path))
    again: dict = {}
    exec(compile(text, str(path), "exec"), again)
    assert wg.jit(wg.grad(again["f"]))(2.0) == 3.0


def test_doctests():
    text = """
    >>> import math, numpy as np, wengert as wg
    >>> def f(x):
    ...     y = np.ones(2).copy()
    ...     y[0] = math.exp(x)
    ...     return y.sum()
    >>> float(wg.grad(f)(0.0))
    1.0
    """
    test = doctest.DocTestParser().get_doctest(text, {}, "example", "example", 0)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_cells_whose_time_is_taken(monkeypatch):
    """IPython keeps their text, but `linecache` does not know it."""
    cell = PROGRAM + "def g(x):\n    y = np.ones(2).copy()\n    if x > 0:\n        y[0] = x\n    return y.sum()\n"
    history = types.SimpleNamespace(input_hist_raw=["", f"%%time\n{cell}", "%%time\nf(1.0)"])
    shell = types.SimpleNamespace(history_manager=history)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    scope: dict = {}
    exec(compile(cell, "<timed exec>", "exec"), scope)
    np.testing.assert_allclose(wg.grad(scope["f"])(0.3), EXPECTED, rtol=1e-8)
    assert wg.grad(scope["g"])(0.3) == wg.jit(wg.grad(scope["g"]))(0.3) == 1.0


NEED_SOURCE = {
    'message[1].split(": ")[1]  # → "return np.sqrt(np.sum(x**2))"',  # the line that an error shows
    "costs.lines[0].text",
    "remedy",  # of a write into integers
    "np.isclose(logistic(0.3, n=20), plain(0.3, n=20))  # → True",  # a loop on a symbol
}
PAGES = ["README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs" / "tutorial").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_examples_can_be_typed_at_a_prompt(page):
    """Statement by statement, without source. What needs it says so, and is known."""
    names: dict = {"__name__": "__main__"}
    refused = []
    for _, block in blocks((ROOT / page).read_text(encoding="utf-8")):
        if any(mark in block and importlib.util.find_spec(name) is None for mark, name in OPTIONAL.items()):
            continue
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            first = min([statement.lineno, *[d.lineno for d in getattr(statement, "decorator_list", [])]])
            text = "\n".join(lines[first - 1 : statement.end_lineno])
            if any(text.startswith(part) for part in NEED_SOURCE):
                continue
            _, mark, expected = lines[statement.end_lineno - 1].partition(MARK)
            try:
                if mark:
                    value = eval(compile(text.partition(MARK)[0], "<stdin>", "eval"), names)
                    agree(value, eval(expected, {"Point": names.get("Point")}))
                else:
                    with contextlib.redirect_stdout(io.StringIO()):
                        exec(compile(text + "\n", "<stdin>", "single"), names)
            except WengertError as error:
                refused.append((text, str(error)))
    assert len(refused) <= 1, refused


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a terminal")
def test_functions_that_were_typed_at_a_terminal_are_found_in_its_history():
    """Decisions by data need the source, which is in the history of readline (Python 3.13 keeps it elsewhere)."""
    typed = """
import wengert as wg
def f(x):
    return x
oops oops
def f(x):
    while x < 9:
        x = x * 2
    if x > 10:
        return x * x
    return x

print("found", wg.jit(f)(3.0), wg.grad(wg.jit(f))(3.0), wg.jit(lambda x: -x if x > 0 else x)(2.0))
exit()
"""
    master, slave = os.openpty()
    environment = {**os.environ, "TERM": "dumb", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-i", "-q"], stdin=slave, stdout=slave, stderr=slave, env=environment):
        os.close(slave)
        os.write(master, typed.encode())
        shown = b""
        with contextlib.suppress(OSError):  # where the other end is closed
            while more := os.read(master, 4096):
                shown += more
    os.close(master)
    assert b"found 144.0 96.0 -2.0" in shown, shown.decode()
