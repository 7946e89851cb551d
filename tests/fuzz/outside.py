"""What programs keep outside: lists that grow, dicts, counters, arrays, objects, generators of random numbers. Such a
program is a function of all calls before, so it is compared by sequences of calls, each in a module of its own."""

from __future__ import annotations

from fuzz.arrays import vector
from fuzz.expressions import atom, below, condition, integer, scalar
from fuzz.scope import Scope

STATE = """
LOG = []
CACHE = {}
COUNT, BEST = 0, None
GRID = np.array([0.5, -0.2, 0.8, 0.1])
RECENT = collections.deque(maxlen=3)
SEEN = set()
RNG = np.random.default_rng(5)
ROWS = [[0.0, 1.0], [2.0, 0.5]]
TALLY = collections.defaultdict(float)
NUMBERS = itertools.count(1)


class Store:
    rate = 0.5

    def __init__(self):
        self.u, self.count, self.at, self.items, self.table = 0.25, 0, np.ones(3), [], {"a": 1.0}

    def keep(self, u):
        self.count += 1
        self.u, self.last = 0.5 * self.u + u, self.u
        return self.last


BOX = Store()
SPRING = Spring(1.5, 0.5)


def h_seen(u, seen=[]):
    seen.append(1)
    return u * len(seen)
"""
GLOBALS = "global COUNT, BEST, GRID"
KEPT = ("LOG", "CACHE", "COUNT", "BEST", "GRID", "RECENT", "SEEN", "ROWS", "TALLY", "BOX", "SPRING")
"""What is compared after a sequence of calls."""


def with_outside(s: Scope) -> list[str]:
    """Statements that leave something behind, or find what was left."""
    w, q = vector(s), s.fresh("q")
    u, v, i = atom(scalar(s, 1)), atom(scalar(s, 1)), atom(integer(s))
    at = below(s, 4)
    return s.one_of([
        [f"LOG.append({u})", "s = np.tanh(s + sum(LOG))"], [f"LOG.append(({u}, n))", "t = t + 0.1 * len(LOG)"],
        [f"LOG.append({w}.copy())", "s = np.tanh(s + np.sum(LOG[0]))"], [f"LOG.append({w})"],
        [f"if {condition(s)}:", f"    LOG.append({u})"], ["if len(LOG) > 2:", "    LOG.pop(0)", "t = t + len(LOG)"],
        [f"LOG.extend([{u}, {v}])", "del LOG[:-2]", "s = np.tanh(s + LOG[0])"], [f"LOG[:] = [{u}, *LOG[:1]]"],
        [f'CACHE["u"] = {u}', 's = s + CACHE["u"]'], ['CACHE["k"] = CACHE.get("k", 0) + 1', 't = t + CACHE["k"]'],
        ['if "z" not in CACHE:', f'    CACHE["z"] = {u}', 's = s + CACHE["z"]'], [f'CACHE["w"] = {w} * 0.5'],
        [f'CACHE.setdefault("v", {v})', 'CACHE["v"] *= 0.5', 's = s + CACHE["v"]'],
        [f'if {condition(s)}:', f'    CACHE["y"] = {u}'], [f'CACHE.setdefault("list", []).append({u})'],
        ['if "w" in CACHE:', '    CACHE["w"][0] += 1.0', '    s = s + CACHE["w"].sum()'],
        ["COUNT += 1", f"s = np.tanh(s + COUNT * {u})"], [f"COUNT = COUNT + {i}", "t = t + 0.1 * COUNT"],
        [f"if {condition(s)}:", "    COUNT += 1"], [f"for _ in range({s.one_of(['3', 'n'])}):", "    COUNT += 1"],
        [f"if BEST is None or {u} < BEST:", f"    BEST = {u}", "s = s + BEST"], [f"BEST = {u}"],
        ["s = s + (0.0 if BEST is None else BEST)", f"BEST = {v}"],
        [f"GRID[{at}] = {u}", "s = s + GRID.sum()"], [f"GRID[{at}] += {u}"], ["GRID *= 0.5", "s = s + GRID[1]"],
        [f"GRID[:] = np.roll(GRID, 1) + {u}"], [f"{q} = GRID", f"{q}[1] = {u}", "s = s + GRID[1]"],
        [f"for i in range({s.one_of(['4', 'n % 4'])}):", f"    GRID[i] = 0.5 * GRID[i - 1] + {u}"],
        [f"if {condition(s)}:", f"    GRID[0] = {u}", "t = t + GRID[0]"], [f"GRID = GRID * 0.9 + {u}",
                                                                           "s = s + GRID[0]"],
        [f"RECENT.append({u})", "s = np.tanh(s + RECENT[0])"], [f"RECENT.append({v})", "t = t + len(RECENT)"],
        ["SEEN.add(len(x))", "SEEN.add(3)", "t = t + 0.1 * len(SEEN)"], ["if 3 in SEEN:", f"    s = s + {u}"],
        [f"s = np.tanh(s + RNG.normal() * {u})"], [f"{w} += 0.1 * RNG.normal(size=len({w}))"],
        [f"s = np.tanh(s + RNG.uniform({u}, 3.0))"], ["s = np.tanh(s + next(NUMBERS))"],
        [f"ROWS[1][0] = {u}", "s = s + ROWS[0][1] * ROWS[1][0]"], ["ROWS[0], ROWS[1] = ROWS[1], ROWS[0]"],
        [f"ROWS[{i} % 2][1] = {u}"], [f"ROWS.append([{u}, 0.5])", "s = s + ROWS[-1][0]"], [f"TALLY['a'] += {u}"],
        [f"TALLY[len(x)] += {u}", "s = np.tanh(s + sum(TALLY.values()))"],
        [f"s = np.tanh(s + BOX.keep({u}))"], [f"BOX.u = {u}", "s = s + BOX.u"], ["BOX.count += 1", "t = t + BOX.count"],
        [f"for _ in range({s.one_of(['3', 'n'])}):", f"    s = np.tanh(s + BOX.keep({u}))"],
        [f"if {condition(s)}:", f"    s = np.tanh(s + BOX.keep({u}))"], ["BOX.rate = BOX.rate * 0.5",
                                                                         "s = s + BOX.rate"],
        [f"BOX.at = BOX.at * 0.5 + {u}", "s = s + BOX.at.sum()"], [f"BOX.at[{below(s, 3)}] += {u}"],
        [f"BOX.at += {u}", "s = s + BOX.at[0]"], [f"BOX.items.append({u})", "s = np.tanh(s + sum(BOX.items))"],
        [f'BOX.table["a"] = BOX.table["a"] * 0.5 + {u}', 's = s + BOX.table["a"]'], [f"BOX.new = {u}"],
        ['s = s + getattr(BOX, "new", 0.5)'], ["if hasattr(BOX, 'last'):", "    s = s + BOX.last"],
        [f"BOX.at = {w}"], ["BOX.grid = GRID"], ["SPRING.k *= 0.9", f"s = np.tanh(s + SPRING.energy({u}))"],
        [f"s = np.tanh(s + h_seen({u}))"], ["f.calls = getattr(f, 'calls', 0) + 1", "t = t + f.calls"],
        [f"BOX.other = Spring({u}, 0.5)", "s = np.tanh(s + BOX.other.energy(s))"],
        ["BOX.u, BOX.count = s, BOX.count + 1"],
        ["try:", "    COUNT += 1", f"    if {condition(s)}:", '        raise ValueError("no")', "except ValueError:",
         f"    LOG.append({u})"],
    ])  # fmt: skip
