"""What `str`, `repr`, `format`, `%` and `join` do in staged code; `texts.py` has those of traced values."""

from __future__ import annotations

import builtins
from typing import Any

from wengert.capture import hooks, texts
from wengert.capture.staged_builtins import replaces


def interpolate(template: str, values: Any) -> str:
    """`template % values`."""
    if not isinstance(template, str):
        return template % values
    return texts.interpolated(template, values) if texts.holds_values(values) else hooks.shown_in(template, values)


def format(template: str, /, *args: Any, **kwargs: Any) -> str:
    """`template.format(…)`."""
    if texts.holds_values((args, kwargs)):
        return texts.formatted(template, args, kwargs)
    return template.format(*args, **kwargs)


def join(separator: str, items: Any) -> str:
    """`separator.join(items)`."""
    items = list(items)
    return texts.joined_by(separator, items) if texts.holds_values(items) else separator.join(items)


@replaces(str)
def _str(*args: Any, **kwargs: Any) -> str:
    return texts.written(str, *args) if len(args) == 1 and not kwargs else str(*args, **kwargs)


@replaces(repr)
def _repr(x: Any) -> str:
    return texts.written(repr, x)


@replaces(builtins.format)
def _format(x: Any, spec: str = "") -> str:
    return texts.joined((x, -1, spec))
