"""One or more calls of every op of the table: what tests that walk over it try out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.ndimage
import scipy.sparse

from wengert.box.functions.matrix_functions import Scalar
from wengert.box.functions.quadrature import Integrand
from wengert.ops.derive import Control
from wengert.ops.index import ARRAY
from wengert.ops.op import TABLE
from wengert.solvers.answer import Problem
from wengert.solvers.linear import System


@dataclass
class Call:
    """A call of an op. Operands of integer or boolean type are held; the others are differentiated."""

    args: tuple
    params: dict = field(default_factory=dict)
    before: Callable | None = None
    after: Callable | None = None


def call(*args: Any, before: Any = None, after: Any = None, **params: Any) -> Call:
    args = tuple(np.asarray(a) if isinstance(a, (list, np.ndarray)) else a for a in args)
    return Call(args, params, before, after)


V = np.array([0.3, -0.7, 0.55])
P = np.array([0.4, 1.7, 2.5])
CUBE_ROOT = Problem("cube root", lambda values: np.cbrt(values[0]), lambda y, p: y**3 - p, 3, 3)
REFINED = SimpleNamespace(size=3, refined=lambda found, values: CUBE_ROOT.solve(values), tangent=CUBE_ROOT.tangent)
Q = np.array([1.3, 0.6, 2.2])
M = np.array([[0.5, -1.2, 2.0], [1.1, 0.3, -0.4]])
N = np.array([[1.0, 0.2], [-0.5, 0.7], [0.9, -1.5]])
T = np.arange(24.0).reshape(2, 3, 4) / 10 - 1
IMAGES = np.sin(np.arange(128.0)).reshape(2, 4, 4, 4)
KERNELS = np.cos(np.arange(32.0)).reshape(4, 2, 2, 2)
G = np.array([[2.5, 0.3, -0.4], [0.2, 4.0, 0.7], [-0.6, 0.5, 7.0]])
MASK = np.array([True, False, True])
I = np.array([2, 0, 2])
to_complex = lambda x: (1 + 2j) * x * x + 0.5j * x
gram = lambda x: np.matmul(x, np.swapaxes(x, -1, -2)) + np.eye(3)
to_real = lambda z: np.real(z) + 3 * np.imag(z)

EXAMPLES: dict[str, list[Call]] = {
    "step": [call(P, count=2), call(M, count=-1)],
    "by_numpy": [call(P, name="sin"), call(M, name="exp")],
    "by_numpy_of_two": [call(P, Q, name="power"), call(M, V, name="arctan2")],
    # locally constant
    **{
        name: [call(P), call(M), call(0.7)]
        for name in [
            "floor",
            "ceil",
            "trunc",
            "rint",
            "sign",
            "signbit",
            "isnan",
            "isinf",
            "isfinite",
            "logical_not",
            "spacing",
            "exponent",
            "stop_gradient",
        ]
    },
    **{
        name: [call(P, Q), call(M, V), call(M, 0.5), call(0.5, V)]
        for name in [
            "equal",
            "not_equal",
            "less",
            "less_equal",
            "greater",
            "greater_equal",
            "logical_and",
            "logical_or",
            "logical_xor",
            "isclose",
        ]
    },
    "floor_divide": [call(P, Q), call(M, P)],
    "round": [call(M), call(M, decimals=1)],
    **{name: [call(I, I[::-1]), call(I, 1)] for name in ["left_shift", "right_shift"]},
    **{name: [call(I, I[::-1]), call(MASK, True)] for name in ["bitwise_and", "bitwise_or", "bitwise_xor"]},
    "invert": [call(I), call(MASK)],
    "size": [call(M, axis=1)],
    "iota": [call(n=3)],
    "act": [call(M, function=lambda x: (), results=(), examples="")],
    "true_positions": [call(MASK)],
    "require": [call(True, error="ValueError", message="it must be so")],
    "as_integer": [call(M, dtype=np.dtype(np.int64)), call(M, dtype=np.dtype(bool))],
    "any": [call(M, axis=(0,)), call(M, axis=(0, 1))],
    "all": [call(M, axis=(1,)), call(M, axis=(0, 1))],
    "count_nonzero": [call(M, axis=(1,)), call(M, axis=(0, 1))],
    "shares": [call(M[:1], M, axis=(0,)), call(M[0, 0], M, axis=(0, 1)), call(M[:1], M, axis=(0,), least=1)],
    "argmax": [call(M, axis=0), call(M, axis=-1)],
    "argmin": [call(M, axis=1)],
    "argsort": [call(M, axis=1), call(T, axis=-1)],
    "searchsorted": [call(np.sort(V), M, side="left"), call(np.sort(M), np.sort(M)[:, ::-1], side="right")],
    "argpartition": [call(M, axis=1, kth=1)],
    "observe": [call(M, function=np.ndim), call(M, V, function=np.allclose)],
    # elementwise, of one operand
    **{
        name: [call(V), call(M), call(0.3)]
        for name in [
            "negative",
            "positive",
            "square",
            "cbrt",
            "exp",
            "exp2",
            "expm1",
            "sin",
            "cos",
            "tan",
            "arctan",
            "degrees",
            "radians",
            "sinh",
            "cosh",
            "tanh",
            "sech_squared",
            "one_minus_square",
            "arcsinh",
            "absolute",
        ]
    },
    **{name: [call(P), call(0.3)] for name in ["reciprocal", "sqrt", "log", "log2", "log10", "log1p"]},
    **{name: [call(V), call(0.3)] for name in ["arcsin", "arccos", "arctanh"]},
    "arccosh": [call(P + 1), call(1.5)],
    "sinc": [call(V, n=0), call(V, n=1), call(np.array([0.0, 1.0, 8.5]), n=2)],
    "nan_to_num": [call(V, nan=0.0, posinf=None, neginf=None)],
    # special functions of one operand
    **{
        name: [call(V), call(0.3)]
        for name in ["erf", "erfc", "erfi", "erfinv", "ndtr", "log_ndtr", "mills", "expit", "log_expit", "exp10"]
    },
    **{name: [call(V), call(0.3)] for name in ["sindg", "cosdg", "tandg", "cosm1", "sinint", "sinhint"]},
    **{name: [call(V), call(0.3)] for name in ["fresnel_s", "fresnel_c", "j0", "j1", "i0", "i1", "ellipk", "ellipe"]},
    **{name: [call(V), call(0.3)] for name in ["airy_ai", "airy_aip", "airy_bi", "airy_bip", "wrightomega"]},
    **{name: [call(P), call(0.3)] for name in ["entr", "exp1", "expi", "cosint", "coshint", "spence", "cotdg"]},
    **{name: [call(P), call(0.3)] for name in ["gamma", "gammaln", "loggamma", "digamma", "rgamma", "ellipkm1"]},
    **{name: [call(P), call(0.3)] for name in ["y0", "y1", "k0", "k1"]},
    **{name: [call(np.array([0.2, 0.55, 0.9])), call(0.3)] for name in ["erfcinv", "ndtri", "logit"]},
    **{
        name: [call(V, n=0), call(M, n=1), call(np.array([-0.5, 0.4, 12.0]), n=2)]
        for name in ["erfcx", "dawsn", "exprel"]
    },
    "ndtri_exp": [call(-P), call(-0.3)],
    "gammasgn": [call(V), call(M)],
    "zeta": [call(P + 1), call(np.array([-1.5, 0.4]))],
    "lambertw": [call(P, k=0, tol=1e-8, after=lambda w: w.real), call(-0.2, k=-1, tol=1e-8, after=lambda w: w.real)],
    # special functions of several
    **{
        name: [call(P, Q), call(np.array([0.4, 1.5])[:, None], Q), call(0.4, Q)]
        for name in ["xlogy", "xlog1py", "rel_entr", "kl_div", "pseudo_huber", "boxcox", "boxcox1p", "owens_t"]
    },
    **{name: [call(P, Q), call(0.4, Q)] for name in ["beta", "betaln", "poch", "binom", "powm1"]},
    "huber": [call(P, Q), call(Q, V)],
    **{name: [call(np.array([1, 2, 0]), P), call(2, P)] for name in ["polygamma", "expn", "jv", "yv", "iv", "kv"]},
    **{
        name: [call(np.array([1, 2, 0]), P, after=to_real), call(2, P, after=to_real)]
        for name in ["hankel1", "hankel2", "hankel1e", "hankel2e"]
    },
    **{name: [call(np.array([1, 2, 0]), P, n=0), call(2, P, n=1)] for name in ["ive", "kve"]},
    **{
        name: [call(np.array([1, 2, 0]), P), call(2, P), call(0, 0.7)]
        for name in ["spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"]
    },
    **{name: [call(P, Q, n=1), call(0.4, Q, n=2)] for name in ["jv_by_order", "yv_by_order"]},
    **{name: [call(P, Q, m=1, n=0), call(0.4, Q, m=2, n=1)] for name in ["ive_by_order", "kve_by_order"]},
    "hyp2f1_by_parameters": [call(1, 2, P, V, orders=(0, 0, 1)), call(1.5, 0.7, 3, V, orders=(1, 0, 0))],
    "hyp1f1_by_parameters": [call(P, Q, V, orders=(0, 1)), call(1.5, 2, V, orders=(2, 0))],
    "hyp0f1_by_parameters": [call(P, V, orders=(1,))],
    "hyperu_by_parameters": [call(P, Q, 1.3, orders=(1, 0))],
    "polygamma_step": [call(P, Q, n=0), call(P + 3, 0.2, n=1)],
    "hurwitz": [call(P + 1, Q, n=0), call(P + 1, Q, n=1)],
    **{name: [call(P, Q), call(0.4, Q)] for name in ["gamma_density", "gammainc", "gammaincc"]},
    "gammainc_by_a": [call(P, Q, n=1)],
    **{name: [call(P, np.array([0.3, 0.6, 0.8]))] for name in ["gammaincinv", "gammainccinv"]},
    **{
        name: [call(P, Q, np.array([0.3, 0.6, 0.8])), call(1.5, 0.7, 0.4)]
        for name in ["beta_density", "betainc", "betaincc", "betaincinv", "betainccinv"]
    },
    "student_cdf": [call(P, V, n=0), call(1.5, V, n=1)],
    "student_quantile": [call(P, np.array([0.3, 0.5, 0.8])), call(1.5, 0.4)],
    "betainc_by_ab": [call(P, Q, np.array([0.3, 0.6, 0.8]), i=1, j=0), call(1.5, 0.7, 0.4, i=0, j=1)],
    "elliptic": [call(P, V, p=0, q=1), call(P, V, p=0, q=-1), call(P, 0.4, p=1, q=3)],
    "jacobi": [call(V, 0.4, k=0), call(V, 0.4, k=1), call(1.2, Q / 4, k=2), call(V, 0.3, k=3)],
    "hyp2f1": [call(1, 2, 3, V)],
    "hyp1f1": [call(1, 3, V)],
    "hyp0f1": [call(2, V)],
    "hyperu": [call(1, 2, P)],
    **{
        name: [call(np.array([3, 2, 0]), V), call(4, V)]
        for name in [
            "eval_legendre",
            "eval_chebyt",
            "eval_chebyu",
            "eval_hermite",
            "eval_hermitenorm",
            "eval_laguerre",
        ]
    },
    "eval_gegenbauer": [call(np.array([3, 2, 0]), 2, V)],
    "eval_genlaguerre": [call(np.array([3, 2, 0]), 2, V)],
    "eval_jacobi": [call(np.array([3, 2, 0]), 1, 2, V)],
    # Fourier transforms
    **{
        name: [
            call(V, axis=0, norm="backward", after=to_real),
            call(T, axis=1, norm="ortho", after=to_real),
            call(T, axis=2, norm="forward", before=to_complex, after=to_real),
        ]
        for name in ["fft", "ifft"]
    },
    "rfft": [call(V, axis=0, norm="backward", after=to_real), call(T, axis=2, norm="forward", after=to_real)],
    "irfft": [
        call(V, n=5, axis=0, norm="backward", before=to_complex),
        call(M, n=4, axis=1, norm="ortho", before=to_complex),
        call(M, n=2, axis=0, norm="forward", before=to_complex),
    ],
    **{
        name: [
            call(T, type=kind, axis=axis, norm=norm, orthogonalize=orthogonalize)
            for kind in (1, 2, 3, 4)
            for axis, norm, orthogonalize in ((2, "backward", False), (1, "ortho", True))
        ]
        for name in ["dct", "dst"]
    },
    # elementwise, of several
    **{
        name: [call(V, P), call(M, P), call(0.3, P), call(M, 0.7), call(N, P[:2])]
        for name in ["add", "subtract", "multiply", "divide", "arctan2", "hypot", "logaddexp", "logaddexp2"]
    },
    **{
        name: [call(V, P), call(M, np.array([0.1, 0.2, 0.4])), call(0.1, V)]
        for name in ["maximum", "minimum", "fmax", "fmin"]
    },
    "power": [call(P, V), call(P, 2), call(V, 3), call(P, 0.5), call(2.0, M), call(M, np.array([2, 3, 1]))],
    "power_log": [call(P, V, n=1), call(P, Q, n=2)],
    "remainder": [call(P, Q), call(M, P), call(-P, -Q)],
    "fmod": [call(P, Q), call(M, P)],
    "ldexp": [call(V, np.array([1, -2, 3])), call(M, 2)],
    "undifferentiable": [call(V, what="a draw", why="it is random")],
    "python_number": [call(0.7), call(V), call(np.float64(0.3))],
    "fits": [call(I, [1, -2, 3], operation=name) for name in ("add", "subtract", "multiply", "left_shift")],
    "copysign": [call(V, -P), call(M, V)],
    "heaviside": [call(V, P), call([0, 1, 0], P)],
    "where": [call(MASK, V, P), call(MASK, M, 0.5), call(True, V, P), call(MASK[:, None], V, M[:1])],
    # structural
    "reshape": [
        call(M, shape=(3, 2)),
        call(T, shape=(4, 6)),
        call(0.5, shape=(1, 1)),
        call(np.zeros((0, 2)), shape=(3, 0)),
    ],
    "transpose": [call(M, axes=(1, 0)), call(T, axes=(2, 0, 1))],
    "broadcast_to": [
        call(V, shape=(2, 3)),
        call(0.5, shape=(2, 2)),
        call(M[:, :1], shape=(4, 2, 3)),
        call(V, shape=(0, 3)),
    ],
    "sum": [
        call(M, axis=(0,)),
        call(T, axis=(0, 2)),
        call(M, axis=(1,), keepdims=True),
        call(M),
        call(np.zeros((0, 2)), axis=(0,)),
    ],
    "flip": [call(M, axis=(0,)), call(M, axis=(0, 1))],
    "astype": [call(M, dtype=np.dtype(np.float64))],
    "copy": [call(M), call(0.5)],
    "real": [call(V, before=to_complex)],
    "imag": [call(V, before=to_complex)],
    "conjugate": [call(V, before=to_complex, after=to_real)],
    "concatenate": [
        call(V, P, axis=0),
        call(M, M[:, :1], axis=1),
        call(M, M[:1], M, axis=0),
        call(V, P, axis=0, starts=(0, 3)),
    ],
    # indexing
    "index": [
        call(M, pattern=(0,)),
        call(M, pattern=(slice(None), slice(None, None, -2))),
        call(M, pattern=(..., None, -1)),
        call(V, I, pattern=(ARRAY,)),
        call(M, [0, 1, 0], [2, 2, 0], pattern=(ARRAY, ARRAY)),
        call(T, [0, 1], pattern=(slice(None), ARRAY, slice(1, 3))),
        call(T, [0, 1], [3, 3], pattern=(ARRAY, slice(None), ARRAY)),
        call(T, [[0, 1], [1, 0]], pattern=(1, slice(None), ARRAY)),
    ],
    "scatter": [
        call(V, patterns=((slice(1, 4),),), shape=(5,)),
        call(0.5, V, patterns=((1, 0), (0,)), shape=(2, 3)),
        call(V, I, patterns=((ARRAY,),), shape=(3,)),
        call(V, P, I, I[::-1], patterns=((ARRAY,), (ARRAY,)), shape=(4,)),
        call(V, P, I, I[::-1], patterns=((ARRAY,), (ARRAY,)), shape=(4,), starts=(0, 1)),
        call(M, [0, 1], patterns=((slice(None), ARRAY, 0),), shape=(2, 3, 1), before=lambda m: m[:, :2]),
        call(N[:2], [0, 1], [3, 3], patterns=((ARRAY, slice(0, 2), ARRAY),), shape=(2, 3, 4)),
    ],
    "add_at": [
        call(V, 0.5, pattern=(1,)),
        call(M, V, pattern=(slice(None), slice(0, 3))),
        call(V, P, I, pattern=(ARRAY,)),
        call(M, P, I, pattern=(1, ARRAY)),
    ],
    "accumulate": [call(V, P), call(M, V)],
    "padded": [call(V, shape=(5,)), call(M, shape=(2, 4))],
    "add_parts": [
        call(V, P[:2], P[1:], patterns=((slice(0, 2),), (slice(1, 3),)), cleared=None),
        call(
            M,
            N[:2, :2],
            V[None],
            patterns=((slice(0, 2), slice(1, 3)), (slice(1, 2), slice(0, 3))),
            cleared=(slice(0, 1), slice(0, 3)),
        ),
    ],
    "store": [
        call(V, 0.5, pattern=(1,)),
        call(M, V, pattern=(0,)),
        call(M, P[:2], pattern=(slice(None), -1)),
        call(V, P, I, pattern=(ARRAY,)),
        call(M, 0.5, pattern=(...,)),
    ],
    # reductions and scans
    "max": [call(M, axis=(0,)), call(M, axis=(0, 1)), call(T, axis=(2,))],
    "min": [call(M, axis=(1,)), call(M, axis=(0, 1))],
    "nanmax": [call(M, axis=(0,)), call(M, axis=(0, 1))],
    "nanmin": [call(M, axis=(1,)), call(M, axis=(0, 1))],
    "prod": [
        call(M, axis=(0,)),
        call(M, axis=(0, 1)),
        call(np.array([0.0, 2.0, 0.0, 3.0]), axis=(0,)),
        call(np.array([0.0, 2.0, 5.0]), axis=(0,)),
    ],
    "weighted_sum": [call(M, M[::-1], axis=(0,)), call(V, V[::-1], axis=(0,)), call(T, T[::-1], axis=(0, 2))],
    "logsumexp": [call(M, axis=(0,)), call(T, axis=(0, 2))],
    "softmax": [call(M, axis=(0,)), call(T, axis=(0, 2))],
    "norm": [call(M, axis=(0,)), call(M, axis=(0, 1))],
    "cumsum": [call(M, axis=0), call(T, axis=2)],
    "cumprod": [call(M), call(np.array([2.0, 0.0, 3.0, 0.0]))],
    "linear_recurrence": [call(V, P), call(M, M[::-1]), call(T, T[::-1])],
    # products
    "matmul": [
        call(M, N),
        call(M, V),
        call(V, N),
        call(V, P),
        call(T, T[0].T),
        call(T, np.arange(4.0)),
        call(V, T),
        call(M[:, :2], T[0][:2]),
        call(T[:1], T.transpose(0, 2, 1)),
    ],
    "einsum": [
        call(M, N, subscripts="ij,jk->ik"),
        call(M, subscripts="ij->ji"),
        call(M, V, P, subscripts="ij,j,k->ki"),
        call(M, subscripts="ij->i"),
        call(M, M, subscripts="ij,ij->"),
    ],
    "convolve": [call(T[0, 0], V, mode="full"), call(T[0, 0], V, mode="valid")],
    # filters, sparse matrices, integrals
    "convolve_nd": [
        call(M, N[:2], rank=2, mode="full"),
        call(T, M[:1, :2], rank=2, mode="valid"),
        call(T, V, rank=1, mode="valid"),
        call(T[0], M[1:], rank=1, mode="full"),
        call(T[0, 0], V, rank=1, mode="full"),
    ],
    "conv": [
        call(T, M[:, :, None] * V, strides=(1,), dilation=(1,), groups=1),
        call(IMAGES, KERNELS, strides=(2, 1), dilation=(1, 2), groups=2),
        call(IMAGES[:, :2, None], KERNELS[:, :, None], strides=(1, 1, 2), dilation=(1, 2, 1), groups=1),
    ],
    "conv_input": [
        call(T, N[:, :, None] * V, strides=(1,), dilation=(1,), groups=1, size=(6,)),
        call(IMAGES[:, :, :2, :2], KERNELS, strides=(2, 1), dilation=(1, 2), groups=2, size=(4, 4)),
    ],
    "conv_weight": [
        call(T, T[:, :, :2], strides=(1,), dilation=(1,), groups=1, size=(3,)),
        call(IMAGES, IMAGES[:, :, :2, :2], strides=(2, 1), dilation=(1, 2), groups=2, size=(2, 2)),
    ],
    "recursive_filter": [call(P, T[0]), call(M[1:] + 2, T), call(P, V[:2])],
    "spline_filter": [
        call(T, axis=1, order=3, mode="mirror"),
        call(M, axis=1, order=2, mode="reflect"),
        call(np.linspace(-1, 1, 70), axis=0, order=3, mode="constant"),
        call(np.linspace(-1, 1, 70), axis=0, order=4, mode="grid-wrap"),
    ],
    "sparse_matmul": [
        call(V, matrix=scipy.sparse.csr_array(M)),
        call(N, matrix=scipy.sparse.coo_matrix(M)),
    ],
    "sparse_solve": [
        call(2 + T[0, 0], V, rows=np.array([0, 1, 2, 0]), columns=np.array([0, 1, 2, 1])),
        call(2 + T[0, 0], N, rows=np.array([0, 1, 2, 0]), columns=np.array([0, 1, 2, 1])),
    ],
    "integral": [call(0.3, 1.1, V, integrand=Integrand(lambda t, p: np.sum(np.sin(p * t)), scipy.integrate.quad, {}))],
    "guarded_product": [call(M, V), call(V, M[0]), call(2.0, V)],
    "linear_solution": [
        call(
            V,
            G,
            system=System(
                "G",
                lambda v, p: np.matmul(p[0], v),
                lambda apply, b, p: np.linalg.solve(np.stack([apply(e) for e in np.eye(3)], 1), b),
            ),
        )
    ],
    "solution": [call(P, problem=CUBE_ROOT)],
    "refined_solution": [call(np.cbrt(P), P, problem=REFINED)],
    # linear algebra
    "solve": [call(G, N), call(G, T[:, :, :2]), call(np.stack([G, G.T]), N)],
    "factors": [call(G)],
    "solve_factored": [call(G, np.zeros((0, 3)), N, transposed=t) for t in (False, True)],
    "solve_triangular": [
        call(G, N, lower=True, unit=False),
        call(G, N, lower=False, unit=True),
        call(np.stack([G, G.T]), N, lower=False, unit=False),
    ],
    "solve_banded": [call(G + 2, N, l=1, u=1), call(G, N, l=0, u=2)],
    **{name: [call(G), call(np.stack([G, G.T]))] for name in ["inv", "det", "slogdet", "qr", "lu"]},
    "eig": [call(G, is_complex=False), call(np.stack([G, G.T]), is_complex=False)],
    "eigvals": [call(G, is_complex=False), call(np.stack([G, G.T]), is_complex=True, after=to_real)],
    "pinv": [call(M, rcond=1e-15, hermitian=False), call(N, rcond=1e-15, hermitian=False)],
    "borders": [call(G), call(np.ones((3, 3))), call(np.ones((3, 3)), count=2)],
    "vanishes": [call(G, count=2), call(np.ones((3, 3)), count=1)],
    "cholesky": [call(G, before=gram)],
    "eigh": [call(G, lower=True, before=gram), call(G, lower=False, driver="ev", before=gram)],
    "eigvalsh": [call(G, lower=True, before=gram)],
    "eigh_generalized": [call(G, G[::-1], lower=True, before=gram)],
    "svd": [call(M), call(N), call(G)],
    "svdvals": [call(M), call(N)],
    "one_hot_argmax": [call(M)],
    # where eigenvalues may be repeated
    "eigh_repeated": [call(G, G[::-1] + G[::-1].T, lower=True, before=gram)],
    "svd_repeated": [call(G, G.T), call(N, N[::-1])],
    "groups": [call(P, size=3), call(M, size=3), call(np.array([1.0, 1.0]), size=2)],
    "null_mask": [call(P, size=3), call(np.array([1.0, 0.0]), size=3)],
    "coincidences": [call(P, size=3, zeros=True), call(np.array([1.0, 0.0]), size=3, zeros=True)],
    "gaps_are_safe": [call(P, size=3, kind="eigen")],
    "independent": [call(G)],
    "require_distinct": [call(P), call(M)],
    "succeeds": [
        call(-G, attempted="cholesky", error="LinAlgError"),
        call(G, V, attempted="solve", error="ValueError"),
    ],
    "unclear": [call(P, size=3, zeros=True), call(M, size=3, zeros=False)],
    "reflecting": [call(G)],
    "equal_cotangents_back": [call(P, np.eye(3, dtype=bool), kind="eigen")],
    "zero_cotangents_back": [call(P, np.zeros(3, bool))],
    "zero_rotation_back": [call(G, np.zeros((3, 3), bool), kind="eigen", skew=True)],
    "equal_cotangents": [call(P, np.eye(3, dtype=bool), kind="eigen")],
    "zero_cotangents": [call(P, np.zeros(3, bool))],
    "zero_rotation": [call(G, np.zeros((3, 3), bool), kind="eigen", skew=True)],
    "refuse_if": [call(G, np.zeros(1, bool), problem="", kind="eigen")],
    "refuse_derivative_if": [call(G, np.zeros(1, bool), problem="", kind="eigen")],
    "rotate_in_null_space_back": [call(P[:, None], V[:, None])],
    "rotate_in_null_space": [call(N, np.zeros((2, 2)), after=lambda y: 0 * y)],
    "null_basis": [
        call(
            M,
            np.array([[-0.12], [2.4], [1.47]]) / np.sqrt(0.12**2 + 2.4**2 + 1.47**2),
            rcond=1e-9,
            after=lambda n: n * n[..., :1, :],
        )
    ],
    # functions of matrices
    "sylvester": [call(G, G[:2, :2], N), call(np.stack([G, G.T]), G[:2, :2], N)],
    "expm": [call(G / 2), call(np.stack([G, G.T]) / 2)],
    "expm_frechet": [call(G / 8, G.T), call(np.stack([G, G.T]) / 8, G.T)],
    "sqrtm": [call(G, before=gram)],
    "logm": [call(G, before=gram)],
    "halvings": [call(np.eye(2) / 2)],
    "polar": [call(G), call(N)],
    "matrix_function": [
        call(G, function=Scalar(np.sin)),
        call(np.stack([G, G.T]), function=Scalar(np.exp)),
        call(2 * np.eye(3), function=Scalar(np.exp)),
    ],
    "matrix_derivative": [
        call(G, G.T, function=Scalar(np.sin)),
        call(G, G.T / 2, G[::-1], function=Scalar(np.sin)),
        call(np.stack([G, G.T]), G.T, function=Scalar(np.exp)),
    ],
    "ldl": [call(G, hermitian=True, before=gram)],
    **{
        name: [call(G / 9, G.T / 5, G / 4, G / 3, balanced=True, before=gram)]
        for name in ["continuous_riccati", "discrete_riccati"]
    },
    # polynomials
    "roots": [
        call(np.array([1.0, -6.0, 10.5, -5.0]), is_complex=False),
        call(np.array([2.0, 1.0, 3.0]), is_complex=True, after=to_real),
    ],
    "are_simple": [call(V, P)],
}


def floats(c: Call) -> list[int]:
    return [k for k, a in enumerate(c.args) if np.asarray(a).dtype.kind == "f"]


NAMES = sorted(name for name, op in TABLE.items() if not isinstance(op, Control))  # those: tests/control
CALLS = [pytest.param(name, c, id=f"{name}-{k}") for name in sorted(EXAMPLES) for k, c in enumerate(EXAMPLES[name])]
