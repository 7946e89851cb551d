"""Every composition of operators a program runs in, and what each must give.

A composition is an expression over the names of the program's module (`f`, `total`, `flat`, `slope`, `many`, and the
compiled ones), so it can be pasted below the program. The first tolerance is that of differences; where the eager
result agrees with them, all other compositions must agree with the eager result to rounding.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

import wengert as wg
from fuzz.calls import repeated, sequence, varied
from fuzz.interpreted import interpreted
from fuzz.outcome import SAME, Outcome, TooSlow, limited, of_exception
from fuzz.program import Point, Program
from fuzz.reference import Reference, Useless, quiet
from wengert.tree import flatten

ALL = "(0, 1, 2)"
COMPOSITIONS: dict[str, str] = {
    # value
    "wg.jit(f)": "value", "interpreted(f)": "value", "interpreted(f, passes=False)": "value",
    "wg.vmap(f)": "values", "wg.jit(wg.vmap(f))": "values", "wg.vmap(jitted)": "values",
    # reverse
    f"wg.grad(total, {ALL})": "gradient", f"wg.jit(wg.grad(total, {ALL}))": "gradient",
    f"wg.grad(jitted_total, {ALL})": "gradient", f"wg.jit(wg.grad(jitted_total, {ALL}))": "gradient",
    f"interpreted(wg.grad(total, {ALL}))": "gradient",
    "wg.jacrev(flat)": "jacobian", "wg.jit(wg.jacrev(flat))": "jacobian", "wg.jacrev(jitted_flat)": "jacobian",
    # forward
    "slope": "slope", "wg.jit(slope)": "slope", "slope_of_jitted": "slope", "wg.jit(slope_of_jitted)": "slope",
    "wg.jacfwd(flat)": "jacobian", "wg.jit(wg.jacfwd(flat))": "jacobian", "wg.jacfwd(jitted_flat)": "jacobian",
    # second order
    "wg.hvp(total)": "hvp", "wg.jit(wg.hvp(total))": "hvp", "wg.hvp(jitted_total)": "hvp",
    "wg.hvp(total, mode='reverse-forward')": "hvp", "wg.jit(wg.hvp(total, mode='reverse-reverse'))": "hvp",
    "wg.hessian(total)": "hessian", "wg.jit(wg.hessian(total))": "hessian", "wg.hessian(jitted_total)": "hessian",
    # batches
    f"wg.vmap(wg.grad(total, {ALL}))": "gradients", f"wg.jit(wg.vmap(wg.grad(total, {ALL})))": "gradients",
    f"wg.vmap(wg.grad(jitted_total, {ALL}))": "gradients", f"wg.vmap(wg.jit(wg.grad(total, {ALL})))": "gradients",
    f"wg.grad(many, {ALL})": "weighted gradients", f"wg.jit(wg.grad(many, {ALL}))": "weighted gradients",
    f"wg.grad(many_of_jitted, {ALL})": "weighted gradients", "wg.jit(wg.vmap(slope))": "slopes",
    "wg.vmap(slope)": "slopes", "blocks": "gradients", "wg.jit(blocks)": "gradients",
    # other ways to the same
    "wg.jit(f, verify=True)": "value", "wg.jit(wg.jacfwd(jitted_flat))": "jacobian",
    "series": "slope", "wg.jit(series)": "slope", "linear": "slope", "wg.jit(linear)": "slope",
    "pulled": "gradient", "wg.jit(pulled)": "gradient",
    f"wg.grad(wg.checkpoint(total), {ALL})": "gradient",
    f"wg.grad(total, {ALL}, checkpoints=2)": "gradient", f"wg.jit(wg.grad(total, {ALL}, checkpoints=2))": "gradient",
    # called again, with other data and other kinds of arguments
    "repeated(wg.jit(f))": "calls", "varied(wg.jit(f))": "forms",
    f"repeated(wg.jit(wg.grad(total, {ALL})))": "calls of the gradient",
    f"repeated(wg.grad(jitted_total, {ALL}))": "calls of the gradient",
    f"varied(wg.jit(wg.grad(total, {ALL})), finite=True)": "forms of the gradient",
    f"varied(wg.grad(jitted_total, {ALL}), finite=True)": "forms of the gradient",
    "varied(wg.jit(wg.jacfwd(flat)), finite=True)": "forms of the jacobian",
    "lambda *args: wg.jacobian(flat, sparse=True)(*args).toarray()": "jacobian",
    "lambda *args: wg.jit(wg.jacobian(flat, sparse=True))(*args).toarray()": "jacobian",
}  # fmt: skip
"""What to run, and which of the reference's answers it must give."""
CALLS = {"calls": "repeated(f)", "forms": "varied(f)", "calls of the gradient": f"repeated(wg.grad(total, {ALL}))",
         "forms of the gradient": f"varied(wg.grad(total, {ALL}), finite=True)",
         "forms of the jacobian": "varied(wg.jacfwd(flat), finite=True)",
         "sequence": "sequence(f)"}  # fmt: skip
"""Answers that are those of the same calls of something else."""
TOOLS = {"interpreted": interpreted, "repeated": repeated, "varied": varied, "sequence": sequence}
"""What compositions name besides what is in programs."""
HELPERS = {"f": "value", f"wg.grad(total, {ALL})": "gradient", "wg.jit(f)": "value", "slope": "slope",
           f"wg.jit(wg.grad(total, {ALL}))": "gradient", "wg.vmap(f)": "values"}  # fmt: skip
"""Run once more with every helper compiled on its own."""
SEQUENCES = {"sequence(f, wg.jit)": "sequence", "sequence(f, functools.partial(wg.jit, verify=True))": "sequence"}
"""For programs that keep something outside."""
EVERY = [*COMPOSITIONS, *[f"{name} # helpers compiled" for name in HELPERS]]
EAGER = {kind: name for name, kind in reversed(COMPOSITIONS.items()) if "jit" not in name and "interp" not in name}
"""The eager composition for each kind of answer."""
WEIGHTS = np.array([1.0, 2.0, -0.5])


def kind_of(composition: str) -> str:
    """Which of the reference's answers it must give."""
    code, _, variant = composition.partition(" # ")
    return {**HELPERS, **SEQUENCES}[code] if variant or code in SEQUENCES else COMPOSITIONS[code]


@dataclass
class Check:
    """A program and its references; runs compositions and says what became of them."""

    program: Program
    limit: float = 20.0
    _eager: dict[str, list | None] = field(default_factory=dict)

    @cached_property
    def references(self) -> list[Reference]:
        return [Reference(self.program, p) for p in self.program.points]

    @cached_property
    def examples(self) -> list[Reference]:
        """The points as a batch has them: one after the other in memory, and with NumPy's numbers."""
        found = [p.data for p in self.program.points]
        return [Reference(self.program, Point((x, A, np.float64(a), np.int64(n)))) for x, A, a, n in found]

    @cached_property
    def first(self) -> Reference:
        return self.references[0]

    def useful(self) -> bool:
        """Whether plain NumPy runs it, and it is smooth along a line through the point; or, if it keeps something
        outside, whether the first call does not raise."""
        try:
            if self.program.has_state:
                with limited(self.limit):
                    return isinstance(self.expected("sequence")[0][0][0], list)
            with limited(self.limit):
                self.first.total
                self.first.value
                self.first.slope
                for r in self.references[1:]:
                    r.total
        except (Useless, TooSlow):
            return False
        return True

    @cached_property
    def batch(self) -> tuple:
        return tuple(np.stack(columns) for columns in zip(*[p.data for p in self.program.points], strict=True))

    # what is right

    @cached_property
    def rtol(self) -> float:
        return 3e-3 if self.program.is_single else 1e-9

    def expected(self, kind: str) -> Any:
        """By plain NumPy alone, and how well it is known."""
        rough = max(self.rtol, 2e-5)
        if kind in CALLS:
            return quiet(self._made(CALLS[kind], self.program.module), *self._arguments(kind)), max(self.rtol, 1e-7)
        if kind == "value":
            return self.first.value[0], self.rtol
        if kind == "values":
            found = [flatten(r.value[0])[0] for r in self.examples]
            if len({str([np.shape(leaf) for leaf in leaves]) for leaves in found}) > 1:
                raise Useless("results of other shapes for some examples")
            return [np.stack([np.asarray(leaf) for leaf in leaves]) for leaves in zip(*found, strict=True)], self.rtol
        if kind in ("gradient", "slope"):
            return self.first.slope, rough
        if kind == "jacobian":
            return self.first.slopes, rough
        if kind in ("gradients", "slopes"):
            return np.array([r.slope for r in self.examples]), rough
        if kind == "weighted gradients":
            return WEIGHTS * self.expected("gradients")[0], rough
        assert kind in ("hessian", "hvp")
        return self.bend, max(self.rtol, 1e-5)

    @cached_property
    def bend(self) -> np.ndarray:
        """The second derivative along the line: differences of the eager gradient, which is compared with NumPy's."""
        gradient = wg.grad(self.program.in_double.total)
        u = self.first.tangents[0]

        def at(h: float) -> np.ndarray:
            x, A, a, n = self.program.points[0].arguments()
            x += h * u
            return quiet(gradient, x, A, a, n)

        d = [(at(h) - at(-h)) / (2 * h) for h in (1e-3, 5e-4, 2.5e-4)]
        once = [(4 * fine - coarse) / 3 for coarse, fine in itertools.pairwise(d)]
        if np.max(np.abs(once[1] - once[0])) > 2e-6 * (1 + np.max(np.abs(once[1]))):
            raise Useless("the second derivative is not smooth")
        return (16 * once[1] - once[0]) / 15

    def along(self, kind: str, got: list) -> list | Outcome:
        """What is known of a derivative: the shapes of its parts, and its product with the direction of the line."""
        data = self.batch if kind in ("gradients", "weighted gradients") else self.program.points[0].data
        if kind.endswith(("gradient", "gradients")):
            shapes = [np.shape(v) for v in data[:3]]
        elif kind in ("jacobian", "hessian"):
            n = len(data[0])
            shapes = [(len(self.first.slopes) if kind == "jacobian" else n, n)]
        else:
            return got
        if [np.shape(g) for g in got] != shapes:
            return Outcome("wrong", f"shape of the {kind}", f"{[np.shape(g) for g in got]} instead of {shapes}")
        if kind in ("jacobian", "hessian"):
            return [got[0] @ self.first.tangents[0]]
        if kind == "gradient":
            return [sum(np.sum(g * t) for g, t in zip(got, self.first.tangents, strict=True))]
        examples = [[g[k] for g in got] for k in range(len(self.examples))]
        pairs = [zip(g, r.tangents, strict=True) for g, r in zip(examples, self.examples, strict=True)]
        return [np.array([sum(np.sum(g * t) for g, t in pair) for pair in pairs])]

    # what is got

    def run(self, name: str) -> Outcome:
        """What becomes of one composition."""
        code, _, variant = name.partition(" # ")
        kind = kind_of(name)
        try:
            expected, rtol = self.expected(kind)
        except Useless as reason:
            return Outcome("same", "", f"nothing to compare with: {reason}")
        except wg.errors.WengertError as error:
            return SAME if kind in CALLS else of_exception(error)
        except Exception as error:
            return of_exception(error)
        module = self.program.with_jitted_helpers if variant else self.program.module
        args = self._arguments(kind)
        before = [np.copy(a) for a in args]
        try:
            with limited(self.limit):
                got = quiet(self._made(code, module), *args)
        except (Exception, TooSlow) as error:
            ends = kind.startswith("forms") and isinstance(
                error, wg.errors.ConvergenceError
            )  # what is no number is no answer
            return SAME if ends else of_exception(error)
        outcome = self._compared(kind, got, expected, rtol, args, before)
        if outcome.kind == "same" and kind in EAGER and name != EAGER[kind] and (exact := self.eager(kind)) is not None:
            rtol = max(self.rtol, 1e-7)
            return _different(flatten(got)[0], exact, rtol, f"{kind}, in comparison with the eager one") or outcome
        return outcome

    @staticmethod
    def _made(code: str, module: ModuleType) -> Callable:
        return eval(code, {**TOOLS, **vars(module)})

    def eager(self, kind: str) -> list | None:
        """What the eager composition gives, to rounding: differences are not that exact."""
        if kind not in self._eager:
            try:
                with limited(self.limit):
                    found = quiet(lambda: eval(EAGER[kind], vars(self.program.module))(*self._arguments(kind)))
                self._eager[kind] = flatten(found)[0]
            except (Exception, TooSlow):  # said where it is asked for
                self._eager[kind] = None
        return self._eager[kind]

    def _arguments(self, kind: str) -> tuple:
        args = self.program.points[0].arguments()
        u, B, b = self.first.tangents
        if kind == "slope":
            return (*args, u.copy(), B.copy(), b)
        if kind == "hvp":
            return (*args, u.copy())
        if kind == "slopes":
            tangents = [r.tangents for r in self.references]
            return (*self.batch, *[np.stack(t) for t in zip(*tangents, strict=True)])
        if kind in ("values", "gradients", "weighted gradients", "calls", "calls of the gradient", "sequence"):
            return tuple(np.copy(a) for a in self.batch)
        return args

    def _compared(self, kind: str, got: Any, expected: Any, rtol: float, args: tuple, before: list) -> Outcome:
        if kind == "value" or kind in CALLS:
            wanted, written = self.first.value if kind == "value" else (expected, before)
            if str(flatten(got)[1]) != str(flatten(wanted)[1]):  # classes of another module of the same source
                return Outcome("wrong", "containers", f"{flatten(got)[1]} instead of {flatten(wanted)[1]}")
            for g, w in zip(flatten(got)[0], flatten(wanted)[0], strict=True):
                if w.__class__ is int and np.asarray(g).dtype.kind in "if":
                    continue  # NumPy's integer, or 0 in one branch and a float in the other: docs/python-and-jit.md
                if np.asarray(g).dtype != np.asarray(w).dtype:
                    return Outcome("wrong", "dtype", f"{np.asarray(g).dtype} instead of {np.asarray(w).dtype}")
            bad = _different(flatten(got)[0], flatten(wanted)[0], rtol, "value")
            return bad or _different(list(args[:2]), list(written[:2]), rtol, "effect on the arguments") or SAME
        got_leaves = flatten(got)[0]
        found = self.along(kind, got_leaves)
        if isinstance(found, Outcome):
            return found
        expected_leaves = list(expected) if isinstance(expected, (list, tuple)) else [expected]
        bad = _different(found, expected_leaves, rtol, kind)
        if bad:
            return bad
        if any(not np.array_equal(a, b) for a, b in zip(args, before, strict=True)):
            return Outcome("wrong", "the caller's arrays were written to", "")
        return SAME


def _different(got: list, expected: list, rtol: float, what: str) -> Outcome | None:
    if len(got) != len(expected):
        return Outcome("wrong", what, f"{len(got)} results instead of {len(expected)}")
    finite = [np.nan_to_num(e, posinf=0.0, neginf=0.0) for e in expected if not isinstance(e, str)]
    scale = 1.0 + max([float(np.max(np.abs(e), initial=0.0)) for e in finite], default=0.0)
    for k, (g, e) in enumerate(zip(got, expected, strict=True)):
        if isinstance(e, str):
            continue
        g, e = np.asarray(g), np.asarray(e)
        if g.shape != e.shape:
            return Outcome("wrong", f"shape of the {what}", f"{g.shape} instead of {e.shape}")
        if not np.allclose(g, e, rtol=rtol, atol=rtol * scale, equal_nan=True):
            return Outcome("wrong", what, f"result {k}:\n{g}\ninstead of\n{e}")
    return None


def checked(program: Program, names: list[str], limit: float = 20.0) -> dict[str, Outcome] | None:
    """What becomes of a program in these compositions; None if it says nothing."""
    check = Check(program, limit)
    return {name: check.run(name) for name in names} if check.useful() else None


__all__ = ["COMPOSITIONS", "EAGER", "EVERY", "HELPERS", "SEQUENCES", "Check", "Point", "checked", "kind_of"]
