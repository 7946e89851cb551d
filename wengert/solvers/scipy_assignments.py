"""`linear_sum_assignment`: which worker does which job.

Who does what is constant but where it jumps, as are the places that `np.argsort` gives; the cost is a sum of elements
of the matrix, cost[rows, columns], whose derivative is that of the elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.box.dispatch import implements_blind
from wengert.box.functions.operands import answer, array
from wengert.control.effects import called_back
from wengert.imported import when_imported
from wengert.ir.infer import Found
from wengert.ops.elementwise import stop_gradient
from wengert.running import running
from wengert.types import shape_of


@when_imported("scipy.optimize")
def _optimize(module: Any) -> None:
    original = module.linear_sum_assignment

    @implements_blind(original)
    def linear_sum_assignment(cost_matrix: Any, maximize: bool = False) -> Any:
        cost = array(cost_matrix)
        run = lambda c: np.stack(original(c, maximize))
        if running.state.capture is None:
            found = answer(run, cost)
        else:
            kinds = [Found((2, min(shape_of(cost))), np.dtype(np.intp))]
            examples = "scipy.optimize.linear_sum_assignment in a compiled batch", "solve one example after the other"
            (found,) = called_back(run, [stop_gradient(cost)], kinds, examples)
        return found[0], found[1]
