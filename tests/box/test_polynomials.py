"""Polynomials of numpy.polynomial and np.poly1d with traced coefficients and at traced points."""

from __future__ import annotations

import numpy as np
import numpy.polynomial as npp
import pytest
from everywhere import check_everywhere
from numpy.polynomial import Chebyshev, Legendre, Polynomial
from numpy.polynomial import chebyshev as cheb
from numpy.polynomial import polynomial as poly

import wengert as wg

C = np.array([0.7, -1.3, 2.1])
P, Q = Polynomial([1.0, 2.0, 3.0]), np.poly1d([3.0, 2.0, 1.0])

PROGRAMS = {
    "constant times number": lambda c: (P * c[0])(1.5),
    "number times constant": lambda c: (c[0] * P + c[1] - (c[2] - P))(1.5),
    "divided by a number": lambda c: (P / c[0])(1.5),
    "times coefficients": lambda c: (P * c)(0.3) + (c + P)(0.3),
    "sum of a list": lambda c: sum([Polynomial(c), P])(2.0),
    "power": lambda c: (Polynomial(c) ** 3)(0.4),
    "sign": lambda c: (-Polynomial(c) + +P)(0.4),
    "composed": lambda c: Polynomial(c)(Polynomial(c[:2]))(0.5) + P(Polynomial(c))(0.3) + Chebyshev(c)(P)(0.2),
    "equal": lambda c: c[0] * (Polynomial(c) == Polynomial(1 * c)) + c[1] * (Polynomial(c) != P),
    "same coefficients": lambda c: c[0] * Polynomial(c).has_samecoef(Polynomial(1 * c)) * Polynomial(c).has_sametype(P),
    "class": lambda c: c[0] * isinstance(Polynomial(c), Polynomial) * len(Polynomial(c)),
    "items": lambda c: sum(x**2 for x in Polynomial(c)),
    "points": lambda c: Polynomial(c).linspace(4)[1],
    "from roots": lambda c: Polynomial.fromroots(c)(0.2) + Chebyshev.fromroots(c)(0.3),
    "converted": lambda c: Chebyshev.cast(Polynomial(c))(0.3) + Polynomial(c).convert(kind=Legendre)(0.1),
    "basis": lambda c: (Chebyshev.basis(3) * c[0] + Polynomial.identity().convert(kind=Chebyshev) * c[1])(0.4),
    "a bound of integration": lambda c: P.integ(2, k=[c[1]], lbnd=c[0])(0.3),
    "roots": lambda c: Polynomial([c[0], -5.0, c[2]]).roots(),
    "value from roots": lambda c: poly.polyvalfromroots(c, np.array([0.3, -1.0])) + poly.polyvalfromroots(c, 0.2),
    "roots of a value": lambda c: poly.polyvalfromroots(np.array([0.3, -1.0]), c),
    "companion": lambda c: cheb.chebcompanion(c) * 2,
    "multiplied by x": lambda c: poly.polymulx(c),
    "line": lambda c: poly.polyline(c[0], c[1]),
    "scaled variables": lambda c: poly.polyder(np.ones((3, 2)) * c[0], 2, c[1], axis=0) * c[2],
    "constants of several": lambda c: cheb.chebint(np.ones((3, 2)) * c[0], 2, [c[1], 1.0], lbnd=c[2], scl=c[0]),
    "poly1d times": lambda c: (Q * c[0] + c[1])(1.5),
    "times poly1d": lambda c: c[0] * np.poly1d([1.0, 2.0, 3.0]),
    "over poly1d": lambda c: (1 / np.poly1d(c[:1]))[0] + (np.poly1d(c) / Q)[0][0],
    "class of poly1d": lambda c: c[0] * isinstance(np.poly1d(c), np.poly1d) * (np.poly1d(c) != Q),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_polynomials_everywhere(name):
    check_everywhere(PROGRAMS[name], C, compiled=name not in ("equal", "same coefficients", "class of poly1d"))


REMAINDERS = {
    "quotient": lambda c: (P // Polynomial(c[:2])).coef,
    "remainder": lambda c: (Polynomial([1.0, c[0], 2.0, c[1]]) % Polynomial(c)).coef,
    "both": lambda c: divmod(Polynomial([1.0, c[0], 2.0, c[1]]), Polynomial(c))[0](0.3),
    "trimmed": lambda c: Polynomial([c[0], c[1], 1e-12]).trim(1e-9)(c[2]),
    "to the basis of Chebyshev": lambda c: (
        cheb.poly2cheb([c[0], c[1], 1.0, c[2]]) + cheb.cheb2poly([1.0, c[0], 2.0, 3.0])
    ),
}


@pytest.mark.parametrize("name", REMAINDERS)
def test_polynomials_whose_length_the_values_decide(name):
    check_everywhere(REMAINDERS[name], C, compiled=False)


@pytest.mark.parametrize("placed", [lambda f: f, wg.jit], ids=["eager", "compiled"])
def test_coefficients_that_are_zero_have_derivatives(placed):
    """NumPy leaves them out of products and powers, from where on they would be constants."""
    gradient = lambda f, x: placed(wg.grad(f))(x)
    assert gradient(lambda t: (P * t)(3.0), 0.0) == pytest.approx(P(3.0))
    assert gradient(lambda t: (Q * t)(3.0), 0.0) == pytest.approx(Q(3.0))
    assert gradient(lambda t: (t * P - P)(3.0), 1.0) == pytest.approx(P(3.0))
    assert gradient(lambda t: (Polynomial([1.0, t]) * P)(2.0), 0.0) == pytest.approx(2 * P(2.0))
    assert gradient(lambda t: (Polynomial([1.0, t]) ** 2)(2.0), 0.0) == pytest.approx(4.0)


def test_other_domains_and_kinds_do_not_mix():
    for other, error in ((Chebyshev([1.0]), "types differ"), (Polynomial([1.0], domain=[0, 1]), "Domains differ")):
        with pytest.raises(TypeError, match=error):
            wg.grad(lambda t, other=other: (Polynomial([t, 1.0]) + other)(1.0))(2.0)


def test_texts_of_polynomials(capsys):
    def f(t):
        print(Polynomial([t, 1.0]), repr(np.poly1d([t, 1.0])), str(np.poly1d([t, 1.0])), np.format_float_positional(t))
        return t

    f(2.5)
    expected = capsys.readouterr().out
    wg.grad(f)(2.5)
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize("cls", [npp.Polynomial, npp.Hermite])
def test_a_plain_polynomial_is_numpys(cls):
    p = cls([1.0, 0.0, 0.0])
    assert wg.grad(lambda t: t * len(p + p))(1.0) == len(p + p) == 1
