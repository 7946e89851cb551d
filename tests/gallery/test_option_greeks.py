"""Greeks against their closed forms (Hull, Options, Futures, and Other Derivatives) and against differences."""

import numpy as np
from scipy.stats import norm

from examples.gallery.option_greeks import option_greeks as program


def test_closed_forms():
    found = program.main(small=True)
    (s, v, r, t), k = program.MARKET, program.STRIKE
    d1 = (np.log(s / k) + (r + v**2 / 2) * t) / (v * np.sqrt(t))
    d2 = d1 - v * np.sqrt(t)
    forms = dict(delta=norm.cdf(d1), gamma=norm.pdf(d1) / (s * v * np.sqrt(t)), vega=s * norm.pdf(d1) * np.sqrt(t),
                 theta=-s * norm.pdf(d1) * v / (2 * np.sqrt(t)) - r * k * np.exp(-r * t) * norm.cdf(d2),
                 rho=k * t * np.exp(-r * t) * norm.cdf(d2), vanna=-norm.pdf(d1) * d2 / v)  # fmt: skip
    for name, value in forms.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-10, err_msg=name)


def test_simulated():
    found = program.main(small=True)
    normals = np.random.default_rng(0).normal(size=(2_000, 50))
    for k in range(4):
        h = 1e-6 * np.eye(4)[k] * program.MARKET
        up, down = (program.asian_price(program.MARKET + s * h, normals) for s in (1, -1))
        np.testing.assert_allclose(found["asian_greeks"][k], (up - down) / (2 * h[k]), rtol=1e-5)
