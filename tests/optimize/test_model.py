"""Models written with names: solutions, multipliers and sensitivities against closed forms and differences; what
`check` finds; files `.nl`, read by a reader of our own."""

import math

import numpy as np
import pytest
from scipy import special

from wengert.errors import ConcretizationError, ConvergenceError, MismatchError, UnsupportedFunctionError
from wengert.optimize import Model


def box():
    m = Model("box")
    x = m.variable("x", shape=3, lower=0.0, start=1.0)
    area = m.parameter("area", 24.0)
    m.subject_to(2 * (x[0] * x[1] + x[1] * x[2] + x[0] * x[2]) <= area, name="surface")
    m.maximize(np.prod(x))
    return m


def control(N=12):
    """From rest to rest over the distance 1 in time T with least ∫ u²/2 dt: the optimum goes with 1/T³."""
    m = Model("double integrator")
    x, u, T = m.variable("x", (N + 1, 2)), m.variable("u", N + 1, lower=-8, upper=8, scale=5.0), m.parameter("T", 1.0)
    h = T / N
    slope = np.stack([x[:, 1], u], axis=1)
    m.subject_to(x[1:] - x[:-1] == h / 2 * (slope[1:] + slope[:-1]), name="dynamics")
    m.subject_to([x[0] == 0, x[-1] == np.array([1.0, 0.0])], name="ends")
    m.minimize(h / 2 * (np.sum(u**2) - 0.5 * (u[0] ** 2 + u[-1] ** 2)))
    return m


def solved(m, **more):
    found = m.solve(jit=False, engine="interior-point", **more)
    assert found.success, found.message
    return found


def test_a_box_of_the_largest_volume():
    found = solved(box())
    assert np.allclose(found.x["x"], 2, atol=1e-7)  # a cube
    assert found.fun == pytest.approx(8)
    assert found.multipliers["surface"] == pytest.approx(0.5)  # dV/dA = √(A/6)/4
    moved = found.sensitivity("area")
    assert np.allclose(moved["x"], 1 / 24, atol=1e-6)  # x = √(A/6)
    assert moved.objective == pytest.approx(0.5)
    assert solved(box(), parameters={"area": 54.0}, start={"x": [1, 2, 3]}).fun == pytest.approx(27)


def test_a_model_that_has_changed_is_solved_as_it_is():
    m = Model()
    x = m.variable("x", 2, start=1.0, scale=[1.0, 10.0])
    p = m.parameter("p", 1.0)
    m.minimize(np.sum((x - p) ** 2))
    assert np.allclose(m.solve(engine="interior-point").x["x"], 1)
    assert np.allclose(m.solve(engine="interior-point", parameters={"p": 3.0}).x["x"], 3)
    m.subject_to(x[0] + x[1] <= 4, name="sum")
    assert np.allclose(m.solve(engine="interior-point", parameters={"p": 3.0}).x["x"], 2)
    m.constraints["sum"].upper[...] -= 1
    m.variables["x"].scale[1] = 3.0
    assert np.allclose(m.solve(engine="interior-point", parameters={"p": 3.0}).x["x"], 1.5)
    m.maximize(x[0] - (x[1] + p) ** 2 - x[0] ** 2)
    assert np.allclose(m.solve(engine="interior-point").x["x"], [0.5, -1], atol=1e-6)


def test_sensitivities_are_differences_of_optima():
    m = control()
    found, e = solved(m), 1e-4
    moved = found.sensitivity()["T"]
    assert moved.objective == pytest.approx(-3 * found.fun, rel=1e-6)
    less, more = (solved(m, parameters={"T": 1 + s * e}) for s in (-1, 1))
    for name in ("x", "u"):
        assert np.allclose(moved[name], (more.x[name] - less.x[name]) / (2 * e), atol=1e-4)
    assert found.multipliers["ends[1]"][0] == pytest.approx(2 * found.fun, rel=1e-6)  # the optimum goes with distance²


def test_active_bounds_hold_their_variables():
    m = Model()
    x, p = m.variable("x", 2, upper=[1.0, np.inf]), m.parameter("p", np.array([3.0, 4.0]))
    m.minimize(np.sum((x - p) ** 2))
    found = solved(m)
    assert np.allclose(found.x["x"], [1, 4], atol=1e-7)
    assert np.allclose(found.sensitivity("p")["x"], [[0, 0], [0, 1]], atol=1e-7)
    assert np.allclose(found.upper["x"], [4, 0], atol=1e-6)


def test_constraints_of_every_kind():
    m = Model()
    x = m.variable("x", 3, start=1.0)
    m.variable("y")
    m.subject_to(x[0], lower=0.5, upper=2.0, name="range")
    m.subject_to(x[1] <= 3.0, name="from the left")
    m.subject_to(lambda x, y: [y == x[0] * 2, np.sum(x) <= 100.0], name="function")

    def product(x):
        total = 1.0
        for value in x:
            total = total * value
        return total

    m.subject_to(m.expression(product) >= 4.0, name="loop")
    m.minimize(lambda x, y: np.sum(x**2) + y)
    found = solved(m)
    v = found.x["x"]
    assert v[0] + 1e-8 >= 0.5
    assert np.prod(v) == pytest.approx(4)
    assert found.x["y"] == pytest.approx(2 * v[0])
    assert set(found.multipliers) == {"range", "from the left", "function[0]", "function[1]", "loop"}
    assert found.multipliers["loop"] > 0
    assert abs(found.multipliers["from the left"]) < 1e-6
    # stationary in x[1] and x[2]: 2 x = λ ∂(product)/∂x
    assert np.allclose(2 * v[1:], found.multipliers["loop"] * np.prod(v) / v[1:], rtol=1e-6)


def test_what_cannot_be_written_is_refused():
    m = Model()
    x = m.variable("x", 2)
    for wrong in (lambda: bool(x[0] > 0), lambda: 0 <= x[0] <= 1, lambda: math.sin(x[0]), lambda: np.asarray(x),
                  lambda: np.array([x[0], 1.0])):  # fmt: skip
        with pytest.raises(ConcretizationError):
            wrong()
    with pytest.raises(MismatchError, match="already"):
        m.variable("x")
    with pytest.raises(MismatchError, match="above its upper"):
        m.variable("z", lower=1, upper=0)
    with pytest.raises(MismatchError, match="compares expressions"):
        m.subject_to(1 <= 2)
    with pytest.raises(MismatchError, match="which is no variable"):
        m.minimize(lambda w: w)
    with pytest.raises(MismatchError, match="not one number"):
        m.minimize(x)


def degenerate(m, x):
    m.subject_to(x[0] + x[1] == 1, name="one")
    m.subject_to(2 * x[0] + 2 * x[1] == 2, name="again")


def never_differentiable(m, x):
    m.subject_to(np.round(10 * x[0]) <= 3, name="steps")


def badly_scaled(m, x):
    m.subject_to(1e9 * x[0] + x[1] <= 1, name="large")


def contradicting(m, x):
    m.subject_to(x[0] + x[1] >= 3, name="much")
    m.subject_to(x[0] - x[1] == 0, name="alike")
    m.subject_to(x[1] <= 1, name="little")
    m.subject_to(np.sum(x**2) <= 100, name="ball")


def running_away(m, x):
    m.subject_to(x[0] - x[1] == 1, name="line")
    z = m.variable("z", start=1.0)
    m.subject_to(np.exp(z) <= 9, name="nonlinear")
    m.minimize(x[0] + x[1] - z)


FAULTS = {
    "infeasible": contradicting,
    "unbounded along a line": running_away,
    "badly scaled elements": lambda m, x: m.minimize(1e8 * x[0] ** 2 + 1e-8 * x[1] ** 2),
    "unbounded": lambda m, x: m.minimize(-x[0] - x[1] ** 2),
    "degenerate": degenerate,
    "never differentiable": never_differentiable,
    "badly scaled": badly_scaled,
    "constant": lambda m, x: m.subject_to(m.parameter("p", 2.0) <= 1, name="wrong"),
    "unused": lambda m, x: m.variable("idle"),
    "fixed": lambda m, x: m.subject_to(m.variable("held", lower=1, upper=1) + x[0] <= 9),
    "start outside": lambda m, x: m.subject_to(m.variable("far", upper=-1) + x[0] <= 9),
    "not finite": lambda m, x: m.subject_to(np.log(x[0] - 1) <= 9, name="logarithm"),
    "inconsistent": lambda m, x: m.subject_to(x[0], lower=2, upper=1),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_check_finds(kind):
    m = Model()
    x = m.variable("x", 2, start=0.3)
    m.minimize(np.sum(x**2))
    assert not m.check().findings
    FAULTS[kind](m, x)
    report = m.check()
    kind = kind.removesuffix(" along a line").removesuffix(" elements")
    assert kind in report.kinds, report
    assert kind in str(report)
    notes = {"badly scaled", "unused", "fixed", "start outside"}
    assert bool(report) == (kind in notes)


def test_no_derivative_where_the_optimum_has_a_kink():
    m = Model()
    x, p = m.variable("x"), m.parameter("p", 1.0)
    m.subject_to(x * 1.0 <= 1.0, name="limit")
    m.minimize((x - p) ** 2)
    with pytest.raises(ConvergenceError, match="kink"):
        solved(m).sensitivity("p")


# ------------------------------------------------------------------------------------------------------- files .nl

OPS = {
    0: np.add, 1: np.subtract, 2: np.multiply, 3: np.divide, 5: np.power, 13: np.floor, 14: np.ceil,
    15: np.abs, 16: np.negative, 37: np.tanh,
    39: np.sqrt, 41: np.sin, 43: np.log, 44: np.exp, 46: np.cos, 48: np.arctan2, 49: np.arctan,
}  # fmt: skip
LISTS = {11: np.min, 12: np.max, 54: np.sum}


class Read:
    """A file `.nl`: variables in its order, an objective and rows as functions of the vector, limits."""

    def __init__(self, path):
        self._lines = [line.split("#")[0].rstrip() for line in path.read_text().splitlines()]
        numbers = [[int(k) for k in line.split()] for line in self._lines[1:10]]
        self.n, self.m = numbers[0][:2]
        self.header = numbers
        self.at = 10
        self.defined, self.rows, self.linear = {}, {}, {}
        self.columns = path.with_suffix(".col").read_text().split("\n")[:-1]
        while self.at < len(self._lines):
            self._segment()

    def _next(self):
        self.at += 1
        return self._lines[self.at - 1]

    def _segment(self):
        head = self._next()
        kind, rest = head[0], head[1:].split()
        if kind in "VCO":
            tree = self._tree()
            {"V": self.defined, "C": self.rows, "O": self.rows}[kind][int(rest[0]) if kind != "O" else "objective"] = (
                tree
            )
            if kind == "O":
                self.maximises = rest[1] == "1"
        elif kind == "x":
            pairs = [self._next().split() for _ in range(int(rest[0]))]
            self.start = np.array([float(v) for _, v in sorted(pairs, key=lambda p: int(p[0]))])
        elif kind in "rb":
            setattr(self, "of_rows" if kind == "r" else "bounds", [
                self._limits(self._next().split()) for _ in range(self.m if kind == "r" else self.n)])  # fmt: skip
        elif kind == "k":
            self.cumulative = [int(self._next()) for _ in range(int(rest[0]))]
        elif kind in "JG":
            row = "objective" if kind == "G" else int(rest[0])
            self.linear[row] = {int(j): float(c) for j, c in (self._next().split() for _ in range(int(rest[1])))}

    def _limits(self, words):
        kind, values = words[0], [float(v) for v in words[1:]]
        return {"0": lambda: tuple(values), "1": lambda: (-np.inf, values[0]), "2": lambda: (values[0], np.inf),
                "3": lambda: (-np.inf, np.inf), "4": lambda: (values[0], values[0])}[kind]()  # fmt: skip

    def _tree(self):
        word = self._next()
        if word[0] == "n":
            return float(word[1:])
        if word[0] == "v":
            return ("v", int(word[1:]))
        code = int(word[1:])
        count = int(self._next()) if code in LISTS else OPS[code].nin
        return (code, [self._tree() for _ in range(count)])

    def value(self, row, x):
        return self._computed(self.rows[row], x) + sum(c * x[j] for j, c in self.linear.get(row, {}).items())

    def _computed(self, tree, x):
        if isinstance(tree, float):
            return tree
        if tree[0] == "v":
            return x[tree[1]] if tree[1] < self.n else self._computed(self.defined[tree[1]], x)
        parts = [self._computed(t, x) for t in tree[1]]
        return LISTS[tree[0]](parts) if tree[0] in LISTS else OPS[tree[0]](*parts)


def shared():
    m = Model("shared")
    x = m.variable("x", (2, 2), start=[[0.5, 1.5], [2.5, 0.2]])
    y, z = m.variable("y", start=0.7), m.variable("z", start=0.1, lower=-1.0, upper=4.0)
    p = m.parameter("p", np.array([2.0, 3.0]))
    common = np.exp(np.sin(x[0, 0]) * y)
    m.subject_to(common + common**2 - 3 * z <= 5, name="twice")
    m.subject_to(x @ p == np.array([3.5, 5.6]) + z, name="linear")
    m.subject_to(np.maximum(x[1], 0.3) * np.sqrt(x[0]), lower=-7.0, upper=7.0, name="range")
    m.maximize(common / y - np.sum(np.log(x)) ** 2 + 2 * z + 1.5)
    return m


def functions():
    """In plain functions: NumPy's functions that compare or have no method of elements; single elements and arrays."""
    m = Model("functions")
    m.variable("x", 3, start=[0.5, 1.5, 0.9])
    m.minimize(
        m.expression(lambda x: np.max(x) + np.logaddexp(x[0], x[1]) + np.hypot(x[1], x[2]) + special.expit(x[0]))
    )
    m.subject_to(m.expression(lambda x: np.sum((x[0] - np.arange(3.0)) ** 2 / x[1])) <= 9, name="broadcast")
    m.subject_to(m.expression(lambda x: np.clip(x, 0.4, 1.1) + np.clip(x[0], 0.6, 1.0)) <= 9, name="clipped")
    m.subject_to(m.expression(lambda x: np.fmin(x, x[::-1] ** 2) + np.fabs(x - 1)) <= 9, name="compared")
    m.subject_to(m.expression(lambda x: np.floor(x) + np.ceil(x[2])) <= 9, name="rounded")
    return m


@pytest.mark.parametrize("make", [box, control, shared, functions])
def test_files_say_what_the_model_says(make, tmp_path, rng):
    m = make()
    m.export(tmp_path / "model.nl")
    file = Read(tmp_path / "model.nl")
    names = {name: v.expression for name, v in m.variables.items()}
    place = {column: k for k, column in enumerate(file.columns)}
    for trial in range(3):
        values, x = {}, np.empty(file.n)
        for name, e in names.items():
            values[name] = np.asarray(e.value if trial == 0 else rng.uniform(0.3, 2, e.shape))
            for k in np.ndindex(e.shape):
                x[place[f"{name}[{','.join(map(str, k))}]" if k else name]] = values[name][k]
        if trial == 0:
            assert np.array_equal(file.start, x)
        flat = {**values, **{name: p.value for name, p in m.parameters.items()}}
        found = evaluated(m, flat)
        assert file.maximises == (m.sense < 0)
        assert file.value("objective", x) == pytest.approx(float(found["objective"]))
        rows = (tmp_path / "model.row").read_text().split("\n")
        for k in range(file.m):
            name, _, index = rows[k].partition("[") if rows[k] not in m.constraints else (rows[k], "", "")
            name = (
                rows[k] if rows[k] in m.constraints else next(c for c in m.constraints if rows[k].startswith(c + "["))
            )
            index = rows[k][len(name) :].strip("[]")
            c, at = m.constraints[name], tuple(int(i) for i in index.split(",")) if index else ()
            low, high = file.of_rows[k]
            value = np.asarray(found[name])[at]
            # limits of the file are those of the model less the constant of the row
            if np.isfinite(low):
                assert file.value(k, x) - low == pytest.approx(float(value - c.lower[at]), abs=1e-9)
            if np.isfinite(high):
                assert file.value(k, x) - high == pytest.approx(float(value - c.upper[at]), abs=1e-9)
            assert (np.isfinite(low), np.isfinite(high)) == (np.isfinite(c.lower[at]), np.isfinite(c.upper[at]))
    # counts of the header
    assert file.header[6][0] == sum(len(v) for k, v in file.linear.items() if k != "objective")
    columns = np.bincount([j for k, v in file.linear.items() if k != "objective" for j in v], minlength=file.n)
    assert file.cumulative == np.cumsum(columns)[:-1].tolist()
    assert file.header[8][0] == len(file.defined)


def evaluated(m, values):
    """Objective and constraints, by the expressions' own functions on numbers."""
    known = {}

    def at(e):
        if not hasattr(e, "function"):
            return [at(x) for x in e] if isinstance(e, list) else tuple(map(at, e)) if isinstance(e, tuple) else e
        if hasattr(e, "name"):
            return values[e.name]
        if id(e) not in known:
            known[id(e)] = e.function(*[at(x) for x in e.args], **e.kwargs)
        return known[id(e)]

    return {"objective": at(m.objective), **{c.name: at(c.expression) for c in m.constraints.values()}}


def test_what_a_file_cannot_say_is_refused(tmp_path):
    m = Model()
    x = m.variable("x", 2, start=1.0)
    m.minimize(lambda x: x[0] if x[0] > x[1] else x[1])
    with pytest.raises(ConcretizationError, match="without branches"):
        m.export(tmp_path / "a.nl")
    m.minimize(np.sum(np.sinc(x)))
    with pytest.raises((UnsupportedFunctionError, ConcretizationError)):
        m.export(tmp_path / "a.nl")


def test_check_names_the_constraints_that_contradict_each_other_and_variables_that_run_away():
    m = Model()
    x = m.variable("x", 2, start=0.3)
    contradicting(m, x)
    (finding,) = m.check().errors
    assert finding.kind == "infeasible"
    assert finding.subject == "much, alike, little"
    m = Model()
    running_away(m, m.variable("x", 2, start=0.3))
    assert [f.subject for f in m.check().errors] == ["x"]
    m = Model()
    x = m.variable("x", 2, start=0.3)
    m.minimize(x[0] + 1e9 * x[1])
    assert "x[0]" in [f.subject for f in m.check().findings if f.kind == "badly scaled"]


def test_check_is_not_deceived_by_kinks_and_products():
    m = Model()
    x = m.variable("x", 2, lower=-10, upper=2, start=1.0)
    y = m.variable("y", start=1.0)
    m.subject_to(np.abs(x[0]) >= 3)  # which holds for x[0] ≤ −3, and not where it looks linear
    m.subject_to(y * x[1] >= -5)
    m.minimize(np.maximum(y, -y) + x[0])
    assert not m.check().errors
