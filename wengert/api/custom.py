"""Derivative rules of the user's own: `custom_jvp`, `custom_vjp`, and `stop_gradient`.

"Approximate the derivative, do not differentiate the approximation": where a function is computed by iteration,
table or foreign code, its author states the derivative. One rule is enough. From a forward rule (linear in its
tangent) reverse mode follows by transposition; from a reverse rule (a pullback, linear in its cotangent) forward mode
follows, again by transposition. Rules may themselves be differentiated, so nesting works to any depth.

A call with traced arguments of several nested differentiations is handled one by one, innermost first, as for ops.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.arguments import fit_to, zeros_like
from wengert.box.box import escaped, plain
from wengert.box.writing import settled
from wengert.capture.hooks import instrument
from wengert.errors import MismatchError, NotLinearError, WengertError
from wengert.modes.batch import Batch
from wengert.modes.dual import Dual
from wengert.modes.linear import LinearTrace, Tangent, transpose
from wengert.modes.tape import Tape
from wengert.ops import elementwise
from wengert.ops.op import Traced
from wengert.types import aval_of, dtype_of, is_inexact


def stop_gradient(x: Any) -> Any:
    """The same value as a constant: its derivative is zero from here on. Takes containers.

    >>> from wengert import grad
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    np.float64(3.0)
    """
    return tree.map(elementwise.stop_gradient, x)


class _Custom:
    """What both kinds have in common: finding the innermost differentiation among the arguments."""

    def __init__(self, function: Callable, nondiff_argnums: tuple[int, ...] = ()):
        self._function = function
        self._nondiff = tuple(nondiff_argnums)
        functools.update_wrapper(self, function, updated=())

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise MismatchError(
                f"{self.__name__} has a derivative rule of its own and takes positional arguments only",  # type: ignore[attr-defined]
                remedy="pass all arguments by position",
            )
        leaves, structure = _settled_leaves(args)
        args = tree.unflatten(structure, leaves)
        trace = None
        for leaf in leaves:
            if isinstance(leaf, Traced) and (trace is None or leaf._owner.tag > trace.tag):
                trace = leaf._owner
        if trace is None:
            return self._function(*args)
        if not getattr(trace, "alive", True):
            raise escaped()
        mine = [isinstance(leaf, Traced) and leaf._owner is trace for leaf in leaves]
        kind = next(leaf.__class__ for leaf, m in zip(leaves, mine, strict=True) if m)
        if kind is Batch:
            return self._one_by_one(trace, leaves, mine, structure)
        if kind is Tangent:
            return self._function(*args)
        values = [leaf._value if m else leaf for leaf, m in zip(leaves, mine, strict=True)]
        for k in self._nondiff:
            if any(_is_traced_by(leaf, trace) for leaf in tree.leaves(args[k])):
                raise WengertError(
                    f"argument {k} of {self.__name__} is in nondiff_argnums but is being differentiated",  # type: ignore[attr-defined]
                    remedy="take it out of nondiff_argnums, or pass wg.stop_gradient(x)",
                )
        if kind is Dual:
            dots = [leaf._tangent if m else None for leaf, m in zip(leaves, mine, strict=True)]
            return self._forward(trace, values, dots, structure)
        if kind is not Tape:  # a mode that only looks at what is done
            return trace.whole(self, leaves, structure)  # type: ignore[attr-defined]
        nodes = [leaf._node if m else None for leaf, m in zip(leaves, mine, strict=True)]
        return self._reverse(trace, values, nodes, structure)

    def _one_by_one(self, trace: Any, leaves: list, mine: list, structure: Any) -> Any:
        results = [
            self(*tree.unflatten(structure, [x._value[k] if m else x for x, m in zip(leaves, mine, strict=True)]))
            for k in range(trace.size)
        ]
        return tree.map(lambda *examples: trace.wrap(np.stack(examples)), *results)

    def _forward(self, trace: Any, values: list, dots: list, structure: Any) -> Any:
        raise NotImplementedError

    def _reverse(self, trace: Any, values: list, nodes: list, structure: Any) -> Any:
        raise NotImplementedError

    def _pair(self, found: Any, which: str, expected: str) -> tuple:
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise MismatchError(
                f"{which} of {self.__name__} must return a pair {expected}",  # type: ignore[attr-defined]
                remedy=f"return {expected}",
            )
        return tuple(found)

    def _refuse_closures(self, results: list, trace: Any) -> None:
        """A rule is given values without their trace. If what it returns has that trace, or an inner one, then by way
        of a closure, and that dependence would be lost."""
        if any(_is_traced_inside(leaf, trace.tag) for leaf in results):
            raise WengertError(
                f"{self.__name__} or its rule uses a value that is being differentiated and is not among its arguments",  # type: ignore[attr-defined]
                remedy="pass every value that the function depends on as an argument of the function",
            )

    def _no_rule(self, how: str) -> WengertError:
        return WengertError(f"{self.__name__} has no derivative rule yet", remedy=f"state one with {how}")  # type: ignore[attr-defined]


def _is_traced_by(leaf: Any, trace: Any) -> bool:
    return isinstance(leaf, Traced) and leaf._owner is trace


def _settled_leaves(container: Any) -> tuple[list, Any]:
    leaves, structure = tree.flatten(container)
    return [settled(leaf) for leaf in leaves], structure


def _is_traced_inside(leaf: Any, tag: int) -> bool:
    symbolic = leaf.__class__ is Tangent or leaf.__class__ is Batch
    return isinstance(leaf, Traced) and not symbolic and leaf._owner.tag >= tag


class custom_jvp(_Custom):
    """A function with a forward rule of its own; reverse mode follows from it.

    Use as a decorator, then state the rule with `.defjvp`: `rule(primals, tangents) -> (y, y_dot)`, both arguments
    tuples with one item for each argument of the function, `y_dot` linear in the tangents. With
    `nondiff_argnums=(k, …)` those arguments come first: `rule(*nondiff, primals, tangents)`.

    >>> import numpy as np, wengert as wg
    >>> @wg.custom_jvp
    ... def log1pexp(x):
    ...     return np.log1p(np.exp(x))
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (x_dot,) = primals, tangents
    ...     return log1pexp(x), (1 - 1 / (1 + np.exp(x))) * x_dot
    >>> wg.grad(log1pexp)(100.0)
    np.float64(1.0)
    """

    def __init__(self, function: Callable, nondiff_argnums: tuple[int, ...] = ()):
        super().__init__(function, nondiff_argnums)
        self._rule: Callable | None = None

    def defjvp(self, rule: Callable) -> Callable:
        """State the forward rule."""
        self._rule = instrument(rule)
        return rule

    def _apply_rule(self, trace: Any, values: list, dots: list, structure: Any) -> tuple[list, list, Any]:
        """The leaves of the result, their tangents, and their containers."""
        if self._rule is None:
            raise self._no_rule("f.defjvp")
        primals, tangents = tree.unflatten(structure, values), tree.unflatten(structure, dots)
        fixed = [primals[k] for k in self._nondiff]
        chosen = [k for k in range(len(primals)) if k not in self._nondiff]
        found = self._rule(*fixed, tuple(primals[k] for k in chosen), tuple(tangents[k] for k in chosen))
        y, y_dot = self._pair(found, "the forward rule", "(y, y_dot)")
        (ys, out_structure), (y_dots, dot_structure) = _settled_leaves(y), _settled_leaves(y_dot)
        if out_structure != dot_structure:
            raise MismatchError(
                f"the forward rule of {self.__name__} returned tangents in other containers than the result",  # type: ignore[attr-defined]
                remedy="return y_dot in the containers of y",
            )
        self._refuse_closures([*ys, *y_dots], trace)
        return (
            ys,
            [fit_to(d, aval_of(y), "the tangent of a rule") for y, d in zip(ys, y_dots, strict=True)],
            out_structure,
        )

    def _forward(self, trace: Any, values: list, dots: list, structure: Any) -> Any:
        filled = [_no_tangent(x) if d is None else d for x, d in zip(values, dots, strict=True)]
        ys, y_dots, out_structure = self._apply_rule(trace, values, filled, structure)
        return tree.unflatten(out_structure, [Dual(trace, y, d) for y, d in zip(ys, y_dots, strict=True)])

    def _reverse(self, trace: Any, values: list, nodes: list, structure: Any) -> Any:
        linear = LinearTrace(trace.tag, trace.nodes)
        ys, y_dots, out_structure = self._apply_rule(
            trace, values, [_symbol(linear, x, n) for x, n in zip(values, nodes, strict=True)], structure
        )
        for d in y_dots:
            if d.__class__ is not Tangent and np.any(plain(d)):
                raise NotLinearError(
                    f"the forward rule of {self.__name__} returned a tangent that is not made from those it was given",  # type: ignore[attr-defined]
                    remedy="return a linear function of the tangents",
                )
        boxes = [y if d.__class__ is not Tangent else Tape(trace, y, d._node) for y, d in zip(ys, y_dots, strict=True)]
        return tree.unflatten(out_structure, boxes)


def _symbol(linear: LinearTrace, x: Any, node: int | None) -> Any:
    """The unknown tangent of an argument. One that is not differentiated gets a tangent nobody will ever send."""
    if node is not None:
        return Tangent(linear, node, aval_of(x))
    return linear.input(aval_of(x)) if is_inexact(dtype_of(x)) else _no_tangent(x)


def _no_tangent(x: Any) -> Any:
    """The tangent of an argument that is not differentiated; `None` for one that has none, such as a function."""
    return zeros_like(x) if dtype_of(x).kind in "iubfc" else None


class custom_vjp(_Custom):
    """A function with a reverse rule of its own; forward mode follows from it.

    Use as a decorator, then state the rule with `.defvjp(fwd, bwd)`: `fwd(*args) -> (y, residuals)`, and
    `bwd(residuals, y_bar)` returns a tuple with one cotangent for each argument (`None` for zero), linear in `y_bar`.
    With `nondiff_argnums=(k, …)` those arguments come first in `bwd(*nondiff, residuals, y_bar)`, which returns
    cotangents for the others only.

    >>> import numpy as np, wengert as wg
    >>> @wg.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, y_bar: (np.clip(y_bar, -1, 1),))
    >>> wg.grad(lambda x: 5 * clipped(x))(3.0)
    np.float64(1.0)
    """

    def __init__(self, function: Callable, nondiff_argnums: tuple[int, ...] = ()):
        super().__init__(function, nondiff_argnums)
        self._rules: tuple[Callable, Callable] | None = None

    def defvjp(self, fwd: Callable, bwd: Callable) -> None:
        """State the reverse rule."""
        self._rules = (instrument(fwd), instrument(bwd))

    def _run(self, trace: Any, values: list, structure: Any) -> tuple[list, Any, Callable]:
        """The leaves of the result, their containers, and the pullback from leaves to leaves."""
        if self._rules is None:
            raise self._no_rule("f.defvjp(fwd, bwd)")
        fwd, bwd = self._rules
        args = tree.unflatten(structure, values)
        y, residuals = self._pair(fwd(*args), "the forward part of the rule", "(y, residuals)")
        out_leaves, out_structure = _settled_leaves(y)
        self._refuse_closures([*out_leaves, *_settled_leaves(residuals)[0]], trace)
        fixed = [args[k] for k in self._nondiff]

        def pullback(cts: list) -> list:
            found = bwd(*fixed, residuals, tree.unflatten(out_structure, cts))
            return self._cotangents(found, args)

        return out_leaves, out_structure, pullback

    def _cotangents(self, found: Any, args: tuple) -> list:
        """What `bwd` returned, as one cotangent (or `None`) for each leaf of the arguments."""
        chosen = [k for k in range(len(args)) if k not in self._nondiff]
        if not isinstance(found, (tuple, list)) or len(found) != len(chosen):
            given = f"{len(found)} cotangents" if isinstance(found, (tuple, list)) else f"a {type(found).__name__}"
            raise MismatchError(
                f"the reverse rule of {self.__name__} returned {given} for {len(chosen)} arguments",  # type: ignore[attr-defined]
                remedy="return a tuple with one cotangent (or None) for each argument",
            )
        by_argument: dict[int, Any] = dict(zip(chosen, found, strict=True))
        result: list[Any] = []
        for k, arg in enumerate(args):
            arg_leaves, arg_structure = tree.flatten(arg)
            ct = by_argument.get(k)
            if ct is None:
                result.extend([None] * len(arg_leaves))
                continue
            ct_leaves, ct_structure = _settled_leaves(ct)
            if ct_structure != arg_structure:
                raise MismatchError(
                    f"the reverse rule of {self.__name__} returned other containers than argument {k} has",  # type: ignore[attr-defined]
                    remedy="return each cotangent in the containers of its argument",
                )
            what = "a cotangent of a rule"
            result.extend(
                fit_to(c, aval_of(x), what) if is_inexact(dtype_of(x)) else None
                for c, x in zip(ct_leaves, arg_leaves, strict=True)
            )
        return result

    def _reverse(self, trace: Any, values: list, nodes: list, structure: Any) -> Any:
        outs, out_structure, pullback = self._run(trace, values, structure)
        wanted = [k for k, n in enumerate(nodes) if n is not None]

        def restricted(cts: list) -> list:
            found = pullback(cts)
            return [found[k] for k in wanted]

        return tree.unflatten(out_structure, trace.custom([nodes[k] for k in wanted], outs, restricted))

    def _forward(self, trace: Any, values: list, dots: list, structure: Any) -> Any:
        outs, out_structure, pullback = self._run(trace, values, structure)
        y_dots = transpose(pullback, [aval_of(y) for y in outs])(dots)
        self._refuse_closures(y_dots, trace)
        return tree.unflatten(out_structure, [Dual(trace, y, d) for y, d in zip(outs, y_dots, strict=True)])
