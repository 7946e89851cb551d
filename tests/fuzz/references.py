"""Objects and lists of which data choose one, and that are then changed; dicts of lists and sets with computed keys."""

from __future__ import annotations

from fuzz.expressions import below, condition, scalar
from fuzz.scope import Scope, indented


def with_references(s: Scope) -> list[str]:
    """Two or three objects under several names, which statements bind anew, change, and change places of."""
    names = [s.fresh("o") for _ in range(s.one_of([2, 2, 3]))]
    c = s.fresh("c")
    held, count = s.fresh("l"), len(names)
    kind = s.fresh("O")
    start = [f"class {kind}:", "    def __init__(self, u, k=1.0):", "        self.u, self.k = u, k", ""]
    start += [f"{name} = {kind}({scalar(s, 1)})" for name in names]
    start += [f"{c} = {names[0]}", f"{held} = [{', '.join(names)}]"]

    def one() -> list[str]:
        p, q = s.one_of([c, *names]), s.one_of(names)
        at, other = (f"int(abs(np.floor({c}.u * {n}))) % {count}" for n in (3, 5))
        return s.one_of([
            [f"{c} = {p} if {condition(s)} else {q}"], [f"if {p}.u > {q}.u:", f"    {c} = {q}"],
            [f"{c} = {s.one_of(['max', 'min'])}({held}, key=lambda o: o.u)"], [f"{c} = {held}[{at}]"],
            [f"{p}.u = np.tanh({q}.u + {scalar(s, 0)})"], [f"{c}.u *= 0.5"], [f"{c}.k += {q}.u"],
            [f"{held}[{at}].k = {p}.u"], [f"s = s + 0.1 * ({c} is {q})"],
            [f"{held}[{at}], {held}[{other}] = {held}[{other}], {held}[{at}]"],
            [f"if {c}.u < {scalar(s, 0)}:", f"    {c}, {names[-1]} = {names[-1]}, {c}"],
            [f"if {p}.u < {scalar(s, 0)}:", f"    {c} = {kind}({q}.u, 0.5)"],
        ])  # fmt: skip

    body = [line for _ in range(s.rng.randint(2, 5)) for line in one()]
    if s.chance(0.5):
        body = [f"for _ in range({s.one_of(['2', '3', 'n', '9'])}):", *indented(body)]
    return [*start, *body, f"s = np.tanh(s + sum((k + 1) * o.u * o.k for k, o in enumerate([{', '.join(names)}])))",
            f"t = np.tanh(t + {c}.u + sum(o.u / (k + 1) for k, o in enumerate({held})))"]  # fmt: skip


def with_groups(s: Scope) -> list[str]:
    """Lists in dicts under keys that data decide, and sets of what data decide."""
    g, v, k = s.fresh("g"), s.fresh("v"), s.fresh("k")
    u = s.one_of(s.arrays(ndim=1, kinds="f") or ["x"])
    key = s.one_of([f"int(np.floor({v} * 2))", f"int({v} > {scalar(s, 0)})", f"(int({v} > 0), {below(s, 2)})"])
    fill = s.one_of([
        [f"{g} = collections.defaultdict(list)", f"for {v} in {u}:", f"    {g}[{key}].append({v})"],
        [f"{g} = {{}}", f"for {v} in {u}:", f"    {g}.setdefault({key}, []).append({v} * 0.5)"],
        [f"{g} = {{}}", f"for {v} in {u}:", f"    {k} = {key}", f"    if {k} in {g}:",
         f"        {g}[{k}].append({v})", "    else:", f"        {g}[{k}] = [{v}, {scalar(s, 0)}]"],
        [f"{g} = collections.defaultdict(lambda: [0.0, 0.5])", f"for {v} in {u}:", f"    {k} = {g}[{key}]",
         f"    {k}[0] += {v}", f"    {k}[1] *= 0.5"],
    ])  # fmt: skip
    if s.chance(0.3):
        a, b = s.fresh("k"), s.fresh("k")
        return [f"{a}, {b} = set(), set()", f"for {v} in {u}:", f"    {a}.add(int(np.floor({v} * 2)))",
                f"    {b}.add(int(np.floor({v} * 3)))",
                f"s = np.tanh(s + len({a} | {b}) * 0.1 + len({a} & {b}) * {scalar(s, 0)} + sum({a} - {b}))",
                f"t = t + 0.1 * ({a} <= {b})"]  # fmt: skip
    read = s.one_of([
        [f"s = np.tanh(s + sum(len(q) * sum(q) for q in {g}.values()))"],
        [f"for {k}, {v} in {g}.items():", f"    s = np.tanh(s + max({v}) * len({v}) + {v}[0])"],
        [f"for {k} in {g}:", f"    s = np.tanh(s + np.mean({g}[{k}]) + {g}[{k}][-1])"],
    ])  # fmt: skip
    return [*fill, *read]
