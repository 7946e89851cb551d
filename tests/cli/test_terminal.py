"""Colours and progress are for terminals; pipes get plain text."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wengert.cli.terminal import Terminal

ROOT = Path(__file__).parent.parent.parent


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def plain_environment(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def written(out: io.StringIO) -> str:
    terminal = Terminal(out, out)
    terminal.say(terminal.paint("hello", "bold"))
    terminal.complain("wrong", "right")
    with terminal.progress(2) as bar:
        bar.step("working")
    return out.getvalue()


def test_a_screen_has_colours_and_progress(plain_environment):
    text = written(Screen())
    assert "\x1b[1mhello" in text
    assert "working" in text


def test_a_pipe_has_neither(plain_environment):
    assert written(io.StringIO()) == "hello\nerror: wrong\n  remedy: right\n"


@pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_can_be_refused(plain_environment, monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    assert "\x1b[1m" not in written(Screen())


def test_a_dumb_terminal_gets_no_escape_sequence(plain_environment, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in written(Screen())


def execute(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **environment}
    command = [sys.executable, "-m", "wengert", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=env, timeout=120, encoding="utf-8")


@pytest.mark.slow
def test_as_a_process(folder):
    found = execute(folder, "grad", "model.py:energy", "--at", "[1.0, 2.0]")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.splitlines()[1] == "∂energy/∂x = [2.  1.6]"
    assert execute(folder, "check", "wrong.py").returncode == 1
    assert execute(folder, "grad", "missing.py:f").returncode == 2


@pytest.mark.slow
def test_a_terminal_without_unicode(folder):
    found = execute(folder, "grad", "model.py:energy", "--at", "[1.0, 2.0]", PYTHONIOENCODING="ascii")
    assert found.returncode == 0
    assert "?energy/?x = [2.  1.6]" in found.stdout
