"""Functions whose results are real for some values and complex for others: eigenvalues, roots, those of `np.emath`.

    w = np.roots(p)      ->      w = roots(p, is_complex=True); require(no imaginary parts); w = real(w)

A program has one type for each of its values. So the function is compiled for results that are real, and if a call has
others, once more for complex ones (`assuming.py`). NumPy's eigenvalues are always complex since NumPy 2.5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from wengert.box.dispatch import FUNCTIONS, UFUNCS, first_by_name, meaning_of
from wengert.box.functions.complex_domain import DOMAINS
from wengert.box.functions.fits import coefficients_of, without_zeros_written_out
from wengert.box.functions.linalg import ALWAYS_COMPLEX
from wengert.box.functions.operands import array, cast, holds_traced
from wengert.capture import hooks, rewrite
from wengert.capture.assuming import assumed
from wengert.capture.exceptions import current_attempt
from wengert.capture.values import BranchesDiffer, is_symbolic
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.types import dtype_of


def _of_one_type(original: Callable, converted: Callable, stays: int = 0) -> Callable:
    """`stays` are as many results as are complex in any case."""
    meaning: Any = FUNCTIONS.get(original) or meaning_of(original)

    def found(a: Any, *rest: Any, **options: Any) -> Any:
        if not holds_traced(a):
            return hooks.call(original, 1, rewrite.ANYTHING)(a, *rest, **options)
        a = converted(a)
        if dtype_of(a).kind == "c" or not is_symbolic(a):
            return meaning(a, *rest, **options)
        y = meaning(a, *rest, is_complex=True, **options)
        parts = y if isinstance(y, tuple) else (y,)
        if dtype_of(parts[0]).kind != "c" or len(parts) == stays:
            return y
        is_any = FUNCTIONS[np.any](e.not_equal(s.imag(e.stop_gradient(parts[0])), 0.0))
        refusal = BranchesDiffer(
            f"{original.__name__} gives real numbers and complex ones in one call of a compiled function",
            remedy="convert the operand first, as in a.astype(complex)",
        )
        is_complex = None if current_attempt() is not None else assumed(is_any, refusal)
        if is_complex is None:
            raise refusal
        if is_complex:
            return y
        reals = [part if k < stays else s.real(part) for k, part in enumerate(parts)]
        return reals[0] if y is not parts else y._make(reals) if hasattr(y, "_make") else tuple(reals)

    return first_by_name(original, found)


def _of_one_domain(original: Callable, ufunc: Any, outside: Callable) -> Callable:
    """A function of `np.emath`: real, if no element is outside of the domain."""

    def found(x: Any) -> Any:
        if not holds_traced(x):
            return hooks.call(original, 1, rewrite.ANYTHING)(x)
        x = array(x)
        if dtype_of(x).kind == "c" or not is_symbolic(x):
            return FUNCTIONS[original](x)
        refusal = BranchesDiffer(
            f"np.emath.{ufunc.__name__} gives real numbers and complex ones in one call of a compiled function",
            remedy=f"use np.{ufunc.__name__} for values in its domain, or of x + 0j for a complex result",
        )
        is_any = FUNCTIONS[np.any](outside(e.stop_gradient(x)))
        is_complex = None if current_attempt() is not None else assumed(is_any, refusal)
        if is_complex is None:
            raise refusal
        if is_complex:
            return UFUNCS[ufunc](cast(x, np.complex64 if dtype_of(x) == np.float32 else np.complex128))
        return UFUNCS[ufunc](x if dtype_of(x).kind == "f" else cast(x, np.float64))

    return found


REPLACED: dict[Any, Callable] = {
    **({} if ALWAYS_COMPLEX else {f: _of_one_type(f, array) for f in (np.linalg.eigvals, np.linalg.eig)}),
    scipy.linalg.eig: _of_one_type(scipy.linalg.eig, array, stays=1),
    np.roots: _of_one_type(np.roots, lambda p: coefficients_of(without_zeros_written_out(p))),
    **{
        getattr(np.emath, name): _of_one_domain(getattr(np.emath, name), getattr(np, name), outside)
        for name, outside in DOMAINS.items()
    },
}
"""What is called in place of them."""
