"""Complex numbers where SciPy computes with real ones: it raises or drops the imaginary parts, and so do we."""

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal
import scipy.spatial.distance as distance
from scipy.integrate import simpson
from scipy.interpolate import BarycentricInterpolator, KroghInterpolator, RBFInterpolator
from scipy.spatial.transform import Rotation

import wengert as wg

T = np.linspace(0, 1, 6)
Z = np.exp(2j * T)
REFUSED = {
    "cdist": lambda c: distance.cdist((c * Z)[:, None], Z[:, None]).sum(),
    "pdist": lambda c: distance.pdist((c * Z)[:, None]).sum(),
    "cosine": lambda c: distance.cosine(c * Z, Z),
    "map_coordinates": lambda c: scipy.ndimage.map_coordinates(T, [[c]], order=1)[0],
    "krogh": lambda c: abs(KroghInterpolator(T, T**2)(c)),
    "barycentric": lambda c: abs(BarycentricInterpolator(T, T**2)(c)),
    "rbf": lambda c: RBFInterpolator(T[:, None], T**2)([[c]])[0],
    "rotation": lambda c: Rotation.from_rotvec([c, 0, 0]).as_matrix().sum(),
    "medfilt": lambda c: abs(scipy.signal.medfilt(c * Z)).sum(),
    "simpson": lambda c: abs(simpson(T, x=c * Z)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    f = lambda a: REFUSED[name]((0.2 + 0.3j) * a)
    for way in (wg.grad(f), wg.jit(f)):
        with pytest.raises((TypeError, ValueError), match="omplex"):
            way(1.5)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_smoothed_real_parts():
    def f(a):
        return abs(scipy.signal.savgol_filter((0.2 + 0.3j) * a * Z, 5, 2)).sum()

    np.testing.assert_allclose(wg.value_and_grad(f)(1.5), (f(1.5), f(1.5) / 1.5))
    np.testing.assert_allclose(wg.jit(f)(1.5), f(1.5))
