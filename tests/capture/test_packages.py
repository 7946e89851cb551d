"""Installed packages are followed like the user's own code, except some that are left alone."""

import colorsys
import importlib
import math
import statistics
import sys

import numpy as np
import pytest
from harness import slope_by_differences

import wengert as wg
from wengert.packages import is_followed

MODULE = """
import math
import numpy as np
CONSTANT = np.array([1.0, 2.0])

class Gas:
    def __init__(self, t):
        self.t = float(t)

    @property
    def energy(self):
        return math.exp(-self.t)

def volume(r, n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = math.pi * r ** (i + 1)
    scale = CONSTANT.copy()
    scale[0] = r
    return out.sum() * scale.sum() + Gas(r).energy

def overwrite(r):
    CONSTANT[0] = r
    return r
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages" / "wengert_test_package"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    importlib.invalidate_caches()
    yield importlib.import_module("wengert_test_package")
    sys.modules.pop("wengert_test_package")


def test_an_installed_package_is_followed(installed):
    def f(r):
        return installed.volume(r, 3)

    for g in (wg.grad(f), wg.jit(wg.grad(f)), wg.jacfwd(f), wg.grad(wg.jit(f))):
        np.testing.assert_allclose(g(2.0), slope_by_differences(f, 2.0), rtol=1e-8)


def test_errors_in_a_package_show_both_lines(installed):
    def f(r):
        return installed.overwrite(r)

    message = r"(?s)wengert_test_package.__init__.py:\d+: CONSTANT\[0\] = r.*called at .*test_packages.py:\d+: ret"
    with pytest.raises(wg.errors.InPlaceError, match=message):
        wg.grad(f)(2.0)


def test_packages_can_be_left_alone_and_followed_again(installed):
    def f(r):
        return installed.volume(r, 3)

    wg.leave_alone("wengert_test_package")
    with pytest.raises((wg.errors.WengertError, ValueError)):
        wg.grad(f)(2.0)
    wg.instrument("wengert_test_package")
    np.testing.assert_allclose(wg.grad(f)(2.0), slope_by_differences(f, 2.0), rtol=1e-8)
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        wg.instrument("no_such_package")


def test_what_is_left_alone():
    for module in (np, importlib.import_module("scipy.optimize"), pytest, wg, importlib.import_module("dataclasses")):
        assert not is_followed(module.__file__)
    assert is_followed(__file__)
    assert is_followed("/somewhere/site-packages/filterpy/kalman/filter.py")
    assert not is_followed("/somewhere/site-packages/astropy/units/core.py")
    assert is_followed("/somewhere/site-packages/astropy/cosmology/core.py")


STATISTICS = {
    "mean": lambda x: statistics.mean(x),
    "fmean": lambda x: statistics.fmean(x),
    "variance": lambda x: statistics.variance(x),
    "pstdev": lambda x: statistics.pstdev(list(x)),
    "stdev": lambda x: statistics.stdev(x),
    "median": lambda x: statistics.median(x),
    "geometric mean": lambda x: statistics.geometric_mean(x),
    "harmonic mean": lambda x: statistics.harmonic_mean(x),
    "normal": lambda x: statistics.NormalDist(x[0], x[1]).pdf(x[2]) + statistics.NormalDist(x[0], x[1]).cdf(0.3),
    "colour": lambda x: sum(colorsys.rgb_to_hsv(x[0] / 4, x[1] / 4, x[2] / 4)),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_modules_of_python_that_compute(name):
    f = STATISTICS[name]
    x = np.array([1.3, 0.7, 2.5])
    gradient = [slope_by_differences(lambda t, k=k: f(np.where(np.arange(3) == k, t, x)), x[k]) for k in range(3)]
    np.testing.assert_allclose(wg.grad(f)(x), gradient, rtol=1e-7, atol=1e-10)
    assert math.isclose(wg.value_and_grad(f)(x)[0], f(x), rel_tol=1e-14)
