"""State that loops change: double buffers, histories, rings, arrays in containers and objects, and helpers that are
given views of it."""

from __future__ import annotations

from fuzz.expressions import atom, below, scalar
from fuzz.scope import Scope, Unusable


def _count(s: Scope) -> str:
    return s.one_of(["2", "3", "5", "n", "n + 1", "len(x)", "7"])


def _vector(s: Scope, least: int = 2) -> str:
    found = [v for v in s.arrays(1, "f") if len(s.names[v]) >= least]
    if not found:
        raise Unusable
    return s.one_of(found)


def _view(s: Scope) -> str:
    """A vector that is part of an array, to be written to by somebody else."""
    w, m = _vector(s), s.one_of(s.arrays(2, "f") or ["A"])
    choices = [f"{w}[1:]", f"{w}[::-1]", f"{w}[::2]", f"{w}[:-1]", f"{w}[{below(s, len(s.names[w]))} :]", f"{w}[-2:]",
               f"{m}[0]", f"{m}[:, 0]", f"{m}[-1, ::-1]", f"{m}.T[-1]", f"{m}[{below(s, len(s.names[m]))}]",
               f"np.diagonal({m}).copy()", w, f"{w}[...]", f"{w}[: 1 + {below(s, len(s.names[w]))}]",
               f"{w}[{below(s, len(s.names[w]))} :].reshape(-1)", f"{m}[{below(s, len(s.names[m]))}].ravel()",
               f"np.atleast_2d({w}[{below(s, len(s.names[w]))} :])[0]",
               f"{m}[:, {below(s, s.names[m].shape[1])}].ravel()"]  # fmt: skip
    return s.one_of(choices)


def with_buffers(s: Scope) -> list[str]:
    """Two or three arrays that take turns."""
    u, v, q = s.fresh("u"), s.fresh("u"), s.fresh("q")
    w = _vector(s, 3)
    p, c = scalar(s, 1), _count(s)
    first = s.one_of([f"{w}.copy()", f"{w} * 0.5", f"np.sin({w})", w])
    second = s.one_of([f"np.zeros_like({w})", f"np.empty_like({w})", f"{w}.copy()", f"np.zeros({w}.shape)"])
    sweep = s.one_of([
        [f"{v}[1:-1] = 0.5 * {u}[1:-1] + 0.2 * ({u}[:-2] + {u}[2:])", f"{v}[0], {v}[-1] = {p}, {u}[-1]"],
        [f"{v}[:] = {u} * 0.9", f"{v}[0] += {p}"], [f"np.multiply({u}, 0.7, out={v})", f"{v}[-1] = {p}"],
        [f"for i in range(len({u})):", f"    {v}[i] = 0.5 * {u}[i - 1] + {p}"],
        [f"{v}[...] = np.roll({u}, 1)", f"{v} += {p}"], [f"{v}[::-1] = np.tanh({u})", f"{u}[0] = {p}"],
    ])  # fmt: skip
    swap = s.one_of([[f"{u}, {v} = {v}, {u}"], [f"{u}, {v} = {v}, {u}"], [f"{q} = {u}", f"{u} = {v}", f"{v} = {q}"],
                     [f"{u}[:] = {v}"], [f"{v}, {u} = {u}, {v}"]])  # fmt: skip
    body = ["    " + line for line in [*sweep, *swap]]
    loop = s.one_of([[f"for _ in range({c}):"], [f"for _ in range({c}):"]])
    return [f"{u}, {v} = {first}, {second}", *([f"{v}[:] = 0.5"] if "empty" in second else []), *loop, *body,
            *s.one_of([[], [f"s = np.tanh(s + {u}[0] - {v}[-1])"], [f"s = s + np.sum({w})"]])]  # fmt: skip


def with_a_history(s: Scope) -> list[str]:
    """Everything is kept: rows of an array, items of a list, places of a ring."""
    h, q, w = s.fresh("u"), s.fresh("q"), _vector(s)
    p, c, r = scalar(s, 1), _count(s), atom(scalar(s, 0))
    n = len(s.names[w])
    return s.one_of([
        [f"{h} = np.zeros(({c} + 1, {n}))", f"{h}[0] = {w}", f"for i in range(len({h}) - 1):",
         f"    {h}[i + 1] = np.tanh({h}[i] + {p})", f"    {h}[i + 1, 0] *= 0.5", f"s = s + np.mean({h})"],
        [f"{h} = np.empty((4, {n}))", f"{h}[:2] = {w}", "for i in range(2, 4):",
         f"    {h}[i] = 0.5 * {h}[i - 1] + 0.2 * {h}[i - 2] ** 2"],
        [f"{h} = np.zeros(3)", f"for i, e in enumerate({w}):", f"    {h}[i % 3] = e + 0.5 * {h}[(i - 1) % 3]"],
        [f"{q} = [{w} * 1.0, {w} * 0.5, np.zeros_like({w})]", f"for i in range({c}):",
         f"    {q}[i % 3][:] = 0.5 * {q}[(i + 1) % 3] + 0.3 * {q}[(i + 2) % 3]", f"{h} = {q}[0]"],
        [f"{q} = [{w} * 1.0, {w} * 0.5]", f"for _ in range({c}):", f"    {q}.append({q}.pop(0))",
         f"    {q}[0][{below(s, n)}] += {p}", f"{h} = {q}[1]"],
        [f"{q} = [{w} * 1.0, {w} * 0.5]", f"for _ in range({c}):", f"    {q}[0], {q}[1] = {q}[1], {q}[0] * 0.9",
         f"s = np.tanh(s + np.sum({q}[0]))"],
        [f"{q} = [{w}.copy() for _ in range(3)]", "for i in range(1, 3):", f"    {q}[i] += 0.5 * {q}[i - 1]",
         f"{h} = np.stack({q})"],
        [f"{q} = []", f"for i in range({c}):", f"    {q}.append({w} * i)", f"    {q}[-1][0] = {p}",
         f"s = np.tanh(s + sum(np.sum(e) for e in {q}))"],
        [f"{q} = []", f"for e in {w}:", f"    {q}.append(e * {r})", f"    if len({q}) > 2:", f"        {q}.pop(0)",
         f"s = np.tanh(s + sum({q}))"],
        [f"{q} = collections.deque([{p}, 0.5])", f"for _ in range({c}):",
         f"    {q}.append(0.5 * {q}.popleft() + {q}[-1])", f"s = np.tanh(s + {q}[0])"],
        [f"{q} = [0.5, {p}]", f"while len({q}) < 6:", f"    {q}.append(np.sin({q}[-1] + {q}[-2]))", f"s = s + {q}[-1]"],
        [f"{q} = [{p}]", f"for i in range({c}):", f"    {q} = {q}[-1:] + [e * 0.5 for e in {q}[:2]]",
         f"s = s + {q}[0]"],
        [f"{q} = [[] for _ in range(2)]", f"for i, e in enumerate({w}):", f"    {q}[i % 2].append(e)",
         f"s = np.tanh(s + sum({q}[0]) - 0.5 * sum({q}[1]))"],
        [f"{q} = np.zeros((0, {n}))", f"for i in range({s.one_of(['2', '3'])}):",
         f"    {q} = np.vstack([{q}, {w} * i + {r}])", f"s = np.tanh(s + np.sum({q}))"],
    ])  # fmt: skip


def with_state_in_containers(s: Scope) -> list[str]:
    """Arrays that belong to dicts, objects and dataclasses, changed in place by loops and methods."""
    d, o, w = s.fresh("d"), s.fresh("o"), _vector(s)
    p, c, r = scalar(s, 1), _count(s), atom(scalar(s, 0))
    n, i = len(s.names[w]), below(s, len(s.names[w]))
    return s.one_of([
        [f'{d} = {{"u": {w}.copy(), "v": {w} * 0}}', f"for _ in range({c}):", f'    {d}["u"] += 0.1 * {d}["v"] + {r}',
         f'    {d}["v"] -= 0.2 * {d}["u"]', f's = np.tanh(s + np.sum({d}["u"] * {d}["v"]))'],
        [f'{d} = {{"u": {w} * 1.0, "v": {w} * 0.5}}', f"for _ in range({c}):",
         f'    {d}["u"], {d}["v"] = {d}["v"], {d}["u"]', f'    {d}["u"][{i}] = {p}',
         f's = np.tanh(s + np.sum({d}["u"]) - 0.5 * {d}["v"][0])'],
        [f'{d} = {{"u": {w} * 1.0}}', f"for key, e in {d}.items():", "    e *= 0.5", f"    e[{i}] = {p}",
         f's = s + np.sum({d}["u"])'],
        [f"{d} = {{k: np.zeros({n}) for k in range(2)}}", f"for k in range({c}):", f"    {d}[k % 2][{i}] += {p}",
         f"s = np.tanh(s + np.sum({d}[0]) - np.sum({d}[1]))"],
        [f"{o} = State({w} * 1.0, {p})", f"for _ in range({c}):", f"    {o}.at[1:] += 0.1 * {o}.step * {o}.at[:-1]",
         f"    {o}.step *= 0.9", f"s = np.tanh(s + {o}.energy)"],
        [f"{o} = State({w}, {p})", f"for _ in range({c}):", f"    {o}.at[{i}] = {o}.step",
         f"    {o}.step = {o}.step - 0.3",
         f"s = np.tanh(s + np.sum({w}))"],
        [f"{o} = State({w} * 1.0, {p})", f"{o}.at *= 0.5", f"{o}.at[{i}] += {r}", f"s = np.tanh(s + {o}.energy)"],
        [f"{o} = Grid({n}, {w})", f"for _ in range({c}):", f"    {o}.step({r})", f"s = np.tanh(s + {o}.total())"],
        [f"{o} = Grid({n}, {w})", f"{o}[{i}] = {p}", f"{o}[1:] = {o}[:-1] * 0.5", f"s = np.tanh(s + sum({o}))"],
        [f"{o} = Grid({n}, {w})", f"{o}.level = {p}", f"{o}.level += 1", f"s = s + {o}.level + len({o})"],
        [f"{o} = [State({w} * 1.0, {p}), State({w} * 0.5, 0.5)]", f"for _ in range({c}):", f"    for b in {o}:",
         "        b.at += 0.1 * b.step", f"        b.step = 0.9 * b.step + {r}",
         f"s = np.tanh(s + sum(b.energy for b in {o}))"],
        [f"{o} = [Spring({p}, 0.5), Spring(1.5, {r})]", f"for b in {o}:", "    b.k *= 0.5",
         f"s = s + sum(b.energy(s) for b in {o})"],
    ])  # fmt: skip


def with_helpers_on_views(s: Scope) -> list[str]:
    """Helpers that write to what they are given, which is a part of an array."""
    v, p, c = _view(s), scalar(s, 1), _count(s)
    k = s.fresh("u")
    return s.one_of([
        [f"h_bump({v}, {p})"], [f"h_relax({v}, {p})"], [f"h_relax({v}, {p}, turns={c})"],
        [f"s = s + h_spent({v})"], [f"{k} = h_relax({v}, 0.5)", f"{k}[0] = {p}"],
        [f"{k} = {v}", f"h_relax({k}, {p})", f"s = np.tanh(s + np.sum({k}))"],
        [f"for i in range({c}):", f"    h_bump({v}, {atom(p)} * i)"], [f"h_exchange({v}, {_view(s)})"],
        [f"{k} = h_bump({v}[::-1], {p})", f"s = np.tanh(s + {k}[-1])"],
        [f"def {k}_of(p):", f"    p[0] += {p}", "    return p, p", "", f"{k}, o = {k}_of({v})", f"o[-1] = {atom(p)}",
         f"{k} = {k} + o"],
        [f"def {k}_of(p, q):", "    p[:], q[:] = 1.0 * q, 0.5 * p", "    return q, p", "",
         f"{k}, o = {k}_of({v} * 1.0, {v} * 0.5)", f"for i in range({c}):", f"    {k}, o = {k}_of({k}, o)",
         f"    {k}[0] = {p}"],
        [f"def {k}_of(p, q, r):", "    for i in range(len(p)):", "        p[i] = q[i] * r + q[(i + 1) % len(q)]",
         "    return p", "",
         f"{k} = {k}_of({v}, {v}, 0.5)", f"{k} = {k}_of({k}[::-1], {k}, {p})"],
        [f"s = s + 0.1 * h_sink({v}, {p})"],
        [f"for row in {s.one_of(s.arrays(2, 'f') or ['A'])}:", f"    h_relax(row, {p})"],
    ])  # fmt: skip
