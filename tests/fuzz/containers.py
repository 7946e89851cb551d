"""Containers that programs build, change and build anew: dicts, lists, tuples, dataclasses, objects; and closures."""

from __future__ import annotations

import numpy as np

from fuzz.arrays import array, fitting
from fuzz.expressions import atom, condition, element, integer, scalar
from fuzz.scope import Scope, indented


def _count(s: Scope) -> str:
    return s.one_of(["2", "3", "5", "7", "n", "n + 1", "len(x)", "12"])


def with_a_dict(s: Scope) -> list[str]:
    d = s.fresh("d")
    u, v, w = array(s, 1), scalar(s, 1), scalar(s, 1)
    lines = [f'{d} = {{"u": {u}, "v": {v}}}']
    s.run(lines[0])
    shape = np.shape(s.names[d]["u"])
    changes = [
        [f'{d}["v"] = {d}["v"] * 0.5 + {w}'],
        [f'{d}["u"] = {d}["u"] * 0.9 + {d}["v"]'],
        [f'{d}["u"][0] = {w}' if len(shape) == 1 else f'{d}["u"][0, 0] = {w}'],
        [f"{d} = {{key: 0.9 * value for key, value in {d}.items()}}"],
        [f'{d}["v"] += np.sum({d}["u"])'],
        [f'{d} = dict({d}, v={d}["v"] - 0.1)'],
        [f'{d} = {{**{d}, "v": np.tanh({d}["v"])}}'],
        [f"for key in {d}:", f"    {d}[key] = np.sin({d}[key])"],
        [f'{d}["u"] += {fitting(s, shape)}'],
        [f'{d}.update(v={d}["v"] + 1)'],
    ]
    lines += s.one_of(changes)
    if s.chance(0.6):
        body = s.one_of(changes) + (s.one_of(changes) if s.chance(0.3) else [])
        lines += [f"for _ in range({_count(s)}):", *indented(body)]
    total = s.one_of([f'np.sum({d}["u"]) + {d}["v"]', f"sum(np.sum(value) for value in {d}.values())"])
    return [*lines, f"s = np.tanh(s + {total})"]


def with_a_list(s: Scope) -> list[str]:
    q = s.fresh("q")
    u, v = scalar(s, 1), scalar(s, 1)
    shape = "".join(s.one_of(s.arrays(1, "f") or ["x"]))
    return s.one_of([
        [f"{q} = []", f"for i in range({_count(s)}):", f"    {q}.append({u} * i)", f"s = s + np.sum(np.tanh({q}))"],
        [f"{q} = [{u}, {v}]", f"{q}[0], {q}[1] = {q}[1], {q}[0]", f"s = s + np.sin({q}[0] - {q}[-1])"],
        [f"{q} = [{u}]", "for i in range(3):", f"    {q} = [0.5 * e + 1 for e in {q}]", f"t = t + {q}[0]"],
        [f"{q} = [np.sin({shape}) * i for i in range(3)]", f"t = t + np.mean(np.stack({q}))"],
        [f"{q} = [{shape}.copy()]", f"for i in range({_count(s)}):", f"    {q}.append({q}[-1] * 0.5 + {u})",
         f"s = np.tanh(s + np.sum(np.array({q})))"],
        [f"{q} = [{u}] * 3", f"{q}[1] = {v}", f"s += sum({q})"],
        [f"{q} = list({shape})", f"{q}.reverse()", f"s = s + {q}[0] * {q}[-1]"],
        [f"{q} = [{u}, {v}, 0.3]", f"for i, e in enumerate({q}):", "    s = s + np.sin(e) * i"],
        [f"{q} = [{u}, {v}]", f"{q} += [1, 2.0]", f"s = s + sum({q}[1:])", f"t = t + {q}.pop()"],
        [f"{q} = sorted([{u}, {v}, 0.33])", f"s = s + {q}[0] - 2 * {q}[-1]"],
        [f"{q} = max([{u}, {v}], key=lambda e: e * e)", f"s = s + {q}"],
        [f"{q} = [[{u}, 1], [2.0, {v}]]", f"s = np.tanh(s + np.linalg.det(np.array({q})))"],
        [f"{q} = np.array([{u} * i for i in range(4)])", f"{q}[1:] += {q}[:-1]", f"s = s + np.mean({q})"],
        [f"{q} = [{element(s)} for i in range(3) if i != 1]", f"s = s + sum({q})"],
    ])  # fmt: skip


def with_a_tuple(s: Scope) -> list[str]:
    p = s.fresh("p")
    u, v = scalar(s, 1), array(s, 1)
    return s.one_of([
        [f"{p} = ({u}, {v})", f"s = s + {p}[0] * np.mean({p}[1])"],
        [f"{p} = ({u}, {v})", f"for _ in range({_count(s)}):", f"    {p} = ({p}[0] * 0.5, {p}[1] + {p}[0])",
         f"s = np.tanh(s + np.sum({p}[1]))"],
        [f"{p} = Step({u}, {v})", f"{p} = {p}._replace(size={p}.size + 1)", f"s = s + {p}.size * np.mean({p}.at)"],
        [f"{p} = (s, t)", f"s, t = {p}[::-1]"],
        [f"{p}, *rest = {u}, s, t", f"s = s + {p} * rest[0]"],
        [f"{p} = ({u},) + (1, 2.0)", f"s = s + sum({p})"],
    ])  # fmt: skip


def with_an_object(s: Scope) -> list[str]:
    o = s.fresh("o")
    u, v, w = scalar(s, 1), scalar(s, 1), array(s, 1)
    return s.one_of([
        [f"{o} = State({w}, {u})", f"{o}.step = {o}.step * 0.5", f"{o}.at = {o}.at + {o}.step",
         f"s = np.tanh(s + np.sum({o}.at) + {o}.step)"],
        [f"{o} = State({w}, {u})", f"for _ in range({_count(s)}):", f"    {o}.advance({v})",
         f"s = np.tanh(s + {o}.energy)"],
        [f"{o} = State({w}, {u})", f"for _ in range({_count(s)}):", f"    {o} = State({o}.at * 0.9, {o}.step + 0.1)",
         f"s = np.tanh(s + {o}.energy)"],
        [f"{o} = Recorder()", f"for i in range({_count(s)}):", f"    {o}.add({u} * i)",
        f"s = np.tanh(s + {o}.total())"],
        [f"{o} = State({w}, {u})", f"if {condition(s)}:", f"    {o}.step = {v}", f"s = np.tanh(s + {o}.energy)"],
        [f"{o} = Pair({u}, {v})", f"{o} = {o} + Pair(1.0, s)", f"s = np.tanh({o}.total)"],
        [f"{o} = Spring({u}, 0.5)", f"{o}.k += 1", f"t = t + {o}({v})"],
    ])  # fmt: skip


def with_a_closure(s: Scope) -> list[str]:
    g = s.fresh("g")
    u, v, i = scalar(s, 1), scalar(s, 1), integer(s)
    w = s.one_of(s.arrays(1, "f") or ["x"])
    return s.one_of([
        [f"def {g}(u):", f"    return u * {v} + s", "", f"s = np.tanh({g}({u}))"],
        [f"def {g}(u, k=2):", "    if u > 0.1:", "        return u * k", f"    return {v}", "",
        f"t = np.sin({g}({u}))"],
        [f"def {g}():", "    nonlocal s", f"    s = np.sin(s + {u})", "", f"for _ in range({_count(s)}):",
        f"    {g}()"],
        [f"def {g}(i):", f"    {w}[i % {len(s.names[w])}] = {u}", "", f"{g}({i})"],
        [f"{g} = lambda u, v=0.5: np.sin(u) * v + s", f"t = {g}({u}) + {g}(t, v={v})"],
        [f"def {g}(k):", f"    return {u} if k < 1 else 0.5 * {g}(k - 1) + {v}", "", f"s = np.tanh({g}(3))"],
        [f"{g} = functools.partial(h_mixed, {u})", f"s = s + {g}({v})"],
        [f"s = functools.reduce(lambda p, q: np.sin(p) + q, {w}, s)"],
        [f"{g} = [lambda u: u * s, np.sin, h_double]", f"for h in {g}:", f"    t = np.tanh(h(t) + {atom(u)})"],
        [f"def {g}(*args, **kwargs):", '    return sum(args) * kwargs["c"]', "", f"s = np.tanh({g}({u}, {v}, c=0.5))"],
        [f"def {g}(u):", "    for q in u:", "        yield q * s", "", f"t = t + sum({g}({w}))"],
    ])  # fmt: skip
