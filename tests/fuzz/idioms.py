"""What ordinary programs have besides: flags, generators, unpacking, walruses, iterators of the standard library,
floors and remainders, empty arrays and arrays without axes, slices of slices, choices among many, classes."""

from __future__ import annotations

import numpy as np

from fuzz.arrays import array, fitting
from fuzz.expressions import atom, below, condition, integer, scalar
from fuzz.scope import Scope, indented


def _count(s: Scope) -> str:
    return s.one_of(["2", "3", "5", "n", "n + 1", "len(x)", "9"])


def _vector(s: Scope) -> str:
    return s.one_of(s.arrays(1, "f") or ["x"])


def _matrix(s: Scope) -> str:
    return s.one_of(s.arrays(2, "f") or ["A"])


def with_a_flag(s: Scope) -> list[str]:
    """Strings, None and booleans say what is done."""
    g, m = s.fresh("g"), s.fresh("mode")
    u, v, w = scalar(s, 1), scalar(s, 1), _vector(s)
    known = s.one_of(['"sin"', '"cos"', "None", '"both"'])
    return s.one_of([
        [f"{m} = {known}", f'if {m} is None or {m} == "cos":', f"    s = s + np.cos({u})", f'elif "i" in {m}:',
         f"    s = s - np.sin({v})"],
        [f"{m} = None", f"for i in range({_count(s)}):", f"    if {m} is None:", f"        {m} = {u}",
         f"    {m} = {m} * 0.5 + i", f"s = s + 0.0 if {m} is None else np.tanh(s + {m})"],
        [f"{m} = None", f"for i, e in enumerate({w}):", f"    if {m} is None or e > {m}:", f"        {m} = e",
         f"s = np.tanh(s + {m})"],
        [f"{m} = False", f"for e in {w}:", f"    if e > {v}:", f"        {m} = True", "        break",
         f"if {m}:", f"    s = s + {u}"],
        [f"{m} = 0", f"for e in {w}:", f"    {m} += e > {v}", f"s = s + 0.1 * {m}"],
        [f"{m} = {condition(s)}", f"t = t + {m} * {atom(u)}", f"s = {u} if not {m} else s"],
        [f'def {g}(u, kind="plain", scale=None):', '    if kind == "plain":', "        return u",
         "    if scale is None:", "        scale = 0.5", "    return scale * np.sin(u)", "",
         f'{s.one_of(["s", "t"])} = {g}({u}) + {g}({v}, kind="wave") + {g}(s, "wave", scale={v})'],
        [f'{m} = "pos" if {condition(s)} else "neg"', f's = s + {u} if {m} == "pos" else s - {atom(v)}'],
        [f'{m} = {{"pos": {u}, "neg": {v}}}["pos" if {condition(s)} else "neg"]', f"s = s + {m}"],
        [f"{m} = ({u}, None)[{atom(integer(s))} % 2]", f"if {m} is not None:", f"    s = s + {m}"],
        [f"{m} = [np.sin, np.cos, np.tanh][{atom(integer(s))} % 3]", f"s = s + {m}({u})"],
    ])  # fmt: skip


def with_an_iterator(s: Scope) -> list[str]:
    """Generators, comprehensions and what `itertools` has."""
    g, q = s.fresh("g"), s.fresh("q")
    u, w, m = scalar(s, 1), _vector(s), _matrix(s)
    return s.one_of([
        [f"def {g}(k):", "    p = s", "    for i in range(k):", "        yield p", "        p = 0.5 * p + i", "",
         f"s = np.tanh(sum({g}({_count(s)})))"],
        [f"def {g}(u):", "    yield u", "    yield from (0.5 * e for e in x)", "", f"t = t + sum({g}({u}))"],
        [f"{q} = iter({w})", f"s = s + next({q}) * 0.5", f"for e in {q}:", "    s = s + np.sin(e)"],
        [f"for e, o in itertools.pairwise({w}):", "    s = s + 0.3 * e * o"],
        [f"{q} = list(itertools.accumulate({w}, lambda p, q: 0.5 * p + q))", f"s = np.tanh(s + {q}[-1])"],
        ["for i, j in itertools.product(range(2), range(2)):", f"    s = s + {m}[i % len({m}), j % 2] * (i + j)"],
        [f"for i, j in itertools.combinations(range(len({w})), 2):", f"    s = s + 0.05 * {w}[i] * {w}[j]"],
        [f"for k, group in itertools.groupby(range(len({w})), key=lambda i: i // 2):",
         f"    s = s + 0.2 * (k + 1) * sum({w}[i] for i in group)"],
        [f"for i, group in itertools.groupby(enumerate({w}), key=lambda p: p[0] % 3 == 0):", "    for k, e in group:",
         "        t = np.tanh(t + 0.3 * e * k - i)"],
        [f"for e, o in zip(*itertools.tee({w})):", "    s = s + 0.1 * e * o"],
        [f"{q} = map(lambda e: e * {atom(u)}, {w})", f"s = np.tanh(s + next({q}) - sum({q}))"],
        [f"for e in itertools.chain({w}, LIST):", "    t = np.tanh(t + e)"],
        [f"s = s + 0.1 * sum(e * o for row in {m} for e, o in zip(row, row[::-1]))"],
        [f"{q} = [[e * {atom(u)} for e in row] for row in {m}]", f"s = np.tanh(s + sum(map(sum, {q})))"],
        [f"{q} = {{i: e for i, e in enumerate({w}) if i % 2 == 0}}", f"s = s + sum({q}.values()) * max({q})"],
        [f"s = s + 0.1 * sum(1 for e in {w} if e > {atom(u)})"],
        [f"for i in np.ndindex(*{m}.shape):", f"    s = s + 0.1 * {m}[i] * i[0]"],
        [f"for i, e in np.ndenumerate({m}):", "    t = t + 0.1 * e * i[-1]"],
        [f"for i, e in enumerate({w}, start=2):", "    s = np.tanh(s + e / i)"],
        [f"for i, (e, o) in enumerate(zip({w}, reversed({w}))):", "    s = s + 0.2 * i * e * o"],
        [f"for row, column in zip({m}, {m}.T):", "    row += 0.1 * np.sum(column)", f"    column[0] = {atom(u)}"],
        [f"for i, (row, column) in enumerate(zip({m}, {m}.T[::-1])):", "    s = np.tanh(s + row[0] * column[-1] * i)",
         f"    {m}[i, -1] = s * 0.1"],
        [f"for row, i in zip({m}, itertools.count(1)):", "    s = s + 0.1 * row[0] * i"],
        [f"{q} = collections.deque(maxlen=3)", f"for e in {w}:", f"    {q}.append(e)", f"    s = s + 0.1 * {q}[0]"],
        [f"{q} = collections.defaultdict(float)", f"for i, e in enumerate({w}):", f"    {q}[i % 2] += e",
         f"s = np.tanh(s + {q}[0] - {q}[1])"],
    ])  # fmt: skip


def with_unpacking(s: Scope) -> list[str]:
    """Names given in other ways than one by one."""
    p, r = s.fresh("p"), s.fresh("r")
    u, v, w, m = scalar(s, 1), scalar(s, 1), _vector(s), _matrix(s)
    return s.one_of([
        [f"{p}, *rest = {w}", f"s = s + {p} * len(rest) + sum(rest)"],
        [f"*rest, {p} = [{u}, {v}, 0.5]", f"t = t + {p} * rest[-1]"],
        [f"({p}, q), r = ({u}, {v}), s", f"s = np.tanh({p} + q * r)"],
        [f"if ({p} := {u}) > {atom(v)}:", f"    s = s + {p}", "else:", f"    t = t - {p}"],
        [f"{p} = 3", f"while ({p} := {p} - 1) > 0:", f"    s = np.tanh(s + {u} * {p})"],
        [f"{p} = [({r} := np.sin({u})), {r} * 2]", f"s = s + {p}[1]"],
        [f"s = s + h_mixed(*[{u}, {v}])"], [f'{p} = {{"u": {u}, "v": {v}}}', f"t = t + h_mixed(**{p})"],
        [f"{p} = {r} = {u}", f"{p} += 1", f"s = s + {p} * {r}"],
        [f"{p} = [{u}, *{w}[:2], {v}]", f"s = s + sum({p})"],
        [f"row, *others = {m}", "s = s + row[0] + 0.1 * sum(o[-1] for o in others)"],
        [f"{p} = slice(1, None)", f"s = s + np.sum({w}[{p}]) * 0.5"],
        [f"{p} = np.s_[::-1, 1:]", f"s = s + np.mean({m}[{p}])"],
        [f"{p} = {w}.tolist()", f"{p}.insert(1, {u})", f"{p}[1:2] = [0.5, {v}]", f"s = np.tanh(s + sum({p}))"],
        [f"{p} = [1.0, 2]", f"{p}.extend([{u}, {v}])", f"s = s + {p}.pop(0) * {p}[-1]", f"del {p}[0]",
         f"t = t + len({p}) * {p}[0]"],
        [f'{p} = {{}}', f'{p}["u"] = {p}.get("u", {u}) + 1', f'{p}.setdefault("v", {v})',
         f's = s + {p}.pop("u") * {p}["v"]'],
        [f"{p} = {{}}", f"for i in range({_count(s)}):", f'    {p}[f"k{{i % 2}}"] = {p}.get(f"k{{i % 2}}", 0.5) + {u}',
         f"s = np.tanh(s + sum({p}.values()))"],
        [f"assert 0 < len({w}) <= 99, 'long'", f"s = s + {u}"],
    ])  # fmt: skip


def with_floors(s: Scope) -> list[str]:
    """Quotients and remainders, of integers and of floats."""
    u, v, i, w = atom(scalar(s, 1)), atom(scalar(s, 1)), atom(integer(s)), _vector(s)
    r = s.fresh("r")
    return s.one_of([
        [f"{r} = ({u} + 0.03) % 0.7", f"s = s + {r}"], [f"s = s + 0.1 * (({u} + 0.03) // 0.4)"],
        [f"{r}, q = divmod({u} + 2.013, 0.9)", f"s = s + {r} * 0.1 + q"],
        [f"{r}, q = divmod({i}, 3)", f"c = ({r} + q) % 5"], [f"c = (-{i} // 2) % 4"], [f"c = -7 % (1 + abs({i}))"],
        [f"s = s + np.mod({w} + 0.013, 0.6).sum()"], [f"s = s + np.fmod({w} + 0.017, 0.6)[0]"],
        [f"s = s + 0.1 * np.floor_divide({w} + 0.013, 0.5).sum()"], [f"t = t + math.fmod({u} + 0.03, 0.8)"],
        [f"s = s + {u} / (1 + abs({i}))"], [f"s = s + (1 + abs({i})) ** -1 * {v}"], [f"s = s + 2 ** {i} * 0.01"],
        [f"s = s + np.remainder({u} + 0.011, -0.5)"], [f"s = s + 0.1 * math.floor({u} * 2 + 0.07) * {v}"],
        [f"s = s + 0.1 * round({u} + 0.07) + math.copysign(0.2, {v} + 0.013)"],
        [f"s = s + math.trunc({u} * 3.1) * 0.1"],
        [f"s = s + np.modf({u} * 1.7)[0]"], [f"c = ({i} & 3) | 1"], [f"c = ({i} ^ 5) % 6"],
        [f"c = (abs({i}) << 1) >> 2"],
        [f"c = int(3.7 * {i}) % 5"], [f"s = s + float({i}) * {v} + ({i} > 1)"], [f"s = s + 0.1 * (-1) ** {i} * {u}"],
    ])  # fmt: skip


def with_choices(s: Scope) -> list[str]:
    """Functions that choose among several values, by conditions, places or limits."""
    w, k = _vector(s), s.fresh("u")
    u, v, i = atom(scalar(s, 1)), atom(scalar(s, 1)), atom(integer(s))
    m = _matrix(s)
    return s.one_of([
        [f"{k} = np.select([{w} > 0.4, {w} < -0.2], [{w} * 2, {u}], default={v})"],
        [f"{k} = np.select([{w} > 0.4, {w} > 0.1], [np.sin({w}), {w} ** 2])"],
        [f"{k} = np.piecewise({w}, [{w} < 0, {w} >= 0], [lambda v: v * {u}, lambda v: v ** 2])"],
        [f"{k} = np.choose({i} % 3, [{w}, np.sin({w}), -{w}])"],
        [f"{k} = np.choose(np.arange(len({w})) % 2, [{w}, {w} * {u}])"],
        [f"{k} = np.clip({w}, {w}[::-1] - 0.7, 0.6)"], [f"{k} = {w}.clip(min={u} - 3)"],
        [f"{k} = np.where({w} > {u}, np.where({w} > 0.5, {v}, {w}), -{w})"],
        [f"{k} = np.where({condition(s)}, {w}, {u})"], [f"{k} = np.where({w} > {u})[0] * 0.5 + {v}"],
        [f"{k} = np.nonzero({w} > 5)[0] + {u}", f"s = s + np.sum({k})"],
        [f"{k} = np.minimum({w}, np.maximum({u}, {w} - 0.1))"],
        [f"{k} = np.multiply({w}, {u}, where={w} > 0.1, out=np.zeros(len({w})))"],
        [f"{k} = np.zeros(len({w}))", f"np.multiply({w}, 2.0, out={k}, where={w} > 0)",
         f"np.add({k}, {w}, out={k}, where={w} < {u})",
         f"np.sin({k}, out={k}, where=np.arange(len({w})) % 2 == 0)"],
        [f"{k} = {w}.copy()", f"np.sqrt({w}, out={k}, where={w} > 0.1)",
         f"np.divide({v}, {w}, out={k}, where=np.abs({w}) > 0.3)"],
        [f"np.add({w}[1:], {w}[:-1], out={w}[1:])", f"np.multiply({w}[::-1], {w}, out={w})"],
        [f"{k} = np.where({w} > 0.1, np.log(np.where({w} > 0.1, {w}, 1.0)), {w})"],
        [f"{k} = np.where({w} > 0.1, np.sqrt(np.maximum({w}, 0.05)), {w} / np.where(np.abs({w}) > 0.05, {w}, 1.0))"],
        [f"{k} = np.where({m} > {u}, {m}, 0.0) / np.maximum(np.sum(np.where({m} > {u}, {m}, 0.0) ** 2), 0.1)"],
        [f"{k} = np.sum({m}, axis=0, where={m} > 0.1)"], [f"s = s + np.max({w}, initial={u})"],
        [f"s = s + np.mean({w}, where=np.arange(len({w})) != 1)"],
        [f"{k} = np.digitize({w} + 0.013, [-0.5, 0.0, 0.5]) * {u} + {w}"],
        [f"{k} = np.searchsorted([-0.5, 0.0, 0.5], {w} + 0.013) * {w}"],
        [f"s = s + np.interp({u}, np.arange(4.0), [{v}, 0.3, -0.2, 0.7])"],
        [f"s = s + {w}[np.argmax({w})] - {w}[{w}.argmin()]"],
        [f"{k} = {m}[np.arange(len({m})), np.argmax({m}, axis=1)]"],
        [f"{k} = np.sort({w})[-2:]", f"s = s + {k}[0]"], [f"s = s + np.partition({w}, 1)[1]"],
        [f"s = s + np.quantile({w}, 0.3) - np.percentile({w}, 60)"],
        [f"{k} = np.unique(np.array([2, 0, 2]))[: 2] * {u}"], [f"{k} = np.bincount(K, weights=C[: len(K)]) * {u}"],
        [f"s = s + np.trapezoid({w}, dx=0.5)"], [f"s = s + np.polyval({w}, 0.4)"],
        [f"{k} = np.cross({m}[0, :2].sum() * C[:3], [1.0, {u}, 0.3])"],
        [f"{k} = np.apply_along_axis(lambda r: r[::-1] * r[0], 1, {m})"],
        [f"{k} = np.vectorize(lambda e: e if e > 0.1 else 0.5 * e)({w})"],
        [f"{k} = np.diff({w}, prepend={u}, append=0.0)"], [f"{k} = np.nan_to_num({w}) + np.nansum({w})"],
        [f"s = s + np.count_nonzero({w} > {u}) * 0.1"], [f"s = s + (({w} > {u}) & ({w} < 0.9)).mean()"],
    ])  # fmt: skip


def with_small_arrays(s: Scope) -> list[str]:
    """Arrays without elements, and arrays without axes."""
    k, w, m = s.fresh("u"), _vector(s), _matrix(s)
    u, v = atom(scalar(s, 1)), atom(scalar(s, 1))
    empty = s.one_of([f"{w}[:0]", f"{w}[5:2]", "np.zeros(0)", f"{m}[:0]", f"{w}[{w} > 9.0]", "np.array([])",
                      f"{w}[[]]", f"{m}[:, 2:2]", f"{w}[len({w}) :]"])  # fmt: skip
    return s.one_of([
        [f"{k} = {empty}", f"s = s + np.sum({k}) + {k}.size"], [f"s = s + np.prod({empty}) * {u}"],
        [f"{k} = {empty} * {u}", f"for e in {k}:", "    s = s + np.sum(e)"],
        [f"{k} = np.concatenate([{w}[:0], {w}, np.sin({w}[:0])])"], [f"{k} = {w}[:0].sum() + {w}"],
        [f"{empty.replace('np.zeros(0)', w + '[1:1]')}[...] = {u}" if "[" in empty else f"s = s + {u}",
         f"s = s + np.sum({w})"],
        [f"{k} = {w}[:0] @ {w}[:0] + {w}"], [f"{k} = np.append({empty}, {u})"], [f"{k} = {m}[:0].sum(axis=0) + {u}"],
        [f"{k} = np.array({u})", f"{k}[...] = {k} * 2", f"s = s + {k}"],
        [f"{k} = np.array({u})", f"{k} += {v}", f"s = s + {k}"],
        [f"{k} = np.zeros(())", f"{k}[()] = {u}", f"s = s + {k} * {k}"],
        [f"{k} = np.asarray({u})[None]", f"{k}[0] *= {v}"],
        [f"{k} = np.array({u}).reshape(1, 1) @ np.ones((1, 2))"], [f"s = s + np.array({u})[()] * {w}[0, ...]"],
        [f"s = s + np.array({u}).item() + {w}[0].item() * 0.5"], [f"{k} = {w}[1, ...]", f"s = s + {k}.sum()"],
        [f"{k} = np.squeeze({w}[:1])", f"s = s + {k} * 2"], [f"s = s + np.sum(np.atleast_1d({u})) + np.ndim({v})"],
        [f"{k} = {w}[0:1]", f"{k} -= {u}", f"s = s + {w}[0]"], [f"s = s + np.mean({w}[:1]) + {m}[:1, :1].sum()"],
    ])  # fmt: skip


def with_slices_of_slices(s: Scope) -> list[str]:
    """Writes through several views at once."""
    name = s.one_of(s.arrays(kinds="f") or ["x"])
    n = len(s.names[name])
    u = scalar(s, 1)
    k = s.fresh("u")
    first, second = s.one_of(["1:", ":-1", "::-1", "::2", ":"]), s.one_of(["::-1", "::2", "1:", ":1", "-1:", ":"])
    two = s.value(f"{name}[{first}][{second}]")
    value = fitting(s, np.shape(two))
    operator = s.one_of(["=", "+=", "*=", "-="])
    choices = [
        [f"{name}[{first}][{second}] {operator} {value}"],
        [f"{k} = {name}[{first}]", f"{k}[{second}] {operator} {value}", f"{name}[{below(s, n)}] += {u}"],
        [f"{k} = {name}[{first}][{second}]", f"{k} {operator} {value}", f"s = s + np.sum({name}) * 0.1"],
        [f"for i in range({_count(s)}):", f"    {name}[i % {n} :][:1] {operator} 0.5 * {name}[: 1 + i % {n}][-1:]"],
        [f"for i in range({n} - 1, -1, -1):", f"    {name}[i] = 0.5 * {name}[i] + 0.1 * {name}[i - 1]"],
        [f"for i in range({n} - 1, 0, -2):", f"    {name}[i] -= 0.3 * {name}[i - 1]"],
        [f"for i in range({n}):", f"    {k} = {name}[i:]", f"    {k}[-1] += 0.1 * {k}[0]"],
        [f"{name}.T[..., {second}] {operator} 0.5"], [f"{name}.reshape(-1)[{second}] {operator} {scalar(s, 0)}"],
        [f"{name}[{first}], {k} = {name}[{first}] * 0.5, {name}[{second}]"],
        [f"np.add({name}[{first}], {u}, out={name}[{first}])"], [f"{name}[{first}].fill({u})"],
        [f"{name}[{first}][{second}].flat[0] = {u}" if s.chance(0.2) else f"{name}.flat[{n - 1}] = {u}"],
    ]  # fmt: skip
    return s.one_of(choices)


def with_integers_in_arrays(s: Scope) -> list[str]:
    """Arrays of integers and booleans that count, mark and point."""
    k, m = s.fresh("k"), s.fresh("b")
    w, i, u = _vector(s), atom(integer(s)), atom(scalar(s, 1))
    n = len(s.names.get(w, [0, 0]))
    return s.one_of([
        [f"{k} = np.zeros({n}, int)", f"for i, e in enumerate({w}):", f"    {k}[i] = {k}[i - 1] + (e > {u})",
         f"s = s + np.sum({w} * {k}) * 0.1"],
        [f"{k} = np.arange({n})", f"{k}[{below(s, n)}] = {i} % {n}", f"s = s + np.sum({w}[{k}] * {k})"],
        [f"{k} = (np.arange({n}) + {i}) % {n}", f"s = s + np.sum({w}[{k}] * np.arange({n}))"],
        [f"{m} = np.zeros({n}, bool)", f"{m}[{below(s, n)}] = True", f"{m}[0] = {condition(s)}",
         f"s = s + np.sum({w}[{m}])"],
        [f"{m} = {w} > {u}", f"{m}[0] = not {m}[0]", f"s = s + np.sum(np.where({m}, {w}, 0.3))"],
        [f"{m} = np.ones({n}, bool)", f"{m}[1:] = {w}[1:] > {w}[:-1]", f"s = s + {w}[{m}].sum()"],
        [f"{k} = np.cumsum({w} > {u})", f"s = s + np.mean({k} * {w})"],
        [f"{k} = np.argsort({w})", f"s = s + {w}[{k}[0]] - {w}[{k}[-1]]", f"c = int({k}[0])"],
        [f"{k} = np.full({n}, {i})", f"{k} //= 2", f"s = s + np.sum({k} * {w}) * 0.1"],
        [f"{k} = [0] * {n}", f"for i in range({n}):", f"    {k}[i] = {k}[i - 1] + 2 * i % 3",
         f"s = s + {w}[{k}[-1] % {n}]"],
        [f"{k} = np.array([{i}, 1]) % {n}", f"{w}[{k}] += {u}"], [f"c = int(np.sum({w} > {u})) % 4"],
        [f"{m} = [e > {u} for e in {w}]", f"s = s + 0.1 * sum({m}) + any({m}) * {u} - all({m})"],
        [f"{k} = np.int32({i} % 5)", f"s = s + {k} * {u}"],
        [f"{k} = np.uint8(200) + np.arange(2, dtype=np.uint8)", f"s = s + {k}[0] * {u} * 0.001"],
        [f"{k} = np.uint64({i} % 3)", f"s = s + 0.1 * {w}[{k} % np.uint64({n})] * math.sqrt({k} + np.uint64(1))"],
        [f"{k} = np.uint64({i} % 4)", f"s = s + 0.1 * np.roll({w}, -{k})[0]", f"for i in range({k}):",
         "    s = s + 0.1 * i"],
        [f"{k} = np.int8({i} % 5 + 1)", f"t = t + 0.1 * math.log({k}) + math.pow({k}, -1) + 0.1 * math.fabs(-{k}) / 3"],
        [f"{k} = np.where({m_of(w, u)}, 1, 0)", f"s = s + np.dot({k}, {w})"],
        [f"while {w}[c % {n}] > {u} and c < {n}:", "    c += 1"],
    ])  # fmt: skip


def m_of(w: str, u: str) -> str:
    return f"np.abs({w}) > {u}"


def with_a_class(s: Scope) -> list[str]:
    """Classes with state that programs define where they use them."""
    o, u, v, w = s.fresh("O"), scalar(s, 1), scalar(s, 1), array(s, 1)
    name = s.fresh("o")
    head = [f"class {o}:", "    rate = 0.5", "", "    def __init__(self, u, at=None):",
            "        self.u, self.at, self.count = u, at, 0", ""]  # fmt: skip
    methods = s.one_of([
        ["    def __call__(self, v):", "        self.count += 1", "        self.u = np.tanh(self.u + self.rate * v)",
         "        return self.u * self.count"],
        ["    def __call__(self, v):", "        if self.at is None:", "            self.at = v",
         "        self.at = 0.9 * self.at + 0.1 * v", "        return self.at + self.u"],
        ["    def __call__(self, v):", "        return self._twice(v) + self.rate", "", "    @staticmethod",
         "    def half(v):", "        return 0.5 * v", "", "    def _twice(self, v):",
         "        return self.half(v) * self.u"],
        ["    def __iter__(self):", "        for i in range(3):", "            yield self.rate * self.u * i", "",
         "    def __call__(self, v):", "        return sum(e * v for e in self)"],
        ["    def __len__(self):", "        return 3", "", "    def __getitem__(self, i):",
         "        return self.u * i", "",
         "    def __call__(self, v):", "        return self[1] + self[len(self) - 1] * v"],
    ])  # fmt: skip
    use = s.one_of([
        [f"{name} = {o}({u})", f"s = np.tanh({name}({v}) + {name}(s))"],
        [f"{name} = {o}({u})", f"for i in range({_count(s)}):", f"    s = np.tanh(s + 0.3 * {name}({v}))"],
        [f"{name} = {o}({u})", f"if {condition(s)}:", f"    s = np.tanh(s + {name}({v}))",
         f"t = np.tanh(t + {name}(0.5))"],
        [f"{name} = [{o}({u}), {o}(0.5, at={v})]", f"for q in {name}:", f"    t = np.tanh(t + q({v}))"],
        [f"{name} = {o}({u})", f"{name}.rate = {v}", f"s = np.tanh(s + np.mean({name}({w})))"],
    ])  # fmt: skip
    return [*head, *methods, "", *use]


def with_a_while(s: Scope) -> list[str]:
    """Iterations until something is small, found, or used up."""
    p, q = s.fresh("p"), s.fresh("q")
    u, w = scalar(s, 1), _vector(s)
    return s.one_of([
        [f"{p} = 1.0 + np.abs({u})", f"for {q} in range(30):", f"    r = {p} * {p} - 2.0 - {atom(u)} ** 2",
         "    if abs(r) < 1e-12:", "        break", f"    {p} = {p} - r / (2 * {p})", "else:", "    s = s + 99.0",
         f"s = np.tanh(s + {p})"],
        [f"{p}, {q} = {u}, 0", "while True:", f"    {p} = 0.5 * np.cos({p})", f"    {q} += 1",
         f"    if {q} >= {_count(s)} or {p} > 2:",
         "        break", f"s = np.tanh(s + {p})"],
        [f"{p} = 0", f"while {p} < len({w}) and {w}[{p}] < {atom(u)}:", f"    {p} += 1", f"s = s + {p} * {atom(u)}"],
        [f"{p} = list({w})", f"while {p}:", f"    s = np.tanh(s + {p}.pop())"],
        [f"{p}, {q} = 0, len({w}) - 1", f"while {p} < {q}:", f"    {w}[{p}], {w}[{q}] = {w}[{q}], 0.5 * {w}[{p}]",
         f"    {p} += 1",
         f"    {q} -= 1"],
        [f"{p} = {_count(s)}", f"while {p}:", f"    {p} -= 1", f"    if {p} % 2:", "        continue",
         f"    s = np.tanh(s + {u} * {p})"],
        [f"{p} = 0.1", f"while {p} < 3.0 and abs({u}) < 2:", f"    {p} *= 2", *indented([f"s = s + 0.1 * {p}"])],
        [f"for {p} in range(3):", f"    for {q} in range(3):", f"        if {q} > {p}:", "            break",
         f"        s = np.tanh(s + {u})", "    else:", "        t = t * 0.5"],
    ])  # fmt: skip
