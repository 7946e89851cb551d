"""Convolution against plain loops and SciPy, in every mode."""

import itertools

import numpy as np
import pytest
import scipy.signal

import wengert as wg
from wengert import nn, tree
from wengert.errors import MismatchError


def by_loops(x, w, stride, padding, dilation, groups):
    rank = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *padding])
    outputs, inner, *kernel = w.shape
    places = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], kernel, stride, dilation, strict=True)]
    y = np.zeros((x.shape[0], outputs, *places))
    for o, c in itertools.product(range(outputs), range(inner)):
        channel = o // (outputs // groups) * inner + c
        for p in np.ndindex(*places):
            for k in np.ndindex(*kernel):
                at = tuple(p[a] * stride[a] + k[a] * dilation[a] for a in range(rank))
                y[(slice(None), o, *p)] += x[(slice(None), channel, *at)] * w[(o, c, *k)]
    return y


SETTINGS = [
    ((9,), (4,), (2,), [(1, 2)], (1,), 1),
    ((7, 6), (3, 2), (1, 1), [(0, 0), (0, 0)], (1, 1), 2),
    ((7, 6), (3, 2), (2, 3), [(1, 1), (0, 2)], (2, 1), 2),
    ((4, 3, 5), (2, 1, 3), (1, 2, 1), [(0, 0), (1, 1), (0, 0)], (2, 1, 2), 1),
]


@pytest.mark.parametrize(("size", "kernel", "stride", "padding", "dilation", "groups"), SETTINGS)
def test_it_is_the_sum_that_defines_it(size, kernel, stride, padding, dilation, groups, rng):
    x, w = rng.normal(size=(2, 4, *size)), rng.normal(size=(6, 4 // groups, *kernel))
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    wanted = by_loops(x, w, stride, padding, dilation, groups)
    np.testing.assert_allclose(nn.conv(x, w, **options), wanted, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        nn.conv(x.astype(np.float32), w.astype(np.float32), **options), wanted, rtol=0, atol=1e-4
    )
    both = nn.conv(x + 1j * x[::-1], w, **options)
    np.testing.assert_allclose(both, wanted + 1j * wanted[::-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("size", "kernel", "stride", "padding", "dilation", "groups"), SETTINGS)
def test_derivatives_of_any_order_in_any_mode(size, kernel, stride, padding, dilation, groups, rng):
    x, w = rng.normal(size=(2, 2, *size)), rng.normal(size=(2, 2 // groups, *kernel))
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    u, v = rng.normal(size=x.shape), rng.normal(size=w.shape)

    # What it is linear in has these derivatives: T(u, w) + T(x, v), then 2 T(u, v), then none.
    f = lambda x, w: nn.conv(x, w, **options)
    first = f(u, w) + f(x, v)
    np.testing.assert_allclose(wg.jvp(f, (x, w), (u, v))[1], first, rtol=0, atol=1e-12)
    line = wg.taylor(lambda t: f(x + t * u, w + t * v), 0.0, 3)
    np.testing.assert_allclose(line[2], f(u, v), rtol=0, atol=1e-12)
    np.testing.assert_allclose(line[3], 0.0, atol=1e-12)
    y, pull = wg.vjp(f, x, w)
    ct = rng.normal(size=y.shape)
    np.testing.assert_allclose(np.sum(ct * first), sum(np.sum(a * b) for a, b in zip(pull(ct), (u, v), strict=True)))

    # Second order, reverse over reverse and forward over reverse, agree with each other and with the bilinear form.
    g = lambda x, w: np.sum(f(x, w) ** 2)
    wanted = 2 * np.sum(first**2) + 4 * np.sum(f(x, w) * f(u, v))
    slope = lambda x, w: sum(np.sum(a * b) for a, b in zip(wg.grad(g, argnums=(0, 1))(x, w), (u, v), strict=True))
    np.testing.assert_allclose(wg.jvp(slope, (x, w), (u, v))[1], wanted)
    np.testing.assert_allclose(
        sum(np.sum(a * b) for a, b in zip(wg.grad(slope, argnums=(0, 1))(x, w), (u, v), strict=True)), wanted
    )


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
@pytest.mark.parametrize("groups", [1, 2])
def test_examples_of_a_batch(axes, groups, rng):
    x, w = rng.normal(size=(3, 2, 4, 5, 4)), rng.normal(size=(3, 6, 4 // groups, 2, 3))
    if axes[0] is None:
        x = x[0]
    if axes[1] is None:
        w = w[0]
    f = lambda x, w: nn.conv(x, w, stride=(2, 1), padding=1, groups=groups)
    g = lambda x, w: wg.grad(lambda x, w: np.sum(np.sin(f(x, w))), argnums=(0, 1))(x, w)
    one = lambda k: (x if axes[0] is None else x[k], w if axes[1] is None else w[k])
    np.testing.assert_allclose(wg.vmap(f, in_axes=axes)(x, w), [f(*one(k)) for k in range(3)], rtol=0, atol=1e-12)
    for k, found in enumerate(zip(*wg.vmap(g, in_axes=axes)(x, w), strict=True)):
        for a, b in zip(found, g(*one(k)), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


def test_scipy_correlates_alike(rng):
    x, w = rng.normal(size=(1, 1, 8, 9)), rng.normal(size=(1, 1, 3, 4))
    for mode in ("valid", "full"):
        padding = 0 if mode == "valid" else (2, 3)
        wanted = scipy.signal.correlate2d(x[0, 0], w[0, 0], mode=mode)
        np.testing.assert_allclose(nn.conv(x, w, padding=padding)[0, 0], wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("more", [0, 1])
def test_the_transpose_is_one(more, rng):
    w = rng.normal(size=(4, 3, 3, 2))
    y = rng.normal(size=(2, 4, 4, 5))
    options = {"stride": 2, "padding": 1, "groups": 2}
    wide = nn.conv_transpose(y, w, output_padding=more, **options)
    assert wide.shape == (2, 6, 7 + more, 8 + more)
    x = rng.normal(size=wide.shape)
    narrow = nn.conv(x, w, **options)
    np.testing.assert_allclose(np.sum(narrow[:, :, :4, :5] * y), np.sum(x * wide))


NATIVE = [
    ((5, 4, 8, 7), (6, 2, 3, 2), 2, 1, "f4"),  # groups
    ((3, 3, 20, 20), (2, 3, 1, 1), 1, 1, "f8"),  # nothing to be copied
    ((9, 2, 6), (3, 2, 2), 1, 2, "c16"),  # several examples at a time, and one block with fewer
    ((1, 2, 30, 31), (3, 2, 4, 5), 1, (2, 3), "f8"),  # one example at a time
    ((2, 1, 4, 5, 6), (2, 1, 2, 3, 2), 1, 1, "f8"),
    ((1, 2, 4, 5), (6, 1, 1, 1), 2, (3, 1), "f8"),  # one weight for each result
    ((4, 16, 9, 9), (64, 8, 3, 3), 2, 1, "f4"),  # matrices large enough for tiles, of several examples
    ((2, 1, 9, 150), (1, 1, 4, 13), 1, 1, "f8"),  # few channels of results: no columns
    ((2, 6, 5, 43), (6, 1, 3, 3), 6, (2, 1), "f4"),
    ((3, 4, 37), (5, 4, 6), 1, 1, "f4"),
    ((1, 1, 70, 70), (9, 1, 12, 11), 1, 1, "f8"),  # columns would be large
]


@pytest.mark.parametrize("kernel", [(2, 3), (3, 4)])
def test_infinite_elements_stay_with_what_meets_them(kernel, rng):
    """Where nothing meets an infinite weight or pixel the results are finite, in native code as well."""
    x, w, y = rng.normal(size=(1, 1, 6, 7)), rng.normal(size=(2, 1, *kernel)), rng.normal(size=(1, 2, 6, 7))
    y = y[:, :, : 7 - kernel[0], : 8 - kernel[1]]
    x[0, 0, 0, 0] = x[0, 0, 5, 6] = w[1, 0, 0, 0] = np.inf
    with np.errstate(invalid="ignore"):
        f = lambda x, w, y: (nn.conv(x, w), *wg.vjp(nn.conv, x, w)[1](y))
        for a, b in zip(wg.jit(f)(x, w, y), f(x, w, y), strict=True):
            assert 0 < np.sum(np.isfinite(b)) < b.size
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_native_code_computes_the_same(rng):
    """All in one program, with transposed operands among them, so that it is compiled once."""
    operands = []
    for x, w, *_, dtype in NATIVE:
        operands.append((rng.normal(size=x[::-1]).astype(dtype), rng.normal(size=w).astype(dtype)))

    def f(operands):
        found = []
        for (x, w), (_, _, groups, stride, _) in zip(operands, NATIVE, strict=True):
            g = lambda x, w, groups=groups, stride=stride: nn.conv(x.T, w, padding=1, stride=stride, groups=groups)
            y, pull = wg.vjp(g, x, w)
            found.append((y, pull(np.conj(y))))
        return found

    compiled = wg.jit(f)
    for a, b in zip(tree.leaves(compiled(operands)), tree.leaves(f(operands)), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=0, atol=np.max(np.abs(b)) * (1e-6 if a.dtype == np.float32 else 1e-14))
    how = {op: how for op, how in compiled.lower(operands).report if op.startswith("conv")}
    assert how == {"conv": "blas", "conv_input": "blas", "conv_weight": "blas"}


def test_the_pattern_of_a_jacobian(rng):
    w = np.array([[[1.0, 0.0, 2.0]]])
    pattern = wg.sparsity(lambda x: nn.conv(x, w, stride=2))(np.zeros((1, 1, 7))).toarray()
    wanted = np.zeros((3, 7), bool)
    for p in range(3):
        wanted[p, [2 * p, 2 * p + 2]] = True
    np.testing.assert_array_equal(pattern, wanted)


def test_bounds_hold(rng):
    x, w = rng.normal(size=(1, 2, 6)), rng.normal(size=(2, 2, 3))
    f = lambda x: wg.grad(lambda w: np.sum(nn.conv(x, w, stride=2, padding=1) ** 2))(w)
    box = wg.enclose(f)(wg.interval(x - 0.01, x + 0.01))
    for _ in range(5):
        y = f(x + rng.uniform(-0.01, 0.01, x.shape))
        assert np.all((box.lo <= y) & (y <= box.hi))


@pytest.mark.parametrize(
    ("x", "w", "options", "words"),
    [
        ((1, 3, 8), (2, 4, 3), {}, "3 channels"),
        ((1, 3, 8), (2, 3, 9), {}, "longer than"),
        ((1, 4, 8), (3, 2, 3), {"groups": 2}, "channels"),
        ((4, 8), (2, 4, 3), {}, "shapes"),
        ((1, 3, 8), (2, 3, 3), {"stride": 0}, "stride"),
        ((1, 3, 8), (2, 3, 3), {"padding": "full"}, "padding"),
        ((1, 3, 8), (2, 3, 3), {"padding": -1}, "padding"),
    ],
)
def test_what_does_not_fit_is_refused(x, w, options, words):
    with pytest.raises(MismatchError, match=words):
        nn.conv(np.ones(x), np.ones(w), **options)
