"""Symbols: values of a program that is being captured.

A `Sym` is a box like those of the other modes, so NumPy's functions, operators, writes and views work on it; its trace
is a `Capture` (`build.py`), which records a node for every op. It has a type and no value.

A `Dim` is the length of an axis that is known only when the program runs, as it stands in a shape. Inside this package
shapes are compared and put together, so `==` between lengths says whether they are known to be equal; arithmetic with a
length gives a symbol, as for any integer of the program. A length that is known only at run time is never taken for
one: where NumPy would broadcast it the program raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.box.abstract import AbstractBox
from wengert.errors import ConcretizationError
from wengert.ir.node import Dyn, Type, Var
from wengert.types import Aval

_REMEDY = (
    "under jit, if, while, for, and, or and indexing work on such values in your own functions; in code that is not "
    "staged (a library's, a generator's) use np.where, or pass the value as a static argument (static_argnums), "
    "or use jit(f, fallback=True)"
)


class Sym(AbstractBox):
    """A value of the program that is being captured. `_node` is its variable, `_aval` its shape and dtype, `_span` the
    smallest and largest value an integer can have, if known."""

    __slots__ = ()
    _state = ("_owner", "_aval", "_node", "_span")

    def __init__(self, trace: Any, var: Var, shape: tuple, interval: tuple | None = None):
        self._owner = trace
        self._node = var
        self._aval = Aval(shape, var.type.dtype)
        self._span = interval

    @property
    def _is_array(self) -> bool:
        return super()._is_array or id(self) in getattr(self._owner, "arrays", ())

    def _order(self) -> tuple[int, ...] | None:
        """The order of the axes in memory; `None` is that of C (see `orders.py`)."""
        if self._owner is not None:
            self._owner.asks_order()  # type: ignore[attr-defined]
        return self._node.order

    def _unknown(self, what: str) -> ConcretizationError:
        return ConcretizationError(f"{what} depends on a value that is known only when the compiled program runs",
                                   remedy=_REMEDY)  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        if name == "_value":
            raise self._unknown("what is done here")
        return super().__getattr__(name)

    def __bool__(self) -> bool:
        raise self._unknown("a decision")

    def __int__(self) -> int:
        raise self._unknown("int(x), or a function that takes an integer,")

    def __float__(self) -> float:
        raise self._unknown("float(x), or a function that takes a float (of the math module, for instance),")

    def __complex__(self) -> complex:
        raise self._unknown("complex(x), or a function of the cmath module,")

    def __index__(self) -> int:
        if self.dtype.kind in "fc" and not self.shape:  # nor would it be one in Python
            kind = {"f": "float", "c": "complex"}[self.dtype.kind] if self._node.type.weak else self.dtype.name
            raise TypeError(f"'{kind}' object cannot be interpreted as an integer")
        raise self._unknown("an index, a size or a number of repetitions")

    def __contains__(self, item: Any) -> bool:
        raise self._unknown("a decision")

    def __iter__(self) -> Any:
        if not self.shape:
            if self.dtype.kind in "fc":  # some ask that way what it is
                raise TypeError(f"'{self.dtype.name.rstrip('0123456789')}' object is not iterable")
            raise ConcretizationError(
                "iteration over a number; perhaps it is meant as an axis or a shape, which has to be known when the "
                "function is compiled", remedy="pass the number as a static argument (static_argnums)",
            )  # fmt: skip
        if self.shape[0].__class__ is not int:
            raise self._unknown("the number of iterations")
        return super().__iter__()

    def __repr__(self) -> str:
        return f"<symbol {self._node.type}>"

    @property
    def _is_python_number(self) -> bool:
        return self._node.type.weak

    @property
    def _may_be_integer(self) -> bool:
        return self._node.mixed

    def __str__(self) -> str:
        raise self._unknown("a text (str, format or an f-string)")

    def __format__(self, spec: str) -> str:
        return str(self)


Sym.__name__ = "traced array"  # which Python's own errors show


class Dim:
    """A length that is known only when the program runs. See the module's text."""

    __slots__ = ("bound", "sym")

    def __init__(self, sym: Sym, bound: int | None):
        self.sym = sym
        self.bound = bound

    def __eq__(self, other: object) -> bool:
        return other.__class__ is Dim and other.sym._node is self.sym._node

    def __hash__(self) -> int:
        return hash(self.sym._node)

    def __index__(self) -> int:
        return self.sym.__index__()

    def __repr__(self) -> str:
        return "?" if self.bound is None else f"?<={self.bound}"


def _forward(name: str) -> Any:
    def method(self: Dim, *others: Any) -> Any:
        return getattr(self.sym, name)(*[o.sym if o.__class__ is Dim else o for o in others])

    return method


_OPERATORS = "add radd sub rsub mul rmul floordiv rfloordiv mod rmod truediv rtruediv pow rpow neg abs lt le gt ge"
for _name in _OPERATORS.split():
    setattr(Dim, f"__{_name}__", _forward(f"__{_name}__"))


def length(dim: Any) -> int | Dyn:
    """A length of a shape as it stands in a type."""
    return Dyn(dim.bound) if dim.__class__ is Dim else dim


def type_of(shape: tuple, dtype: np.dtype, weak: bool = False) -> Type:
    """The type of values with this shape, in which lengths may be `Dim`s."""
    return Type(tuple([length(n) for n in shape]), dtype, weak)


def known(n: Any) -> Any:
    """A length as users work with it: a number or a symbol."""
    return n.sym if n.__class__ is Dim else n
