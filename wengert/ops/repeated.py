"""Rows that keep watch where eigenvalues, or singular values, coincide.

Note [Repeated eigenvalues]

Let V be a basis of the eigenspace of an eigenvalue w that is repeated k times. V is determined up to a rotation, and
a perturbation e of the matrix acts on the eigenspace as the k × k matrix h = Vᴴ e V. Everything that is a smooth
function of the matrix has a derivative there, of the form tr(g h) with a k × k matrix g: for tr(c v f(w) vᴴ) it is
g = f'(w) Vᴴ c V. But v and w, and their cotangents, know only the diagonal of g: that is what the w in the space have
for cotangents. So:

Forwards, the direction e is known. The basis V is chosen such that h is diagonal; its diagonal is the tangent of the
eigenvalues, and vectors need not rotate among each other. That is right for every smooth function of the matrix.

Backwards, e is not known. V is a basis in general position (that which diagonalises some fixed matrix), in which a
matrix g has a constant diagonal only if it is a multiple of the identity. So if the cotangents of the eigenvalues in a
space agree, all of g is known (traces, sums over eigenvalues, projections onto whole eigenspaces are of this kind). If
they do not agree (matrix functions put together from v and w), what is missing is nowhere to be had: an error. If the
cotangent of V sees rotations, the function depends on the choice of V: an error, too.

Second derivatives need the rotation at first order, which depends on more than h. They are refused, except for
eigenvalues alone, forwards on whatever: there V, chosen for the outer direction, enters but once.

Values count as equal if they cannot be told apart in the precision of the matrix.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.errors import RepeatedValuesError
from wengert.ops import library
from wengert.ops.derive import general, linear
from wengert.ops.elementwise import stop_gradient
from wengert.ops.enclosures import stated
from wengert.ops.levels import Levels, is_symbol, is_unknown, levels
from wengert.ops.matrices import constant_of_matrices
from wengert.ops.op import call
from wengert.ops.rounding import Bounds, V
from wengert.ops.shape import broadcast_to
from wengert.ops.traits import CHEAP, NEVER, VALUES
from wengert.types import dtype_of, shape_of

REMEDIES = {
    "eigen": "for functions of eigenvalues use eigvalsh; for a matrix function scipy.linalg.funm(a, f), or expm, logm, "
    "sqrtm, in place of v @ diag(f(w)) @ v.T",
    "singular": "for functions of singular values use svdvals or norms, for polar factors scipy.linalg.polar, for "
    "others scipy.linalg.funm of a.T @ a",
    "null": "use what does not depend on the basis, such as the projection n @ n.T",
}
_NAMES = {"eigen": "repeated eigenvalues", "singular": "repeated or vanishing singular values", "null": "null spaces"}


def refusal(problem: str, kind: str) -> RepeatedValuesError:
    """The error for what cannot be had where values coincide."""
    return RepeatedValuesError(f"{_NAMES[kind]}: {problem}", remedy=REMEDIES[kind])


# ------------------------------------------------------------------------------------------------- which are equal


def _tolerance(w: Any, size: int) -> Any:
    return library.largest(np.abs(w), -1) * (8 * size * float(np.finfo(dtype_of(w)).eps))


def same_group(w: Any, size: int) -> Any:
    """Which values, in order, cannot be told apart from which: chains of neighbours, each equal to itself."""
    steps = np.abs(np.diff(w, axis=-1)) > _tolerance(w, size)
    first = library.zeros((*shape_of(w)[:-1], min(1, shape_of(w)[-1])), int, w)
    label = np.concatenate([first, np.cumsum(steps, axis=-1)], axis=-1)
    return np.equal(label[..., None, :], label[..., :, None])


def are_distinct(w: Any, size: int) -> bool:
    """Whether all values, in order, can be told apart."""
    return bool(np.all(np.abs(np.diff(w, axis=-1)) > _tolerance(w, size)))


def is_null(s: Any, size: int) -> Any:
    """Which singular values cannot be told from zero."""
    return s <= _tolerance(s, size)


groups = constant_of_matrices("groups", lambda w, size: same_group(w, size), raises=NEVER, cost=CHEAP)
"""The pairs of values that are equal; `size` is that of the matrix."""

null_mask = constant_of_matrices(
    "null_mask",
    lambda s, size: is_null(s, size),
    raises=NEVER,
    cost=CHEAP,
    bounds=stated(lambda s, size: Bounds(V.less(s.lo, -math.inf), V.logical_not(V.less(s.lo, -math.inf)))),
)
"""The singular values that are zero; of those in intervals, any."""


def _coincidences(w: Any, size: int, zeros: bool) -> Any:
    count = int(np.any(np.sum(same_group(w, size), axis=-1) > 1) or (zeros and np.any(is_null(w, size))))
    return library.zeros((*shape_of(w)[:-1], count), bool, w)


def may_coincide(w: Any, size: int, zeros: bool = False) -> bool:
    """Whether values are repeated (or, with `zeros`, vanish), or are not known yet, in a program that is captured."""
    return is_symbol(w) or shape_of(coincidences(w, size=size, zeros=zeros))[-1] > 0


def _unclear(w: Any, size: int, zeros: bool) -> Any:
    found = np.any(np.sum(same_group(w, size), axis=-1) > 1, axis=-1, keepdims=True)
    return found | np.any(is_null(w, size), axis=-1, keepdims=True) if zeros else found


unclear = constant_of_matrices("unclear", _unclear, raises=NEVER, cost=CHEAP)
"""Whether values are repeated (or, with `zeros`, vanish), for each matrix of a stack."""

coincidences = constant_of_matrices(
    "coincidences",
    _coincidences,
    shape=lambda w, size, zeros: (*w.shape[:-1], None),  # known only when it is computed
    raises=NEVER,
    cost=CHEAP,
)
"""As many columns as there are reasons for care: none if all values are different (and, with `zeros`, not zero)."""

_FEW_DIGITS = 1e-8


def _gaps_are_safe(w: Any, size: int, kind: str) -> Any:
    """Warn of values so close that differences of vectors lose more than half the digits."""
    gaps = np.abs(np.diff(w, axis=-1))
    eps = float(np.finfo(dtype_of(w)).eps)
    close = np.any((gaps * max(_FEW_DIGITS, eps) < _tolerance(w, size) / 8) & (gaps > _tolerance(w, size)))
    if eps < _FEW_DIGITS and close:
        warnings.warn(
            f"{kind} values that are close: derivatives through their vectors lose as "
            f"many digits as the values have in common; {REMEDIES[kind]}",
            RuntimeWarning,
            stacklevel=2,
        )
    return library.zeros(shape_of(w)[:-1], float, w)


gaps_are_safe = constant_of_matrices("gaps_are_safe", _gaps_are_safe, raises=NEVER, cost=CHEAP)


# ------------------------------------------------------------------------------------------ which basis to choose


def tilt_of(a: Any, along: Any = None) -> Any:
    """The matrix that is to be diagonal in eigenspaces: the direction of differentiation, or one in general position.

    Of several directions a combination: it diagonalises all if that is possible. If the matrix is not differentiated
    any more, it is the tangent `along` which the vectors are going to be used with, if that is known.
    """
    found = levels(a).directions
    if not found and along is not None and not is_unknown(along):
        found = (stop_gradient(along),)
    total: Any = None
    for k, direction in enumerate(found):
        part = direction * 2 ** (-k / 7)
        total = part if total is None else total + part
    if total is not None:
        return total
    rng = np.random.default_rng(20080229)
    rows, columns = shape_of(a)[-2:]
    generic = rng.normal(size=(rows, columns))
    if dtype_of(a).kind == "c":
        generic = generic + 1j * rng.normal(size=(rows, columns))
    return np.broadcast_to(generic.astype(dtype_of(a)), shape_of(a))


_FIRST_ORDER = "second derivatives through their vectors cannot be had from the vectors"
_FORWARDS = (
    "of functions of them, second derivatives are taken forwards on reverse (wg.hessian, wg.hvp) only, and higher ones "
    "not at all"
)


def first_order_only(v: Any, w: Any, size: int, kind: str) -> Any:
    """Vectors that, if their values w are repeated, must not be differentiated further."""
    if not levels(v):
        return v
    return refuse_derivative_if(v, unclear(w, size=size, zeros=kind == "singular"), problem=_FIRST_ORDER, kind=kind)


def forward_only(v: Any, w: Any, outer: Levels, size: int, kind: str) -> Any:
    """Vectors that stand in derivatives of values alone: along one known direction they may be differentiated."""
    if not outer.others and len(outer.directions) <= 1:
        return v
    return refuse_derivative_if(v, unclear(w, size=size, zeros=kind == "singular"), problem=_FORWARDS, kind=kind)


def _batch_of_watch(getter: Any) -> Any:
    def rule(args: Any, mapped: Any, params: dict) -> Any:
        x, mask = args
        if not mapped[0]:
            x = broadcast_to(x, shape=(shape_of(mask)[0], *shape_of(x)))
        return call(getter(), x, mask, **params)

    return rule


def _refuse_if(x: Any, bad: Any, problem: str, kind: str) -> Any:
    if np.any(bad):
        raise refusal(problem, kind)
    return x


refuse_if = linear(
    "refuse_if",
    _refuse_if,
    lambda ct, x, bad, problem, kind: refuse_if(ct, bad, problem=problem, kind=kind),
    batch=_batch_of_watch(lambda: refuse_if),
    shape=lambda x, bad, problem, kind: x.shape,
    raises=VALUES,
    cost=CHEAP,
    data=1,
    view=True,
)
"""A tangent that, if anything is bad, is not known: an error as soon as anyone wants it, or has a cotangent for it."""

refuse_derivative_if = general(
    "refuse_derivative_if",
    lambda v, bad, problem, kind: v,
    (lambda v_dot, y, v, bad, problem, kind: refuse_if(v_dot, bad, problem=problem, kind=kind), None),
    batch=_batch_of_watch(lambda: refuse_derivative_if),
    shape=lambda v, bad, problem, kind: v.shape,
    raises=NEVER,
    cost=CHEAP,
    data=1,
    view=True,
)
"""A value whose derivative, if anything is bad, is not known."""


# ------------------------------------------------------------------------------------------------------ the watch

_NOT_LEVEL = (
    "the function's derivative in their vectors is not determined by the vectors and values, from which reverse mode "
    "computes it"
)
_ROTATES = "the function depends on which of many possible vectors are chosen, so it has no derivative"
_NOT_ALIGNED = "along this direction the vectors rotate in a way that is not linear in it"


def _precision(x: Any) -> float:
    return float(np.finfo(dtype_of(x)).eps) ** (2 / 3)


def _equal_cotangents_back(ct: Any, together: Any, kind: str) -> Any:
    differ = np.abs(ct[..., None, :] - ct[..., :, None])
    top = library.largest(np.abs(ct), -1)[..., None]
    if np.any((differ > top * _precision(ct)) & together):
        raise refusal(_NOT_LEVEL, kind)
    return ct


def _zero_cotangents_back(ct: Any, nothing: Any) -> Any:
    size = np.abs(ct)
    if np.any((size > library.largest(size, -1) * _precision(ct)) & nothing):
        raise refusal(_NOT_LEVEL, "singular")
    return ct


def _zero_rotation(x: Any, mask: Any, kind: str, skew: bool) -> Any:
    size = np.abs(x)
    if np.any((size > library.largest(size, (-2, -1)) * _precision(x)) & mask):
        raise refusal(_NOT_ALIGNED, kind)
    return library.zeros(shape_of(x), dtype_of(x), x)


def _zero_rotation_back(ct: Any, mask: Any, kind: str, skew: bool) -> Any:
    seen = np.abs(ct - np.conj(np.swapaxes(ct, -1, -2)) if skew else ct)
    if np.any((seen > library.largest(np.abs(ct), (-2, -1)) * _precision(ct)) & mask):
        raise refusal(_ROTATES, kind)
    return library.zeros(shape_of(ct), dtype_of(ct), ct)


def _watch(name: str, forwards: Callable, backwards: Callable) -> tuple[Any, Any]:
    """Two rows, transposes of each other, each looking at what passes through it in its own way."""

    def row(name: str, look: Callable, transpose: Callable[[], Any]) -> Any:
        op = linear(
            name,
            look,
            lambda ct, x, mask, **params: transpose()(ct, mask, **params),
            batch=_batch_of_watch(lambda: op),
            shape=lambda x, mask, **params: x.shape,
            raises=VALUES,
            cost=CHEAP,
            data=1,
            view=True,
        )
        return op

    there = row(name, forwards, lambda: back)
    back = row(f"{name}_back", backwards, lambda: there)
    return there, back


equal_cotangents, equal_cotangents_back = _watch(
    "equal_cotangents", lambda d, together, kind: d, _equal_cotangents_back
)
"""Tangents of values, as they are; cotangents must agree where values are repeated."""

zero_cotangents, zero_cotangents_back = _watch("zero_cotangents", lambda d, nothing: d, _zero_cotangents_back)
"""Tangents of singular values, as they are; cotangents must be zero where the values are."""

zero_rotation, zero_rotation_back = _watch("zero_rotation", _zero_rotation, _zero_rotation_back)
"""Zero, for the rotation (if `skew`) that a perturbation x would cause: where the mask holds x must be zero, and a
cotangent must not see rotations."""
