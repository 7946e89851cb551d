"""Native code for ops on arrays, against the interpreter."""

import numpy as np
import pytest
from backend.building import Builder, Ref, constant

rng = np.random.default_rng(0)


def values(*shape, dtype=float):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) > 0.5
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -5, 6, shape).astype(dtype)
    x = rng.standard_normal(shape)
    if dtype.kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


DTYPES = ["?", "i1", "u1", "i2", "i4", "i8", "u8", "f4", "f8", "c8", "c16"]


def test_elementwise_chain_and_sum():
    b = Builder(values(50), values(50))
    x, y = b.params
    z = b.op("multiply", b.op("sin", x), y)
    b.check(b.op("sum", z, axis=(0,)), z, b.op("exp", z))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_through_memory(dtype):
    b = Builder(values(3, 4, dtype=dtype), values(4, dtype=dtype))
    x, y = b.params
    t = b.op("transpose", x, axes=(1, 0))
    b.check(
        t, b.op("multiply", x, y), b.op("concatenate", x, x, axis=1), b.op("copy", y), b.index(x, 1), b.index(x, 2, 3)
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [(0,), (1,), (0, 1), (0, 2), (1, 2), (0, 1, 2), ()])
def test_sums(dtype, axis):
    b = Builder(values(3, 4, 5, dtype=dtype))
    (x,) = b.params
    b.check(b.op("sum", x, axis=axis, keepdims=False), b.op("sum", x, axis=axis, keepdims=True))


@pytest.mark.parametrize("name", ["max", "min", "nanmax", "nanmin", "prod", "any", "all", "count_nonzero"])
@pytest.mark.parametrize("axis", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("dtype", ["?", "i4", "f4", "f8"])
def test_reductions(name, axis, dtype):
    x = values(4, 5, dtype=dtype)
    if np.dtype(dtype).kind == "f":
        x[1, 2] = np.nan
    b = Builder(x)
    b.check(b.op(name, b.params[0], axis=axis))


@pytest.mark.parametrize("axis", [(0,), (1,), (0, 1)])
def test_weighted_sum(axis):
    b = Builder(values(4, 5), values(4, 5))
    b.check(b.op("weighted_sum", *b.params, axis=axis))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_arg_extremes(name, axis):
    x = values(4, 5)
    x[2, 3] = np.nan
    for sample in (x, values(4, 5, dtype="i4"), values(4, 5, dtype="?"), values(4, 5, dtype="u1")):
        b = Builder(sample)
        b.check(b.op(name, b.params[0], axis=axis))


def test_scans():
    b = Builder(values(4, 5), values(4, 5, dtype="i4"))
    x, i = b.params
    b.check(b.op("cumsum", x, axis=0), b.op("cumsum", x, axis=1), b.op("cumprod", x), b.op("cumsum", i, axis=1))


def test_reduction_of_nothing():
    b = Builder(np.ones((0, 3)))
    (x,) = b.params
    b.check(b.op("sum", x, axis=(0,)), b.op("prod", x, axis=(0, 1)), b.op("max", x, axis=(1,)))


def test_shapes():
    b = Builder(values(2, 3, 4))
    (x,) = b.params
    t = b.op("transpose", x, axes=(2, 0, 1))
    b.check(
        b.op("reshape", x, shape=(6, 4)),
        b.op("reshape", t, shape=(4, 6)),
        b.op("reshape", b.op("exp", x), shape=(24,)),
        b.op("reshape", b.op("exp", t), shape=(4, 1, 2, 1, 3)),
        b.op("flip", x, axis=(0, 2)),
        b.op("flip", b.op("exp", t), axis=(1,)),
        b.op("broadcast_to", x, shape=(5, 2, 3, 4)),
        b.op("broadcast_to", b.index(x, slice(None), slice(0, 1)), shape=(2, 7, 4)),
        b.op("reshape", b.op("sum", x, axis=(0, 1, 2)), shape=(1, 1)),
        b.op("broadcast_to", b.op("sum", x, axis=(0, 1, 2)), shape=(2, 3)),
    )


def test_concatenate():
    b = Builder(values(2, 3), values(2, 2), values(2, 3, dtype="f4"))
    x, y, z = b.params
    b.check(
        b.op("concatenate", x, y, axis=1), b.op("concatenate", x, z, b.op("exp", x), axis=0),
        b.op("concatenate", b.op("transpose", x, axes=(1, 0)), b.op("transpose", y, axes=(1, 0)), axis=0),
    )  # fmt: skip


def test_casts_and_complex_parts():
    b = Builder(values(6), values(6, dtype="c16"))
    x, z = b.params
    b.check(
        b.op("astype", x, dtype=np.dtype("f4")), b.op("as_integer", b.op("multiply", x, 10.0), dtype=np.dtype("i4")),
        b.op("real", z), b.op("imag", z), b.op("conjugate", z), b.op("astype", z, dtype=np.dtype("c8")),
        b.op("multiply", b.op("real", z), z), b.op("sum", z, axis=(0,)), b.op("prod", z, axis=(0,)),
    )  # fmt: skip


INDICES = [
    (1,), (-1,), (slice(None), 2), (slice(1, 3),), (slice(None, None, -1),), (slice(None), slice(3, 0, -2)), (..., 0),
    (None, 1), (slice(0, 0),), (1, 2, 3), (slice(None), None, slice(None), 1), (slice(-2, None), ..., slice(1, -1)),
]  # fmt: skip


@pytest.mark.parametrize("items", INDICES)
def test_basic_index(items):
    b = Builder(values(3, 4, 5))
    (x,) = b.params
    part = b.index(x, *items)
    b.check(part, b.op("exp", part), b.index(b.op("exp", x), *items))


I2, J2 = np.array([[0, -1], [2, 1]]), np.array([1, -3])
FANCY = [
    (constant(I2),), (constant(I2), constant(J2)), (slice(None), constant(J2)), (constant(J2), slice(None), 1),
    (constant(J2), slice(None), constant(J2)), (slice(1, None), constant(J2), constant(I2)), (..., constant(J2)),
    (constant(np.array([], dtype=np.int64)),), (None, constant(J2)), (constant(J2.astype("i4")), 2),
    (constant(2), slice(None), constant(J2)),
]  # fmt: skip


@pytest.mark.parametrize("items", FANCY)
def test_fancy_index(items):
    b = Builder(values(3, 4, 5))
    (x,) = b.params
    part = b.index(x, *items)
    b.check(part, b.op("exp", part), b.index(b.op("exp", x), *items))


@pytest.mark.parametrize("items", [*INDICES, *FANCY])
@pytest.mark.parametrize("name", ["store", "add_at"])
def test_writes(items, name):
    b = Builder(values(3, 4, 5), values(5))
    x, _ = b.params
    part = b.index(x, *items)
    shape = np.shape(b.values[part])
    v = values(*shape)
    b.check(
        b.store(x, constant(v), *items, name=name),
        b.store(x, 7.0, *items, name=name),
        b.store(b.op("exp", x), b.op("multiply", part, 2.0), *items, name=name),
        b.op("scatter", part, *[i for i in items if hasattr(i, "type")],
             patterns=(tuple([b_pattern(i) for i in items]),), shape=(3, 4, 5)),
    )  # fmt: skip


def b_pattern(item):
    from backend.building import ARRAY

    return ARRAY if hasattr(item, "type") else item


def test_repeated_places_add_up():
    b = Builder(values(4), values(6))
    x, v = b.params
    where = constant(np.array([0, 1, 1, 3, 0, 0]))
    b.check(b.store(x, v, where, name="add_at"), b.store(x, v, where))


def test_one_array_in_two_roles():
    b = Builder(values(5, 5))
    (x,) = b.params
    b.check(b.op("add", x, b.op("transpose", x, axes=(1, 0))), x, x, b.index(x, slice(1, 3)))


def test_constants_as_results():
    b = Builder(1.0)
    b.check(constant(np.arange(4.0)), constant(3), b.params[0], constant(np.arange(5000.0)))


def test_integers_that_know_no_bounds():
    b = Builder(np.array([1, 0, 2]), np.int32(1), np.array([5.0, 6.0, 7.0]))
    i, k, x = b.params
    b.check(
        b.index(x, i), b.index(x, k), b.store(x, 0.0, k), b.op("index", x, pattern=(slice(Ref(0), None),), sizes=[k])
    )


def test_where_and_comparison():
    b = Builder(values(5), values(5))
    x, y = b.params
    m = b.op("less", x, y)
    b.check(m, b.op("where", m, x, 0.0), b.op("logical_not", m), b.op("maximum", x, y))


@pytest.mark.parametrize("axis", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_exponential_reductions(axis, dtype):
    x = values(4, 5, dtype=dtype) * 100
    infinite = x.copy()
    infinite[1], infinite[2, 2], infinite[3, 3] = -np.inf, np.inf, np.nan
    b = Builder(x)
    t = b.op("transpose", b.params[0], axes=(1, 0))
    native = b.check(*[b.op(name, z, axis=axis) for name in ("logsumexp", "softmax") for z in (b.params[0], t)])
    assert {how for _, how in native.report} == {"native"}
    b.check(
        *[b.op(name, z, axis=axis) for name in ("logsumexp", "softmax") for z in (b.params[0], t)], inputs=[infinite]
    )


def test_linear_recurrence():
    for dtype in ("f8", "c16", "i8"):
        b = Builder(values(6, 3, dtype=dtype), values(6, 3, dtype=dtype))
        b.check(b.op("linear_recurrence", *b.params))
    b = Builder(values(6), values(6))
    b.check(b.op("linear_recurrence", *b.params))


def test_long_chains():
    b = Builder(values(5))
    (x,) = b.params
    y = x
    for _ in range(300):
        y = b.op("multiply", b.op("add", y, 0.5), 0.75)
    b.check(y)


def test_long_chain_of_scalars():
    b = Builder(0.5)
    (x,) = b.params
    y = x
    for _ in range(300):
        y = b.op("multiply", b.op("add", y, 0.5), 0.75)
    b.check(y)


@pytest.mark.parametrize("axis", [(0,), (1,), (0, 1)])
def test_shares(axis):
    x = values(4, 5, dtype="i8").astype(float)
    x[2] = np.nan
    b = Builder(x, np.max(x, axis=axis, keepdims=True))
    v, y = b.params
    native = b.check(b.op("shares", y, v, axis=axis), b.op("shares", y, v, axis=axis, least=1))
    assert {how for _, how in native.report} == {"native"}
    x[2, 1:] = 0.0
    b = Builder(x, np.nanmax(x, axis=axis, keepdims=True))
    b.check(b.op("shares", b.params[1], b.params[0], axis=axis))
