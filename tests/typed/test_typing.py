"""Users' programs pass `mypy --strict` and pyright, which find the types that are there, and their mistakes."""

import importlib.util
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
USER, WRONG = HERE / "user_code.py", HERE / "wrong_code.py"


def lines_with_errors(command, path, pattern):
    ran = subprocess.run([*command, str(path)], capture_output=True, text=True, cwd=HERE.parent.parent, check=False)
    found = {int(line) for line in re.findall(pattern, ran.stdout)}
    return found, ran.stdout + ran.stderr


def wrong_lines():
    return {k for k, line in enumerate(WRONG.read_text().splitlines(), 1) if line.endswith("# wrong")}


def checked(command, pattern):
    found, said = lines_with_errors(command, USER, pattern.format("user_code"))
    assert not found, said
    found, said = lines_with_errors(command, WRONG, pattern.format("wrong_code"))
    assert found == wrong_lines(), said


@pytest.mark.slow
def test_mypy(tmp_path_factory):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    cache = tmp_path_factory.getbasetemp() / "mypy"
    options = ["--strict", "--follow-imports=silent", "--config-file=", f"--cache-dir={cache}"]
    checked([sys.executable, "-m", "mypy", *options], r"{}\.py:(\d+): error")


@pytest.mark.slow
def test_pyright():
    found = shutil.which("pyright") or shutil.which("basedpyright")
    if found is None:
        pytest.skip("pyright is not installed: pip install basedpyright")
    checked([found, "--pythonpath", sys.executable], r"{}\.py:(\d+):\d+ - error")


def test_it_runs():
    runpy.run_path(str(USER))
