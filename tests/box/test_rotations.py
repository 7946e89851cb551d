"""Rotations with traced components, against SciPy's and differences of them."""

from __future__ import annotations

import numpy as np
import pytest
from harness import has_derivatives_of_differences, jacobian_by_differences
from scipy.spatial.transform import Rotation as R
from scipy.spatial.transform import Slerp

import wengert as wg

X = np.array([0.3, 1.2, -0.7, 0.5, 0.9, 1.4])

PROGRAMS = {
    "quaternion": lambda x: R.from_quat(x[:4]).as_matrix(),
    "scalar first": lambda x: R.from_quat(x[:4], scalar_first=True).as_quat(canonical=True, scalar_first=True),
    "vector": lambda x: R.from_rotvec(x[:3]).as_matrix(),
    "small vector": lambda x: R.from_rotvec(x[:3] * 1e-5).as_matrix(),
    "degrees": lambda x: R.from_rotvec(x[:3] * 30, degrees=True).as_quat(),
    "vectors": lambda x: R.from_rotvec(x.reshape(2, 3)).as_rotvec(),
    "back to a small vector": lambda x: R.from_rotvec(x[:3] * 1e-5).as_rotvec(),
    "extrinsic": lambda x: R.from_euler("xyz", x[:3]).as_matrix(),
    "intrinsic": lambda x: R.from_euler("ZXZ", x[:3]).as_matrix(),
    "one angle": lambda x: R.from_euler("z", x[0]).as_matrix(),
    "two angles": lambda x: R.from_euler("zy", x[:2] * 20, degrees=True).as_matrix(),
    "rows of angles": lambda x: R.from_euler("XYZ", x.reshape(2, 3)).as_matrix(),
    "matrix": lambda x: R.from_matrix(R.from_rotvec(x[:3]).as_matrix()).as_rotvec(),
    "not quite a rotation": lambda x: R.from_matrix(np.eye(3) + 0.1 * np.outer(x[:3], x[3:])).as_quat(canonical=True),
    "about a rotation": lambda x: R.from_matrix(np.eye(3) + np.outer(x[:3] - X[:3], x[3:])).as_rotvec(),
    "far from a rotation": lambda x: R.from_matrix(np.diag([1.0, 9.0, 0.2]) + np.outer(x[:3], x[3:]) / 9).as_matrix(),
    "angles": lambda x: R.from_rotvec(x[:3]).as_euler("xyz"),
    "intrinsic angles": lambda x: R.from_rotvec(x[:3]).as_euler("YXZ"),
    "proper angles": lambda x: R.from_rotvec(x[:3]).as_euler("ZXZ", degrees=True),
    "applied": lambda x: R.from_rotvec(x[:3]).apply(x[3:]),
    "applied to rows, inverse": lambda x: R.from_rotvec(x[:3]).apply(np.eye(3) * x[3], inverse=True),
    "plain, applied": lambda x: R.from_rotvec([0.1, 0.2, 0.3]).apply(x[3:]),
    "composed": lambda x: (R.from_rotvec(x[:3]) * R.from_rotvec(x[3:])).as_rotvec(),
    "plain, composed": lambda x: (R.from_rotvec([0.1, 0.2, 0.3]) * R.from_rotvec(x[3:])).as_quat(),
    "composed with plain": lambda x: (R.from_rotvec(x[3:]) * R.from_rotvec([0.1, 0.2, 0.3])).as_quat(),
    "inverse": lambda x: R.from_rotvec(x[3:]).inv().as_matrix(),
    "magnitude": lambda x: R.from_rotvec(x[3:]).magnitude(),
    "power": lambda x: (R.from_rotvec(x[3:]) ** 2.5).as_rotvec(),
    "modified Rodrigues": lambda x: R.from_mrp(x[:3]).as_mrp(),
    "one of several": lambda x: R.from_rotvec(x.reshape(2, 3))[1].as_matrix(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name: str) -> None:
    has_derivatives_of_differences(PROGRAMS[name], X)


def test_compiled() -> None:
    def several(x):
        return tuple([f(x) for f in PROGRAMS.values()])

    for value, row, f in zip(wg.jit(several)(X), wg.jit(wg.jacfwd(several))(X), PROGRAMS.values(), strict=True):
        np.testing.assert_allclose(value, f(X), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(row, jacobian_by_differences(f, X), rtol=1e-5, atol=1e-7)


def test_what_scipy_refuses() -> None:
    for f in (
        lambda x: R.from_quat(x[:3]).as_matrix(),
        lambda x: R.from_matrix(-np.eye(3) * x[1]).as_matrix(),
        lambda x: R.from_euler("xx", x[:2]).as_matrix(),
    ):
        with pytest.raises(ValueError):
            f(X)
        with pytest.raises(ValueError):
            wg.jacrev(f)(X)


REFUSED = {
    "mean": lambda x: R.from_rotvec(x.reshape(2, 3)).mean().as_matrix(),
    "align_vectors": lambda x: R.align_vectors(x.reshape(2, 3), np.ones((2, 3)))[0].as_matrix(),
    "gimbal": lambda x: R.from_euler("xyz", [x[0], np.pi / 2, 0.1]).as_euler("xyz"),
    "Slerp": lambda x: Slerp(x[:2], R.from_rotvec(np.eye(3)[:2]))(0.5).as_matrix(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_refused_by_name(name: str) -> None:
    with pytest.raises(wg.errors.UnsupportedFunctionError, match=name):
        wg.jacrev(REFUSED[name])(X)
