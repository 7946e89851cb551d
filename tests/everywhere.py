"""One program in every mode, eagerly and compiled, against plain NumPy and differences of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg


def check_everywhere(f: Callable, x: Any, rtol: float = 1e-6, vmap: bool = True, compiled: bool = True) -> None:
    """`f` takes one float64 array or number and returns one array or number."""
    x = np.array(x, dtype=float) if np.ndim(x) else float(x)

    def on_a_copy(x: Any) -> Any:
        return np.asarray(f(np.copy(x) if np.ndim(x) else x))

    plain = on_a_copy(x)
    expected = np.asarray(wg.numerical.jacobian(on_a_copy, method="richardson")(x))
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))

    def value(y: Any, what: str) -> None:
        assert np.shape(y) == plain.shape, f"{what}: shape {np.shape(y)}, not {plain.shape}"
        np.testing.assert_allclose(y, plain, rtol=1e-11, atol=1e-11, err_msg=what)

    def derivative(j: Any, what: str) -> None:
        np.testing.assert_allclose(j, expected, rtol=rtol, atol=rtol * scale, err_msg=what)

    value(wg.jvp(f, (x,), (np.ones_like(x)[()],))[0], "value in forward mode")
    value(wg.vjp(f, x)[0], "value in reverse mode")
    derivative(wg.jacfwd(f)(x), "jacfwd(f)")
    derivative(wg.jacrev(f)(x), "jacrev(f)")
    if compiled:
        value(wg.jit(f)(np.copy(x) if np.ndim(x) else x), "jit(f)")
        derivative(wg.jit(wg.jacrev(f))(x), "jit(jacrev(f))")
        derivative(wg.jacfwd(wg.jit(f))(x), "jacfwd(jit(f))")
    if vmap:
        xs = np.stack([x, x * 1.01])
        both = np.stack([plain, on_a_copy(xs[1])])
        np.testing.assert_allclose(wg.vmap(f)(xs), both, rtol=1e-11, atol=1e-11, err_msg="vmap(f)")
