"""What every operator's result has in common: it is called as the function was, says what it is, and its errors speak
of the user's code only.

    >>> import wengert as wg
    >>> def energy(x): return x**2
    >>> wg.grad(energy)
    <wengert.grad of energy>
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any, Concatenate, Generic, Self, cast, overload

from wengert.api.arguments import demand_positions
from wengert.api.budget import Budget, under
from wengert.api.signatures import F, P, Q, R
from wengert.api.transport import portable
from wengert.box.contents import Holder
from wengert.box.foreign import an
from wengert.errors import NotAFunctionError, told


class Operated(Holder, Generic[P, R]):
    """What an operator makes of a function."""

    def __init__(self, operator: str, f: Callable[..., Any], call: Callable[P, R], budget: Budget | None = None):
        functools.update_wrapper(self, f, updated=())
        self._budget = budget
        self._operator = operator
        self._call = call

    @told
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if self._budget is not None:
            with under(self._budget):
                return self._call(*args, **kwargs)
        return self._call(*args, **kwargs)

    @property
    def title(self) -> str:
        """What it computes, in one word."""
        call: Any = self._call
        while isinstance(call, Operated):
            call = call._call
        return call.__code__.co_name

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(self: Operated[Concatenate[Any, Q], R], instance: object, owner: Any = None) -> Callable[Q, R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __copy__(self) -> Self:
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        return new

    def __reduce__(self) -> Any:
        return Operated, (self._operator, portable(self.__wrapped__), portable(self._call), self._budget)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"<wengert.{self._operator} of {named(self.__wrapped__)}>"  # type: ignore[attr-defined]


def named(f: Any) -> str:
    """What a function is called, and what operators have made of it: `wengert.grad of energy`."""
    text = repr(f)
    return text[1:-1] if text.startswith("<wengert.") else getattr(f, "__qualname__", None) or text


def demand_function(name: str, f: Any, others: str = "") -> None:
    """Refuse what cannot be called; `others` are what the operator takes beside the function."""
    if callable(f):
        return
    kind = "None" if f is None else an(type(f).__name__)
    remedy = f"give it the function itself, and call what comes back: wg.{name}(f)(x), not wg.{name}(f(x))"
    if others:
        remedy = f"give it the function itself first: wg.{name}(f, {others})"
    if isinstance(f, (classmethod, property)):
        remedy = f"write @wg.{name} below @{type(f).__name__}, next to the function"
    raise NotAFunctionError(f"wg.{name} wants a function, and was given {kind}", remedy=remedy)


def result_of(name: str, f: Callable, budget: Budget | None = None) -> Callable[[Callable], Any]:
    """Declare that what follows is what an operator makes of `f`, within a budget of what it may keep."""
    demand_function(name, f)
    return lambda call: Operated(name, f, call, budget)


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def operation(function: F) -> F:
    """What computes or makes an operator at once (`jvp`, `grad`): its errors speak of the user's code only.

    If its second argument says which arguments are meant, as in `grad`, who writes `grad(f, x)` is told now what goes
    where, and not when the result is called.
    """
    signature = inspect.signature(function).parameters
    parameters = list(signature)
    required = [p.name for p in signature.values() if p.default is p.empty and p.kind in _BY_POSITION]
    others = ", ".join(required[1:])
    takes_function, takes_argnums = parameters[:1] == ["f"], parameters[1:2] == ["argnums"]
    vector = ", v" if function.__name__.endswith("hvp") else ""
    name = function.__name__
    if function.__module__.endswith(".numerical"):
        name = f"numerical.{name}"

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if takes_function and args:
            demand_function(name, args[0], others)
        if takes_argnums and (len(args) > 1 or "argnums" in kwargs):
            argnums = args[1] if len(args) > 1 else kwargs["argnums"]
            demand_positions(argnums, f"wg.{name}(f)(x{vector})")
        return function(*args, **kwargs)

    return told(cast(F, called))
