"""Mistakes are named with their remedy, without a traceback, and with the exit code that says whose they are."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "problem", "remedy"),
    [
        (["grad", "nodel.py:f"], "there is no file nodel.py", "did you mean model.py?"),
        (["grad", "model.py:energi", "--at", "1.0"], "has no energi", "did you mean model.py:energy?"),
        (["grad", "model.py"], "which function of model.py?", "write model.py:name"),
        (["grad", "model.py:number"], "is of class int, and not a function", "name a function"),
        (["grad", "."], "there is no file .", "path of a Python file"),
        (["source", "model.py:energy", "--at", "1.0", "--output", "nodir/a.py"], "cannot be written", "--output"),
        (["grad", "model.py:energy"], "energy needs x", "--at x="),
        (["grad", "model.py:energy", "--at", "2"], "no floating-point number", "--at 2.0 instead of --at 2"),
        (["grad", "model.py:energy", "--at", "[1.0,"], "is no Python expression", "write for instance"),
        (["grad", "model.py:energy", "--at", "y=1.0"], "energy has no argument y", "energy(x, scale=2.0)"),
        (["grad", "model.py:energy", "--at", "1.0", "--wrt", "z"], "has no argument z", "choose of x, scale"),
        (["grad", "model.py:f", "--at", "1.", "--at", "2.", "--at", "3."], "too many positional", "f(x1: float"),
        (["grad", "model.py:f", "--arg", "none.npz"], "there is no file none.npz", ".npz"),
        (["grad", "model.py:f", "--arg", "model.py"], "holds no arrays", "np.savez"),
        (["grad", "model.py:f", "[1.0, 2]"], "stands behind the function", "--at '[1.0, 2]'"),
        (["trace", "model.py:f", "--at", "1.", "--at", "2.", "--tangent", "1."], "2 inputs", "once for each input"),
        (["check", "model.py", "--modes", "sideways"], "--modes sideways", "forward, reverse"),
        (["check", "model.py", "--at", "1.0"], "several functions", "--at name=value"),
        (["grad", "no_such_module:f"], "there is no module", "path of a file"),
        (["grad", "model:f", "--at", "2"], "f needs x2", "--at x2="),
    ],
)
def test_usage(run, arguments, problem, remedy):
    found = run(*arguments)
    assert found.code == 2
    assert problem in found.err
    assert "remedy: " in found.err
    assert remedy in found.err
    assert "Traceback" not in found.err
    assert not found.out


@pytest.mark.parametrize("arguments", [[], ["sing"], ["grad"], ["grad", "model.py:f", "--mode", "backwards"]])
def test_argparse_s_own_errors_are_usage_too(run, arguments):
    found = run(*arguments)
    assert found.code == 2
    assert "usage: wengert" in found.err


def test_a_function_that_raises(run):
    found = run("grad", "model.py:picky", "--at", "1.0")
    assert found.code == 1
    assert "ValueError: never pleased" in found.err
    assert "model.py:35" in found.err
    assert "Traceback" not in found.err


def test_debug_shows_the_traceback(run):
    found = run("grad", "model.py:picky", "--at", "1.0", "--debug")
    assert found.code == 1
    assert "Traceback" in found.err


@pytest.mark.parametrize(
    ("source", "problem"), [("1 +\n", "SyntaxError"), ("import nothing_like_it\n", "ModuleNotFoundError")]
)
def test_a_file_that_cannot_be_loaded(run, folder, source, problem):
    (folder / "broken.py").write_text(source, encoding="utf-8")
    found = run("grad", "broken.py:f", "--at", "1.0")
    assert found.code == 1
    assert "broken.py cannot be loaded" in found.err
    assert problem in found.err
    assert "broken.py:1" in found.err


def test_an_error_of_the_library_names_its_own_remedy(run, folder):
    (folder / "ints.py").write_text("def f(x):\n    return len(range(x)) * 2.0\n", encoding="utf-8")
    found = run("grad", "ints.py:f", "--at", "1.5")
    assert found.code == 1
    assert "remedy:" in found.err
    assert "ints.py:2" in found.err
