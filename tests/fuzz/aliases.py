"""Arrays with several names, some of which are bound anew in branches and loops, while others are written through."""

from __future__ import annotations

from fuzz.expressions import below, scalar
from fuzz.scope import Scope, Unusable, indented


def alias(s: Scope) -> list[str]:
    """A statement of names, copies, views and writes among arrays of one shape."""
    name = s.one_of(s.arrays(kinds="f") or ["w"])
    shape = s.names[name].shape
    same = [v for v in s.arrays(shape=shape, kinds="f") if v not in ("x", "A") and s.names[v].dtype == "f8"]
    if not same:
        raise Unusable
    p, q = s.one_of(same), s.one_of([*same, name])
    if s.chance(0.15):
        return _rotation(s, p)
    if s.chance(0.25):
        return _through_a_container(s, p, q)
    fresh = s.fresh("u")
    return s.one_of([
        [f"{p} = {q}"], [f"{p} = {q}"], [f"{p} = {q}.copy()"], [f"{p} = {q} * 0.5 + 1.0"], [f"{p} = {q}[::-1]"],
        [f"{p}, {q} = {q}, {p}"] if q in same else [f"{fresh} = {q}"], [f"{p} += {q}"], [f"{p} *= 0.5"],
        [f"{fresh} = {p}"], [f"{fresh} = {p}", f"{p} = {p} + 1", f"{p}[0] = {scalar(s, 1)}"], [f"{fresh} = {p}[::-1]"],
        [f"{p} = h_bump({p}, {scalar(s, 0)})"], [f"{p} = h_bump({q}, 0.5)"], [f"h_bump({p}, {scalar(s, 0)})"],
        [f"s = s + 0.1 * h_sink({p}.ravel(), {scalar(s, 0)})"], [f"{p}[...] = {q}"], [f"{p} = h_either({p}, {q})"],
        [f"{fresh} = h_either({q}, {p})", f"{fresh}[0] = {scalar(s, 0)}"], [f"{p} = h_bumped_other({q}, {p})"],
    ])  # fmt: skip


def _rotation(s: Scope, p: str) -> list[str]:
    """Arrays that change places in a loop, while a name that the loop does not carry stands for one of them."""
    u, v, w, z = (s.fresh("u") for _ in range(4))
    start = [f"{u} = {s.one_of([p, f'{p} * 1.0', f'{p}.copy()'])}", f"{v} = np.zeros_like({p})"]
    three = s.chance(0.3)
    names = [u, v, w] if three else [u, v]
    start += [f"{w} = {p} * 3.0"] if three else []
    start += [f"{z} = {s.one_of([*names, f'{u}[::-1]', f'{v}[:]'])}"]
    written, read = s.one_of(names), s.one_of([*names, z, z])
    n = len(s.names[p])
    body = [f"{written}[{below(s, n)}] {s.one_of(['=', '+='])} 0.5 * {read}[{below(s, n)}] + {scalar(s, 0)}"]
    if s.chance(0.3):
        body += [f"{s.one_of(names)}[{below(s, n)}] *= 0.9"]
    body += [f"{', '.join(names)} = {', '.join([*names[1:], names[0]])}"]
    loop = [f"for _ in range({s.one_of(['n', 'n + 1', '2', '3', '8', 'c % 4'])}):", *indented(body)]
    if s.chance(0.2):
        loop = [f"if {p}.ravel()[0] > {scalar(s, 0)}:", *indented(loop)]
    return [*start, *loop]


def _through_a_container(s: Scope, p: str, q: str) -> list[str]:
    """Writes to an array that a list, a dict, a tuple, an object or a function has, too."""
    h, value = s.fresh("h"), scalar(s, 1)
    at = below(s, len(s.names[p]))
    return s.one_of([
        [f"{h} = [{p}, {q}]", f"{h}[0][{at}] = {value}"],
        [f"{h} = [{p}, {q}]", f"{h}[0], {h}[1] = {h}[1], {h}[0]", f"{h}[1][{at}] += {value}"],
        [f'{h} = {{"u": {p}}}', f'{h}["u"][{at}] = {value}', f'{h}["u"] = {q}', f'{h}["u"][{at}] *= 0.5'],
        [f"{h} = ({p}, 0.5)", f"{h}[0][{at}] = {value}"],
        [f"{h} = State({p}, 0.5)", f"{h}.at[{at}] = {value}", f"s = s + 0.1 * {h}.energy"],
        [f"{h} = State({p}, 0.5)", f"for _ in range({s.one_of(['n', '3', '8'])}):", f"    {h}.at[{at}] *= 0.5",
         f"    {h}.at = {h}.at + {h}.step", f"s = s + 0.1 * np.tanh({h}.energy)"],
        [f"for {h} in ({p}, {q}):", f"    {h}[{at}] += {value}"],
        [f"for {h} in [{p}, {q}]:", f"    {h} *= 0.5"],
        [f"def {h}(v):", f"    {p}[{at}] = v", f"    return {p}", "", f"{h}({value})[{at}] += 0.5"],
        [f"{h} = [{p}]", f"for _ in range({s.one_of(['n', '3'])}):", f"    {h}.append({h}[-1])",
         f"{h}[-1][{at}] = {value}"],
    ])  # fmt: skip
