"""Scalar code of every elementwise op, against the op itself: examples, awkward numbers, all kinds of dtypes.

The examples are those of the walk over the table (`ops/test_table.py`), so a new op is covered when it has one there.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from kernels import Kernel, expected, natively, scalar_kernel
from ops.test_table import EXAMPLES

from wengert.backend.llvm import scalars
from wengert.backend.llvm.arrays.buffer import load_element, store_element
from wengert.backend.llvm.machine import natives
from wengert.ops.op import TABLE

NAMES = sorted(name for name in TABLE if TABLE[name].elementwise)
F64, F32, C128, C64 = (np.dtype(t) for t in "dfDF")
BOOL, INT = np.dtype(bool), np.dtype(np.int64)

CALLBACKS = {
    "student_cdf": "its derivatives are quadratures over intervals that depend on all elements",
    "elliptic": "its derivatives are sums of hundreds of terms",
    **dict.fromkeys(("dawsn", "ive", "kve"), "their higher derivatives are sums over circles"),
}
"""Ops that have no scalar code for some of their examples, and why. Derivatives in a parameter (…_by_…) need none."""


def close(found: np.ndarray, wanted: np.ndarray, ulps: float) -> Any:
    """Where numbers agree: NaN with NaN, infinities exactly, zeros of the same sign, the rest to some last places."""
    with np.errstate(all="ignore"):
        if wanted.dtype.kind == "c":
            size = np.maximum(abs(wanted.real), abs(wanted.imag))
            parts = [(found.real, wanted.real), (found.imag, wanted.imag)]
            return np.all([_near(f, w, np.where(np.isfinite(size), size, w), ulps) for f, w in parts], axis=0)
        if wanted.dtype.kind != "f":
            return found == wanted
        return _near(found, wanted, wanted, ulps) & ((np.signbit(found) == np.signbit(wanted)) | np.isnan(wanted))


def _near(found: Any, wanted: Any, size: Any, ulps: float) -> Any:
    step = np.spacing(np.abs(size).astype(wanted.dtype))
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    return same | (np.abs(found - wanted) <= ulps * step)


def check(name: str, args: Any, params: dict, ulps: float, constant: bool = True) -> bool:
    """Compare; whether there is scalar code at all."""
    wanted = expected(name, args, params)
    found = natively(name, args, params, wanted.dtype, constant)
    if found is None:
        return False
    assert found.shape == wanted.shape
    good = close(found, wanted, ulps)
    if not np.all(good):
        at = np.argwhere(~good)[:5]
        shown = [
            ([np.broadcast_to(a, wanted.shape)[tuple(k)] for a in args], found[tuple(k)], wanted[tuple(k)]) for k in at
        ]
        raise AssertionError(f"{name}: {np.sum(~good)} differ; arguments, found, wanted: {shown}")
    return True


def tolerance(name: str) -> float:
    """Formulas of many steps amplify the differences of their parts."""
    return 4 if isinstance(TABLE[name].impl, np.ufunc) else 64


# --------------------------------------------------------------------------------------------------------- examples

CALLS = [pytest.param(name, c, id=f"{name}-{k}") for name in NAMES for k, c in enumerate(EXAMPLES.get(name, ()))]


@pytest.mark.parametrize(("name", "c"), CALLS)
def test_examples(name, c):
    args = [c.before(a) if c.before and np.asarray(a).dtype.kind == "f" else a for a in c.args]
    for constant in (True, False):
        has_code = check(name, args, c.params, tolerance(name), constant)
        assert has_code or name in CALLBACKS or "_by_" in name


@pytest.mark.parametrize(("name", "c"), CALLS)
def test_examples_in_single_precision(name, c):
    args = [c.before(a) if c.before and np.asarray(a).dtype.kind == "f" else a for a in c.args]
    args = [a.astype(np.float32) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in args]
    check(name, args, c.params, 6 if hasattr(np, name) else 64)  # SciPy computes some of its own in single precision


def test_every_elementwise_row_is_covered():
    assert set(NAMES) >= {"sin", "power", "floor", "equal", "isclose", "gammasgn", "astype", "as_integer", "left_shift"}


# ------------------------------------------------------------------------------------------------- awkward numbers

FLOATS = np.array(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        3.0,
        -7.25,
        1e-5,
        -1e-5,
        5e-324,
        -5e-324,
        1e-310,
        2.2e-308,
        1e-160,
    ]
    + [1e10, -1e10, 1e22, 1e155, -1e155, 1.7e308, -1.7e308, 709.0, 711.0, -746.0, -745.0, 20.0, -36.0, 0.1, 7.0]
    + [np.inf, -np.inf, np.nan, np.pi, np.pi / 2, 1 + 1e-15, 1 - 1e-15, 0.999, 4503599627370497.5, 2.0**52 + 0.0]
)
SINGLES = np.array(
    [0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, -7.25, 1e-45, -1e-45, 1e-39, 1e-5, 1e10, 1e30, 3e38, -3e38, 88, -100]
    + [np.inf, -np.inf, np.nan, np.pi, 0.999],
    np.float32,
)
COMPLEX = np.array(
    [complex(a, b) for a in (0.0, -0.0, 1.0, -2.5, 1e-5, 1e200, np.inf, np.nan) for b in (0.0, -0.0, 1.0, -0.3, 1e10)]
    + [complex(0.5, np.inf), complex(np.nan, np.nan), complex(-1, np.nan), complex(-np.inf, -np.inf)]
)
INTEGERS = np.array([0, 1, -1, 2, -2, 3, 7, -7, 10, 100, -100, 2**31, 2**62, -(2**63), 2**63 - 1])


def operands(values: np.ndarray, count: int) -> list[np.ndarray]:
    """All combinations, in rows."""
    chosen = values if count < 3 else values[::4]
    return [np.array(column, values.dtype) for column in zip(*itertools.product(chosen, repeat=count), strict=True)]


PLAIN = [n for n in NAMES if isinstance(TABLE[n].impl, np.ufunc) or TABLE[n].impl.__module__ == "_operator"]
PLAIN += [
    "divide",
    "power",
    "where",
    "isclose",
    "stop_gradient",
    "sech_squared",
    "one_minus_square",
    "exponent",
    "real",
    "imag",
    "copy",
]
LIBRARY = {n for n in PLAIN if not hasattr(np, getattr(TABLE[n].impl, "__name__", "")) and n not in ("where",)}
"""SciPy's: called as they are, so a few numbers are enough."""


@pytest.mark.parametrize("name", sorted(set(PLAIN) & set(EXAMPLES)))
@pytest.mark.parametrize("values", [FLOATS, SINGLES, COMPLEX, INTEGERS, np.array([False, True])], ids="dfDlb")
def test_awkward_numbers(name, values):
    count = len(EXAMPLES[name][0].args)
    if (name in LIBRARY and count > 1) or count > 3:
        values = values[::5]
    args = operands(values, count)
    if name == "where":
        args[0] = args[0] != 0
    if name == "power" and values.dtype.kind == "i":
        args[1] = abs(args[1]) % 70
    if name == "ldexp":
        args[1] = (np.arange(len(args[0])) * 37) % 2200 - 1100
    if name in ("maximum", "minimum", "fmax", "fmin") and values.dtype.kind == "f":  # NumPy's choice varies
        keep = (args[0] != 0) | (args[1] != 0)
        args = [a[keep] for a in args]
    try:
        expected(name, args, {})
    except TypeError:
        return  # NumPy has no such function of these numbers
    check(name, args, {}, 8 if values.dtype == np.float32 else tolerance(name) if name not in ("power",) else 4)


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_division_with_rest_is_exact(name):
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-50, 50, (2, 5000))
    for t in (np.float64, np.float32):
        check(name, [np.r_[x, np.rint(x)].astype(t), np.r_[y, np.rint(y) / 4].astype(t)], {}, 0)
    if name != "fmod":
        for t in (np.int8, np.uint8, np.int32, np.uint64):
            check(
                name,
                [np.r_[x, x, x].astype(np.int64).astype(t), np.r_[y, y / 9, 0 * y].astype(np.int64).astype(t)],
                {},
                0,
            )


@pytest.mark.parametrize("decimals", [0, 1, 3, -1])
@pytest.mark.parametrize("values", [FLOATS, SINGLES, COMPLEX], ids="dfD")
def test_round(decimals, values):
    with np.errstate(all="ignore"):
        assert check("round", [values], {"decimals": decimals}, 0)


@pytest.mark.parametrize("values", [FLOATS, SINGLES, COMPLEX], ids="dfD")
def test_nan_to_num(values):
    assert check("nan_to_num", [values], {"nan": 0.5, "posinf": None, "neginf": -3.0}, 0)


@pytest.mark.parametrize("p", [0, 1, 2, 3, 4, 5, -1, -2, 0.5, 2.0, 3.0, -0.5, 1.5, 0.0])
@pytest.mark.parametrize("values", [FLOATS, SINGLES], ids="df")
def test_powers_with_known_exponents(p, values):
    assert check("power", [values, p], {}, 4)


def test_small_powers_of_integers():
    for p in (0, 1, 2, 3, 5, 20):
        for t in (np.int64, np.int32, np.uint8):
            assert check("power", [INTEGERS.astype(t), p], {}, 0)


def test_negative_powers_of_integers_are_refused():
    for p in (-1, np.array([2, -1, 3])):
        with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed."):
            check("power", [np.array([1, 2, 3]), p], {}, 0)


def test_python_integers_are_not_divided_by_zero():
    for name in ("floor_divide", "remainder"):
        kernel = scalar_kernel(name, {}, INT, [INT, INT], [True, True], [None, None])
        out = np.empty(1, np.int64)
        kernel([np.array([7]), np.array([-2]), out], 1)
        assert out[0] == (7 // -2 if name == "floor_divide" else 7 % -2)
        with pytest.raises(ZeroDivisionError):
            kernel([np.array([7]), np.array([0]), out], 1)


@pytest.mark.parametrize("name", ["less", "equal", "greater_equal", "not_equal"])
def test_mixed_integers(name):
    signed = np.array([-1, 0, 1, 2**62, -(2**63)])
    unsigned = np.array([0, 1, 2**63, 2**64 - 1, 5], np.uint64)
    x, y = (a.ravel() for a in np.meshgrid(signed, unsigned))
    assert check(name, [x, y], {}, 0)
    assert check(name, [y, x], {}, 0)


@pytest.mark.parametrize("name", ["left_shift", "right_shift", "bitwise_and", "bitwise_or", "bitwise_xor"])
def test_bits(name):
    for t in (np.int64, np.int32, np.uint8):
        x, y = (a.ravel().astype(t) for a in np.meshgrid([0, 1, 5, -3, 100, -128], [0, 1, 3, 7, 8, 31, 63, 64, 100]))
        assert check(name, [x, y], {}, 0)
    if "shift" not in name:
        assert check(name, [np.array([True, False, True]), np.array([True, True, False])], {}, 0)


# ------------------------------------------------------------------------------------------------------ conversions

DTYPES = [np.dtype(t) for t in ("?", "b", "B", "h", "H", "i", "I", "l", "L", "f", "d", "F", "D")]


@pytest.mark.parametrize("source", DTYPES, ids=str)
@pytest.mark.parametrize("target", DTYPES, ids=str)
def test_convert(source, target):
    values = np.array([0, 1, 2, 100, 3.75, 1e-3])
    if source.kind not in "bu" and target.kind not in "u":
        values = np.r_[values, -1, -100.9, -0.5]
    if source.kind in "fc" and target.kind in "fcb":
        values = np.r_[values, np.nan, np.inf, -0.0, 1e-45]
    x = values.astype(source)
    if source.kind == "c":
        x = x + np.array(2j, source)

    def write(cx, pointers, n):
        with cx.loop(n) as i:
            y = scalars.convert(cx, load_element(cx.builder, pointers[0], i, source), source, target)
            store_element(cx.builder, y, pointers[1], i, target)

    found = np.empty(len(x), target)
    with np.errstate(all="ignore"):
        wanted = x.real.astype(target) if source.kind == "c" and target.kind not in "cb" else x.astype(target)
    Kernel(write, 2)([x, found], len(x))
    np.testing.assert_array_equal(found, wanted)
    op = "as_integer" if target.kind in "biu" else "astype"
    assert check(op, [x], {"dtype": target}, 0)


def test_huge_numbers_become_the_smallest_integer():
    x = np.array([1e300, -1e300, np.nan, np.inf, 2.0**63, -(2.0**63), 2.0**31, -(2.0**31) - 1, 3e9])
    with np.errstate(invalid="ignore"):
        for t in (np.int64, np.int32):
            found = natively("as_integer", [x], {"dtype": np.dtype(t)}, np.dtype(t))
            fits = (x >= np.iinfo(t).min) & (x <= np.iinfo(t).max) & (x < 2.0**63)
            assert np.all(found[~fits] == np.iinfo(t).min)
            np.testing.assert_array_equal(found[fits], x[fits].astype(t))


# ------------------------------------------------------------------------------------------------- weak and strong


def test_weak_numbers_do_not_widen():
    x = np.linspace(0.5, 2, 7, dtype=np.float32)
    for name in ("add", "multiply", "power", "maximum", "arctan2", "logaddexp", "where"):
        args = [x, 0.3] if name != "where" else [x > 1, x, 0.3]
        assert expected(name, args, {}).dtype == np.float32
        for constant in (True, False):
            assert check(name, args, {}, 6, constant)


def test_comparison_of_weak_numbers():
    x = np.array([0.1, 0.3], np.float32)
    for constant in (True, False):
        assert check("equal", [x, 0.1], {}, 0, constant)
        assert check("less", [np.array([1, 2, 300], np.int16), 2], {}, 0, constant)
        assert check("less", [np.array([1, 2, 300], np.int16), 2.5], {}, 0, constant)


def test_what_has_no_scalar_code():
    long = np.dtype(np.longdouble)
    assert not scalars.supports("sin", {}, long, [long], [False])
    assert not scalars.supports("elliptic", {"p": 1, "q": 3}, F64, [F64, F64], [False, False])
    assert not scalars.supports("sum", {}, F64, [F64], [False])
    assert scalars.supports("power", {}, F64, [F64, INT], [False, True], [None, 2])
    assert not scalars.supports("subtract", {}, BOOL, [BOOL, BOOL], [False, False])
    assert not scalars.supports("sin", {}, np.dtype(np.float16), [np.dtype(np.float16)], [False])


def test_constants_are_computed_while_writing():
    assert check("polygamma", [1, 2.5], {}, 4)
    kernel = scalar_kernel("add", {}, F64, [F64, F64], [True, True], [1.0, 2.0])
    assert "fadd" not in kernel.source


# ------------------------------------------------------------------------------------------------------------ speed


@pytest.mark.optimised
@pytest.mark.skipif(not natives.vector_variants("sin"), reason="needs glibc's libmvec")
@pytest.mark.parametrize("name", ["sin", "cos", "exp", "log", "tanh", "log1p", "arctan", "expit", "xlogy", "power"])
@pytest.mark.parametrize("dtype", [F64, F32], ids=str)
def test_loops_are_vectorised(name, dtype):
    count = len(EXAMPLES[name][0].args)
    kernel = scalar_kernel(name, {}, dtype, [dtype] * count, [False] * count, [None] * count)
    assert "call <" in kernel.optimised


@pytest.mark.parametrize("name", ["sin", "exp", "log", "tanh", "cosh", "arcsin", "cbrt", "erf", "arctan2", "power"])
def test_vector_variants_are_accurate(name):
    rng = np.random.default_rng(0)
    count = len(EXAMPLES[name][0].args)
    for low, high in ((-1, 1), (0, 1), (-30, 30), (0, 300)):
        assert check(name, list(rng.uniform(low, high, (count, 4001))), {}, 4)


def test_symbols_have_addresses():
    """Object code that was kept can be linked again: every name is found."""
    kernel = scalar_kernel("gamma_density", {}, F64, [F64, F64], [False, False], [None, None])
    addresses = kernel.cx.addresses
    assert "wg_special_rgamma_dd" in addresses
    assert {symbol: natives.address(symbol) for symbol in addresses} == addresses
    other = scalar_kernel("sin", {}, C128, [C128], [False], [None]).cx.addresses
    assert {k: natives.address(k) for k in other if k.startswith("wg_")} == other
    assert natives.address("nothing") is None
