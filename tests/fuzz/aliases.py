"""Arrays with several names, some of which are bound anew in branches and loops, while others are written through."""

from __future__ import annotations

from fuzz.expressions import scalar
from fuzz.scope import Scope, Unusable


def alias(s: Scope) -> list[str]:
    """A statement of names, copies, views and writes among arrays of one shape."""
    name = s.one_of(s.arrays(kinds="f") or ["w"])
    shape = s.names[name].shape
    same = [v for v in s.arrays(shape=shape, kinds="f") if v not in ("x", "A") and s.names[v].dtype == "f8"]
    if not same:
        raise Unusable
    p, q = s.one_of(same), s.one_of([*same, name])
    fresh = s.fresh("u")
    return s.one_of([
        [f"{p} = {q}"], [f"{p} = {q}"], [f"{p} = {q}.copy()"], [f"{p} = {q} * 0.5 + 1.0"], [f"{p} = {q}[::-1]"],
        [f"{p}, {q} = {q}, {p}"] if q in same else [f"{fresh} = {q}"], [f"{p} += {q}"], [f"{p} *= 0.5"],
        [f"{fresh} = {p}"], [f"{fresh} = {p}", f"{p} = {p} + 1", f"{p}[0] = {scalar(s, 1)}"], [f"{fresh} = {p}[::-1]"],
        [f"{p} = h_bump({p}, {scalar(s, 0)})"], [f"{p} = h_bump({q}, 0.5)"], [f"h_bump({p}, {scalar(s, 0)})"],
        [f"s = s + 0.1 * h_sink({p}.ravel(), {scalar(s, 0)})"], [f"{p}[...] = {q}"],
    ])  # fmt: skip
