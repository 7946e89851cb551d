"""What `str`, `repr`, `format`, `%` and `join` do in staged code; `texts.py` has those of traced values."""

from __future__ import annotations

import builtins
import functools
from typing import Any

from wengert.box.number_classes import HeldNumber
from wengert.capture import hooks, texts
from wengert.capture.each_of import each_argument
from wengert.capture.one_of import OneOf
from wengert.capture.staged_builtins import replaces


def _of_each(write: Any, *operands: Any) -> Any:
    """A text: if all that is not known of it is which one of several things is meant, one of several texts."""
    operands = tuple([_as_number(x) for x in operands])
    held = [x for x in operands if texts.holds_values(x)]
    if 0 < len(held) <= _MOST and all(x.__class__ is OneOf and not x.values for x in held):
        return each_argument(write, operands, {})
    return write(*operands)


def _as_number(x: Any) -> Any:
    """A number of a derived class as the one in it, unless its class says how it is written."""
    if not isinstance(x, HeldNumber) or any(getattr(type(x), n) is not getattr(HeldNumber, n) for n in _WRITING):
        return x
    return x._wengert_array()


_WRITING = ("__str__", "__repr__", "__format__")
_MOST = 3
"""There are as many texts as ways to choose so many things."""


def joined(*parts: Any) -> Any:
    """An f-string."""
    places = [k for k, part in enumerate(parts) if part.__class__ is tuple]

    def write(*values: Any) -> Any:
        new = dict(zip(places, values, strict=True))
        return texts.joined(*[(new[k], *part[1:]) if k in new else part for k, part in enumerate(parts)])

    return _of_each(write, *[parts[k][0] for k in places])


def interpolate(template: str, values: Any) -> Any:
    """`template % values`."""
    if not isinstance(template, str):
        return template % values
    if values.__class__ is tuple:
        return _of_each(lambda *new: _interpolate(template, new), *values)
    return _of_each(functools.partial(_interpolate, template), values)


def _interpolate(template: str, values: Any) -> str:
    return texts.interpolated(template, values) if texts.holds_values(values) else hooks.shown_in(template, values)


def format(template: str, /, *args: Any, **kwargs: Any) -> Any:
    """`template.format(…)`."""
    n, names = len(args), list(kwargs)
    write = lambda *new: _format_template(template, new[:n], dict(zip(names, new[n:], strict=True)))
    return _of_each(write, *args, *kwargs.values())


def _format_template(template: str, args: tuple, kwargs: dict) -> str:
    if texts.holds_values((args, kwargs)):
        return texts.formatted(template, args, kwargs)
    return template.format(*args, **kwargs)


def join(separator: str, items: Any) -> Any:
    """`separator.join(items)`."""
    return _of_each(lambda *new: _join(separator, list(new)), *items)


def _join(separator: str, items: list) -> str:
    return texts.joined_by(separator, items) if texts.holds_values(items) else separator.join(items)


@replaces(str)
def _str(*args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and not kwargs:
        return _of_each(lambda x: texts.written(str, x), *args)
    return str(*args, **kwargs)


@replaces(repr)
def _repr(x: Any) -> Any:
    return _of_each(lambda x: texts.written(repr, x), x)


@replaces(builtins.format)
def _format(x: Any, spec: str = "") -> Any:
    return joined((x, -1, spec))
