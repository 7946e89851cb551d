"""Structures that programs build: lists of lists, trees, chains, heaps, sets, copies; and what Python's own library
does with them."""

from __future__ import annotations

from fuzz.arrays import matrix, vector
from fuzz.expressions import atom, integer, scalar
from fuzz.scope import Scope


def with_structures(s: Scope) -> list[str]:
    """Trees, chains, stacks, tables of lists."""
    o, g, q = s.fresh("O"), s.fresh("g"), s.fresh("q")
    u, v, w, m = scalar(s, 1), scalar(s, 1), vector(s), matrix(s)
    c, i = s.one_of(["2", "3", "n", "n + 1", "len(x)"]), atom(integer(s))
    node = [f"class {o}:", "    def __init__(self, value, left=None, right=None):",
            "        self.value, self.left, self.right = value, left, right", ""]  # fmt: skip
    return s.one_of([
        [*node, f"def {g}(q):", "    if q is None:", "        return 0.0",
         f"    return q.value + 0.5 * {g}(q.left) - 0.3 * {g}(q.right)", "",
         f"{q} = {o}({u}, {o}({v}), {o}(s, {o}(0.5)))", f"s = np.tanh({g}({q}))"],
        [*node, f"{q} = None", f"for e in {w}:", f"    {q} = {o}(e, {q})", f"while {q} is not None:",
         f"    s = np.tanh(0.5 * s + {q}.value)", f"    {q} = {q}.left"],
        [*node, f"{q} = {o}({u})", "p = " + q, f"for i in range({s.one_of(['2', '3'])}):",
         f"    p.left = {o}(p.value * 0.5 + i)", "    p = p.left", f"p = {q}", "while p:",
         "    s = np.tanh(s + p.value)",
         "    p = p.left"],
        [f"{q} = [{u}, [{v}, [s, 0.5]], {w}]", f"def {g}(p):",
         f"    return sum({g}(e) for e in p) if isinstance(p, list) else np.mean(p)", "", f"s = np.tanh({g}({q}))"],
        [f"{q} = [({u}, 0)]", f"while {q}:", f"    p, k = {q}.pop()", "    s = np.tanh(s + p)", "    if k < 2:",
         f"        {q}.append((p * 0.5, k + 1))", f"        {q}.append((p - 0.3, k + 2))"],
        [f"{q} = [[0.0] * 3 for _ in range(3)]", "for i in range(3):", "    for j in range(3):",
         f"        {q}[i][j] = {atom(u)} * i + j", f"s = np.tanh(s + {q}[1][2] - {q}[2][0] + sum(map(sum, {q})))"],
        [f"{q} = [list(row) for row in {m}]", f"{q}[0], {q}[-1] = {q}[-1], {q}[0]", f"{q}[0][1] = {u}",
         f"s = np.tanh(s + sum(e for row in {q} for e in row))"],
        [f"{q} = [list(row) for row in zip(*{m})]", f"s = np.tanh(s + {q}[1][0] * {q}[0][-1])"],
        [f"{q} = {{}}", f"for k, e in enumerate({w}):", f"    {q}.setdefault(k % 2, []).append(e)",
         f"s = np.tanh(s + sum({q}[0]) - 0.5 * sum({q}[1]))"],
        [f"{q} = {{(i, j): {atom(u)} * i - j for i in range(2) for j in range(2)}}",
         f"s = np.tanh(s + {q}[1, 0] - {q}[0, 1] + sum({q}.values()))"],
        [f"{q} = {{0: [1, 2], 1: [2], 2: [], 3: [0]}}", "order, seen = [3], {3}", "for k in order:",
         f"    for i in {q}[k]:", "        if i not in seen:", "            seen.add(i)", "            order.append(i)",
         "for k in order:", f"    s = np.tanh(s + {w}[k % len({w})] * k)"],
        [f"{q} = copy.deepcopy([{w}, {{'u': {u}}}])", f"{q}[0][0] = {v}", f"{q}[1]['u'] += 1",
         f"s = np.tanh(s + np.sum({q}[0]) + {q}[1]['u'] + {w}[0])"],
        [f"{q} = copy.copy(State({w}, {u}))", f"{q}.at[0] = {v}", f"{q}.step = 0.5", f"s = np.tanh(s + {q}.energy)"],
        [f"{q} = [{w}, {w}]", f"{q}[0] = {q}[0] * 2", f"{q}[1][0] = {u}", f"s = np.tanh(s + np.sum({q}[0] * {q}[1]))"],
        [f"{q} = [[{u}] * 2] * 2", f"{q}[0][1] = {v}", f"s = np.tanh(s + {q}[1][1] + {q}[0][0])"],
        [f"{q} = [0.5, {u}, {v}, s]", f"{q}[1:3] = {q}[2:0:-1]", f"del {q}[::2]", f"s = np.tanh(s + {q}[0] - {q}[1])"],
        [f"{q} = [0.5, {u}]", f"{q} *= 2", f"{q}.insert({i} % 3, {v})", f"{q}.remove(0.5)",
         f"s = np.tanh(s + {q}[0] + {q}[-1] + {q}.count(0.5))"],
        [f"{q} = list(range(5))", f"{q} = {q}[{i} % 4 :] + {q}[: {i} % 4]",
         f"s = s + {w}[{q}[0] % len({w})] * {q}[-1]"],
        [f"{q} = sorted(zip({w}, range(len({w}))), key=lambda p: p[0])", f"s = np.tanh(s + {q}[0][0] * {q}[-1][1])"],
        [f"{q} = sorted([({u}, 1), ({v}, 2), (s, 0)], reverse=True)", f"s = np.tanh(s + {q}[0][0] + 0.1 * {q}[1][1])"],
        [f"{q} = sorted({{'b': {u}, 'a': {v}}}.items())", f"s = np.tanh(s + {q}[0][1] - {q}[1][1])"],
        [f"{q} = {{k: e for k, e in zip('uvw', {w})}}", f"{q} = {{k: e * 2 for k, e in {q}.items() if k != 'v'}}",
         f"s = np.tanh(s + sum({q}.values()))"],
        [f"{q} = {{'a': {u}}} | {{'b': {v}}}", f"s = np.tanh(s + {q}['a'] - {q}['b'])"],
        [f"{q} = [{w} * 0.5]", f"for _ in range({c}):", f"    {q} = [*{q}, {q}[-1] + {u}][-3:]",
         f"s = np.tanh(s + np.sum({q}[0]))"],
        [f"{q} = []", f"for i in range({c}):", f"    {q}.append(({u} * i, i))",
         f"p, k = zip(*{q}) if {q} else ((), ())",
         "s = np.tanh(s + sum(p) + 0.1 * sum(k))"],
        [f"{q} = np.array([[{u} * i + j for j in range(3)] for i in range(2)])", f"s = np.tanh(s + np.sum({q}[:, 1]))"],
    ])  # fmt: skip


def with_the_library(s: Scope) -> list[str]:
    """`itertools`, `operator`, `functools`, `heapq`, `bisect`, `math`, `statistics`, `cmath`."""
    g, q = s.fresh("g"), s.fresh("q")
    u, v, w, m = atom(scalar(s, 1)), atom(scalar(s, 1)), vector(s), matrix(s)
    i = atom(integer(s))
    return s.one_of([
        [f"for e, k in itertools.zip_longest({w}, [1, 2], fillvalue=0.5):", "    s = np.tanh(s + 0.3 * e * k)"],
        [f"s = np.tanh(s + sum(itertools.starmap(operator.mul, zip({w}, itertools.cycle([0.5, -1.0])))))"],
        [f"for e in itertools.islice({w}, 1, None, 2):", "    s = np.tanh(s + e)"],
        [f"for e in itertools.takewhile(lambda e: e < {u} + 9, {w}):", "    s = np.tanh(s + e)"],
        [f"s = np.tanh(s + sum(itertools.compress({w}, itertools.cycle([1, 0, 1]))))"],
        [f"s = np.tanh(s + sum(p * q for p, q in itertools.permutations([{u}, {v}, 0.5], 2)))"],
        [f"s = np.tanh(s + 0.1 * sum({w}[i] * {w}[j] for i, j in "
         f"itertools.combinations_with_replacement(range(2), 2)))"],
        [f"{q} = list(itertools.chain.from_iterable({m}))", f"s = np.tanh(s + {q}[0] - {q}[-1])"],
        [f"{q} = list(itertools.repeat({u}, 3))", f"s = np.tanh(s + math.fsum({q}))"],
        [f"{q} = list(itertools.accumulate({w}, operator.mul, initial={v}))", f"s = np.tanh(s + {q}[-1] + len({q}))"],
        [f"{q} = list(itertools.accumulate({w}, max))", f"s = np.tanh(s + {q}[-1] - {q}[1])"],
        [f"s = np.tanh(functools.reduce(operator.add, [{u}, {v}, s]))"],
        [f"{q} = max(enumerate({w}), key=operator.itemgetter(1))", f"s = s + 0.1 * {q}[0] * {q}[1]"],
        [f"{q} = sorted([Spring({u}, 0.5), Spring({v}, 0.1)], key=operator.attrgetter('k'))",
         f"s = np.tanh(s + {q}[0].rest * {q}[1].k)"],
        [f"{q} = [{u}, {v}, 0.5]", f"heapq.heapify({q})", f"s = np.tanh(s + heapq.heappop({q}) - {q}[0])"],
        [f"{q} = []", f"for e in {w}:", f"    heapq.heappush({q}, e)", f"s = np.tanh(s + heapq.heappop({q}))"],
        [f"{q} = heapq.nsmallest(2, {w})", f"s = np.tanh(s + {q}[1])"],
        [f"{q} = bisect.bisect([-0.5, 0.0, 0.5], {u})", f"s = s + 0.1 * {q} * {v}"],
        [f"{q} = sorted({w})", f"bisect.insort({q}, {u})", f"s = np.tanh(s + {q}[1] + len({q}))"],
        [f"s = np.tanh(s + math.dist([{u}, {v}], [0.3, 2.0]) + math.prod([{u}, 0.5, {v}]))"],
        [f"s = np.tanh(s + math.comb(5, {i} % 4) * {u} / math.factorial({i} % 4) + math.gcd(12, 18))"],
        [f"s = s + (0.5 if math.isclose({u}, {v}) else {u}) + math.isnan({v}) + math.isfinite({u})"],
        [f"s = np.tanh(s + math.degrees({u}) * 0.01 + math.radians({v}) + math.log2(2.5 + math.sin({u})))"],
        [f"s = np.tanh(s + math.erf({u}) + math.gamma(2.5 + math.cos({v})) + math.lgamma(1.5 + {u} * {u}))"],
        [f"{q}, k = math.modf({u} + 2.017)", f"s = np.tanh(s + {q} * k)"],
        [f"{q}, k = math.frexp({u} + 2.017)", f"s = np.tanh(s + math.ldexp({q}, k + 1))"],
        [f"s = np.tanh(s + math.log({u} * {u} + 0.5, 3) + math.log1p({v} * {v}) + math.expm1(0.1 * {u}))"],
        [f"s = np.tanh(s + math.atan2({u}, 2.0 + {v} * {v}) + math.cbrt(2.0 + {u} * {u}))"],
        [f"s = np.tanh(s + abs(cmath.exp(1j * {u}) + {v}) + cmath.sqrt({u} + 2j).real)"],
        [f"{q} = complex({u}, {v})", "for _ in range(3):", f"    {q} = {q} * {q} * 0.5 + complex(0.1, s)",
         f"    if abs({q}) > 2.0:", "        break", f"s = np.tanh(s + {q}.real - {q}.imag)"],
        [f"{q} = collections.Counter(['u', 'v', 'u'])", f"s = np.tanh(s + {u} * {q}['u'] + {q}['none'])"],
        [f"{q} = collections.OrderedDict(u={u}, v={v})", f"{q}.move_to_end('u')",
         f"s = np.tanh(s + list({q}.values())[0])"],
        [f"{q} = collections.ChainMap({{'u': {u}}}, {{'u': 1.0, 'v': {v}}})", f"s = np.tanh(s + {q}['u'] - {q}['v'])"],
        [f"{q} = collections.namedtuple('P', 'u v')({u}, {v})", f"s = np.tanh(s + {q}.u * {q}[1] + sum({q}))"],
        [f"{q} = collections.deque({w})", f"{q}.rotate({i} % 3)", f"{q}.appendleft({u})",
         f"s = np.tanh(s + {q}[0] - {q}[2])"],
        ["@functools.lru_cache", f"def {g}(k):", f"    return 1.0 if k < 2 else {g}(k - 1) + 0.5 * {g}(k - 2)", "",
         f"s = np.tanh(s + {u} * {g}({i} % 5))"],
        ["@functools.singledispatch", f"def {g}(p):", "    return 0.5", "", f"@{g}.register(list)",
         "def _(p):", "    return sum(p)", "", f"s = np.tanh(s + {g}([{u}, {v}]) + {g}('a'))"],
        [f"{q} = sum([[{u}], [{v}, 0.5]], [])", f"s = np.tanh(s + {q}[1] * len({q}))"],
        [f"{q} = list(map(lambda p, q: p * q, {w}, {w}[::-1]))", f"s = np.tanh(s + {q}[0] + sum({q}))"],
        [f"{q} = list(filter(lambda e: e > {u}, {w}))", f"s = np.tanh(s + sum({q}) + len({q}))"],
        [f"s = np.tanh(s + sum(e > 0.1 for e in {w}) * {u} + max(map(abs, {w})))"],
        [f"k, {q} = divmod(len({w}) * 7 + {i}, 5)", f"s = np.tanh(s + {u} * {q} + k * {v})"],
        [f"s = np.tanh(s + {u} * pow(3, {i} % 4, 5) + round({u} + 0.0123, 1) + int('12') * 0.01)"],
        [f"{q} = [float(e) for e in '0.5,1.5,-2'.split(',')]", f"s = np.tanh(s + {u} * {q}[{i} % 3])"],
        [f"{q} = ''.join(['a' if k % 2 else 'b' for k in range(3)])", f"s = np.tanh(s + {u} * {q}.count('b'))"],
        [f"{q} = {{*range(3)}} & {{1, 2, 5}} | {{9}}", f"s = np.tanh(s + {u} * sum({q}) + {v} * len({q}))"],
    ])  # fmt: skip


def with_truth(s: Scope) -> list[str]:
    """Values of `and` and `or`, infinities and None to start with, what is not a number, chained comparisons."""
    p, q, g = s.fresh("r"), s.fresh("q"), s.fresh("g")
    u, v, w, m = atom(scalar(s, 1)), atom(scalar(s, 1)), vector(s), matrix(s)
    i = atom(integer(s))
    c = s.one_of(["2", "3", "n", "n + 1", "len(x)"])
    return s.one_of([
        [f"s = s + (({u} > 0.1 and {v}) or 0.5)"], [f"{q} = None", f"s = s + ({q} or {u})"],
        [f"{q} = {i} % 3 or 2", f"s = s + {u} * {q}"], [f"{q} = [] or [{u}]", f"s = s + {q}[0]"],
        [f"s = s + ({u} if {i} % 2 else {v} if {i} > 2 else 0.5)"],
        ["best, at = -np.inf, -1", f"for i, e in enumerate({w}):", "    if e > best:", "        best, at = e, i",
         "s = np.tanh(s + best * at)"],
        ["best = float('inf')", f"for e in {w}:", "    best = min(best, e * e)", "s = s + best"],
        ["best = None", f"for e in {w}:", "    if best is None or abs(e) < abs(best):", "        best = e",
         "s = s + best"],
        ["low, high = math.inf, -math.inf", f"for e in {w}:", "    low, high = min(low, e), max(high, e)",
         "s = np.tanh(s + high - low)"],
        [f"{q} = np.full(len({w}), np.nan)", f"{q}[::2] = {w}[::2]",
         f"s = np.tanh(s + np.nansum({q}) + np.isnan({q}).sum())"],
        [f"{q} = np.where(np.isnan({w}), 0.0, {w})", f"s = np.tanh(s + np.sum({q}))"],
        [f"{q} = np.full(({c}, 2), -1)", f"{q}[{i} % 2 :, 0] = 3", f"s = np.tanh(s + {u} * np.sum({q} > 0))"],
        [f"{q} = np.zeros(len({w}), bool)", f"for i in range(len({w})):", f"    if not {q}[i] and {w}[i] > {u}:",
         f"        {q}[i:] = True", f"s = np.tanh(s + np.sum({w}[{q}]))"],
        [f"if 0 < {i} % 4 <= 2 < len({w}) + 1:", f"    s = s + {u}", f"elif not ({u} < 0.3 or {v} > 0.2):",
         f"    s = s - {v}"],
        [f"{p} = {u}", f"while not (abs({p}) < 0.1 or {p} > 3):", f"    {p} = {p} * 0.5", f"s = np.tanh(s + {p})"],
        [f"{q} = {u} > 0.1", f"{q} = {q} and {v} < 0.5", f"{q} |= {i} > 3", f"s = s + 0.5 * {q}"],
        [f"{q} = ({w} > 0.1) ^ ({w} < 0.5)", f"s = s + np.sum({w}[{q}]) + np.logical_or.reduce({q})"],
        [f"{q} = bool({u} > 0.1) + int({v} > 0)", f"s = s + {q} * {u}"],
        [f"s = s + (np.any({m} > 0.9) or np.all({w} < 2)) * {u}"],
        [f"def {g}(p, q=None, *rest, k=None):", "    q = 0.5 if q is None else q", "    k = k or 2.0",
         "    return p * q + k * len(rest)", "", f"s = np.tanh({g}({u}) + {g}({u}, {v}) + {g}(s, 1, 2, k={v}))"],
        [f"def {g}(p, /, q, *, k=1.0):", "    return p - q * k", "",
         f"s = np.tanh({g}({u}, q={v}) + {g}(s, {v}, k=2))"],
        [f"def {g}(p):", "    if p is None:", "        return", "    if p > 0.2:", "        return p * 2", "",
         f"{q} = {g}({u})", f"s = s + (0.1 if {q} is None else {q})"],
        [f"def {g}(p):", "    return (p, True) if p > 0.2 else (0.5, False)", "", f"{q}, ok = {g}({u})",
         f"s = s + ({q} if ok else -{q})"],
        [f"def {g}(p):", "    if p > 0.2:", "        return p, p * 2", "    return p * p, 1.0", "",
         f"{q} = {g}({u})", f"s = np.tanh(s + {q}[0] - {q}[1])"],
        [f"{q} = {w}[0] if len({w}) else None", f"if {q} is not None and {q} > 0:", f"    s = s + {q}"],
        [f"assert isinstance({u}, (int, float, np.ndarray, np.floating)) or True", f"s = s + np.isscalar({v}) * {u}"],
        [f"s = s + isinstance({w}, np.ndarray) * {u} + ({w}.ndim == 1) * {v} + callable(np.sin)"],
        [f"s = s + np.allclose({w}, {w}) * {u} + np.array_equal({m}, {m}.T) * {v}"],
        [f"{q} = np.sign({u}) * max(abs({u}) - 0.1, 0)", f"s = s + {q}"],
        [f"{q} = {u} if {u} > {v} else {v}", f"{p} = {v} if {u} > {v} else {u}", f"s = np.tanh(s + {q} - {p})"],
    ])  # fmt: skip
