"""Hypergeometric functions in their parameters, and what is made of them."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sc
from harness import check

import wengert as wg
from wengert.errors import UnsupportedFunctionError
from wengert.ops.op import TABLE

POINTS = {
    "hyp0f1": (mp.hyp0f1, [(0.1, 2.0), (1.0, -9.0), (2.5, 30.0), (-0.5, 1.0), (6.0, -80.0), (2.0, 0.0)]),
    "hyp1f1": (
        mp.hyp1f1,
        [(0.7, 2.3, 1.4), (-2.0, 0.3, 5.0), (1.0, 1.0, -3.0), (4.0, 6.5, 30.0), (0.5, 1.5, -25.0), (2.5, -0.4, 2.0),
         (0.0, 1.5, 2.0), (3.0, 2.0, 0.0)],
    ),
    "hyp2f1": (
        mp.hyp2f1,
        [(0.7, 1.2, 2.3, 0.4), (1.0, 1.0, 2.0, -0.9), (-3.0, 2.0, 0.4, 0.7), (0.5, 0.5, 1.0, 0.95),
         (1.5, 2.0, 4.0, -40.0), (0.5, 1.0, 3.0, 1.0), (0.3, 2.1, 1.2, -1e3), (2.0, 0.0, 1.5, 0.3),
         (1.0, 2.0, -0.5, 0.2)],
    ),
    "hyperu": (
        mp.hyperu,
        [(0.7, 2.3, 1.4), (-1.5, 0.3, 5.0), (1.0, 1.0, 0.05), (4.0, 6.5, 30.0), (0.0, 1.5, 2.0), (-3.0, -2.0, 1.0),
         (5.0, -4.0, 100.0), (2.0, 2.0, 1e-3), (-6.5, 3.0, 8.0)],
    ),
    "eval_legendre": (mp.legendre, [(2.0, 0.3), (0.7, -0.6), (3.0, 0.99), (5.5, 0.2), (1.0, 1.5), (0.0, 0.4)]),
    "eval_chebyt": (mp.chebyt, [(2.0, 0.3), (0.7, -0.6), (3.0, 0.99), (5.5, 0.2), (1.3, 1.5)]),
    "eval_chebyu": (mp.chebyu, [(2.0, 0.3), (0.7, -0.6), (3.0, 0.99), (5.5, 0.2)]),
    "eval_jacobi": (mp.jacobi, [(2.0, 0.3, 1.2, 0.5), (0.7, 2.0, -0.3, -0.4), (3.0, 0.5, 0.5, 0.2)]),
    "eval_gegenbauer": (mp.gegenbauer, [(2.0, 0.3, 0.5), (0.7, 2.0, -0.4), (3.0, 0.5, 0.2)]),
    "eval_genlaguerre": (mp.laguerre, [(2.0, 0.3, 0.5), (0.7, 2.0, -0.4), (3.0, 0.5, 5.2)]),
    "eval_laguerre": (lambda n, x: mp.laguerre(n, 0, x), [(2.0, 0.5), (0.7, -0.4), (3.0, 5.2)]),
}  # fmt: skip


@pytest.mark.parametrize("name", POINTS)
def test_every_parameter(name):
    exact, points = POINTS[name]
    function = getattr(sc, name)
    for point in points:
        gradient = wg.grad(lambda *args: function(*args), tuple(range(len(point) - 1)))(*point)
        y = abs(function(*point))
        for k, got in enumerate(gradient):
            with mp.workdps(30):
                expected = float(
                    mp.diff(
                        lambda t: exact(*[t if j == k else mp.mpf(p) for j, p in enumerate(point)]),  # noqa: B023
                        mp.mpf(point[k]),
                    )
                )
            assert abs(got - expected) <= 3e-12 * max(abs(expected), y), (point, k, got, expected)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda b, z: sc.hyp0f1(b, z), (np.array([0.6, 2.0]), np.array([-3.0, 1.0]))),
        (lambda a, b, z: sc.hyp1f1(a, b, z), (np.array([0.4, -1.2]), np.array([0.6, 2.0]), np.array([-3.0, 1.0]))),
        (lambda a, b, c, z: sc.hyp2f1(a, b, c, z), (0.4, np.array([0.6, 2.0]), 1.3, np.array([-0.7, 0.4]))),
        (lambda n, x: sc.eval_legendre(n, x), (np.array([0.6, 2.0]), np.array([-0.3, 0.4]))),
        (lambda n, a, x: sc.eval_gegenbauer(n, a, x), (1.6, 0.8, np.array([-0.3, 0.4]))),
    ],
)
def test_all_modes(f, args):
    check(f, *args, rtol=1e-6)


@pytest.mark.slow
def test_all_modes_of_u():
    """SciPy's values are accurate to 1e-9 or so only: no single reference is, but the modes agree."""
    check(lambda a, b: sc.hyperu(a, b, 1.7), np.array([0.6, 2.0]), np.array([0.3, 1.4]), rtol=1e-5)


def test_exponential_and_binomial_in_closed_form():
    """₁F₁(a; a; z) = eᶻ along a = b; ₂F₁(a, b; b; z) = (1 − z)^−a for every b."""
    z = np.array([-4.0, 0.3, 9.0])
    slope = wg.jvp(lambda a: sc.hyp1f1(a, a, z), (1.3,), (1.0,))[1]
    assert np.all(np.abs(slope) < 1e-12 * np.exp(np.abs(z)))
    z = np.array([-4.0, 0.3, 0.9])
    by_a, by_b = (wg.jvp(lambda a, b: sc.hyp2f1(a, b, b, z), (1.3, 2.1), v)[1] for v in ((1.0, 0.0), (0.0, 1.0)))
    np.testing.assert_allclose(by_a, -np.log1p(-z) * (1 - z) ** -1.3, rtol=1e-12)
    assert np.all(np.abs(by_b) < 1e-11 * (1 - z) ** -1.3)


def test_outside_the_domain():
    assert np.isnan(wg.grad(lambda a: sc.hyp2f1(a, 1.0, 2.0, 1.5))(1.0))
    assert np.isnan(wg.grad(lambda b: sc.hyp1f1(1.0, b, 2.0))(-1.0))  # a pole
    for name in ("eval_hermite", "eval_hermitenorm"):
        with pytest.raises(UnsupportedFunctionError, match="integer"):
            TABLE[name].partials[0](None, 2, 0.3)
    with pytest.raises(UnsupportedFunctionError, match="complex"):
        wg.grad(lambda a: np.real(sc.hyp1f1(a, 1.0, 1j)))(0.5)
