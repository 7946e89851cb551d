"""A function as the program that it is captured as, run by the interpreter: before the passes, or after them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
from wengert.backend.execute import optimised
from wengert.capture.assuming import refuted
from wengert.control.custom import without_rules
from wengert.ir.check import check
from wengert.ir.interpret import run
from wengert.ir.node import Program


def interpreted(f: Callable, passes: bool = True) -> Callable:
    compiled = wg.jit(f)

    def call(*args: Any) -> Any:
        form = compiled._form(args, {})
        found = compiled._version(form)
        results = None
        while results is None:
            program = optimised(found.block, found.name) if passes else Program(found.name, without_rules(found.block))
            check(program)
            given = [np.copy(x) if isinstance(x, np.ndarray) else x for x in form.leaves]
            try:
                results = run(program.block, [*given, *[path() for path in found.inputs]])
            except RuntimeError as error:  # an `if` that goes the other way than was assumed: as in a compiled call
                place = refuted(error)
                if place not in found.assumed:
                    raise
                found = compiled._assuming(form, {**found.assumed, place: not found.assumed[place]})
        n = len(results) - len(found.writes)
        for k, new in zip(found.writes, results[n:], strict=True):
            form.leaves[k][...] = new
        return found.output(form.leaves, results[:n])

    return call
