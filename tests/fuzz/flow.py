"""Ways through a program: nested loops that are left from within, exceptions, dispatch, closures with state, recursion,
and operators that programs use themselves."""

from __future__ import annotations

from fuzz.expressions import atom, condition, integer, scalar
from fuzz.scope import Scope


def _vector(s: Scope) -> str:
    return s.one_of(s.arrays(1, "f") or ["x"])


def _matrix(s: Scope) -> str:
    return s.one_of(s.arrays(2, "f") or ["A"])


def with_ways_out(s: Scope) -> list[str]:
    """Loops that are left: by break out of two, by return, by an exception, past a finally."""
    g, p, w, m = s.fresh("g"), s.fresh("r"), _vector(s), _matrix(s)
    u, v = atom(scalar(s, 1)), atom(scalar(s, 0))
    n = len(s.names.get(w, [0, 0]))
    return s.one_of([
        [f"def {g}(u):", f"    for i in range(len({m})):", f"        for j in range({m}.shape[1]):",
         f"            if {m}[i, j] > u:", f"                return {m}[i, j] * (i + 1)", "    return u - 1.0", "",
         f"s = np.tanh(s + {g}({u}))"],
        [f"def {g}(u):", "    for i in range(4):", "        while u < 1.0:", "            u = u * 0.5 + 0.7",
         "            if i == 2 and u > 0.9:", "                return u", "        u -= 0.8", "    return -u", "",
         f"s = np.tanh(s + {g}({u}))"],
        [f"def {g}(u):", f"    for e in {w}:", "        try:", "            if e > u:", "                return e",
         "            u = u + 0.1", "        finally:", f"            {w}[0] += 0.25", "    return u", "",
         f"s = np.tanh(s + {g}({u}))"],
        [f"for e in {w}:", "    try:", f"        if e > {u}:", '            raise ValueError("large")',
         "        s = s + 0.5 * e", "    except ValueError:", "        s = s - 0.1", "        continue",
         "    t = np.tanh(t + e)"],
        [f"for i in range({n}):", "    try:", f"        if {w}[i] < {u}:", "            continue",
         f"        {w}[i] *= 0.5", "    finally:", "        t = t + 0.1"],
        [f"for i in range({n}):", "    try:", f"        if {w}[i] > {u}:", "            break", "    finally:",
         f"        s = np.tanh(s + {w}[i])"],
        ["try:", f"    for e in {w}:", f"        if e > {u}:", "            raise StopIteration",
         "        s = s + 0.1 * e",
         "except StopIteration:", "    s = s - 0.5", "else:", "    t = t + 0.25"],
        [f"def {g}(u):", "    if u < 0:", '        raise ValueError("negative")', "    return np.sqrt(0.5 + u)", "",
         f"for e in {w}:", "    try:", f"        s = s + 0.1 * {g}(e)", "    except ValueError as error:",
         "        s = s - 0.2 * len(str(error))"],
        ["for i in range(4):", "    for j in range(4):", f"        if {u} * i > j:", "            continue",
         "        if j - i > 2:", "            break", f"        s = np.tanh(s + 0.1 * i * j + {v})", "    else:",
         "        continue", "    break"],
        [f"{p} = 0", f"while {p} < 5 and (s < 1.0 or {p} == 0):", f"    {p} += 1", f"    s = np.tanh(s) + {v} * 0.1"],
        [f"{p}, k = {u}, 0", f"while {p} < 2.0 and k < {n} and {w}[k] < 1.0:", f"    {p} = {p} + 0.3", "    k += 1",
         f"s = s + {p} * k"],
        [f"if -0.5 < {u} < 0.9 <= 1.0:", f"    s = s + {u}", f"elif {v} != {u} >= 0.1:", f"    s = s - {v}"],
        [f"{p} = [e for e in {w} if 0.0 < e < 0.9]", f"s = s + sum({p}) + len({p})"],
        [f"s = s + (1.0 if any(e > {u} for e in {w}) else 0.5)", f"t = t + all(e < 1.1 for e in {w}) * {v}"],
        [f"s = s + next((e for e in {w} if e > {u}), 0.25)"],
        [f"s = s + max((e * e for e in {w}), default=0.0) - min({w}, key=lambda e: abs(e - {v}))"],
        ["with contextlib.suppress(IndexError):", f"    for i in range({n} + 2):", f"        s = np.tanh(s + {w}[i])"],
        ["with contextlib.suppress(ValueError):", f"    if {condition(s)}:", "        raise ValueError",
         f"    s = s + {u}"],
        [f"{p}, k = 0.3 + {u} ** 2, 0", "while True:", "    k += 1", f"    if k > {atom(integer(s))} % 9 + 2:",
         "        c = 1", "        break", f"    if {p} > 3.0:", "        c = 2", "        break", "    if k % 3 == 0:",
         "        continue", f"    {p} = {p} * 1.3 + 0.01 * {v}", f"s = np.tanh(s + {p} * k)"],
        [f"k, {p} = 0, 1.0", "while k < n:", "    k += 1", f"    {p} = {p} * 1.1 + {w}[k % {n}]",
         f"    if {p} > 2.0 + {v}:",
         "        break", "else:", "    t = t * 0.5", f"s = np.tanh(s + {p})"],
        [f"for row in {m}:", "    for j, e in enumerate(row):", f"        if e > {u}:", "            row[j] = 0.5 * e",
         "            continue", "        if e < -0.9:", "            break", "        row[j] += 0.1 * j", "    else:",
         f"        row[0] -= {v}"],
        [f"def {g}(M, u):", "    for i, row in enumerate(M):", "        for j in range(len(row)):",
         "            if row[j] > u:", "                return row, j", "            row[j] += 0.2", "        u -= 0.1",
         "    return M[0], -1", "", f"found, k = {g}({m}, {u})", "found[k] *= 0.5", "s = np.tanh(s + found[0] + k)"],
        [f"def {g}(u, k):", "    match k:", "        case 0:", "            return u", "        case 1 | 2 if u > 0:",
         "            return u * 2", "        case _:", "            return -u", "",
         f"s = np.tanh(s + {g}({u}, {atom(integer(s))} % 4))"],
    ])  # fmt: skip


def with_dispatch(s: Scope) -> list[str]:
    """Functions chosen by names, types and numbers; closures that remember; defaults."""
    g, d, w, k = s.fresh("g"), s.fresh("d"), _vector(s), s.fresh("u")
    u, v = atom(scalar(s, 1)), atom(scalar(s, 0))
    i = atom(integer(s))
    return s.one_of([
        [f'{d} = {{"sin": np.sin, "cos": np.cos, "twice": h_double}}', 'for name in ("cos", "twice", "sin"):',
         f"    s = 0.5 * {d}[name](s + {v})"],
        [f'{d} = {{"relu": lambda u: np.maximum(u, 0.05), "id": lambda u: u}}',
         f'{k} = {d}["relu" if {i} % 2 else "id"]({w})'],
        [f"{d} = [lambda u, k=k: u * k + {v} for k in range(3)]", f"s = np.tanh(s + sum(e({u}) for e in {d}))"],
        [f"{d} = [lambda u: u * k + {v} for k in range(3)]", f"s = np.tanh(s + sum(e({u}) for e in {d}))"],
        [f"def {g}():", "    count, total = 0, 0.0", "    def add(u):", "        nonlocal count, total",
         "        count += 1", "        total = total + u * count", "        return total", "    return add", "",
         f"{d} = {g}()", f"for e in {w}:", f"    {d}(e)", f"s = np.tanh(s + {d}({u}))"],
        [f"if {(p := condition(s, 0))}:", f"    {d} = {u}", f"def {g}(q):", f"    return q * {d}", "",
         f"s = np.tanh(s + ({g}({v}) if {p} else {v}))"],
        [f"if {(p := condition(s, 0))}:", f"    def {d}(q):", "        return np.sin(q)", f"    def {g}(q):",
         f"        return {d}(q) * 2", f"    s = np.tanh(s + {g}({u}))", f"t = t + ({g}({v}) if {p} else 0.5)"],
        [f"def {g}(u, seen=[]):", "    return u * 0.5 + len(seen)", "", f"s = s + {g}({u})"],
        [f"def {g}(u, *, scale=0.5, shift={v}):", "    return scale * u + shift", "",
         f"s = np.tanh({g}({u}) + {g}(s, shift=0.1) + {g}(t, scale={v}))"],
        [f"def {g}(f, k):", "    return f if k == 0 else lambda u: 0.5 * f(u)", "",
         f"s = np.tanh({g}(np.sin, {i} % 2)({u}))"],
        [f"def {g}(f):", "    @functools.wraps(f)", "    def inner(*args, **kwargs):",
         f"        return f(*args, **kwargs) * {v}", "    return inner", "",
         f"s = np.tanh(s + {g}(h_mixed)({u}, v=0.5))"],
        [f"def {g}(tree):", "    if isinstance(tree, (list, tuple)):", f"        return sum({g}(b) for b in tree)",
         "    if isinstance(tree, dict):", f"        return sum({g}(b) for b in tree.values())",
         "    return np.sum(tree)", "",
         f's = np.tanh(s + {g}([{w}, {{"u": {u}, "v": ({v}, 1.0)}}]))'],
        [f"def {g}(z):", "    if len(z) <= 1:", "        return z", f"    even, odd = {g}(z[::2]), {g}(z[1::2])",
         "    return np.concatenate([even, 0.5 * odd])", "", f"{k} = {g}({w})"],
        [f"def {g}(k, known={{}}):", "    known = {}", "    def at(k):", "        if k < 2:", f"            return {u}",
         "        if k not in known:", "            known[k] = 0.5 * at(k - 1) + 0.3 * at(k - 2)",
         "        return known[k]", "    return at(k)", "", f"s = np.tanh(s + {g}(5))"],
        [f"def {g}(u, depth):", "    if depth == 0 or abs(u) < 0.05:", "        return u",
         f"    return np.sin({g}(0.5 * u, depth - 1)) + 0.1 * u", "", f"s = np.tanh(s + {g}({u}, 3))"],
        [f"{g} = functools.partial(h_relaxed, u={v})", f"{k} = {g}({w})"],
        [f"{d} = [h_double, np.sin] + [functools.partial(h_mixed, v=0.5)]",
         f"s = functools.reduce(lambda p, h: 0.5 * h(p), {d}, s + {u})"],
        [f"{k} = list(map(lambda e, o: e * o + {v}, {w}, {w}[::-1]))", f"s = np.tanh(s + sum({k}))"],
        [f"{k} = list(filter(lambda i: i % 2, range(5)))", f"s = s + {w}[{k}[-1] % len({w})]"],
        [f"{k} = list(zip(*[({u}, 1.0), ({v}, 2.0)]))", f"s = s + sum({k}[0]) * sum({k}[1])"],
        [f"{d} = dict(zip(range(3), {w}))", f"for key, e in reversed(list({d}.items())):",
         "    s = np.tanh(s + key * e)"],
        [f"{d} = {{}}", f"for i, e in enumerate({w}):", f"    {d}.setdefault(i % 2, []).append(e)",
         f"s = np.tanh(s + sum(sum(q) * key for key, q in {d}.items()))"],
        [f"{d} = [[{u}, {v}], [0.5, s]]", f"{d}[0][1] += {v}", f"{d}[1][0], {d}[0][0] = {d}[0][0], {d}[1][0]",
         f"s = np.tanh(sum(sum(row) for row in {d}))"],
        [f"{d} = sorted([({u}, 1), ({v}, 2), (0.123, 3)], key=lambda q: -q[0])", f"s = s + {d}[0][0] * {d}[-1][1]"],
        [f"{k} = [*{w}[:2], {u}]", f"{k}[1:] = [0.5]", f"{k} = {k} * 2", f"s = np.tanh(s + sum({k}))"],
        [f"if (big := np.max({w})) > {u} and (low := np.min({w})) < 0.5:", "    s = s + big - low"],
        [f"{d} = Pair({u}, {v})", "for _ in range(n):", f"    {d} = {d} * 0.5 + Pair(0.1, s)",
         f"s = np.tanh(s + {d}.total)"],
        ["total = np.zeros(3)", f"def {g}(i, e):", "    total[i % 3] += e", "    return total", "",
         f"for i, e in enumerate({w}):", f"    {g}(i, e)[0] *= 0.9", f"{k} = {g}({i}, {u}) * 1.0"],
        [f"def {g}(u, kept={w}):", "    kept[0] += u", "    return kept", "", f"{k} = {g}({u})",
         f"s = np.tanh(s + {g}({v})[0])",
         f"{k} = {k} * 0.5"],
        [f"state = State({w}, {u})", "before = state.at", "for _ in range(n):",
         "    state.at = state.at * 0.5 + before",
         "    before[0] = state.step", "    state.step -= 0.1", "s = np.tanh(s + state.energy + before[-1])"],
        [f"state = dataclasses.replace(State({w}, {u}), step={v})", "state.at[-1] = state.step",
         f"s = np.tanh(s + np.sum({w}))"],
        [f"global_list = [{w}]", f"def {g}():", f"    global_list[0] = global_list[0] * {v}", "", f"{g}()", f"{g}()",
         "s = np.tanh(s + np.sum(global_list[0]))"],
    ])  # fmt: skip


def with_operators(s: Scope) -> list[str]:
    """Programs that differentiate, map, compile and store less themselves."""
    k, w, m, g = s.fresh("u"), _vector(s), _matrix(s), s.fresh("g")
    u, v = atom(scalar(s, 1)), atom(scalar(s, 0))
    n = len(s.names.get(w, [0, 0]))
    return s.one_of([
        [f"{k} = wg.grad(lambda q: np.sum(np.sin(q) * q) * {u})({w})"], [f"s = s + wg.grad(np.sin)({u})"],
        [f"s = np.tanh(s + wg.value_and_grad(lambda q: q ** 3 + {v})({u})[1])"],
        [f"{k} = wg.vmap(lambda r: r * np.sum(r) + {u})({m})"], [f"{k} = wg.vmap(h_double)({w})"],
        [f"{k} = wg.vmap(lambda r, q: r @ r * q, in_axes=(0, None))({m}, {u})"],
        [f"{k} = wg.jit(lambda q: np.cumsum(q) * {v})({w})"], [f"{k} = wg.jit(h_relaxed)({w}, {u})"],
        [f"{k} = wg.jacfwd(lambda q: np.tanh(q) * q[0])({w})"],
        [f"{k} = wg.jacrev(lambda q: q[:2] * np.sum(q) * {v})({w})"],
        [f"{k} = wg.hessian(lambda q: np.sum(q ** 3) * q[0])({w}[:2])"],
        [f"{k} = wg.jvp(lambda q: q ** 2 * {u}, ({w},), ({w}[::-1],))[1]"],
        [f"{k} = wg.vjp(lambda q: np.sin(q) * {u}, {w})[1](np.ones({n}))"],
        [f"{k} = wg.checkpoint(h_relaxed)({w}, {u})"], [f"{k} = wg.checkpoint(lambda q: np.sin(q) * {v})({w})"],
        ["for _ in range(n):", f"    s = wg.checkpoint(h_mixed)(s, {v})"],
        [f"{k} = np.where(wg.stop_gradient({w}) > 0.1, {w}, {v})"], [f"s = s + solved(2.0 + {u} ** 2)"],
        [f"{k} = settled({w} * 0.3)"], [f"s = s + wg.root(lambda y, p: y ** 3 + y - p, 0.5, {u})"],
        [f"p = {w} * 0.5", "for _ in range(3):",
         f"    p = p - 0.1 * wg.grad(lambda q: np.sum(q ** 2) + np.sum(q) * {v})(p)",
         "s = np.tanh(s + np.sum(p))"],
        ["@wg.custom_jvp", f"def {g}(q):", "    total = 0.0", "    for e in q:", "        total = total + e * e",
         "    return total", "", f"@{g}.defjvp", f"def {g}_rule(primals, tangents):",
         f"    return {g}(*primals), np.sum(2 * primals[0] * tangents[0])", "", f"s = np.tanh(s + {g}({w}))"],
        [f"s = np.tanh(s + wg.logsumexp({w}) + wg.logsumexp({m}, axis=0)[0])"],
        [f"s = s + 0.1 * wg.derivative(lambda q: np.sin(q) * q, order=2)({u})"],
        [f"s = np.tanh(s + wg.hvp(lambda q: np.sum(q ** 3))({w}, {w})[0])"],
        [f"{g} = wg.jit(lambda q: q * q)", f"s = np.tanh({g}({u}) + {g}(s))"],
    ])  # fmt: skip
