"""Functions of matrices in scipy.linalg beyond exp, log and sqrt: trigonometric ones, powers, sign, and any other.

Trigonometric and hyperbolic functions are made of exponentials, so none of them minds repeated eigenvalues or matrices
that cannot be diagonalised. `funm` takes any function of numbers, and differentiates it to get its derivatives: it is
what to use instead of `v @ diag(f(w)) @ v.T` where eigenvalues may coincide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from wengert.box.dispatch import FUNCTIONS, implements_blind
from wengert.box.functions.elementwise import is_complex
from wengert.box.functions.lifted import Lifted
from wengert.box.functions.linalg import squares
from wengert.box.functions.operands import cast, common_answer, unsupported_option
from wengert.box.functions.quadrature import MODES
from wengert.box.writing import settled
from wengert.errors import UnsupportedFunctionError
from wengert.ops import linalg as l
from wengert.ops import matrix_functions as f
from wengert.ops import shape as s
from wengert.ops.op import Traced
from wengert.ops.products import matmul
from wengert.ops.spectral_functions import matrix_function
from wengert.types import dtype_of, shape_of

# ------------------------------------------------------------------------------------------------ made of exponentials


def _turning(A: Any) -> Any:
    """exp(i A)."""
    return f.expm(A * 1j)


@implements_blind(scipy.linalg.cosm)
def cosm(A: Any) -> Any:
    A = squares(A)
    return (_turning(A) + _turning(-A)) * 0.5 if is_complex(A) else s.real(_turning(A))


@implements_blind(scipy.linalg.sinm)
def sinm(A: Any) -> Any:
    A = squares(A)
    return (_turning(A) - _turning(-A)) * -0.5j if is_complex(A) else s.imag(_turning(A))


@implements_blind(scipy.linalg.tanm)
def tanm(A: Any) -> Any:
    return l.solve(cosm(A), sinm(A))


@implements_blind(scipy.linalg.coshm)
def coshm(A: Any) -> Any:
    A = squares(A)
    return (f.expm(A) + f.expm(-A)) * 0.5


@implements_blind(scipy.linalg.sinhm)
def sinhm(A: Any) -> Any:
    A = squares(A)
    return (f.expm(A) - f.expm(-A)) * 0.5


@implements_blind(scipy.linalg.tanhm)
def tanhm(A: Any) -> Any:
    return l.solve(coshm(A), sinhm(A))


# ----------------------------------------------------------------------------------------------------- powers and sign


@implements_blind(scipy.linalg.signm)
def signm(A: Any, disp: Any = True) -> Any:
    """a (a²)^(−1/2), for matrices without eigenvalues on the imaginary axis."""
    if disp is False:
        raise unsupported_option("scipy.linalg.signm", "disp=False", "leave it out")
    A = squares(A)
    return matmul(A, l.inv(f.sqrtm(matmul(A, A))))


@implements_blind(scipy.linalg.fractional_matrix_power)
def fractional_matrix_power(A: Any, t: Any) -> Any:
    """exp(t log a), of a large t only the fraction this way; also a function of t."""
    A = squares(A)
    if not isinstance(t, Traced) and t == int(t):
        return FUNCTIONS[np.linalg.matrix_power](A, int(t))
    whole = 0 if isinstance(t, Traced) else round(t)
    fraction = f.expm(f.logm(A) * (t - whole))
    return matmul(FUNCTIONS[np.linalg.matrix_power](A, whole), fraction) if whole else fraction


# -------------------------------------------------------------------------------------------------------- any function


class Scalar:
    """A function of numbers and its derivatives, at plain numbers."""

    def __init__(self, function: Callable):
        self.function = function

    def among(self, w: Any) -> Scalar:
        """Of a matrix with these eigenvalues it is no other."""
        return self

    def derivative(self, w: Any, k: int) -> Any:
        """The k-th derivative at each of an array of numbers.

        Eigenvalues that are real are given as such; where the function has no real value (a square root), as complex.
        """
        flat = np.reshape(np.asarray(w), (-1,))
        if flat.dtype.kind != "c":
            with np.errstate(invalid="ignore"):
                y = _of_order(self.function, 0)(flat)
            if np.any(np.isnan(y)):
                flat = flat.astype(complex)
        y = np.asarray(_of_order(self.function, k)(flat))
        return np.reshape(np.broadcast_to(y, flat.shape), np.shape(w))


def _of_order(function: Callable, k: int) -> Callable:
    """The k-th derivative of an elementwise function: each time, a pullback of ones."""
    if k == 0:
        return lambda w: settled(function(w))
    lower = _of_order(function, k - 1)

    def derivative(w: Any) -> Any:
        def elementwise(x: Any) -> list[Any]:
            y = lower(x)
            if isinstance(y, Traced) and shape_of(y) != shape_of(w):
                raise ValueError("scipy.linalg.funm: the function must return an array of the shape it is given")
            return [y]

        values, program = MODES["record"](elementwise, [w])
        ct = program.pull([np.ones(shape_of(w), dtype_of(values[0]))])[0]
        return np.zeros(shape_of(w), dtype_of(w)) if ct is None else ct

    return derivative


@implements_blind(scipy.linalg.funm)
def funm(A: Any, func: Callable, disp: Any = True) -> Any:
    """Of matrices that can be diagonalised; symmetric ones always can, whatever their eigenvalues."""
    if disp is False:
        raise unsupported_option("scipy.linalg.funm", "disp=False", "leave it out")
    if Lifted(func).values:
        raise UnsupportedFunctionError(
            "scipy.linalg.funm with a function that depends on a traced value",
            remedy="make it a function of the matrix alone, such as funm(c * A, f) or expm(t * logm(A))",
        )
    A = squares(A)
    scalar = Scalar(func)

    def is_real(a: np.ndarray) -> bool:
        y = matrix_function(a.astype(complex), function=scalar)
        return bool(np.max(np.abs(y.imag), initial=0) <= 1e-9 * max(1e-300, np.max(np.abs(y), initial=0)))

    if not is_complex(A) and not common_answer(is_real, A):
        A = cast(A, np.result_type(dtype_of(A), np.complex64))
    return matrix_function(A, function=scalar)
