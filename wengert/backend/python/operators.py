"""How elementwise ops are written: operators, and functions that have another name than their op."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wengert.backend.python.forms import FORMS, Site, by_implementation, form, weakened
from wengert.backend.python.literals import parameter
from wengert.backend.python.text import (
    ADD,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    COMPARE,
    MULTIPLY,
    NOT,
    SHIFT,
    UNARY,
    Text,
    function,
    infix,
    negative,
    power,
)
from wengert.errors import UnsupportedFunctionError
from wengert.ir.node import Const


def _operator(symbol: str, level: int, otherwise: str = "") -> Callable[[Site], Text]:
    """An infix operator; of Python's own numbers by NumPy's function, if that is another thing."""

    def write(site: Site) -> Text:
        if otherwise and site.all_weak() and not site.asked:
            return function(otherwise, *site.texts)
        left, right = weakened(site)
        return infix(left, symbol, right, level)

    return write


FORMS |= {
    "add": _operator("+", ADD),
    "subtract": _operator("-", ADD),
    "matmul": _operator("@", MULTIPLY),
    "floor_divide": _operator("//", MULTIPLY, "np.floor_divide"),
    "remainder": _operator("%", MULTIPLY, "np.remainder"),
    "left_shift": _operator("<<", SHIFT, "np.left_shift"),
    "right_shift": _operator(">>", SHIFT, "np.right_shift"),
    "bitwise_and": _operator("&", BIT_AND, "np.bitwise_and"),
    "bitwise_or": _operator("|", BIT_OR, "np.bitwise_or"),
    "bitwise_xor": _operator("^", BIT_XOR, "np.bitwise_xor"),
    "less": _operator("<", COMPARE, "np.less"),
    "less_equal": _operator("<=", COMPARE, "np.less_equal"),
    "greater": _operator(">", COMPARE, "np.greater"),
    "greater_equal": _operator(">=", COMPARE, "np.greater_equal"),
    "equal": _operator("==", COMPARE, "np.equal"),
    "not_equal": _operator("!=", COMPARE, "np.not_equal"),
}


@form("multiply")
def _multiply(site: Site) -> Text:
    left, right = weakened(site)
    for number_, x, k in ((left, right, 1), (right, left, 0)):
        if number_.text in ("-1", "-1.0") and site.out and site.type(k).dtype == site.out.dtype != np.bool_:
            if not site.type(k).weak and site.out.dtype.kind == "f":
                return negative(x)
    return infix(left, "*", right, MULTIPLY)


@form("divide")
def _divide(site: Site) -> Text:
    divisor = site.operands[1]
    if site.all_weak() and not (isinstance(divisor, Const) and divisor.value != 0):
        # Python's own numbers would raise where NumPy gives infinity.
        kind = "complex" if site.out and site.out.dtype.kind == "c" else "float"
        return function(kind, function("np.divide", *site.texts))
    left, right = weakened(site)
    return infix(left, "/", right, MULTIPLY)


@form("power")
def _power(site: Site) -> Text:
    return function("np.power", *site.texts) if site.all_weak() else power(*weakened(site))


@form("python_number")
def _python_number(site: Site) -> Text:
    kind = {"b": "bool", "i": "int", "f": "float", "c": "complex"}[site.type(0).dtype.kind]
    return site.texts[0] if site.type(0).ndim or site.type(0).weak else function(kind, *site.texts)


@form("square")
def _square(site: Site) -> Text:
    return power(site.texts[0], Text("2")) if site.type(0).ndim else function("np.square", *site.texts)


@form("negative")
def _negative(site: Site) -> Text:
    return negative(site.texts[0])


@form("absolute")
def _absolute(site: Site) -> Text:
    return function("np.abs", *site.texts)


@form("conjugate")
def _conjugate(site: Site) -> Text:
    return function("np.conj", *site.texts)


@form("invert")
def _invert(site: Site) -> Text:
    x = site.texts[0]
    return function("np.invert", x) if site.type(0).weak else Text("~" + x.within(UNARY), UNARY)


@form("logical_not")
def _logical_not(site: Site) -> Text:
    x = site.texts[0]
    if site.asked and not site.type(0).ndim:
        return Text("not " + x.within(NOT), NOT)
    if site.type(0).ndim and site.type(0).dtype == np.bool_:
        return Text("~" + x.within(UNARY), UNARY)
    return function("np.logical_not", x)


def _logical(symbol: str, level: int, name: str) -> Callable[[Site], Text]:
    def write(site: Site) -> Text:
        masks = all(a.type.dtype == np.bool_ for a in site.operands)
        if masks and (site.asked or not site.all_weak()):
            return infix(*_both(site, symbol), level)
        return function(name, *site.texts)

    return write


def _both(site: Site, symbol: str) -> tuple[Text, str, Text]:
    return site.texts[0], symbol, site.texts[1]


FORMS |= {
    "logical_and": _logical("&", BIT_AND, "np.logical_and"),
    "logical_or": _logical("|", BIT_OR, "np.logical_or"),
    "logical_xor": _logical("^", BIT_XOR, "np.logical_xor"),
}


@form("stop_gradient")
def _stop_gradient(site: Site) -> Text:
    return site.texts[0]


@form("where")
def _where(site: Site) -> Text:
    values = site._replace(operands=site.operands[1:], texts=site.texts[1:])
    return function("np.where", site.texts[0], *weakened(values))


@form("isclose")
def _isclose(site: Site) -> Text:
    return function("np.isclose", *site.texts, **{k: parameter(v) for k, v in site.params.items()})


@form("digamma")
def _digamma(site: Site) -> Text:
    return function(site.definitions.module("scipy.special") + ".digamma", *site.texts)


@form("round")
def _round(site: Site) -> Text:
    decimals = site.params.get("decimals", 0)
    return function("np.round", *site.texts, *([parameter(decimals)] if decimals else []))


@form("sinc")
def _sinc(site: Site) -> Text:
    return by_implementation(site) if site.params["n"] else function("np.sinc", *site.texts)


@form("succeeds")
def _succeeds(site: Site) -> Text:
    """It asks the table whether an op raises; source without the library has no table."""
    raise UnsupportedFunctionError(
        "the op succeeds in Python source, which stands for a try around linear algebra or a solver",
        remedy="leave the try out of what is exported",
    )
