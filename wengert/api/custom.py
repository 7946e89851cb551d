"""Derivative rules of the user's own: `custom_jvp`, `custom_vjp`, and `stop_gradient`.

"Approximate the derivative, do not differentiate the approximation": where a function is computed by iteration,
table or foreign code, its author states the derivative. One rule is enough. From a forward rule (linear in its
tangent) reverse mode follows by transposition; from a reverse rule (a pullback, linear in its cotangent) forward mode
follows, again by transposition. Rules may themselves be differentiated, so nesting works to any depth.

A call is the op `custom` (`control/custom.py`) on the leaves of the arguments. This file takes the arguments apart, and
checks what rules return.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Concatenate, Generic, Self, overload

import numpy as np

from wengert import tree
from wengert.api.arguments import fit_to
from wengert.api.operators import demand_function, named
from wengert.api.signatures import F, P, Q, R
from wengert.box.contents import Holder
from wengert.box.writing import settled
from wengert.capture.closures import holding_again, variables_of
from wengert.capture.hooks import instrument
from wengert.capture.program import fixed_outside
from wengert.control.custom import Rule, custom
from wengert.control.derived import depends_on
from wengert.errors import MismatchError, WengertError, told
from wengert.ops import elementwise
from wengert.ops.op import Traced, call
from wengert.running import running
from wengert.types import SCALARS, aval_of, dtype_of, is_inexact


def stop_gradient(x: Any) -> Any:
    """The same value as a constant: its derivative is zero from here on. Takes containers.

    >>> from wengert import grad
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    np.float64(3.0)
    """
    return tree.map(elementwise.stop_gradient, x)


class CustomFunction(Holder, Generic[P, R]):
    """What both kinds have in common: a call is an op on the leaves of its arguments."""

    @told
    def __init__(self, function: Callable[P, R], nondiff_argnums: tuple[int, ...] = ()):
        demand_function(type(self).__name__, function)
        self._function: Callable[..., Any] = function
        self._nondiff = tuple(nondiff_argnums)
        functools.update_wrapper(self, function, updated=())

    def __repr__(self) -> str:
        return f"<wengert.{type(self).__name__} of {named(self._function)}>"

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(
        self: CustomFunction[Concatenate[Any, Q], R], instance: object, owner: Any = None
    ) -> Callable[Q, R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    @told
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if kwargs:
            raise MismatchError(
                f"{self.__name__} has a derivative rule of its own and takes positional arguments only",  # type: ignore[attr-defined]
                remedy="pass all arguments by position",
            )
        leaves, structure = settled_leaves(args)
        if not any(isinstance(leaf, Traced) for leaf in leaves):
            return self._function(*tree.unflatten(structure, leaves))
        rule = self._rule_for(leaves, structure)
        results = call(custom, *[leaves[k] for k in rule.places], name=rule.name, rule=rule)
        return tree.unflatten(rule.out_structure, results)

    def _rule_for(self, leaves: list, structure: Any) -> AppliedRule:
        raise NotImplementedError


class AppliedRule(Rule):
    """A function with its rule, for arguments in certain containers: from leaves to leaves.

    Leaves that are no numbers, such as functions, are part of it.
    """

    def __init__(self, owner: Any, leaves: list, structure: Any):
        self.owner = owner
        self.name = owner.__name__
        self.structure = structure
        self.places = [k for k, leaf in enumerate(leaves) if _is_data(leaf)]
        numbers = frozenset(self.places)
        self.leaves = [None if k in numbers else leaf for k, leaf in enumerate(leaves)]
        args = tree.unflatten(structure, range(len(leaves)))
        self.chosen = [k for k in range(len(args)) if k not in owner._nondiff]
        fixed = {leaf for k in owner._nondiff for leaf in tree.leaves(args[k])}
        self.fixed = frozenset([k for k, place in enumerate(self.places) if place in fixed])
        self.out_structure: Any = None
        self.variables = variables_of(vars(owner).values()) if running.state.capture is not None else []

    def arguments(self, values: Sequence[Any]) -> tuple:
        """The arguments with these values at the leaves that are numbers."""
        leaves = list(self.leaves)
        for place, value in zip(self.places, values, strict=True):
            leaves[place] = value
        return tree.unflatten(self.structure, leaves)

    @contextmanager
    def apart(self) -> Iterator[None]:
        with holding_again(self.variables), fixed_outside(depends_on):
            yield

    def primal(self, args: Sequence[Any]) -> list[Any]:
        function = self.owner._function
        if running.state.capture is not None:
            function = instrument(function)
        ys, self.out_structure = settled_leaves(function(*self.arguments(args)))
        return ys

    def pair(self, found: Any, which: str, expected: str) -> tuple:
        """What a rule returned, if that is two things."""
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise MismatchError(f"{which} of {self.name} must return a pair {expected}", remedy=f"return {expected}")
        return tuple(found)

    def no_rule(self, how: str) -> WengertError:
        """The error for a function whose author has not stated a rule."""
        return WengertError(f"{self.name} has no derivative rule yet", remedy=f"state one with {how}")


def settled_leaves(x: Any) -> tuple[list, Any]:
    """The leaves of a container, each with its current value, and the container's structure."""
    leaves, structure = tree.flatten(x)
    return [settled(leaf) for leaf in leaves], structure


def _is_data(leaf: Any) -> bool:
    if isinstance(leaf, (Traced, np.ndarray, np.generic)) or leaf.__class__ in SCALARS:
        return dtype_of(leaf).kind in "biufc"
    return hasattr(leaf, "__array__")


class custom_jvp(CustomFunction[P, R]):
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

    @told
    def __init__(self, function: Callable[P, R], nondiff_argnums: tuple[int, ...] = ()):
        super().__init__(function, nondiff_argnums)
        self._rule: Callable | None = None

    def defjvp(self, rule: F) -> F:
        """State the forward rule."""
        self._rule = rule
        return rule

    def _rule_for(self, leaves: list, structure: Any) -> AppliedRule:
        return _Forward(self, leaves, structure)


class _Forward(AppliedRule):
    """A forward rule."""

    pulls = False

    def tangent(self, args: Sequence[Any], dots: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        rule = self.owner._rule
        if rule is None:
            raise self.no_rule("f.defjvp")
        without: list[Any] = [None] * len(self.leaves)
        for place, dot in zip(self.places, dots, strict=True):
            without[place] = dot
        primals, tangents = self.arguments(args), tree.unflatten(self.structure, without)
        fixed = [primals[k] for k in self.owner._nondiff]
        found = instrument(rule)(
            *fixed, tuple([primals[k] for k in self.chosen]), tuple([tangents[k] for k in self.chosen])
        )
        y, y_dot = self.pair(found, "the forward rule", "(y, y_dot)")
        (ys, self.out_structure), (y_dots, dot_structure) = settled_leaves(y), settled_leaves(y_dot)
        if self.out_structure != dot_structure:
            raise MismatchError(
                f"the forward rule of {self.name} returned tangents in other containers than the result",
                remedy="return y_dot in the containers of y",
            )
        return ys, [fit_to(d, aval_of(y), "the tangent of a rule") for y, d in zip(ys, y_dots, strict=True)]


class custom_vjp(CustomFunction[P, R]):
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

    @told
    def __init__(self, function: Callable[P, R], nondiff_argnums: tuple[int, ...] = ()):
        super().__init__(function, nondiff_argnums)
        self._rules: tuple[Callable, Callable] | None = None
        self.pushes_function = False

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """State the reverse rule."""
        self._rules = (fwd, bwd)

    def _rule_for(self, leaves: list, structure: Any) -> AppliedRule:
        return _Reverse(self, leaves, structure)


class _Reverse(AppliedRule):
    """A reverse rule."""

    pulls = True

    def __init__(self, owner: Any, leaves: list, structure: Any):
        super().__init__(owner, leaves, structure)
        self.pushes_function = owner.pushes_function

    def forward(self, args: Sequence[Any]) -> tuple[list[Any], list[Any], Any]:
        if self.owner._rules is None:
            raise self.no_rule("f.defvjp(fwd, bwd)")
        fwd, _ = self.owner._rules
        given = self.arguments(args)
        y, residuals = self.pair(instrument(fwd)(*given), "the forward part of the rule", "(y, residuals)")
        ys, self.out_structure = settled_leaves(y)
        kept, structure = settled_leaves((given, residuals))
        return ys, kept, (structure, self.out_structure)

    def backward(self, kept: Sequence[Any], told: Any, cts: Sequence[Any]) -> list[Any]:
        structure, out_structure = told
        given, residuals = tree.unflatten(structure, kept)
        fixed = [given[k] for k in self.owner._nondiff]
        _, bwd = self.owner._rules
        return self._cotangents(instrument(bwd)(*fixed, residuals, tree.unflatten(out_structure, cts)), given)

    def _cotangents(self, found: Any, args: tuple) -> list[Any]:
        """What `bwd` returned, as one cotangent (or `None`) for each leaf that is a number."""
        chosen = self.chosen
        if not isinstance(found, (tuple, list)) or len(found) != len(chosen):
            given = f"{len(found)} cotangents" if isinstance(found, (tuple, list)) else f"a {type(found).__name__}"
            raise MismatchError(
                f"the reverse rule of {self.name} returned {given} for {len(chosen)} arguments",
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
            ct_leaves, ct_structure = settled_leaves(ct)
            if ct_structure != arg_structure:
                raise MismatchError(
                    f"the reverse rule of {self.name} returned other containers than argument {k} has",
                    remedy="return each cotangent in the containers of its argument",
                )
            what = "a cotangent of a rule"
            result.extend(
                fit_to(c, aval_of(x), what) if is_inexact(dtype_of(x)) else None
                for c, x in zip(ct_leaves, arg_leaves, strict=True)
            )
        return [result[place] for place in self.places]
