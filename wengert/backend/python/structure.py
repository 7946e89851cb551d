"""How ops are written that move elements: shapes and indexing."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.backend.python.forms import Site, form
from wengert.backend.python.literals import SMALL, dtype_text, filled, parameter, scalar, shape_text
from wengert.backend.python.text import ATOM, Text, function
from wengert.ir.node import Const, Operand
from wengert.ops.index import FLAG, _Mark


def _on(x: Text, method: str, *args: str) -> Text:
    return Text(f"{x.within(ATOM)}.{method}({', '.join(args)})")


@form("reshape")
def _reshape(site: Site) -> Text:
    (x,), shape, old = site.texts, site.params["shape"], site.type(0)
    if old.weak or isinstance(site.operands[0], Const):
        return function("np.reshape", x, parameter(shape))
    entries = _new_axes(old.shape, shape)
    if entries:
        return Text(f"{x.within(ATOM)}[{', '.join(entries)}]")
    return _on(x, "reshape", *(map(parameter, shape) if shape else ["()"]))


def _new_axes(old: tuple, new: tuple) -> list[str]:
    """The index that inserts axes of length one, if a reshape is no more than that."""
    if not old or len(new) <= len(old) or 1 in old or not all(n.__class__ is int for n in (*old, *new)):
        return []
    if tuple(n for n in new if n != 1) != old:
        return []
    entries = ["None" if n == 1 else ":" for n in new]
    while entries and entries[-1] == ":":
        entries.pop()
    return entries


@form("transpose")
def _transpose(site: Site) -> Text:
    (x,), axes = site.texts, site.params["axes"]
    n = len(axes)
    if site.type(0).weak:
        return function("np.transpose", x)
    if n > 1 and axes == tuple(reversed(range(n))):
        return Text(x.within(ATOM) + ".T")
    moved = [k for k, a in enumerate(axes) if a != k]
    if len(moved) == 2:
        return _on(x, "swapaxes", *map(str, moved))
    return _on(x, "transpose", *map(str, axes))


@form("broadcast_to")
def _broadcast_to(site: Site) -> Text:
    (x,), shape = site.texts, site.params["shape"]
    operand = site.operands[0]
    if operand.type.ndim:
        return function("np.broadcast_to", x, parameter(shape))
    if isinstance(operand, Const):
        return filled(shape, operand.value, operand.type.dtype)
    return function("np.full", shape_text(shape), x)


@form("flip")
def _flip(site: Site) -> Text:
    last = max(site.params["axis"])
    entries = ["::-1" if k in site.params["axis"] else ":" for k in range(last + 1)]
    return Text(f"{site.texts[0].within(ATOM)}[{', '.join(entries)}]")


@form("concatenate")
def _concatenate(site: Site) -> Text:
    axis = {"axis": str(site.params["axis"])} if site.params["axis"] else {}
    return function("np.concatenate", f"[{', '.join(t.text for t in site.texts)}]", **axis)


@form("astype", "as_integer")
def _astype(site: Site) -> Text:
    (x,), old, dtype = site.texts, site.type(0), np.dtype(site.params["dtype"])
    if old.dtype.kind == "c" and dtype.kind != "c":
        x = Text(x.within(ATOM) + ".real")
    if isinstance(site.operands[0], Const) and not old.ndim:
        return scalar(
            dtype.type(np.asarray(site.operands[0].value).real if ".real" in x.text else site.operands[0].value)
        )
    if old.weak:
        return function(f"np.{dtype.name}{'_' if dtype == np.bool_ else ''}", x)
    return _on(x, "astype", dtype_text(dtype))


@form("copy")
def _copy(site: Site) -> Text:
    return _on(site.texts[0], "copy") if site.type(0).ndim else function("np.copy", *site.texts)


@form("real", "imag")
def _part(site: Site) -> Text:
    if site.type(0).weak:
        return function("np." + site.op.name, *site.texts)
    return Text(f"{site.texts[0].within(ATOM)}.{site.op.name}")


@form("size")
def _size(site: Site) -> Text:
    x = site.texts[0]
    return function("len", x) if site.type(0).ndim == 1 else Text(f"{x.within(ATOM)}.shape[{site.params['axis']}]")


# ---------------------------------------------------------------------------------------------------------- indexing


def place(pattern: tuple, arrays: list[tuple[Operand, Text]]) -> str:
    """The index that a pattern and its arrays make.

    >>> place((0, slice(1, None), None), [])
    '0, 1:, None'
    """
    remaining = iter(arrays)
    entries = [_entry(item, remaining) for item in pattern]
    while len(entries) > 1 and entries[-1] == ":" and Ellipsis not in pattern:
        entries.pop()
    return ", ".join(entries) or "()"


def _entry(item: Any, remaining: Any) -> str:
    if isinstance(item, _Mark):
        operand, text = next(remaining)
        if isinstance(operand, Const):
            value = np.asarray(operand.value)
            if item is FLAG or value.ndim == 0:
                return repr(value.item())
            if value.dtype == np.int64 and 0 < value.size <= SMALL:
                return repr(value.tolist())
        return text.text
    if isinstance(item, slice):
        start, stop, step = ["" if part is None else _bound(part) for part in (item.start, item.stop, item.step)]
        return f"{start}:{stop}" + (f":{step}" if step else "")
    return parameter(item)


def _bound(part: Any) -> str:
    return parameter(part)


@form("index")
def _index(site: Site) -> Text:
    x = site.texts[0]
    if site.type(0).weak:
        x = function("np.asarray", x)
    where = place(site.params["pattern"], list(zip(site.operands[1:], site.texts[1:], strict=True)))
    return Text(f"{x.within(ATOM)}[{where}]")


@form("iota")
def _iota(site: Site) -> Text:
    return function("np.arange", parameter(site.params["n"]))
