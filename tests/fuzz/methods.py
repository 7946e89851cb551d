"""Methods of numerical mathematics and computing as people write them out: time steps, searches along lines, dynamic
programming, filters, chains, layers, quadratures."""

from __future__ import annotations

from fuzz.arrays import matrix, vector
from fuzz.expressions import atom, integer, scalar
from fuzz.scope import Scope


def with_time_steps(s: Scope) -> list[str]:
    """Differential equations by hand, with fixed steps, chosen steps and events."""
    f, p, q, k = s.fresh("g"), s.fresh("r"), s.fresh("q"), s.fresh("u")
    u, v, w = atom(scalar(s, 1)), atom(scalar(s, 1)), vector(s)
    c = s.one_of(["2", "3", "n", "n + 1", "5"])
    rate = [f"def {f}(t, y):",
            f"    return {s.one_of([f'-y * {u}', 'np.sin(t) - y', f'{u} * (1.0 - y) * 0.5', f'-y ** 2 * 0.3 + {v}'])}",
            ""]  # fmt: skip
    pair = [f"def {f}(t, y):", f"    return np.array([y[1], -{u} * y[0] - 0.1 * y[1]])", ""]
    return s.one_of([
        [*rate, f"{p}, time, h = {v}, 0.0, 0.1", f"for _ in range({c}):", f"    k1 = {f}(time, {p})",
         f"    k2 = {f}(time + h / 2, {p} + h / 2 * k1)", f"    k3 = {f}(time + h / 2, {p} + h / 2 * k2)",
         f"    k4 = {f}(time + h, {p} + h * k3)", f"    {p} = {p} + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)",
         "    time += h",
         f"s = np.tanh(s + {p})"],
        [*pair, f"{q} = np.array([{v}, 0.5])", f"for i in range({c}):", f"    k1 = {f}(i * 0.1, {q})",
         f"    {q} = {q} + 0.1 * {f}(i * 0.1, {q} + 0.05 * k1)", f"s = np.tanh(s + {q}[0] - {q}[1])"],
        [*pair, f"{q} = np.zeros(({c} + 1, 2))", f"{q}[0] = {v}, 0.5", f"for i in range(len({q}) - 1):",
         f"    {q}[i + 1] = {q}[i] + 0.1 * {f}(i * 0.1, {q}[i])", f"s = np.tanh(s + np.sum({q}))"],
        [*rate, f"{p}, time, h = {v}, 0.0, 0.4", "while time < 1.0:", f"    one = {p} + h * {f}(time, {p})",
         f"    two = {p} + h / 2 * ({f}(time, {p}) + {f}(time + h, one))", "    if abs(two - one) > 0.05 and h > 0.05:",
         "        h = h / 2", "        continue", f"    time, {p} = time + h, two", "    h = min(1.5 * h, 0.5)",
         f"s = np.tanh(s + {p})"],
        [f"x1, v1 = {w}.copy(), np.zeros(len({w}))", f"force = -{u} * x1", f"for _ in range({c}):",
         "    v1 += 0.05 * force", "    x1 += 0.1 * v1", f"    force = -{u} * x1 - 0.1 * x1 ** 3",
         "    v1 += 0.05 * force",
         "s = np.tanh(s + np.sum(x1 * v1))"],
        [f"{k} = np.zeros((2, 3))", f"{k}[:, 0] = {u}, {v}", "for j in range(1, 3):",
         f"    {k}[0, j] = {k}[0, j - 1] + 0.1 * {k}[1, j - 1]",
         f"    {k}[1, j] = 0.9 * {k}[1, j - 1] - 0.1 * {k}[0, j]"],
        [f"height, speed, bounces = 1.0 + {u} ** 2, 0.0, 0", "for _ in range(12):", "    height += 0.1 * speed",
         "    speed -= 0.5",
         "    if height < 0.0:", "        height, speed, bounces = -height, -0.8 * speed, bounces + 1",
         "    if bounces > 2:", "        break", "s = np.tanh(s + height * 0.1 + bounces)"],
        [f"{k} = {w} * 1.0", f"for _ in range({c}):", f"    flux = np.where({k}[1:] > 0.1, {k}[1:], {k}[:-1]) * 0.2",
         f"    {k}[1:-1] -= flux[1:] - flux[:-1]", f"    {k}[0], {k}[-1] = {k}[-2], {k}[1]"] if len(s.names.get(w,
                                                                                                                "")) > 2
        else [f"s = s + {u}"],
    ])  # fmt: skip


def with_optimisers(s: Scope) -> list[str]:
    """Minima and roots by hand, with derivatives written out."""
    f, g, k, q = s.fresh("g"), s.fresh("g"), s.fresh("u"), s.fresh("r")
    u, v, w = atom(scalar(s, 1)), atom(scalar(s, 1)), vector(s)
    n = len(s.names.get(w, [0, 0]))
    c = s.one_of(["2", "3", "n", "5"])
    cost = [f"def {f}(p):", f"    return np.sum((p - {u}) ** 2) + 0.1 * np.sum(p ** 4)", "", f"def {g}(p):",
            f"    return 2 * (p - {u}) + 0.4 * p ** 3", ""]  # fmt: skip
    return s.one_of([
        [*cost, f"{k} = {w} * 1.0", f"for _ in range({c}):", f"    d, step = -{g}({k}), 1.0",
         f"    while {f}({k} + step * d) > {f}({k}) - 0.3 * step * (d @ d) and step > 0.01:", "        step *= 0.5",
         f"    {k} = {k} + step * d"],
        [*cost, f"{k}, inverse = {w} * 1.0, np.eye({n})", f"old = {g}({k})", f"for _ in range({c}):",
         "    d = -0.3 * inverse @ old", f"    {k} = {k} + d", f"    new = {g}({k})", "    y = new - old",
         "    rho = 1.0 / (y @ d + 0.5)", f"    left = np.eye({n}) - rho * np.outer(d, y)",
         "    inverse = left @ inverse @ left.T + rho * np.outer(d, d)", "    old = new"],
        [*cost, f"{k}, mean, square = {w} * 1.0, 0.0, 0.0", f"for i in range(1, {c} + 1):", f"    d = {g}({k})",
         "    mean = 0.9 * mean + 0.1 * d", "    square = 0.99 * square + 0.01 * d * d",
         f"    {k} = {k} - 0.1 * (mean / (1 - 0.9 ** i)) / (np.sqrt(square / (1 - 0.99 ** i)) + 0.1)"],
        [f"low, high = -2.0, 2.0 + {u} ** 2", "for _ in range(6):", "    left = high - 0.618 * (high - low)",
         "    right = low + 0.618 * (high - low)", f"    if (left - {v}) ** 2 < (right - {v}) ** 2:",
         "        high = right",
         "    else:", "        low = left", "s = np.tanh(s + low + high)"],
        [f"{q}, other = {u}, {u} + 0.5", f"for _ in range({c}):",
         f"    a1, b1 = {q} ** 3 + {q} - {v}, other ** 3 + other - {v}",
         "    if abs(b1 - a1) < 1e-3:", "        break",
         f"    {q}, other = other, other - b1 * (other - {q}) / (b1 - a1 + 2.0)",
         f"s = np.tanh(s + {q})"],
        [f"points = [np.array([{u}, 0.1]), np.array([0.3, {v}]), np.array([-0.4, -0.6])]", f"for _ in range({c}):",
         "    points.sort(key=lambda p: np.sum((p - 0.2) ** 2))", "    centre = (points[0] + points[1]) / 2",
         "    tried = 1.9 * centre - 0.9 * points[2]",
         "    if np.sum((tried - 0.2) ** 2) < np.sum((points[1] - 0.2) ** 2):",
         "        points[2] = tried", "    else:", "        points[2] = 0.5 * (points[2] + centre)",
         "s = np.tanh(s + np.sum(points[0]) - points[2][1])"],
        [f"{k} = np.array([{u}, {v}])", f"for _ in range({c}):",
         f"    residual = np.array([{k}[0] ** 2 + {k}[1] - 1.0, {k}[0] - {k}[1] ** 3])",
         f"    matrix = np.array([[2 * {k}[0] + 3.0, 1.0], [1.0, -3 * {k}[1] ** 2 - 2.0]])",
         f"    {k} = {k} - np.linalg.solve(matrix, residual)", "    if np.linalg.norm(residual) < 1e-6:",
         "        break"],
        [f"centres = np.array([{w}.min() - 0.1, {w}.max() + 0.1])", f"for _ in range({c}):",
         f"    nearest = np.argmin(np.abs({w}[:, None] - centres), axis=1)", "    for j in range(2):",
         "        if np.any(nearest == j):", f"            centres[j] = {w}[nearest == j].mean()",
         "s = np.tanh(s + centres[0] * centres[1])"],
        [f"weights, means = np.array([0.5, 0.5]), np.array([-0.5 + 0.1 * {u}, 0.7])", f"for _ in range({c}):",
         f"    shares = weights * np.exp(-2 * ({w}[:, None] - means) ** 2)",
         "    shares /= shares.sum(axis=1, keepdims=True)",
         f"    weights, means = shares.mean(axis=0), shares.T @ {w} / shares.sum(axis=0)",
         "s = np.tanh(s + weights @ means)"],
    ])  # fmt: skip


def with_tables(s: Scope) -> list[str]:
    """Dynamic programming, chains with hidden states, option trees, shortest ways, counts in arrays of integers."""
    k, q, w, m = s.fresh("u"), s.fresh("q"), vector(s), matrix(s)
    u, v, i = atom(scalar(s, 1)), atom(scalar(s, 1)), atom(integer(s))
    n = len(s.names.get(w, [0, 0]))
    return s.one_of([
        [f"{k} = np.maximum({w} + {u}, 0.0)", f"for step in range({n} - 1, 0, -1):",
         "    for j in range(step):", f"        {k}[j] = max(0.5 * ({k}[j] + {k}[j + 1]), {v} - 0.1 * j)"],
        [f"{k} = np.maximum({w} + {u}, 0.0)", f"for step in range({n} - 1, 0, -1):",
         f"    {k}[:step] = 0.95 * (0.6 * {k}[:step] + 0.4 * {k}[1 : step + 1])"],
        [f"{k} = np.zeros(({n} + 1, 3))", f"for i in range(1, {n} + 1):", "    for j in range(1, 3):",
         f"        cost = abs({w}[i - 1] - 0.3 * j)",
         f"        {k}[i, j] = cost + min({k}[i - 1, j], {k}[i, j - 1], {k}[i - 1, j - 1])"],
        ["change = np.array([[0.8, 0.2], [0.3, 0.7]])", "belief, total = np.array([0.5, 0.5]), 0.0", f"for e in {w}:",
         f"    belief = (change.T @ belief) * np.exp(-((e - np.array([{u}, 0.5])) ** 2))", "    size = belief.sum()",
         "    total, belief = total + np.log(size + 0.1), belief / (size + 0.1)", "s = np.tanh(s + total + belief[0])"],
        ["scores = np.zeros(2)", "back = []", f"for e in {w}:",
         f"    options = scores[:, None] - np.array([[0.1, 0.7], [{u}, 0.2]])",
         "    back.append(np.argmax(options, axis=0))", "    scores = options.max(axis=0) + np.array([e, -e])",
         "at = int(np.argmax(scores))", "for b in reversed(back):", "    at = b[at]",
         "s = np.tanh(s + scores.max() + at)"],
        [f"state, cover = np.array([{u}, 0.0]), np.eye(2)", "move = np.array([[1.0, 0.1], [0.0, 1.0]])",
         f"for e in {w}:",
         "    state, cover = move @ state, move @ cover @ move.T + 0.1 * np.eye(2)",
         "    gain = cover[:, 0] / (cover[0, 0] + 0.5)",
         "    state = state + gain * (e - state[0])", "    cover = cover - np.outer(gain, cover[0])",
         "s = np.tanh(s + state[0] + np.trace(cover))"],
        ["distance = [0.0, 99.0, 99.0, 99.0]",
         f"edges = [(0, 1, 1.0 + {u} ** 2), (1, 2, 0.5), (0, 2, 2.0 + {v} ** 2), (2, 3, 0.3)]",
         "for _ in range(3):", "    for p, k, length in edges:", "        if distance[p] + length < distance[k]:",
         "            distance[k] = distance[p] + length", "s = np.tanh(s + 0.3 * distance[3])"],
        ["queue, distance = [(0.0, 0)], {}", f"edges = {{0: [(1, 1.0 + {u} ** 2), (2, 2.0)], 1: [(2, 0.5)], 2: []}}",
         "while queue:",
         "    queue.sort()", "    d, p = queue.pop(0)", "    if p in distance:", "        continue",
         "    distance[p] = d",
         "    for k, length in edges[p]:", "        queue.append((d + length, k))", "s = np.tanh(s + distance[2])"],
        ["parent = list(range(5))", f"for p, k in ((0, 1), (3, 4), (1, {i} % 5)):", "    while parent[p] != p:",
         "        p = parent[p]", "    while parent[k] != k:", "        k = parent[k]", "    parent[p] = k",
         f"s = s + 0.1 * sum(parent) * {u}"],
        ["cells = np.zeros((4, 4), int)", "cells[1, 1:] = 1", f"cells[{i} % 4, 2] = 1", "for _ in range(2):",
         "    near = sum(np.roll(cells, (p, q), (0, 1)) for p in (-1, 0, 1) for q in (-1, 0, 1) if p or q)",
         "    cells = ((near == 3) | ((cells == 1) & (near == 2))).astype(int)",
         f"s = np.tanh(s + {u} * cells.sum() * 0.1)"],
        [f"seed = 7 + {i}", "for j in range(3):", "    seed = (seed * 1103515245 + 12345) % 2147483648",
         f"    s = np.tanh(s + {u} * seed / 2147483648)"],
        ["rng = np.random.default_rng(3)", f"{k} = {w} + 0.1 * rng.normal(size=len({w}))",
         f"s = np.tanh(s + rng.uniform() * {u})"],
        ["total, sign = 0.0, 1", "for j in range(1, 9, 2):",
         f"    total, sign = total + sign * {u} ** j / math.factorial(j), -sign",
         "s = np.tanh(s + total)"],
        ["b1, b2 = 0.0, 0.0", f"for e in {w}[::-1]:", f"    b1, b2 = 2 * np.tanh({u}) * b1 - b2 + e, b1",
         "s = np.tanh(s + b1 - b2)"],
        ["def part(lo, hi, depth):", "    mid = (lo + hi) / 2", f"    p, q = np.sin(lo * {u}), np.sin(hi * {u})",
         "    if depth == 0 or abs(p - q) < 0.05:", "        return (hi - lo) * (p + q) / 2",
         "    return part(lo, mid, depth - 1) + part(mid, hi, depth - 1)", "", "s = np.tanh(s + part(0.0, 1.0, 2))"],
        [f"table = [[{u}, 0.5, {v}]]", "for j in range(2):",
         "    table.append([(q - p) * (j + 1) for p, q in zip(table[-1], table[-1][1:])])",
         "s = np.tanh(s + sum(row[0] for row in table))"],
        [f"{q} = {m} * 1.0", f"for i in range(len({m}) - 1):",
         f"    angle = np.arctan2({q}[i + 1, 0], {q}[i, 0] + 3.0)",
         "    co, si = np.cos(angle), np.sin(angle)",
         f"    {q}[[i, i + 1]] = np.array([[co, si], [-si, co]]) @ {q}[[i, i + 1]]", f"{k} = {q}[:, 0]"],
        ["mass = np.array([1.0, 2.0, 0.5])", f"place = np.array([[{u}, 0.0], [1.0, {v}], [-0.5, 1.5]])",
         "speed = np.zeros((3, 2))",
         "for _ in range(2):", "    for i in range(3):", "        for j in range(3):", "            if i != j:",
         "                d = place[j] - place[i]",
         "                speed[i] += 0.1 * mass[j] * d / (d @ d + 0.5) ** 1.5",
         "    place = place + 0.1 * speed", "s = np.tanh(s + np.sum(place * mass[:, None]))"],
    ])  # fmt: skip


def with_layers(s: Scope) -> list[str]:
    """Networks by hand: convolutions, cells with gates, attention, normalisation, training with written derivatives."""
    k, q, w, m = s.fresh("u"), s.fresh("q"), vector(s), matrix(s)
    u, v = atom(scalar(s, 1)), atom(scalar(s, 1))
    n = len(s.names.get(w, [0, 0]))
    rows, columns = s.names[m].shape if m in s.names else (2, 2)
    c = s.one_of(["2", "3", "n"])
    return s.one_of([
        [f"kernel = np.array([[0.5, {u}], [{v}, -0.2]])", f"{k} = np.zeros(({rows - 1}, {columns - 1}))",
         f"for i in range({rows - 1}):",
         f"    for j in range({columns - 1}):", f"        {k}[i, j] = np.sum({m}[i : i + 2, j : j + 2] * kernel)",
         f"{k} = np.maximum({k}, 0.05)"] if min(rows, columns) > 1 else [f"s = s + {u}"],
        ["hidden = np.zeros(2)", f"gates = np.array([[0.3, {u}], [{v}, -0.4]])", f"for e in {w}:",
         "    z = 1 / (1 + np.exp(-(gates @ hidden + e)))",
         "    hidden = (1 - z) * hidden + z * np.tanh(e + hidden[::-1])",
         "s = np.tanh(s + hidden.sum())"],
        [f"{q} = {m} @ {m}.T / np.sqrt({columns})", f"{q} = np.where(np.tri({rows}) > 0, {q}, -1e9)",
         f"{q} = np.exp({q} - {q}.max(axis=-1, keepdims=True))",
         f"{k} = ({q} / {q}.sum(axis=-1, keepdims=True)) @ {m}"],
        [f"{k} = ({m} - {m}.mean(axis=-1, keepdims=True)) * {u} + {v}",
         f"{k} /= np.sqrt({m}.var(axis=-1, keepdims=True) + 0.1)"],
        [f'params = {{"w": {m} * 0.5, "b": {u}}}', f"for _ in range({c}):",
         f'    error = np.tanh(params["w"] @ C[:{columns}] + params["b"]) - 0.3',
         f'    grads = {{"w": np.outer(error, C[:{columns}]), "b": error.sum()}}',
         "    params = {key: value - 0.1 * grads[key] for key, value in params.items()}", f'{k} = params["w"]'],
        [f'params = [{m} * 0.5, np.array({u})]', f"for _ in range({c}):",
         f"    error = params[0] @ C[:{columns}] + params[1]",
         f"    for p, g in zip(params, (np.outer(error, C[:{columns}]), error.sum())):", "        p -= 0.1 * g",
         f"{k} = params[0]"],
        [f"{q} = np.arange({n}) % 2", f"{k} = -np.log(np.exp({w}) / np.exp({w}).sum())[{q}]",
         f"s = np.tanh(s + {k}.mean())"],
        [f"{q} = np.eye(3)[np.arange({n}) % 3]", f"{k} = {w} @ {q}"],
        [f"{k} = {w}.reshape(-1, 1) @ np.array([[{u}, {v}]])", f"{k} = np.maximum({k}, 0.1 * {k}).max(axis=0)"],
        [f"{k} = np.array([np.convolve(row, [0.5, {u}], 'same') for row in {m}])"],
    ])  # fmt: skip
