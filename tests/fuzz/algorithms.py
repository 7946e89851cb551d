"""Whole algorithms, as people write them: recurrences, eliminations, iterations, searches, sorts, filters."""

from __future__ import annotations

from fuzz.expressions import atom, scalar
from fuzz.scope import Scope, Unusable


def _vector(s: Scope, least: int = 2) -> str:
    found = [v for v in s.arrays(1, "f") if len(s.names[v]) >= least]
    if not found:
        raise Unusable
    return s.one_of(found)


def _square(s: Scope) -> str:
    found = [v for v in s.arrays(2, "f") if s.names[v].shape[0] == s.names[v].shape[1]]
    m = s.one_of([*[f"({v} + 4.0 * np.eye({len(s.names[v])}))" for v in found], "(A @ A.T + 3.0 * np.eye(len(A)))"])
    return m


def with_elimination(s: Scope) -> list[str]:
    """Linear systems by hand."""
    m, b, z = s.fresh("u"), s.fresh("u"), s.fresh("u")
    p, w = scalar(s, 1), _vector(s, 3)
    start = [f"{m} = {_square(s)}"]
    rhs = f"{b} = {s.one_of([f'C[: len({m})] * {atom(p)}', f'np.ones(len({m})) + {atom(p)}'])}"
    return s.one_of([
        [*start, rhs, f"for k in range(len({m}) - 1):", f"    for i in range(k + 1, len({m})):",
         f"        q = {m}[i, k] / {m}[k, k]", f"        {m}[i, k:] -= q * {m}[k, k:]", f"        {b}[i] -= q * {b}[k]",
         f"for i in range(len({m}) - 1, -1, -1):",
         f"    {b}[i] = ({b}[i] - {m}[i, i + 1 :] @ {b}[i + 1 :]) / {m}[i, i]"],
        [*start, rhs, f"for k in range(len({m})):", f"    j = k + np.argmax(np.abs({m}[k:, k]))",
         f"    {m}[[k, j]] = {m}[[j, k]]", f"    {b}[k], {b}[j] = {b}[j], {b}[k]", f"    {m}[k] /= 3.0",
         f"    {m}[k + 1 :] -= 0.2 * np.outer({m}[k + 1 :, k], {m}[k])"],
        [*start, f"{z} = np.zeros_like({m})", f"for i in range(len({m})):", "    for j in range(i + 1):",
         f"        q = {m}[i, j] - {z}[i, :j] @ {z}[j, :j]",
         f"        {z}[i, j] = np.sqrt(abs(q) + 0.5) if i == j else q / {z}[j, j]"],
        [*start, rhs, f"{z} = np.zeros(len({b}))", "for _ in range(4):", f"    for i in range(len({b})):",
         f"        {z}[i] = ({b}[i] - {m}[i] @ {z} + {m}[i, i] * {z}[i]) / {m}[i, i]"],
        [*start, rhs, f"{z} = np.zeros(len({b}))", f"r = {b} - {m} @ {z}", "q = r.copy()", "old = r @ r",
         "for _ in range(2):", f"    y = {m} @ q", "    alpha = old / (q @ y + 0.1)", f"    {z} += alpha * q",
         "    r -= alpha * y", "    new = r @ r", "    q = r + new / (old + 0.1) * q", "    old = new"],
        [f"{b} = 2.5 + {w} ** 2", f"{z} = {w}.copy()", f"for i in range(1, len({w})):",
         f"    q = 0.5 / {b}[i - 1]", f"    {b}[i] -= 0.5 * q", f"    {z}[i] -= q * {z}[i - 1]",
         f"{z}[-1] /= {b}[-1]", f"for i in range(len({w}) - 2, -1, -1):",
         f"    {z}[i] = ({z}[i] - 0.5 * {z}[i + 1]) / {b}[i]"],
        [*start, f"for i in range(len({m})):", "    for j in range(i):",
         f"        {m}[i] -= ({m}[i] @ {m}[j]) * {m}[j]",
         f"    {m}[i] /= np.sqrt(1.0 + {m}[i] @ {m}[i])"],
        [*start, f"{z} = np.ones(len({m}))", "for _ in range(3):", f"    {z} = {m} @ {z}",
         f"    {z} = {z} / np.linalg.norm({z})", f"s = np.tanh(s + {z} @ {m} @ {z})"],
    ])  # fmt: skip


def with_an_iteration(s: Scope) -> list[str]:
    """Until it is good enough, or enough has been tried."""
    p, q, i = s.fresh("r"), s.fresh("r"), s.fresh("k")
    u = atom(scalar(s, 1))
    w = _vector(s, 3)
    return s.one_of([
        [f"{p}, {i} = 1.0, 0", f"while abs({p} ** 2 - 2.5 - np.sin({u})) > 1e-9 and {i} < 30:",
         f"    {p} = 0.5 * ({p} + (2.5 + np.sin({u})) / {p})", f"    {i} += 1", f"s = s + {p}"],
        [f"{p}, {q} = -3.0, 3.0", "for _ in range(6):", f"    mid = 0.5 * ({p} + {q})",
         f"    if mid ** 3 + mid > {u}:", f"        {q} = mid", "    else:", f"        {p} = mid",
         f"s = np.tanh(s + ({p} + {q}) * {u})"],
        [f"{p}, {i} = {u}, 0", "while True:", f"    {q} = 0.5 * np.cos({p})", f"    if abs({q} - {p}) < 0.01:",
         "        break", f"    {p}, {i} = {q}, {i} + 1", f"    if {i} == 20:", "        break", f"s = s + {p}"],
        [f"{p} = {u}", f"for {i} in range(8):", f"    {q} = np.exp(0.2 * {p}) - 0.3 - {p}", f"    if abs({q}) < 1e-3:",
         "        break", f"    {p} = {p} - {q} / (0.2 * np.exp(0.2 * {p}) - 1)", "else:", "    t = t + 0.5",
         f"s = np.tanh(s + {p} + {i})"],
        [f"{p}, {q} = 0.1, {u}", f"while {p} < 1.0:", f"    slope = -{q} + np.sin({p})",
         f"    later = -({q} + 0.1 * slope) + np.sin({p} + 0.1)", f"    {q} = {q} + 0.1 * (slope + later)",
         f"    {p} += 0.2",
         f"s = s + {q}"],
        [f"{p} = {w}.copy()", "for _ in range(4):", f"    g = 2 * {p} - {u}", f"    {p} = {p} - 0.1 * g",
         "    if np.max(np.abs(g)) < 0.01:", "        break", f"s = np.tanh(s + np.sum({p}))"],
        [f"{p}, {q} = {w}.copy(), np.zeros(len({w}))", "for i in range(1, 4):", f"    g = np.sin({p}) + {u} * {p}",
         f"    {q} = 0.9 * {q} + 0.1 * g", f"    {p} -= 0.1 * {q} / (np.sqrt({q} ** 2 + 0.5) * (1 - 0.9 ** i))",
         f"s = np.tanh(s + np.sum({p}))"],
        [f"{i}, {p} = 12, {u}", f"while {i} != 1:", f"    {i} = {i} // 2 if {i} % 2 == 0 else 3 * {i} + 1",
         f"    {p} = np.tanh({p} + 0.1 * {i})", f"s = s + {p}"],
        [f"{i}, {q} = 84, 36 + n", f"while {q}:", f"    {i}, {q} = {q}, {i} % {q}", f"s = s + 0.1 * {i} * {u}"],
        [f"{p}, {i} = {u}, 0", f"while {i} < 9 and not {p} > 1.5:", f"    {p}, {i} = {p} + 0.25, {i} + 1",
         f"s = np.tanh(s + {p} * {i})"],
    ])  # fmt: skip


def with_a_search(s: Scope) -> list[str]:
    """Sorting, searching, counting and choosing by hand."""
    w, q, b = _vector(s, 3), s.fresh("u"), s.fresh("k")
    u = atom(scalar(s, 1))
    n = len(s.names[w])
    return s.one_of([
        [f"{q} = {w}.copy()", f"for i in range({n}):", f"    for j in range({n} - 1 - i):",
         f"        if {q}[j] > {q}[j + 1]:", f"            {q}[j], {q}[j + 1] = {q}[j + 1], {q}[j]"],
        [f"{q} = {w}.copy()", f"for i in range(1, {n}):", f"    e, j = {q}[i], i - 1",
         f"    while j >= 0 and {q}[j] > e:",
         f"        {q}[j + 1] = {q}[j]", "        j -= 1", f"    {q}[j + 1] = e"],
        [f"{b} = 0", f"for i in range(1, {n}):", f"    if {w}[i] > {w}[{b}]:", f"        {b} = i",
         f"s = s + {w}[{b}] * {b}"],
        [f"{q} = np.sort({w})", f"low, high = 0, {n}", "while low < high:", "    mid = (low + high) // 2",
         f"    if {q}[mid] < {u}:", "        low = mid + 1", "    else:", "        high = mid", "c = low",
         f"s = s + {q}[low % {n}]"],
        [f"{q} = np.zeros(4)", f"for e in {w}:",
         f"    {q}[int(wg.stop_gradient(np.floor(2 * np.tanh(e)))) + 2] += e * e"],
        [f"{q} = np.zeros(4)", f"{b} = np.clip(np.floor(2 * {w} + 2.013).astype(int), 0, 3)",
         f"np.add.at({q}, {b}, {w})"],
        [f"{q} = np.full(({n}, {n}), 5.0)", f"for i in range({n}):", f"    {q}[i, (i + 1) % {n}] = 1.0 + {w}[i] ** 2",
         f"for k in range({n}):", f"    {q}[:] = np.minimum({q}, {q}[:, k : k + 1] + {q}[k : k + 1, :])"],
        [f"{q} = np.zeros({n} + 1)", f"for i in range(1, {n} + 1):",
         f"    {q}[i] = max({q}[i - 1], {q}[i - 2] + {w}[i - 1] if i > 1 else {w}[0])", f"s = s + {q}[-1]"],
        [f"{b} = sorted(range({n}), key=lambda i: {w}[i])", f"s = s + {w}[{b}[0]] - {w}[{b}[-1]] * {u}"],
        [f"{b} = max(range({n}), key=lambda i: {w}[i] * {u})", f"s = s + {w}[{b}]"],
        [f"{q} = np.zeros({n})", f"for i in range({n}):", f"    for j in range({n}):", "        if i == j:",
         "            continue", f"        r = {w}[i] - {w}[j]", f"        {q}[i] += r / (0.5 + r * r) ** 1.5"],
        ["found = False", f"for i in range({n}):", f"    for j in range(i + 1, {n}):",
         f"        if {w}[i] * {w}[j] > {u}:",
         "            found = True", "            break", "    if found:", "        break",
         f"s = np.tanh(s + {w}[i] * i)"],
        [f"{q} = [e for e in {w}]", f"{q}.sort()", f"s = s + {q}[0] * {q}[-1]"],
        [f"{q} = np.argsort(np.argsort({w}))", f"s = s + np.sum({q} * {w}) * 0.1"],
    ])  # fmt: skip


def with_a_model(s: Scope) -> list[str]:
    """What is fitted to data: filters, networks, mixtures."""
    w, q, h = _vector(s), s.fresh("u"), s.fresh("u")
    u = atom(scalar(s, 1))
    m = s.one_of(s.arrays(2, "f") or ["A"])
    rows, columns = s.names[m].shape if m in s.names else (2, 2)
    inputs = f"C[:{columns}]"
    return s.one_of([
        [f"{q} = np.tanh({m} @ {inputs} + {u})", f"{h} = {q} - np.max({q})",
         f"{h} = np.exp({h}) / np.sum(np.exp({h}))"],
        [f"{h} = np.zeros({rows})", f"for e in {w}:", f"    {h} = np.tanh(0.5 * {h} + e * {m}[:, 0])"],
        ["mean, spread = 0.0, 1.0", f"for e in {w}:", "    gain = spread / (spread + 0.5)",
         "    mean, spread = mean + gain * (e - mean), (1 - gain) * spread + 0.1", "s = s + mean * spread"],
        [f"{q} = np.exp(-((C[:, None] - {w}[None, :]) ** 2))", f"s = s + np.mean(np.log({q}.sum(axis=1) + 0.1))"],
        [f"{q} = {m} @ {m}.T", f"{q} = {q} - {q}.max(axis=-1, keepdims=True)", f"{h} = np.exp({q})",
         f"{h} /= {h}.sum(axis=-1, keepdims=True)", f"{h} = {h} @ {m}"],
        [f"{q} = {m} - {m}.mean(axis=0)", f"{q} /= np.sqrt({m}.var(axis=0) + 0.5)"],
        [f"{q} = 0.0", f"for e in {w}[::-1]:", f"    {q} = {q} * {u} * 0.3 + e", f"s = np.tanh(s + {q})"],
        [f"layers = [({m}, {u}), ({m}.T, 0.5)]", f"{h} = {inputs}", "for weight, bias in layers:",
         f"    {h} = np.tanh(weight @ {h} + bias)"],
        [f"{h} = np.zeros({rows})", f"for i in range({rows}):", "    total = 0.0", f"    for j in range({columns}):",
         f"        total += {m}[i, j] * {inputs}[j]", f"    {h}[i] = 1.0 / (1.0 + math.exp(-total))"],
        [f"{h} = np.array([np.sin({u}), np.cos({u})])", f"{q} = np.array([[{h}[1], -{h}[0]], [{h}[0], {h}[1]]])",
         f"{q} = {q} @ {q} @ C[:2]"],
        [f"{q} = np.sum(({m}[:, None, :] - {m}[None, :, :]) ** 2, axis=-1)", f"{h} = np.exp(-{q} * 0.5)"],
        [f"{q} = np.argmin(np.abs({w}[:, None] - np.array([-0.5, 0.0, 0.5])), axis=1)",
         f"{h} = np.array([{w}[{q} == k].sum() for k in range(3)])"],
    ])  # fmt: skip
