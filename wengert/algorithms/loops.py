"""Methods of minimisation put together with the functions they call: what is compiled as one program.

`functions` are of x, then the user's further arguments, then, for products with the Hessian, a vector.
"""

from __future__ import annotations

import numpy as np

from wengert.algorithms.status import CONVERGED, LIMIT, PRECISE, RUNNING


def bound(f, args):
    """A function of x alone."""
    return lambda x, *more: f(x, *args, *more)


def beginning(start, values, settings):
    """A program that makes the first state; `values` gives what the method starts from."""

    def begin(x, args):
        return start(x, *values(x, *args), *settings)

    return begin


def proceeding(advance, functions):
    """A program that takes a state to a later one."""

    def proceed(state, iterations, tol, limits, args):
        return advance(*[bound(f, args) for f in functions], state, iterations, tol, *limits)

    return proceed


def whole(start, values, settings, advance, functions):
    """A program that does everything: x, value, gradient, iterations, evaluations, status."""

    def solve(x, iterations, tol, limits, args):
        state = start(x, *values(x, *args), *settings)
        state = advance(*[bound(f, args) for f in functions], state, iterations, tol, *limits)
        x, value, gradient, count, evaluations, status = state[:6]
        return x, value, gradient, count, evaluations, LIMIT if status == RUNNING else status

    return solve


def answering(solve, fixed, answer, flat):
    """A program that gives the answer with its derivative, the value there, and how the method has ended.

    `fixed` takes away what is traced for a derivative, `answer(x, valid, limits, args)` gives x the
    derivative of an answer.
    """

    def answered(x, iterations, tol, limits, args):
        x, _, _, count, evaluations, status = solve(fixed(x), iterations, tol, limits, fixed(args))
        is_answer = status in (CONVERGED, PRECISE)
        y = answer(x, 1.0 if is_answer else np.nan, limits, args)
        return y, flat(y, *args), count, evaluations, status, is_answer

    return answered
