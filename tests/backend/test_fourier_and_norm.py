"""Fourier transforms and norms in native code: NumPy's numbers, for every layout, and no way back to Python."""

import numpy as np
import pytest

import wengert as wg

NORMS = ["backward", "ortho", "forward"]


def is_native(f, *args):
    """No node of the compiled program calls Python."""
    return "callback" not in [how for _, how in wg.jit(f).lower(*args).report]


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.float32])
def test_transforms_are_those_of_numpy(dtype, rng):
    """To the last bit in double precision. Single precision is transformed in double precision, by NumPy not always."""
    names = ["fft", "ifft", "irfft", "hfft", *(["rfft", "ihfft"] if np.dtype(dtype).kind != "c" else [])]
    x = 10 * rng.normal(size=(3, 7, 4))
    x = (x + 1j * rng.normal(size=x.shape)).astype(dtype) if np.dtype(dtype).kind == "c" else x.astype(dtype)

    def all_of_them(x):
        arrays = [x, x[:, ::2, 1], x[1, :, 0]]
        calls = [(a, axis, NORMS[(axis + k) % 3]) for k, a in enumerate(arrays) for axis in range(a.ndim)]
        return [getattr(np.fft, name)(a, axis=axis, norm=norm) for name in names for a, axis, norm in calls]

    for found, want in zip(wg.jit(all_of_them)(x), all_of_them(x), strict=True):
        assert found.dtype == want.dtype
        if np.dtype(dtype).char in "fF":
            np.testing.assert_allclose(found, want, atol=1e-6 * np.abs(want).max())
        else:
            np.testing.assert_array_equal(found, want)
    assert is_native(all_of_them, x)


@pytest.mark.parametrize("n", [1, 2, 3, 16, 101, 1024])
def test_lengths(n, rng):
    def there_and_back(x):
        half = np.fft.rfft(x)
        return np.fft.fft(x), half, np.fft.irfft(half, n)

    x = rng.normal(size=(2, n))
    for found, want in zip(wg.jit(there_and_back)(x), there_and_back(x), strict=True):
        np.testing.assert_array_equal(found, want)


def test_several_axes_and_the_gradient(rng):
    """Of ½ Σ|Fx|², where F F* = N, it is N x."""
    x = rng.normal(size=(4, 6, 5))

    def power(x):
        return 0.5 * np.sum(np.abs(np.fft.fftn(x)) ** 2)

    np.testing.assert_allclose(wg.jit(wg.grad(power))(x), x.size * x, rtol=1e-12)
    np.testing.assert_allclose(wg.jit(lambda x: np.fft.rfft2(x))(x), np.fft.rfft2(x), rtol=1e-14)
    assert is_native(wg.grad(power), x)


def test_a_transform_in_a_loop(rng):
    """Steps of the heat equation on a circle, compared with the closed form."""
    n, dt = 32, 0.01
    k = np.fft.rfftfreq(n, 1 / n)
    u = rng.normal(size=n)

    def heat(u):
        for _ in range(20):
            u = np.fft.irfft(np.fft.rfft(u) * np.exp(-(k**2) * dt), n)
        return u

    want = np.fft.irfft(np.fft.rfft(u) * np.exp(-20 * k**2 * dt), n)
    np.testing.assert_allclose(wg.jit(heat)(u), want, rtol=1e-12, atol=1e-14)
    ct = rng.normal(size=n)
    np.testing.assert_allclose(wg.jit(wg.grad(lambda u: heat(u) @ ct))(u), heat(ct), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (1, 2)])
def test_norms(axis, dtype, rng):
    x = rng.normal(size=(3, 4, 5)).astype(dtype)
    found = wg.jit(lambda x: np.linalg.norm(x, axis=axis))(x)
    want = np.linalg.norm(x, axis=axis)
    assert found.dtype == want.dtype
    np.testing.assert_allclose(found, want, rtol=20 * np.finfo(dtype).eps)
    assert is_native(lambda x: np.linalg.norm(x, axis=axis), x)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_norms_whose_squares_leave_the_range_of_numbers(dtype):
    small, large = np.finfo(dtype).tiny, np.finfo(dtype).max
    rows, first = wg.jit(lambda x: np.linalg.norm(x, axis=1)), wg.jit(lambda x: np.linalg.norm(x[0]))
    for scale in (small, 100 * small, large / 16, np.sqrt(small), np.sqrt(large)):
        x = np.array([[3, 4, 0], [0, 0, 0], [-6, 0, 8]], dtype) * dtype(scale) / dtype(8)
        want = np.array([5, 0, 10], dtype) * dtype(scale) / dtype(8)
        np.testing.assert_allclose(rows(x), want, rtol=4 * np.finfo(dtype).eps)
        np.testing.assert_allclose(first(x), want[0], rtol=4 * np.finfo(dtype).eps)


def test_norms_of_nothing_and_of_what_is_no_number():
    norm = wg.jit(lambda x: np.linalg.norm(x))
    assert norm(np.zeros(0)) == 0
    assert norm(np.zeros(3)) == 0
    assert norm(np.array([1.0, np.inf])) == np.inf
    assert norm(np.array([1.0, -np.inf])) == np.inf
    assert np.isnan(norm(np.array([1.0, np.nan])))
    assert np.isnan(norm(np.array([np.inf, np.nan])))
    np.testing.assert_array_equal(wg.jit(lambda x: np.linalg.norm(x, axis=0))(np.zeros((0, 2))), [0, 0])


def test_a_norm_of_what_is_computed_while_it_is_read(rng):
    """And its gradient, x/‖x‖, which is zero at zero."""
    x, y = rng.normal(size=(2, 6))

    def distance(x, y):
        return np.linalg.norm(np.sin(x) - y)

    found = wg.jit(wg.grad(distance))(x, y)
    d = np.sin(x) - y
    np.testing.assert_allclose(found, d * np.cos(x) / np.sqrt(np.sum(d**2)), rtol=1e-12)
    np.testing.assert_array_equal(wg.jit(wg.grad(lambda x, y: np.linalg.norm(2 * x - y)))(x, 2 * x), 0)
