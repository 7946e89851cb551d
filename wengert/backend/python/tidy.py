"""Small simplifications that only readers need. They are exact (but for numbers next to the largest and smallest).

Constants go to where they are used, also into loops; what a loop carries but never changes is no longer carried; filled
arrays in elementwise arithmetic become the number they are filled with; factors of one vanish, and factors that are
powers of two are put together. (`passes/` makes programs fast; here nothing is done for speed.)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.backend.python.code import Code, Step
from wengert.backend.python.literals import is_uniform
from wengert.ir.loops import LOOPS
from wengert.ir.node import Const, Operand, Type, Var, map_refs

Same = dict[Var, Operand]


def tidy(code: Code) -> None:
    """Simplify a code in place."""
    _Tidy({}).code(code)


class _Tidy:
    def __init__(self, same: Same):
        self.same = same
        """What variables are replaced by."""
        self.maker: dict[Var, Step] = {}

    def get(self, operand: Operand) -> Operand:
        while isinstance(operand, Var) and operand in self.same:
            operand = self.same[operand]
        return operand

    def code(self, code: Code) -> None:
        steps = []
        for step in code.steps:
            step.args = [self.get(a) for a in step.args]
            step.sizes = [self.get(a) for a in step.sizes]
            _fix_sizes(step)
            if step.name in LOOPS:
                self._loop(step)
            elif step.name == "cond":
                self._arguments(step, 1, list(step.codes.values()), 0)
                for inner in step.codes.values():
                    self.code(inner)
            elif step.op is not None and len(step.outs) == 1:
                found = self._simpler(step)
                if found is not None:
                    if isinstance(found, Var) and found.hint is None:
                        found.hint = step.outs[0].hint
                    self.same[step.outs[0]] = found
                    continue
                self.maker[step.outs[0]] = step
            steps.append(step)
        code.steps = steps
        code.results = [self.get(r) for r in code.results]
        _drop_unread(code)

    def _arguments(self, step: Step, start: int, codes: list[Code], first: int) -> None:
        """Numbers among the arguments go inside."""
        for k in reversed(range(start, len(step.args))):
            a = step.args[k]
            if isinstance(a, Const) and not a.type.shape:
                for code in codes:
                    self.same[code.params.pop(k - start + first)] = a
                del step.args[k]

    def _loop(self, step: Step) -> None:
        counts = step.name == "loop"
        body = step.codes["body"]
        codes = list(step.codes.values())
        for k in reversed(range(step.params["carried"])):
            if body.results[k] is body.params[counts + k]:
                self.same[step.outs.pop(k)] = step.args[counts + k]
                body.results.pop(k)
                step.params = step.params | {"carried": step.params["carried"] - 1}
                step.args.append(step.args.pop(counts + k))
                for code in codes:
                    at = k + (counts if code is body else 0)
                    code.params.append(code.params.pop(at))
        carried = step.params["carried"]
        for k in reversed(range(counts + carried, len(step.args))):
            a = step.args[k]
            if isinstance(a, Const) and not a.type.shape:
                for code in codes:
                    self.same[code.params.pop(k)] = a
                del step.args[k]
        for code in codes:
            self.code(code)

    def _simpler(self, step: Step) -> Operand | None:
        """What a step can be replaced by; or it is changed, and this is `None`."""
        out = step.outs[0].type
        if step.op is not None and step.op.elementwise and len(step.args) > 1:
            for k, a in enumerate(step.args):
                others = [b for j, b in enumerate(step.args) if j != k]
                step.args[k] = self._as_number(step.name, a, others, out.shape)
        if step.name == "multiply":
            return self._product(step, out)
        if step.name in ("transpose", "reshape", "broadcast_to", "stop_gradient"):
            return self._moved(step, out)
        if step.name == "subtract" and all(isinstance(a, Const) and a.value.__class__ is int for a in step.args):
            value = step.args[0].value - step.args[1].value  # type: ignore[union-attr]
            return Const(value, Type((), np.dtype(np.int64), True))
        return None

    def _as_number(self, name: str, a: Operand, others: list[Operand], shape: tuple) -> Operand:
        """A number in place of an array that is filled with it, where the others say which shape the result has."""
        made = self.maker.get(a) if isinstance(a, Var) else None
        if made is not None and made.name == "broadcast_to" and not made.args[0].type.shape:
            number = made.args[0]
            same_dtype = not number.type.weak or any(not b.type.weak and b.type.dtype == a.type.dtype for b in others)
            if same_dtype and any(b.type.shape == shape and _is_static(b.type) for b in others):
                return number
        elif isinstance(a, Const) and a.type.shape and name in ("add", "subtract", "multiply", "divide"):
            if any(b.type.shape == shape and isinstance(b, Var) for b in others) and _is_filled(a.value):
                return Const(np.asarray(a.value).flat[0], Type((), a.type.dtype))
        return a

    def _moved(self, step: Step, out: Type) -> Operand | None:
        """Of an op that moves elements: what it was given, if it leaves them where they are."""
        x = step.args[0]
        if step.name == "transpose":
            axes = step.params["axes"]
            made = self.maker.get(x) if isinstance(x, Var) else None
            if made is not None and made.name == "transpose" and x.hint is None:  # type: ignore[union-attr]
                axes = tuple(made.params["axes"][k] for k in axes)
                x = made.args[0]
                step.args, step.params = [x], {"axes": axes}
            return x if axes == tuple(range(len(axes))) and not x.type.weak and x.type == out else None
        return x if x.type == out and _is_static(out) and isinstance(x, Var) and not out.weak else None

    def _product(self, step: Step, out: Type) -> Operand | None:
        for k in (0, 1):
            c, x = step.args[k], step.args[1 - k]
            if _power_of_two(c) is None or x.type != out or out.dtype.kind != "f":
                continue
            made = self.maker.get(x) if isinstance(x, Var) else None
            if made is not None and made.name == "multiply" and x.hint is None:  # type: ignore[union-attr]
                for j in (0, 1):
                    d, y = made.args[j], made.args[1 - j]
                    if _power_of_two(d) is not None and y.type == out:
                        product = _power_of_two(c) * _power_of_two(d)  # type: ignore[operator]
                        if product == 1:
                            return y
                        step.args = [Const(product, Type((), np.dtype(float), True)), y]
                        return None
            if _power_of_two(c) == 1:
                return x
        return None


def _power_of_two(a: Operand) -> float | None:
    """A constant that is a power of two of moderate size: multiplying by it is exact."""
    if isinstance(a, Const) and not a.type.shape and a.type.dtype.kind in "fi" and np.isfinite(a.value):
        value = float(a.value)
        if value > 0 and math.frexp(value)[0] == 0.5 and 2**-20 <= value <= 2**20:
            return value
    return None


def _is_filled(value: Any) -> bool:
    value = np.asarray(value)
    return bool(value.size and value.dtype.kind in "fc" and is_uniform(value))


def _is_static(type: Type) -> bool:
    return all(n.__class__ is int for n in type.shape)


def _fix_sizes(step: Step) -> None:
    """Lengths that have become constants go into the parameters."""
    if step.sizes and all(isinstance(s, Const) for s in step.sizes):
        sizes = [int(s.value) for s in step.sizes]  # type: ignore[union-attr]
        step.params = map_refs(step.params, lambda ref: sizes[ref.k])
        step.sizes = []


def _drop_unread(code: Code) -> None:
    """Leave out steps whose results nobody reads any more."""
    used = {r for r in code.results if isinstance(r, Var)}
    kept = []
    for step in reversed(code.steps):
        stays = not step.outs or step.codes or step.name == "call" or any(v in used for v in step.outs)
        if stays:
            kept.append(step)
            used.update(a for a in (*step.args, *step.sizes) if isinstance(a, Var))
    code.steps = kept[::-1]
