"""Series of every op of the table, at low order: what nested forward mode gives for t ↦ op(x(t)) must come out."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from op_calls import CALLS, floats

import wengert as wg
from wengert.modes.series import expand
from wengert.ops.derive import Control
from wengert.ops.op import TABLE, call
from wengert.types import dtype_of

ORDER = 3


def curve_of(name, c):
    """The op as a function of a list of operands, and curves for the operands that are differentiated."""
    places = floats(c)
    rng = np.random.default_rng(20)
    curves = [[np.asarray(c.args[k])[()], *[rng.normal(size=np.shape(c.args[k])) * 0.3**i for i in range(1, 4)]]
              for k in places]  # fmt: skip

    def function(*xs):
        args = list(c.args)
        for k, x in zip(places, xs, strict=True):
            args[k] = c.before(x) if c.before else x
        y = call(TABLE[name], *args, **c.params)
        parts = y if isinstance(y, tuple) else (y,)
        return [c.after(part) if c.after else part for part in parts if dtype_of(part).kind in "fc"]

    return function, curves


def nested(function, curves, order):
    """Derivatives 0 … order at t = 0, by forward mode in forward mode."""

    def along(t):
        return function(*[sum((c * t**i for i, c in enumerate(curve) if i), curve[0]) for curve in curves])

    found, f = [along(0.0)], along
    for _ in range(order):
        f = (lambda g: lambda t: wg.jvp(g, (t,), (1.0,))[1])(f)
        found.append(f(0.0))
    return found


@pytest.mark.parametrize(("name", "c"), [p for p in CALLS if not isinstance(TABLE[p.values[0]], Control)])
def test_agreement_with_nested_forward_mode(name, c):
    function, curves = curve_of(name, c)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if not curves or not function(*[curve[0] for curve in curves]):
            return  # nothing that varies, or a result of integers
        try:
            want = nested(function, curves, ORDER)
        except Exception as error:
            with pytest.raises(type(error)):
                expand(function, curves, ORDER)
            return
        got = expand(function, curves, ORDER)
    for place, (value, rest) in enumerate(got):
        for k, coefficient in enumerate([value, *rest]):
            expected = np.asarray(want[k][place]) / math.factorial(k)
            coefficient = np.zeros(expected.shape) if coefficient is None else coefficient
            assert np.shape(coefficient) == expected.shape
            assert np.asarray(coefficient).dtype == np.asarray(value).dtype
            scale = np.max(np.abs(expected[np.isfinite(expected)]), initial=1e-3)
            np.testing.assert_allclose(coefficient, expected, rtol=1e-7, atol=1e-9 * scale, err_msg=f"order {k}")
