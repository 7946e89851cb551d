"""What a step costs: floating-point operations, estimated from the op and the shapes, and bytes for its result.

The estimates serve to compare lines of a program with each other; they are not what a machine would count.
"""

from __future__ import annotations

import math

from wengert.explain.recording import RecordedStep
from wengert.ops.derive import Control
from wengert.types import dtype_of, shape_of, size_of


def flops(step: RecordedStep) -> float:
    """About how many floating-point operations a step takes.

    >>> import numpy as np
    >>> from wengert.explain.trace import trace
    >>> t = trace(lambda A, x: A @ x, np.ones((3, 4)), np.ones(4))
    >>> flops(t.listing.steps[0])
    24.0
    """
    out_shape = shape_of(step.results[0].value) if step.results else ()
    out = math.prod(out_shape) if step.results else 0
    given = [shape_of(o.value) for o in step.operands]
    op = step.op
    if op is None or isinstance(op, Control):
        return float(sum(math.prod(shape) for shape in given))
    if op.flops is not None:
        return op.flops(given, out_shape)
    if op.elementwise:
        return float(out) * op.cost
    return float(sum(math.prod(shape) for shape in given)) * min(op.cost, 5)


def memory(step: RecordedStep) -> int:
    """How many bytes the results of a step take."""
    return sum(size_of(v.value) * dtype_of(v.value).itemsize for v in step.results)
