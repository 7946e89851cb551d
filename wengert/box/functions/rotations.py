"""`scipy.spatial.transform.Rotation` with traced components: unit quaternions (x, y, z, w), written in ops.

Near a rotation by zero SciPy uses series, and so do we: derivatives there are those of the series.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np

from wengert.box.contents import Holder
from wengert.box.dispatch import FUNCTIONS, implements_blind
from wengert.box.functions.operands import array, in_double
from wengert.errors import UnsupportedFunctionError
from wengert.imported import when_imported
from wengert.ops import elementwise as e
from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import Traced
from wengert.types import dtype_of, ndim_of, shape_of

_SMALL = 1e-3


def _floating(x: Any) -> Any:
    x = array(x)
    return x if dtype_of(x).kind == "f" else in_double(x)


def _norm(x: Any) -> Any:
    return FUNCTIONS[np.linalg.norm](x, axis=-1, keepdims=True)


def _columns(x: Any) -> list[Any]:
    return [x[..., k] for k in range(shape_of(x)[-1])]


def _row(parts: list[Any]) -> Any:
    return np.stack(list(np.broadcast_arrays(*parts)), axis=-1)


class Rotation(Holder):
    """What SciPy's class is, for traced components."""

    def __init__(self, quat: Any):
        self._quat = quat

    # ------------------------------------------------------------------------------------------------- as a container

    @property
    def single(self) -> bool:
        return ndim_of(self._quat) == 1

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self._quat)[:-1]

    def __len__(self) -> int:
        if self.single:
            raise TypeError("Single rotation has no len().")
        return self.shape[0]

    def __getitem__(self, idx: Any) -> Rotation:
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        return Rotation(self._quat[idx])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedFunctionError(
            f"scipy.spatial.transform.Rotation.{name} of traced values has no derivative rule",
            remedy="write it with as_matrix(), as_quat() or as_rotvec() and NumPy",
        )

    # ----------------------------------------------------------------------------------------------------- composition

    def __mul__(self, other: Any) -> Any:
        q = _quaternion(other)
        return NotImplemented if q is None else Rotation(_normalised(_product(self._quat, q)))

    def __rmul__(self, other: Any) -> Any:
        p = _quaternion(other)
        return NotImplemented if p is None else Rotation(_normalised(_product(p, self._quat)))

    def __pow__(self, n: float, modulus: None = None) -> Rotation:
        return from_rotvec(n * self.as_rotvec())

    def inv(self) -> Rotation:
        return Rotation(self._quat * np.array([-1.0, -1.0, -1.0, 1.0]))

    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        matrix, vectors = self.as_matrix(), array(vectors)
        if inverse:
            matrix = np.swapaxes(matrix, -1, -2)
        return (matrix @ vectors[..., None])[..., 0]

    def magnitude(self) -> Any:
        x, y, z, w = _columns(self._quat)
        return 2 * np.arctan2(FUNCTIONS[np.linalg.norm](_row([x, y, z]), axis=-1), np.abs(w))

    # -------------------------------------------------------------------------------------------------- representations

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Any:
        q = _canonical(self._quat) if canonical else self._quat
        return np.roll(q, 1, axis=-1) if scalar_first else q

    def as_matrix(self) -> Any:
        x, y, z, w = _columns(self._quat)
        rows = [
            [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w],
        ]
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    def as_rotvec(self, degrees: bool = False) -> Any:
        q = _canonical(self._quat)
        axis = q[..., :3]
        sine = _norm(axis)
        angle = 2 * np.arctan2(sine, q[..., 3:])
        small = e.less_equal(angle, _SMALL)
        half = np.sin(e.where(small, 1.0, angle) / 2)
        scale = e.where(small, _in_squares(sine), e.where(small, 1.0, angle) / half)
        return (np.degrees(scale) if degrees else scale) * axis

    def as_mrp(self) -> Any:
        w = self._quat[..., 3:]
        sign = e.where(e.less(w, 0), -1.0, 1.0)
        return sign * self._quat[..., :3] / (1 + sign * w)

    def as_euler(self, seq: str, degrees: bool = False, *, suppress_warnings: bool = False) -> Any:
        intrinsic = _is_intrinsic(seq)
        if len(seq) != 3:
            raise ValueError(f"Expected 3 axes, got {seq}.")
        axes = ["xyz".index(letter) for letter in seq.lower()]
        i, j, k = axes[::-1] if intrinsic else axes
        symmetric = i == k
        k = 3 - i - j if symmetric else k
        sign = (i - j) * (j - k) * (k - i) // 2
        q = _columns(self._quat)
        if symmetric:
            a, b, c, d = q[3], q[i], q[j], q[k] * sign
        else:
            a, b, c, d = q[3] - q[j], q[i] + q[k] * sign, q[j] + q[3], q[k] * sign - q[i]
        second = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
        locked = e.logical_or(e.less_equal(np.abs(second), 1e-7), e.less_equal(np.abs(second - np.pi), 1e-7))
        if not isinstance(locked, Traced) and np.any(locked):
            raise UnsupportedFunctionError(
                "Rotation.as_euler of traced values in a gimbal lock: the first and third angle are not unique",
                remedy="use as_quat(), as_matrix() or as_rotvec()",
            )
        plus, minus = np.arctan2(b, a), np.arctan2(d, c)
        first, third = plus - minus, plus + minus
        if not symmetric:
            third, second = third * sign, second - np.pi / 2
        if intrinsic:
            first, third = third, first
        angles = [_within_pi(t) for t in (first, second, third)]
        y = e.where(locked[..., None], np.nan, _row(angles))
        return np.degrees(y) if degrees else y


def _in_squares(sine: Any) -> Any:
    """angle / sin(angle / 2) for small angles, where sin(angle / 2) is given: 2 + s²/3 + 3 s⁴/20."""
    square = sine * sine
    return 2 + square / 3 + 3 * square * square / 20


def _within_pi(angle: Any) -> Any:
    shift = e.where(e.less(angle, -np.pi), 2 * np.pi, e.where(e.greater(angle, np.pi), -2 * np.pi, 0.0))
    return angle + shift


def _is_intrinsic(seq: str) -> bool:
    intrinsic = re.match(r"^[XYZ]{1,3}$", seq) is not None
    if not intrinsic and re.match(r"^[xyz]{1,3}$", seq) is None:
        raise ValueError(f"Expected axes from `seq` to be from ['x', 'y', 'z'] or ['X', 'Y', 'Z'], got {seq}")
    if any(a == b for a, b in itertools.pairwise(seq)):
        raise ValueError(f"Expected consecutive axes to be different, got {seq}")
    return intrinsic


def _quaternion(rotation: Any) -> Any:
    if isinstance(rotation, Rotation):
        return rotation._quat
    return rotation.as_quat() if type(rotation).__module__.startswith("scipy.spatial.transform") else None


def _product(p: Any, q: Any) -> Any:
    (a, b, c, d), (x, y, z, w) = _columns(p), _columns(q)
    return _row([
        d * x + w * a + b * z - c * y,
        d * y + w * b + c * x - a * z,
        d * z + w * c + a * y - b * x,
        d * w - a * x - b * y - c * z,
    ])  # fmt: skip


def _normalised(q: Any) -> Any:
    return q / _norm(q)


def _canonical(q: Any) -> Any:
    """The one of q and -q whose last component that is not zero, from w on, is positive."""
    x, y, z, w = _columns(q)
    zero = lambda t: e.equal(t, 0)
    negative = e.less(e.where(zero(w), e.where(zero(x), e.where(zero(y), z, y), x), w), 0)
    return q * e.where(negative, -1.0, 1.0)[..., None]


def from_quat(quat: Any, *, scalar_first: bool = False) -> Rotation:
    q = _floating(quat)
    if ndim_of(q) < 1 or shape_of(q)[-1] != 4:
        raise ValueError(f"Expected `quat` to have shape (..., 4), got {shape_of(q)}.")
    return Rotation(_normalised(np.roll(q, -1, axis=-1) if scalar_first else q))


def from_rotvec(rotvec: Any, degrees: bool = False) -> Rotation:
    v = _floating(rotvec)
    if shape_of(v)[-1] != 3:
        raise ValueError(f"Expected `rot_vec` to have shape (..., 3), got {shape_of(v)}")
    v = np.radians(v) if degrees else v
    square = np.sum(v * v, axis=-1, keepdims=True)
    small = e.less_equal(square, _SMALL**2)
    angle = np.sqrt(e.where(small, 1.0, square))
    scale = e.where(small, 0.5 - square / 48 + square * square / 3840, np.sin(angle / 2) / angle)
    cosine = e.where(small, 1 - square / 8 + square * square / 384, np.cos(angle / 2))
    return Rotation(np.concatenate([v * scale, cosine], axis=-1))


def from_mrp(mrp: Any) -> Rotation:
    m = _floating(mrp)
    total = np.sum(m * m, axis=-1, keepdims=True) + 1
    return Rotation(np.concatenate([2 * m, 2 - total], axis=-1) / total)


def from_euler(seq: str, angles: Any, degrees: bool = False) -> Rotation:
    intrinsic = _is_intrinsic(seq)
    angles = _floating(angles)
    angles = np.radians(angles) if degrees else angles
    if len(seq) == 1 and (not ndim_of(angles) or shape_of(angles)[-1] != 1):
        angles = angles[..., None]
    angles = np.atleast_1d(angles)
    if shape_of(angles)[-1] != len(seq):
        raise ValueError(
            f"Expected last dimension of `angles` to match number of sequence axes: {shape_of(angles)[-1]}"
        )
    q = None
    for k, letter in enumerate(seq.lower()):
        half = angles[..., k] / 2
        nothing = half * 0.0
        parts = [nothing, nothing, nothing, np.cos(half)]
        parts["xyz".index(letter)] = np.sin(half)
        turn = _row(parts)
        q = turn if q is None else _product(q, turn) if intrinsic else _product(turn, q)
    return Rotation(q)


def _nearest_rotation(m: Any) -> Any:
    """The orthogonal factor of the polar decomposition, by Newton's iteration (Higham 1986, scaled).

    SciPy takes it from singular values; those of a rotation coincide, and have no derivatives.
    """
    for _ in range(12):
        inverse = np.swapaxes(FUNCTIONS[np.linalg.inv](m), -1, -2)
        scale = stop_gradient(np.abs(FUNCTIONS[np.linalg.det](stop_gradient(m)))) ** (-1 / 3)
        scale = scale[..., None, None]
        m = 0.5 * (scale * m + inverse / scale)
    return m


def from_matrix(matrix: Any, *, assume_valid: bool = False) -> Rotation:
    m = _floating(matrix)
    if shape_of(m)[-2:] != (3, 3):
        raise ValueError(f"Expected `matrix` to have shape (..., 3, 3), got {shape_of(m)}")
    if not assume_valid:
        determinant = FUNCTIONS[np.linalg.det](stop_gradient(m))
        if not isinstance(determinant, Traced) and np.any(determinant <= 0):
            raise ValueError("Non-positive determinant (left-handed or null coordinate frame) in rotation matrix")
        # where nothing can be raised, SciPy gives NaN as well
        m = e.where(e.greater(determinant, 0)[..., None, None], m, np.nan)
        m = _nearest_rotation(m)
    t = [[m[..., i, j] for j in range(3)] for i in range(3)]
    trace = t[0][0] + t[1][1] + t[2][2]
    # The largest of the four decides, so that nothing is divided by what is nearly zero.
    candidates = [
        _row([1 - trace + 2 * t[0][0], t[1][0] + t[0][1], t[2][0] + t[0][2], t[2][1] - t[1][2]]),
        _row([t[1][0] + t[0][1], 1 - trace + 2 * t[1][1], t[2][1] + t[1][2], t[0][2] - t[2][0]]),
        _row([t[2][0] + t[0][2], t[2][1] + t[1][2], 1 - trace + 2 * t[2][2], t[1][0] - t[0][1]]),
        _row([t[2][1] - t[1][2], t[0][2] - t[2][0], t[1][0] - t[0][1], 1 + trace]),
    ]
    best = FUNCTIONS[np.argmax](_row([t[0][0], t[1][1], t[2][2], trace]), axis=-1)
    q = candidates[3]
    for k in range(3):
        q = e.where(e.equal(best, k)[..., None], candidates[k], q)
    return Rotation(_normalised(q))


def _apply(self: Any, vectors: Any, inverse: bool = False) -> Any:
    return Rotation(self.as_quat()).apply(vectors, inverse)


def _refusing(name: str) -> Any:
    def implementation(*args: Any, **kwargs: Any) -> Any:
        raise UnsupportedFunctionError(
            f"scipy.spatial.transform.{name} of traced values has no derivative rule",
            remedy="write it with rotation vectors, matrices or quaternions and NumPy",
        )

    return implementation


@when_imported("scipy.spatial.transform")
def _transform(module: Any) -> None:
    for f in (from_quat, from_rotvec, from_mrp, from_euler, from_matrix):
        implements_blind(getattr(module.Rotation, f.__name__))(f)
    implements_blind(module.Rotation.apply)(_apply)
    for name in ("from_davenport", "align_vectors"):
        if hasattr(module.Rotation, name):
            implements_blind(getattr(module.Rotation, name))(_refusing(f"Rotation.{name}"))
    implements_blind(module.Slerp)(_refusing("Slerp"))
