"""Functions of public packages, as they are installed, against differences: eagerly and compiled, in both modes."""

import contextlib
import importlib.util
import os

import numpy as np
import pytest
from wild import (
    programs_by_field,
    programs_of_contractors,
    programs_of_engineers,
    programs_of_explorers,
    programs_of_laboratories,
    programs_of_ledgers,
    programs_of_naturalists,
    programs_of_navigators,
    programs_of_observatories,
    programs_of_planners,
    programs_of_practice,
    programs_of_sciences,
    programs_of_searches,
    programs_of_stations,
    programs_of_studios,
    programs_of_surveyors,
    programs_of_textbooks,
    programs_of_workshops,
)
from wild.programs import LONG, PROGRAMS, REFUSED, REFUSED_COMPILED

import wengert as wg
from wengert.errors import WengertError

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # which np.matrix gives

_adds_more = (
    programs_by_field,
    programs_of_contractors,
    programs_of_engineers,
    programs_of_explorers,
    programs_of_laboratories,
    programs_of_ledgers,
    programs_of_naturalists,
    programs_of_navigators,
    programs_of_observatories,
    programs_of_planners,
    programs_of_practice,
    programs_of_sciences,
    programs_of_searches,
    programs_of_stations,
    programs_of_studios,
    programs_of_surveyors,
    programs_of_textbooks,
    programs_of_workshops,
)


def differences(f, point):
    """The gradient by central differences of two widths, extrapolated."""
    found = []
    for k, x in enumerate(point):
        h = 1e-4 * max(abs(x), 1e-3)
        slopes = []
        for step in (h, h / 2):
            ends = [f(*[v + s * step * (j == k) for j, v in enumerate(point)]) for s in (1, -1)]
            slopes.append((float(ends[0]) - float(ends[1])) / (2 * step))
        found.append((4 * slopes[1] - slopes[0]) / 3)
    return found


def forward(f):
    def gradient(*point):
        n = len(point)
        return [wg.jvp(f, point, tuple(float(j == k) for j in range(n)))[1] for k in range(n)]

    return gradient


def reverse(f):
    return lambda *point: wg.grad(f, argnums=tuple(range(len(point))))(*point)


def compiled_reverse(f):
    return lambda *point: wg.jit(wg.grad(f, argnums=tuple(range(len(point)))))(*point)


COLUMNS = {
    "forward": forward,
    "reverse": reverse,
    "jit(reverse)": compiled_reverse,
    "reverse(jit)": lambda f: reverse(wg.jit(f)),
    "forward(jit)": lambda f: forward(wg.jit(f)),
}


def is_installed(package):
    """Whether it is; a folder of its name (`tests/control`) is no package."""
    try:
        found = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        return False
    return found is not None and found.origin is not None


@pytest.fixture(params=PROGRAMS, ids=lambda p: f"{p.package.split('.')[0]}-{p.name}")
def wild(request):
    if not is_installed(request.param.package):
        pytest.skip(f"{request.param.package} is not installed: make test-wild")
    with np.errstate(all="ignore"):
        yield request.param


@contextlib.contextmanager
def refused_or_not(wild, is_compiled):
    """What is listed as refused must be refused, with one of our errors; and nothing else."""
    if wild.name in REFUSED or (is_compiled and wild.name in REFUSED_COMPILED):
        with pytest.raises(WengertError):
            yield
    else:
        yield


def test_value(wild):
    f = wild.function()
    with refused_or_not(wild, True):
        agrees(wild, f)


def agrees(wild, f):
    want = float(f(*wild.point))  # first, since some packages fill tables of their own at the first call
    np.testing.assert_allclose(float(wg.jit(f)(*wild.point)), want, rtol=1e-10)


@pytest.mark.parametrize("column", COLUMNS)
def test_gradient(wild, column):
    if wild.name in LONG and "jit" in column:
        pytest.skip(LONG[wild.name])
    with refused_or_not(wild, "jit" in column):
        slopes_agree(wild, wild.function(), column)


def slopes_agree(wild, f, column):
    want = differences(f, wild.point)
    found = [float(g) for g in COLUMNS[column](f)(*wild.point)]
    scale = [
        max(abs(w), 1e-9 * abs(float(f(*wild.point)) / max(abs(x), 1e-3)))
        for w, x in zip(want, wild.point, strict=True)
    ]
    assert [abs(g - w) / s < 1e-5 for g, w, s in zip(found, want, scale, strict=True)] == [True] * len(want), (
        found,
        want,
    )


@pytest.mark.skipif("WENGERT_WILD" not in os.environ, reason="only where the packages were installed: make test-wild")
def test_that_there_is_something_to_test():
    assert sum(is_installed(p.package) for p in PROGRAMS) >= 110
    assert len({p.package.split(".")[0] for p in PROGRAMS if is_installed(p.package)}) >= 55
