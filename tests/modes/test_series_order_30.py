"""Taylor coefficients to order 30 of every elementwise op, against arithmetic with 50 digits and more.

An error counts in units of the envelope of the coefficients (the smallest log-concave sequence above them): where a
coefficient is small by cancellation, or zero, nobody can have it to full relative accuracy.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from series_references import FILE, ORDER, OTHERS, SEVERAL, UNARY, cases

import wengert as wg
from wengert.ops.derive import Elementwise
from wengert.ops.op import TABLE, call

KNOWN = json.loads(FILE.read_text())
USUAL = 1e-10
LESS = {
    # Recurrences that divide by x, or have a nearer singularity, of functions whose coefficients decay quickly: what is
    # lost grows with the order.
    "rgamma": 13, "gamma_density": 10, "beta_density": 12, "poch": 11, "binom": 21, "betainc": 22, "betaincc": 22,
    "ellipk": 27, "ellipe": 23, "mills": 29,
}  # fmt: skip
"""To which order the tolerance holds, where it does not to order 30."""


def test_every_op_has_a_reference():
    names = {name for name, op in TABLE.items() if isinstance(op, Elementwise)}
    assert names == {*UNARY, *SEVERAL, *OTHERS}


def envelope(c):
    """Logarithms of the least log-concave sequence that is nowhere smaller than |c|."""
    points = [(k, math.log(abs(x))) for k, x in enumerate(c) if abs(x) > 1e-290 and math.isfinite(x)]
    hull: list = []
    for p in points:
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (p[0] - hull[-2][0]) <= (p[1] - hull[-2][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append(p)
    if not hull:
        return np.full(len(c), -700.0)
    return np.interp(np.arange(len(c)), [k for k, _ in hull], [v for _, v in hull])


@pytest.mark.parametrize("name", sorted({name for name, *_ in cases()}))
def test_order_30(name):
    for _, _, args, place, options, key in [c for c in cases() if c[0] == name]:

        def op(x, args=args, place=place, options=options):
            return call(TABLE[name], *args[:place], x, *args[place + 1 :], **options.get("params", {}))

        with np.errstate(all="ignore"):
            got = wg.taylor(op, float(args[place]), options.get("order", ORDER))
        want = KNOWN[key]
        scale = envelope(want)
        for k, (a, b) in enumerate(zip(got, want, strict=True)):
            if not math.isfinite(b):
                assert not math.isfinite(a), key
            elif scale[k] > -680 and k <= LESS.get(name, ORDER):  # else too small to be a number
                error = abs(float(np.real(a)) - b) / math.exp(scale[k])
                assert error < USUAL, f"{key}, order {k}: {a}, not {b}"
