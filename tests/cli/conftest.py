"""A module to run commands on, and a way to run them in this process."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from wengert.cli.main import main

MODEL = '''"""Functions of many kinds."""

import numpy as np


def energy(x, scale=2.0):
    return np.sum(np.log(1 + x**2)) * scale


def f(x1: float, x2: float) -> float:
    a, b, c = np.log(x1), x1 * x2, np.sin(x2)
    return a + b - c


def affine(p, x):
    return np.sum(p["w"] * x) + p["b"]


def both(x: np.ndarray):
    return {"sine": np.sin(x), "first": x[0]}


def filled(x: "np.ndarray"):
    out = np.zeros(3)
    for i in range(3):
        out[i] = x[i] ** 2
    return out


def word():
    return "abc"


def picky(x: float):
    raise ValueError("never pleased")


def untyped(q):
    return q * 2


def keyword(x: float, *, power=3):
    out = np.zeros(1)
    out[0] = x**power
    return out[0]


def many(*xs):
    return xs[0] * xs[1] ** 2


def _private(x: float):
    raise AssertionError


number = 3
'''

WRONG = """import wengert as wg


@wg.custom_jvp
def twice(x: float):
    return 2 * x


@twice.defjvp
def _rule(primals, tangents):
    return twice(primals[0]), 3 * tangents[0]


def thrice(x: float):
    return 3 * x
"""


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `model.py` and `wrong.py`, which is where the commands run."""
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Run a command line in this process."""
    monkeypatch.setattr("warnings.showwarning", lambda *a, **k: None)

    def running(*arguments: str) -> Result:
        for name in ("model", "_target_model", "wrong", "_target_wrong"):
            sys.modules.pop(name, None)
        code = main(arguments)
        return Result(code, *capsys.readouterr())

    return running
