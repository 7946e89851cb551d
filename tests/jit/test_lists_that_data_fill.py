"""Lists of which only the running program knows how many items there are: filled under an `if`, in a `while`, in loops
that end early; read, counted, iterated over, changed, returned."""

import itertools
import math
import statistics
from collections import deque

import numpy as np
import pytest
from jit.everywhere import agrees, close, value

import wengert as wg
from wengert.errors import StagingError, UnsupportedFunctionError

X = np.linspace(-1.0, 2.0, 9)


def halved(x):
    out = []
    while x > 1.0:
        out.append(x)
        x = x * 0.5
    return np.sum(np.array(out) ** 2) + len(out)


def last_decides(x):
    ts = [0.0]
    while ts[-1] < 1.0:
        ts.append(ts[-1] + 0.1 * x + 0.01 * ts[-1])
    return ts[-1] + ts[len(ts) // 2] + sum(ts[1:4])


def secant(x):
    xs = [x, x + 0.4]
    while abs(xs[-1] - xs[-2]) > 1e-12:
        old, new = xs[-2] ** 2 - 2.0 * x, xs[-1] ** 2 - 2.0 * x
        xs.append(xs[-1] - new * (xs[-1] - xs[-2]) / (new - old))
    return xs[-1]


def two_names(x):
    a = []
    b = a
    while x < 3.0:
        b.append(x)
        x = x + 0.7
    return sum(a) + len(b)


def tree_of_halves(x):
    waiting, total = [8.0 * x], 0.0
    while waiting:
        v = waiting.pop()
        if v > 0.7:
            waiting.append(0.5 * v)
            waiting.append(0.4 * v)
        else:
            total = total + v * v
    return total


def queue(x):
    waiting, total = deque([(4.0 * x, 1.0)]), 0.0
    while len(waiting) > 0:
        v, w = waiting.popleft()
        if v > 0.7:
            waiting.append((0.5 * v, w * x))
            waiting.append((0.4 * v, w))
        else:
            total = total + v * v * w
    return total


class Recorder:
    def __init__(self):
        self.steps, self.columns = [], {"t": [], "large": []}

    def record(self, t, y):
        self.steps.append((t, y))
        self.columns["t"].append(t)
        if y > 1.0:
            self.columns["large"] += [y]


def recorded(x):
    recorder, t = Recorder(), 0.0
    while t < 3.0:
        t = t + 0.3 * x
        recorder.record(t, t * x)
    products = [t * y for t, y in recorder.steps]
    return sum(recorder.columns["t"]) + sum(recorder.columns["large"]) + sum(products)


def interpolated(x):
    places = [0.0]
    while places[-1] < x:
        places.append(places[-1] + 0.3 + 0.1 * places[-1])
    values = [np.exp(-v) for v in places]
    return np.interp(0.9 * x, places, values) + np.trapezoid(values, places)


def steps_of_known_length(x):
    """Python knows how many iterations there are: a hundred times as many are not a hundred times the code."""
    y, v, t, hits, path = 1.0, x, 0.0, [], []
    while t < 2.0:
        v -= 0.0981
        y += 0.01 * v
        if y < 0:
            y, v = -0.9 * y, -0.8 * v
            hits.append(t)
        path.append(y)
        t += 0.01
    return max(path) + np.mean(path) + len(hits)


@pytest.mark.parametrize(
    "f",
    [halved, last_decides, secant, two_names, tree_of_halves, queue, recorded, interpolated, steps_of_known_length],
    ids=lambda f: f.__name__,
)
def test_of_a_number(f):
    agrees(f, 1.3)


def chosen(x):
    out = []
    for v in x:
        if v > 0.1:
            out.append(v * v)
    return sum(out) + max(out) + min(out) + out[0]


def pairs(x):
    out = []
    for v in x:
        if v > 0.1:
            out.append((v, v * v))
    a, b = zip(*out, strict=True)
    return np.sum(np.array(a) * np.array(b)) + np.array(out)[:, 1].sum() + out[-1][0]


def gone_through(x):
    out, total = [], 0.0
    for v in x:
        if v > 0.1:
            out += [v]
    for k, v in enumerate(out):
        total += k * v
    return total + sum(v**2 for v in out) + sum([v for v in reversed(out) if v > 0.6]) + sum(map(np.sin, out))


def until(x):
    out = []
    for v in x:
        if v > 1.4:
            break
        out.append(v)
    else:
        out.append(100.0)
    return np.mean(out) + out[-1]


def nested(x):
    out = []
    for v in x:
        s = v * v + 0.05
        while s < 3.0:
            out.append(s)
            s = 2.0 * s + 0.1
    return np.dot(out, out) + np.linalg.norm(out)


def rearranged(x):
    a = [v for v in x if v > 0.1]
    b = sorted(a, key=lambda v: -v)
    a.append(3.0)
    a.insert(0, x[0])
    a[1] += 2.0 * x[2]
    del a[2]
    a.reverse()
    return b[0] + 2.0 * b[-1] + sum(k * v for k, v in enumerate(a)) + np.median(a) + max(a, key=lambda v: v * v)


def emptiness(x):
    none, some = [], []
    for v in x:
        if v > 10.0:
            none.append(v)
        if v > 0.1:
            some.append(v)
    if none == [] and not none and some:
        return some[1] + max(none, default=x[3])
    return x[0]


@pytest.mark.parametrize(
    "f", [chosen, pairs, gone_through, until, nested, rearranged, emptiness], ids=lambda f: f.__name__
)
def test_of_an_array(f):
    agrees(f, X)


# ------------------------------------------------ reverse mode keeps arrays of which nothing says how long they become


def sorted_again(x):
    waiting, total = [x, 2 * x, np.sin(x)], 0.0
    while waiting:
        waiting.sort()
        now = waiting.pop(0)
        if now < 3.0:
            waiting.append(now * now + 1.1)
        total = total + now**2
    return total


def ranges_of_ranges(x):
    total = 0.0
    for end in np.arange(3.0, 12.0, 2.0):
        powers = []
        for t in np.arange(0.0, end + 1.0, 1.0):
            powers.append(np.sin(x * t) * t / end)
        total = total + sum(powers) ** 2
        if total > 30.0:
            break
    return total


def rows(x):
    pairs, total = [(x, 1.0)], 0.0
    while len(pairs) < 7:
        a = np.array(pairs)
        total = total + np.sum(np.tanh(a[::-1] * a))
        pairs.append((total, x * len(pairs)))
    return total


@pytest.mark.parametrize("f", [sorted_again, ranges_of_ranges, rows], ids=lambda f: f.__name__)
def test_arrays_without_a_bound_in_loops(f):
    agrees(f, 0.83, batch=False)
    v, h = 0.7, 1e-5
    want = (wg.grad(f)(0.83 + h * v) - wg.grad(f)(0.83 - h * v)) / (2 * h)
    for hvp in (wg.jit(wg.hvp(f)), wg.hvp(wg.jit(f)), wg.hvp(wg.jit(f), mode="reverse-reverse")):
        assert hvp(0.83, v) == pytest.approx(want, rel=1e-6)


def test_a_budget_says_that_it_cannot_keep_them():
    with pytest.raises(UnsupportedFunctionError, match="length without a known bound"):
        wg.grad(wg.jit(sorted_again), memory="1kB")(0.83)


# -------------------------------------------------------------------------------- steps that adapt, with their history


def heun(y):
    t, h, tol = 0.0, 0.1, 1e-3
    ts, ys = [t], [y]
    while t < 1.0:
        if t + h > 1.0:
            h = 1.0 - t
        a = -y * y
        b = -((y + h * a) ** 2)
        error = np.max(np.abs(0.5 * h * (b - a)))
        if error < tol:
            t = t + h
            y = y + 0.5 * h * (a + b)
            ts.append(t)
            ys.append(y)
        h = h * min(2.0, max(0.3, 0.9 * math.sqrt(tol / (error + 1e-12))))
    history = np.array(ys)
    return np.sum(history[-1]) + np.sum(history[:, 0] * np.array(ts))


def doubled_steps(y):
    def step(y, h):
        k = np.array([y[1], -np.sin(y[0])])
        m = y + 0.5 * h * k
        return y + h * np.array([m[1], -np.sin(m[0])])

    history, t, h = [], 0.0, 0.5
    while t < 2.0 - 1e-12:
        h = min(h, 2.0 - t)
        whole, half = step(y, h), step(step(y, 0.5 * h), 0.5 * h)
        if np.max(np.abs(whole - half)) > 1e-3:
            h *= 0.5
            continue
        t, y = t + h, half
        history.append((t, y[0], y[1]))
        h *= 1.5
    table = np.array(history)
    return np.trapezoid(table[:, 1], table[:, 0]) + table[-1, 2]


class Bouncing:
    """A ball; where a step goes below the ground, the time of the bounce is found between its ends."""

    def __init__(self, v):
        self.t, self.x, self.v = 0.0, 1.0, v
        self.bounces, self.path = [], [(0.0, 1.0)]

    def run(self, end):
        while self.t < end:
            new = self.x + 0.05 * self.v
            if new < 0.0:
                part = self.x / (self.x - new)
                self.bounces.append(self.t + 0.05 * part)
                new, self.v = -0.8 * new, -0.8 * self.v
            self.x, self.v, self.t = new, self.v - 0.49, self.t + 0.05
            self.path.append((self.t, self.x))
        return self.bounces, self.path


def bouncing(v):
    bounces, path = Bouncing(v[0]).run(1.52)
    return sum(bounces) + sum(x for _, x in path) / len(path) + v[1]


def stiff_newton(y):
    t, h, steps = 0.0, 0.4, []
    while t < 1.0:
        z = y
        count = 0
        while np.max(np.abs(z - y - h * (np.cos(t + h) - 20.0 * z))) > 1e-11 and count < 20:
            z = z - (z - y - h * (np.cos(t + h) - 20.0 * z)) / (1.0 + 20.0 * h)
            count += 1
        t, y = t + h, z
        steps.append({"t": t, "y": y, "newton": count})
        h = h * 0.7 if np.max(np.abs(y)) > 0.2 else h * 1.1
    return sum(s["y"].sum() * s["t"] for s in steps) + steps[-1]["newton"]


@pytest.mark.parametrize("f", [heun, doubled_steps, bouncing, stiff_newton], ids=lambda f: f.__name__)
def test_steps_that_adapt(f):
    agrees(f, np.array([1.0, 0.4]), batch=f is heun)


# --------------------------------------------------------------------------------------- what is returned, and refused


def test_lists_are_returned():
    def f(x, end):
        ts, steps = [0.0], []
        while ts[-1] < end:
            ts.append(ts[-1] + x[0])
            steps.append((ts[-1], x * ts[-1], "step"))
        return ts, {"steps": steps, "n": len(ts)}, tuple(steps)

    x, compiled = np.array([0.3, 0.4]), wg.jit(f)
    for end in (1.0, 1.0, 0.5, -1.0, 2.0):
        close(compiled(x, end), f(x, end))

    def total(x):
        ts, found, _ = compiled(x, 1.0)
        return sum(ts) + found["steps"][-1][1].sum()

    close(wg.jit(wg.grad(total))(x), wg.grad(total)(x))
    close(wg.grad(total)(x), np.array([10.0 + 2.4 + 0.4 * 4.0 - 0.4, 1.2]) + [0.4 - 0.0, 0.0], rtol=1e-9)


def test_results_that_are_none_for_some_arguments():
    compiled = wg.jit(lambda x: x if x > 0 else None)
    assert [compiled(v) for v in (1.0, 2.0, 3.0, -1.0, -2.0, 3.0, -1.0)] == [1.0, 2.0, 3.0, None, None, 3.0, None]


def test_errors_are_those_of_lists():
    def f(x):
        out = [v for v in x if v > 0.0]
        return out[-1]

    def g(x):
        return max([v for v in x if v > 0.0])

    def h(x):
        out = [v for v in x if v > 0.0]
        return out.pop()

    for function, error, words in ((f, IndexError, "list index"), (g, ValueError, "empty"), (h, IndexError, "empty")):
        with pytest.raises(error, match=words):
            wg.jit(function)(-X[:1] - 5.0)


def written_after(y, n):
    ys, s = [], 0.0
    while s < n:
        y = y + 1.0
        ys.append(y)
        s = s + y[1] * y[1]
    y[0] = 77.0
    return np.array(ys).sum() + ys[0][0]


def written_before(y, n):
    y = y * 1.0
    ys, s = [y], 0.0
    while s < n:
        y[0] = 5.0
        y = y * 2.0
        ys.append(y)
        s = s + y[1] * y[1]
    return np.array(ys).sum() + ys[0][0]


def one_array(y, n):
    y = y * 1.0
    ys, s = [], 0.0
    while s < n:
        y += 1.0
        ys.append(y)
        s = s + y[1] * y[1]
    return np.array(ys).sum()


def items_written(y, n):
    ys, s = [y], 0.0
    while s < n:
        y = y + 1.0
        ys.append(y)
        s = s + y[1] * y[1]
    ys[-1][0] = 33.0
    return np.array(ys).sum()


def rows_changed(y, n):
    rows, s = [], 0.0
    while s < n:
        y = y + 1.0
        row = [y[0], y[1]]
        rows.append(row)
        row[0] = 100.0
        s = s + y[1] * y[1]
    return np.array(rows).sum()


def mixed(y, n):
    out, s = [], 0.0
    while s < n:
        y = y + 1.0
        out.append(y)
        out.append(y[0])
        s = s + y[1] * y[1]
    return out[-1]


def from_outside(y, n, out=[]):  # noqa: B006
    while y[0] < n:
        y = y + 1.0
        out.append(y[0])
    return y


@pytest.mark.parametrize(
    "f", [written_after, written_before, one_array, items_written, rows_changed, mixed, from_outside],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_what_values_cannot_tell_is_refused(f):
    with pytest.raises(StagingError, match="remedy"):
        value(wg.jit(f), np.array([0.3, 0.7]), 30.0)


def bound_again(x):
    out, before, t = [], [], x
    while t < 5.0:
        out = out + [t]
        before = [t] + before
        t = t * 1.5
    return sum(k * v for k, v in enumerate(out)) + before[0]


def of_two(x):
    pair = []
    while x < 5.0:
        pair = [x, 2.0 * x]
        x = x * 1.5
    a, b = pair
    return a * b


def a_window(x):
    last, total = deque(maxlen=3), 0.0
    while x < 30.0:
        last.append(x)
        total = total + sum(last) / len(last) * max(last)
        x = 1.3 * x + 0.1
    last.appendleft(x)
    return total + last[0] + len(last)


def joined_arrays(x):
    rows = []
    while x < 9.0:
        rows.append(np.array([x, x * x]))
        x = 1.7 * x
    means = np.mean(rows, axis=0)
    return (
        np.vstack(rows).sum() + np.concatenate(rows)[-1] + np.hstack(rows)[1] + np.stack(rows, axis=1)[0, 1] + means[1]
    )


def eight_records(x):
    a, b, c, d, e, g, h, i = [0.0], [0], [], [x], [], [], [], []
    t = 0.0
    while t < 2.0:
        t += 0.2 * x
        a.append(t)
        b.append(t * t)
        if math.sin(7 * t) > 0:
            c.append(1)
            d.append(-t)
            e.append((t, x))
            g.append(math.sqrt(t))
            h.append(t / x)
            i.append(x + t)
    return sum(a) + sum(b) + len(c) + d[-1] + e[0][1] + sum(g) * sum(h) + i[-1]


def tried_until_it_fits(x):
    path, steps = [], []
    for n in np.arange(3.0, 12.0, 2.0):
        path, steps = [], []
        for t in np.arange(0.0, n + 1.0, 1.0):
            path.append(x * t / n)
            steps.append(np.sin(x * t) if len(steps) < 2 or steps[-1] > steps[-2] else -t)
        if max(path) / n < 0.15:
            break
    return sum(path) + steps[-1] + path[2]


@pytest.mark.parametrize(
    "f",
    [bound_again, eight_records, tried_until_it_fits, of_two, a_window, joined_arrays],
    ids=lambda f: f.__name__,
)
def test_lists_that_are_bound_again_limited_and_joined(f):
    agrees(f, 0.83, batch=False)


def test_texts_and_records_in_a_list_that_is_returned():
    def states(x):
        out = []
        while x > 0.1:
            out.append("large" if x > 1 else "small")
            x /= 2
        return out

    def records(x):
        out = []
        while x > 0.1:
            out.append({"name": "large" if x > 1 else "small", "size": (x, 2 * x)})
            x /= 2
        return out

    for f in (states, records):
        compiled, around = wg.jit(f), wg.jit(lambda x: (f(x), x))  # noqa: B023
        for x in (3.0, 0.7, 0.05):
            assert compiled(x) == f(x)
            assert around(x) == (f(x), x)


# ---------------------------------------------------------------------------------- words and None beside the numbers


def tasks(x):
    waiting, total = [(x, "split")], 0.0
    while waiting:
        t, kind = waiting.pop()
        if kind == "split" and t > 0.5:
            waiting.append((0.5 * t, "keep"))
            waiting.append((0.7 * t, "split"))
        else:
            total = total + (t if kind == "keep" else 2 * t)
    return total


def told_apart_later(x):
    log = []
    while x > 0.2:
        if x > 0.7:
            log.append(("large", x))
        else:
            log.append((None, x))
        x = 0.8 * x
    return sum(v for k, v in log if k is None) + 0.1 * len([1 for k, _ in log if k == "large"])


def widened_in_an_inner_loop(x):
    found = [("first", x)]
    while len(found) < 9:
        n = 0
        while n < 3 and found[-1][1] > 0.1:
            found.append(("second" if n else "first", 0.7 * found[-1][1]))
            n += 1
        found.append(("third", x * x / len(found)))
    return sum(v * {"first": 1.0, "second": 2.0, "third": 3.0}[k] for k, v in found)


@pytest.mark.parametrize("f", [tasks, told_apart_later, widened_in_an_inner_loop], ids=lambda f: f.__name__)
def test_items_with_words(f):
    agrees(f, 1.3)


STATISTICS = {
    "fmean": statistics.fmean, "mean": lambda y: statistics.mean(y[-3:]), "median": statistics.median,
    "pstdev": statistics.pstdev, "stdev": statistics.stdev, "variance": statistics.variance, "fsum": math.fsum,
    "harmonic mean": statistics.harmonic_mean, "weighted": lambda y: statistics.fmean(y, [1.0] * len(y)),
}  # fmt: skip


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_of_such_lists(name):
    def f(x, end):
        found = []
        while x > end:
            found.append(x * x)
            x = 0.7 * x
        return STATISTICS[name](found)

    slope = (f(3.0 + 1e-6, 0.2) - f(3.0 - 1e-6, 0.2)) / 2e-6
    assert wg.jit(f)(3.0, 0.2) == pytest.approx(f(3.0, 0.2), rel=1e-13)
    for g in (wg.grad(f), wg.jit(wg.grad(f)), wg.grad(wg.jit(f))):
        assert g(3.0, 0.2) == pytest.approx(slope, rel=1e-7)
    if name in ("stdev", "variance"):
        with pytest.raises(statistics.StatisticsError, match="two data points"):
            wg.jit(f)(3.0, 2.5)


def doubled(x):
    found = []
    while x < 10.0:
        found.append(x)
        x = x * 1.3
    return found


def slices_are_deleted(x):
    found, more = doubled(x), doubled(0.5 * x)
    del found[1:3]
    del found[-1:], more[:]
    del found[100:], found[-200:-100], found[3:2]
    k = len(found) // 2
    del found[k : k + 2]
    return sum(found) + 10 * len(found) + len(more)


def rainflow(x):
    """Half cycles are counted on a stack from which the two points of a closed cycle are taken."""
    signal = [x * math.sin(1.7 * i * i) + 0.1 * i for i in range(5)]
    stack, damage = [], 0.0
    for k in range(5):
        stack.append(signal[k] + x)
        while len(stack) >= 3:
            last, before = abs(stack[-1] - stack[-2]), abs(stack[-2] - stack[-3])
            if last < before:
                break
            damage += (before / 2) ** 3
            del stack[-3:-1]
    return damage + len(stack)


def passed_on(x):
    found = doubled(x)
    totals = list(itertools.accumulate(found))
    few = deque(found, maxlen=2)
    return totals[-1] + totals[1] + sum(itertools.islice(found, 2)) + few[0] * len(few) + len(deque(found, maxlen=0))


def taken_apart_level_by_level(x):
    places = [(0.0, 1)]
    while places[-1][0] < 3.0:
        places.append((places[-1][0] + x, len(places)))
    (x0, n0), (x1, n1) = places[-2:]
    table = [(0, 1.0), (10, 1.4), (20, 2.2)]
    k = int(10 * x) // 10
    (a, b), (c, d) = table[k], table[k + 1]
    return (x1 * n0 - x0 * n1) * (b + (d - b) * (10 * x - a) / (c - a))


def in_order_of_pairs(x):
    pairs = [(math.floor(v) % 3, v) for v in doubled(x)]
    first, last = sorted(pairs), sorted(pairs, key=lambda p: (-p[0], p[1]), reverse=True)
    return first[0][1] + 2 * first[-1][1] + 3 * last[0][1] + 4 * last[1][1]


@pytest.mark.parametrize(
    "f", [slices_are_deleted, rainflow, passed_on, taken_apart_level_by_level, in_order_of_pairs],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_what_python_would_do_to_the_list_itself(f):
    agrees(f, 1.13, batch=f is not rainflow)


def test_a_match_of_such_a_list_is_refused():
    def f(x):
        match doubled(x):
            case [a, _]:
                return a
            case [_, b, *_]:
                return b
        return 0.0

    with pytest.raises(StagingError):
        wg.jit(f)(1.1)


def shot(x, steps=60):
    """The rest of a loop that ends early is a branch, and a batch of these is a loop over examples."""
    y, v, path = 1.5, 3.0 * x, [(x, 1.5)]
    for _ in range(steps):
        v -= 0.5
        y += v * 0.05
        x += 0.1 * abs(v)
        path.append((x, y))
        if y < 0:
            break
    (x0, y0), (x1, y1) = path[-2:]
    return x0 + (x1 - x0) * y0 / (y0 - y1) + 0.01 * len(path)


def best_so_far(x, steps=40):
    """`best` has other keys before it is found, so the loop is written out: lists in it are opened once."""
    best, history = {"loss": math.inf}, []
    for k in range(steps):
        x = x - 0.1 * (x**3 - 1)
        history.append({"k": k, "loss": abs(x - 1)})
        if history[-1]["loss"] < best["loss"] - 1e-3:
            best = {"loss": history[-1]["loss"], "x": x}
        else:
            break
    return best["x"] + best["loss"] + len(history)


def test_examples_that_end_at_different_times():
    points = np.array([1.0, 1.4, 2.0])
    slopes = [wg.grad(shot)(float(x)) for x in points]
    np.testing.assert_allclose(wg.jit(wg.vmap(wg.grad(shot)))(points), slopes)
    np.testing.assert_allclose(wg.jit(wg.grad(shot))(1.4), slopes[1])


def test_a_loop_that_is_written_out():
    assert wg.jit(best_so_far)(2.0) == pytest.approx(best_so_far(2.0))
    assert wg.jit(wg.grad(best_so_far))(2.0) == pytest.approx(wg.grad(best_so_far)(2.0))
