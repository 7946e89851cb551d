"""scipy.ndimage: derivatives of images, filters by rank, turning and resizing, measurements on regions."""

import functools

import harness
import numpy as np
import pytest
import scipy.ndimage as nd

import wengert as wg
from wengert.errors import UnsupportedFunctionError

agrees = functools.partial(harness.agrees, compiled=False)
RNG = np.random.default_rng(0)
IMAGE, CUBE = RNG.normal(size=(6, 7)), RNG.normal(size=(3, 5, 4))
MODES = ["reflect", "constant", "nearest", "mirror", "wrap"]
LABELS = np.array([[0, 1, 1, 2, 2, 2, 0], [0, 1, 1, 2, 2, 3, 3]] * 3)


@pytest.mark.parametrize("mode", MODES)
def test_derivatives_of_images(mode):
    for f in (nd.sobel, nd.prewitt):
        agrees(lambda x: f(x, mode=mode, cval=0.3), IMAGE)  # noqa: B023
        agrees(lambda x: f(x, 0, mode=mode), CUBE)  # noqa: B023
    agrees(lambda x: nd.laplace(x, mode=mode, cval=0.3), IMAGE)
    agrees(lambda x: nd.gaussian_laplace(x, 0.8, mode=mode), IMAGE)
    agrees(lambda x: nd.gaussian_gradient_magnitude(x, 0.8, mode=mode), IMAGE, second=True)
    agrees(lambda x, w: nd.gaussian_laplace(x, w, mode=mode), IMAGE, np.array([0.8, 1.1]))


def test_prefilters():
    agrees(lambda x: nd.spline_filter1d(x, axis=0), IMAGE)
    agrees(lambda x: nd.spline_filter(x, order=2, mode="reflect"), IMAGE)


@pytest.mark.parametrize("mode", MODES)
def test_filters_by_rank(mode):
    footprint = np.array([[1, 0, 1], [1, 1, 0]])
    for f in (nd.maximum_filter, nd.minimum_filter, nd.median_filter):
        agrees(lambda x: f(x, 3, mode=mode, cval=0.3), IMAGE)  # noqa: B023
        agrees(lambda x: f(x, (2, 3), mode=mode), IMAGE)  # noqa: B023
        agrees(lambda x: f(x, footprint=footprint, mode=mode, origin=(0, -1)), IMAGE)  # noqa: B023
    agrees(lambda x: nd.maximum_filter1d(x, 4, 0, mode=mode), IMAGE)
    agrees(lambda x: nd.minimum_filter1d(x, 3, mode=mode), IMAGE)
    agrees(lambda x: nd.rank_filter(x, 2, size=3, mode=mode), IMAGE)
    agrees(lambda x: nd.percentile_filter(x, 30, size=3, mode=mode), IMAGE)
    agrees(lambda x: nd.percentile_filter(x, -20, size=3, mode=mode), IMAGE)


@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("mode", ["reflect", "constant", "nearest"])
def test_zoom(order, mode):
    grid = {"constant": "grid-constant"}
    agrees(lambda x: nd.zoom(x, 1.7, order=order, mode=mode), IMAGE)
    agrees(lambda x: nd.zoom(x, (0.5, 2.2), order=order, mode=grid.get(mode, mode), grid_mode=True), IMAGE)


@pytest.mark.parametrize("order", [1, 3])
def test_rotation(order):
    agrees(lambda x, a: nd.rotate(x, a, order=order), IMAGE, np.array(23.0), rtol=1e-5)
    agrees(lambda x, a: nd.rotate(x, a, order=order, reshape=False, mode="nearest"), IMAGE, np.array(-41.0), rtol=1e-5)
    agrees(lambda x: nd.rotate(x, 30, axes=(0, 2), order=order), CUBE)


def test_measurements():
    for f in (nd.sum, nd.sum_labels, nd.mean, nd.variance, nd.standard_deviation, nd.maximum, nd.minimum):
        agrees(lambda x: f(x), IMAGE)  # noqa: B023
        agrees(lambda x: f(x, LABELS), IMAGE)  # noqa: B023
        agrees(lambda x: f(x, LABELS, 2), IMAGE)  # noqa: B023
        agrees(lambda x: f(x, LABELS, [3, 1, 1]), IMAGE, second=f is nd.variance)  # noqa: B023


def test_centres():
    positive = np.abs(IMAGE) + 0.1
    agrees(lambda x: np.stack(nd.center_of_mass(x)), positive, second=True)
    agrees(lambda x: np.stack([np.stack(c) for c in nd.center_of_mass(x, LABELS, [1, 3])]), positive)
    gradient = wg.grad(lambda x: nd.center_of_mass(x)[0])(positive)
    rows = np.arange(6.0)[:, None] - nd.center_of_mass(positive)[0]
    np.testing.assert_allclose(gradient, np.broadcast_to(rows, (6, 7)) / positive.sum(), rtol=1e-10)
    with pytest.raises(UnsupportedFunctionError, match="labels"):
        wg.grad(lambda x: nd.sum(IMAGE, x, 1))(IMAGE)
