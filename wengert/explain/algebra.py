"""`wg.symbolic`: a program as one mathematical expression, differentiated by SymPy.

It is the second of the survey's four ways to a derivative (Baydin et al. 2018, §2.2): exact, readable, and only for
programs that are one closed form. What it costs is in `swell.py` and `ways.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.operators import operation
from wengert.capture import hooks
from wengert.errors import NoClosedFormError, NotDifferentiableInputError
from wengert.explain.closed_form import evaluate, sympy
from wengert.types import dtype_of, shape_of


class Symbolic:
    """A function in closed form; made by `wg.symbolic`.

    `symbols` are the arguments, `expression` the result, `derivative` its derivatives with respect to each argument: in
    the containers of the arguments, each of the shape of the result followed by that of the argument. They are SymPy
    expressions, or object arrays of them. `function(*args)` and `gradient(*args)` compute with NumPy.
    """

    def __init__(self, name: str, leaves: list[np.ndarray], structure: Any, results: list[np.ndarray], out: Any):
        self.name = name
        self._leaves, self._structure = leaves, structure
        self._results, self._out = results, out

    @property
    def symbols(self) -> Any:
        """The symbols, in the containers of the arguments: a tuple with one item for each."""
        return tree.unflatten(self._structure, [_unboxed(x) for x in self._leaves])

    @property
    def expression(self) -> Any:
        """The result as an expression, an object array, or a container of these."""
        return tree.unflatten(self._out, [_unboxed(y) for y in self._results])

    @cached_property
    def _derivatives(self) -> list[np.ndarray]:
        if len(self._results) != 1:
            raise NoClosedFormError("the derivative of several results", remedy="return one array, or one number")
        (y,) = self._results
        found = []
        for x in self._leaves:
            d = np.empty(y.shape + x.shape, object)
            for i in np.ndindex(y.shape):
                for j in np.ndindex(x.shape):
                    d[i + j] = sympy().diff(y[i], x[j])
            found.append(d)
        return found

    def _arranged(self, arrays: Sequence[Any]) -> Any:
        container = tree.unflatten(self._structure, list(arrays))
        return container[0] if len(container) == 1 else container

    @property
    def derivative(self) -> Any:
        """The derivative as SymPy finds it, unsimplified; of several arguments a tuple."""
        return self._arranged([_unboxed(d) for d in self._derivatives])

    @property
    def simplified(self) -> Any:
        """The derivative, simplified by SymPy, which may take long."""
        simplify = np.frompyfunc(sympy().simplify, 1, 1)
        return self._arranged([_unboxed(simplify(d)) for d in self._derivatives])

    @cached_property
    def _inputs(self) -> list[Any]:
        return [s for x in self._leaves for s in x.ravel()]

    @cached_property
    def _compiled(self) -> tuple[Callable, Callable]:
        values = [e for y in self._results for e in y.ravel()]
        slopes = [e for d in self._derivatives for e in d.ravel()]
        make = lambda outputs: sympy().lambdify(self._inputs, outputs, modules=["scipy", "numpy"])
        return make(values), make(slopes)

    def _numbers(self, args: tuple) -> list[float]:
        leaves, structure = tree.flatten(args)
        if structure != self._structure or [shape_of(a) for a in leaves] != [x.shape for x in self._leaves]:
            raise NoClosedFormError(
                f"{self.name} was made for arguments of other shapes or containers",
                remedy="call wg.symbolic again for these",
            )
        return [float(v) for a in leaves for v in np.ravel(a)]

    def function(self, *args: Any) -> Any:
        """The result for these arguments, computed by the expression."""
        flat = self._compiled[0](*self._numbers(args))
        return tree.unflatten(self._out, _split(flat, [y.shape for y in self._results]))

    def gradient(self, *args: Any) -> Any:
        """The derivatives for these arguments, computed by the expressions."""
        flat = self._compiled[1](*self._numbers(args))
        return self._arranged(_split(flat, [d.shape for d in self._derivatives]))

    def __repr__(self) -> str:
        arguments = ", ".join(map(str, self._inputs[:6])) + (", …" if len(self._inputs) > 6 else "")
        return f"{self.name}({arguments}) = {self.expression}"

    def _repr_latex_(self) -> str:
        return f"${sympy().latex(self.expression)}$"


@operation
def symbolic(f: Callable, *args: Any) -> Symbolic:
    """A function as one mathematical expression, with its derivative, through SymPy.

    The function is run on symbols; NumPy's functions become SymPy's, `np.where` becomes a `Piecewise`, arrays become
    arrays of symbols `x_0, x_1, …`. Python's loops and branches are followed as far as they do not depend on symbols.

    Args:
        f: a function of real numbers, arrays and containers of them.
        args: examples of its arguments: only shapes, and what is not a floating-point number, count.

    Returns:
        A `Symbolic`: `.expression`, `.derivative`, `.simplified`, and `.function(*args)`, `.gradient(*args)`, which
        compute with NumPy.

    Raises `NoClosedFormError` if the program decides by a symbol or does what has no closed form. Needs SymPy: the
    extra `symbolic`. Cost: expressions can grow exponentially with the program (`wg.expression_swell`).

    >>> import numpy as np, wengert as wg
    >>> s = wg.symbolic(lambda x: x * np.sin(x), 1.0)
    >>> s.expression, s.derivative
    (x*sin(x), x*cos(x) + sin(x))
    >>> bool(np.isclose(s.gradient(2.0), wg.grad(lambda x: x * np.sin(x))(2.0)))
    True
    """
    everything, whole = tree.flatten(args)
    places = [k for k, a in enumerate(everything) if _is_floating(a)]
    if not places:
        raise NotDifferentiableInputError("there is no floating-point number among the arguments",
                                          remedy="pass 2.0 instead of 2")  # fmt: skip
    names = _names(f, args)
    leaves = [_symbols(names[k], shape_of(everything[k])) for k in places]
    chosen = [any(_is_floating(x) for x in tree.leaves(a)) for a in args]
    structure = tree.flatten(tuple([a for a, c in zip(args, chosen, strict=True) if c]))[1]
    twin = hooks.resolve(f)
    out: Any = None

    def of_leaves(*given: Any) -> Sequence[Any]:
        nonlocal out
        filled = list(everything)
        for k, x in zip(places, given, strict=True):
            filled[k] = x
        found, out = tree.flatten(twin(*tree.unflatten(whole, filled)))
        return found

    results = evaluate(of_leaves, leaves)
    return Symbolic(getattr(f, "__name__", "f").replace("<lambda>", "f"), leaves, structure, results, out)


def _is_floating(x: Any) -> bool:
    return x.__class__ is float or (isinstance(x, (np.ndarray, np.generic)) and dtype_of(x).kind == "f")


def _symbols(name: str, shape: tuple[int, ...]) -> np.ndarray:
    found = np.empty(shape, object)
    for index in np.ndindex(shape):
        found[index] = sympy().Symbol("_".join([name, *map(str, index)]), real=True)
    return found


def _names(f: Callable, args: tuple) -> list[str]:
    try:
        parameters = [p.name for p in inspect.signature(f).parameters.values() if p.kind is not p.VAR_POSITIONAL]
    except (TypeError, ValueError):
        parameters = []
    names = []
    for k, a in enumerate(args):
        name = parameters[k] if k < len(parameters) else f"x{k + 1}"
        for path in tree.paths(a):
            names.append(name + "".join(c if c.isalnum() else "_" for c in path).rstrip("_").replace("__", "_"))
    return names


def _unboxed(x: np.ndarray) -> Any:
    """An array, or what is in it if it has no axes."""
    return x[()] if isinstance(x, np.ndarray) and not x.shape else x


def _split(flat: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    arrays, start = [], 0
    for shape in shapes:
        n = int(np.prod(shape))
        arrays.append(np.array(flat[start : start + n], float).reshape(shape)[()])
        start += n
    return arrays
