"""The types of functions, and of what operators make of them.

What type checkers know of `grad(f)` and the like: parameters are those of `f`, a gradient is of the type of the
argument that is differentiated, a Jacobian or Hessian of arrays is an array. Where that cannot be said (several
`argnums`, other containers) the result is `Any`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

P = ParamSpec("P")
"""The parameters of a function, or those after the first."""
Q = ParamSpec("Q")
"""Those of a method, after `self`."""
F = TypeVar("F", bound=Callable[..., Any])
"""A function that is given back."""
R = TypeVar("R")
"""What a function returns."""
X = TypeVar("X", bound=Any)
"""The first argument."""
A = TypeVar("A")
"""Auxiliary data."""
Array = NDArray[Any]
V = TypeVar("V", bound=NDArray[Any])
"""Arrays of some type."""
N = TypeVar("N", bound=float | np.floating[Any])
"""Real numbers of some type."""
