"""What a step costs: floating-point operations, estimated from the op and the shapes, and bytes for its result.

The estimates serve to compare lines of a program with each other; they are not what a machine would count.
"""

from __future__ import annotations

import math

from wengert.explain.recording import Step
from wengert.ops.derive import Control, Elementwise, Linear, Zero
from wengert.types import dtype_of, shape_of

_CHEAP = {"add", "subtract", "multiply", "negative", "positive", "square", "absolute", "maximum", "minimum", "where"}
_MODERATE = {"divide", "reciprocal", "sqrt", "cbrt", "hypot", "remainder", "fmod"}
_MOVES = {"reshape", "transpose", "broadcast_to", "flip", "astype", "copy", "real", "imag", "conjugate", "index",
          "concatenate", "scatter", "store"}  # fmt: skip
_CUBIC = {"solve": 2 / 3, "inv": 2, "det": 2 / 3, "slogdet": 2 / 3, "cholesky": 1 / 3, "qr": 4 / 3, "lu": 2 / 3,
          "eigh": 9, "eigvalsh": 4, "eig": 25, "eigvals": 10, "svd": 20, "svdvals": 4, "pinv": 22, "expm": 20,
          "sqrtm": 25, "logm": 30, "solve_triangular": 1}  # fmt: skip


def flops(step: Step) -> float:
    """About how many floating-point operations a step takes.

    >>> import numpy as np
    >>> from wengert.explain.trace import trace
    >>> t = trace(lambda A, x: A @ x, np.ones((3, 4)), np.ones(4))
    >>> flops(t.listing.steps[0])
    24.0
    """
    name = step.name
    out = _size(step.results[0].value) if step.results else 0
    given = [shape_of(o.value) for o in step.operands]
    if name in _MOVES:
        return 0.0
    if name in _CUBIC and given and len(given[0]) >= 2:
        n, m = given[0][-2:]
        columns = given[1][-1] if len(given) > 1 and len(given[1]) > 1 else 1
        return math.prod(given[0][:-2]) * (_CUBIC[name] * n * m * min(n, m) + 2.0 * n * m * columns * (len(given) > 1))
    if name == "matmul":
        return 2.0 * out * given[0][-1]
    if isinstance(step.op, Zero):
        return float(out)
    if isinstance(step.op, Elementwise):
        return float(out) * (1 if name in _CHEAP else 4 if name in _MODERATE else 15)
    if isinstance(step.op, (Linear, Control)) or step.op is None:
        return float(sum(math.prod(shape) for shape in given))
    return 5.0 * sum(math.prod(shape) for shape in given)


def memory(step: Step) -> int:
    """How many bytes the results of a step take."""
    return sum(_size(v.value) * dtype_of(v.value).itemsize for v in step.results)


def _size(x: object) -> int:
    return math.prod(shape_of(x))
