"""Problems with a known answer, solved in many ways: what the tests of this folder have in common."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as wg

DATA = Path(__file__).parents[2] / "shared" / "testdata" / "implicit" / "implicit.json"


def reference(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Parameters, solution, Jacobian and Hessians to more digits than float64 has."""
    if not DATA.exists():
        pytest.skip("the reference answers of implicit problems are not here")
    found = json.loads(DATA.read_text())[name]
    return tuple(np.array(found[k], float) for k in ("parameters", "solution", "jacobian", "hessians"))  # type: ignore[return-value]


def check(name: str, solve: Callable[[Any], Any], rtol: float = 1e-9, compiled: bool = True) -> None:
    """Values, Jacobians in both modes and Hessians, eager and compiled, against the reference."""
    p, y, jacobian, hessians = reference(name)
    f = lambda p: np.ravel(solve(p))
    close = lambda found, wanted: np.testing.assert_allclose(
        found, wanted, rtol=rtol, atol=rtol * np.max(np.abs(wanted)) + 1e-14
    )
    np.testing.assert_allclose(f(p), y, rtol=1e-6, atol=1e-6)
    for placement in (lambda f: f, wg.jit) if compiled else (lambda f: f,):
        close(placement(wg.jacfwd(f))(p), jacobian)
        close(placement(wg.jacrev(f))(p), jacobian)
        close(placement(wg.jacfwd(wg.jacrev(f)))(p), hessians)
    if compiled:
        close(wg.jacrev(wg.jit(f))(p), jacobian)
    batch = np.stack([p, p])
    close(wg.vmap(wg.jacrev(f))(batch)[1], jacobian)
