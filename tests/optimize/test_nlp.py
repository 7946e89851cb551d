"""Nonlinear programs whose solutions are known in closed form, by every engine, dense and sparse."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import Bounds

from wengert.errors import MismatchError, MissingPackageError
from wengert.optimize import nlp
from wengert.optimize.engines import interior_point, ipopt
from wengert.optimize.nlp import ENGINES as SOLVERS
from wengert.optimize.objective import Unknowns
from wengert.optimize.program import EngineResult, FlatProgram

needs_ipopt = pytest.mark.skipif(not ipopt.is_there(), reason="ipyopt is not installed")
ENGINES = ["interior-point", pytest.param("ipopt", marks=needs_ipopt)]

inf = np.inf


@dataclass
class Case:
    f: object
    start: list
    best: float
    c: object = None
    g: object = None
    lower: object = -inf
    upper: object = inf


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


CASES = {
    "bound active": Case(lambda x: x[1] + 1e-5 * (x[1] - x[0]) ** 2, [10, 1], 0.0, lower=[-inf, 0]),
    "curved equality": Case(lambda x: (1 - x[0]) ** 2, [-1.2, 1], 0.0, c=lambda x: 10 * (x[1] - x[0] ** 2)),
    "circle": Case(
        lambda x: x[0] - x[1], [-10, 10], -1.0, g=lambda x: -3 * x[0] ** 2 + 2 * x[0] * x[1] - x[1] ** 2 + 1
    ),
    "start outside of the bounds": Case(
        rosenbrock, [-2, 1], 0.25, g=lambda x: np.array([x[0] + x[1] ** 2, x[0] ** 2 + x[1]]),
        lower=[-0.5, -inf], upper=[0.5, 1],
    ),
    "exponentials": Case(
        lambda x: -x[0], [0, 1.05, 2.9], -np.log(np.log(10)),
        g=lambda x: np.array([x[1] - np.exp(x[0]), x[2] - np.exp(x[1])]), lower=0, upper=[100, 100, 10],
    ),
    "equalities only": Case(
        lambda x: -x[0] * x[1] * x[2] * x[3], [0.8] * 4, -0.25,
        c=lambda x: [x[0] ** 3 + x[1] ** 2 - 1, x[0] ** 2 * x[3] - x[2], x[3] ** 2 - x[1]],
    ),
    "three balls": Case(
        lambda x: x[0] ** 2 + x[1] ** 2 + 2 * x[2] ** 2 + x[3] ** 2 - 5 * x[0] - 5 * x[1] - 21 * x[2] + 7 * x[3],
        [0] * 4, -44.0,
        g=lambda x: np.stack([
            8 - x[0] ** 2 - x[1] ** 2 - x[2] ** 2 - x[3] ** 2 - x[0] + x[1] - x[2] + x[3],
            10 - x[0] ** 2 - 2 * x[1] ** 2 - x[2] ** 2 - 2 * x[3] ** 2 + x[0] + x[3],
            5 - 2 * x[0] ** 2 - x[1] ** 2 - x[2] ** 2 - 2 * x[0] + x[1] + x[3],
        ]),
    ),
    "linear equalities": Case(
        lambda x: (4 * x[0] - x[1]) ** 2 + (x[1] + x[2] - 2) ** 2 + (x[3] - 1) ** 2 + (x[4] - 1) ** 2,
        [2] * 5, 1859 / 349, c=lambda x: [x[0] + 3 * x[1], x[2] + x[3] - 2 * x[4], x[1] - x[4]],
    ),
    "singular Hessian": Case(
        lambda x: (x[0] - x[1]) ** 2 + (x[1] - x[2]) ** 4, [-2.6, 2, 2], 0.0,
        c=lambda x: (1 + x[1] ** 2) * x[0] + x[2] ** 4 - 3,
    ),
    "no interior": Case(lambda x: x @ x, [1, 1], 0.5, g=lambda x: np.array([x[0] + x[1] - 1, 1 - x[0] - x[1]])),
    "rows that depend on each other": Case(
        lambda x: x @ x, [1, 1], 0.5, c=lambda x: np.array([x[0] + x[1] - 1, 2 * x[0] + 2 * x[1] - 2])
    ),
    "maximum between minima": Case(lambda x: (x[0] ** 2 - 1) ** 2 + x[1] ** 2, [0.001, 1], 0.0),
}  # fmt: skip


def check_optimal(found, case):
    """Feasible, of the best value, and with multipliers that make the Lagrangian stationary."""
    assert found.success, found.message
    assert abs(found.fun - case.best) <= 1e-6 * max(1, abs(case.best))
    assert found.constr_violation <= 1e-6
    assert np.all(found.x >= case.lower)
    assert np.all(found.x <= case.upper)
    m = found.multipliers
    assert found.optimality <= 1e-6
    assert np.all(np.asarray(m.inequalities) >= -1e-8)
    assert np.all(m.lower >= -1e-8)
    assert np.all(m.upper >= -1e-8)
    if case.g is not None:
        assert np.max(np.abs(m.inequalities * case.g(found.x))) <= 1e-6


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_known_solutions(case, engine):
    start = np.array(case.start, float)
    bounds = Bounds(case.lower, case.upper)
    found = nlp(case.f, start, equalities=case.c, inequalities=case.g, bounds=bounds, engine=engine, jit=False)
    check_optimal(found, case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_sparse_linear_algebra_finds_the_same(case):
    start = np.array(case.start, float)
    limits = tuple(np.array(np.broadcast_to(b, start.shape), float) for b in (case.lower, case.upper))
    outcomes = [
        interior_point.solve(FlatProgram(case.f, start, case.c, case.g, limits, (), False, sparse), 1e-9, 200, None, {})
        for sparse in (False, True)
    ]
    assert [o.kind for o in outcomes] == ["solved", "solved"]
    values = [case.f(o.x) for o in outcomes]
    assert abs(values[0] - values[1]) <= 1e-6 * max(1, abs(values[0]))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n", [20, 400])
def test_compiled_and_large(engine, n):
    """The shortest chain through given heights: minimise Σ (x[k+1] − x[k])² with a fixed sum has a closed form."""

    def f(p):
        return np.sum((p["x"] - p["a"]) ** 2) + p["a"] ** 2

    found = nlp(f, {"x": np.zeros(n), "a": 1.0}, equalities=lambda p: np.sum(p["x"]) - n, engine=engine)
    # stationary: x = a + λ/2, −2 Σ(x − a) + 2a = 0 and Σx = n  ⇒  x = 1, a = n/(n + 1)
    assert found.success
    assert np.allclose(found.x["x"], 1, atol=1e-7)
    assert abs(found.x["a"] - n / (n + 1)) < 1e-7
    assert abs(found.multipliers.equalities - 2 * (1 - n / (n + 1))) < 1e-7
    assert abs(found.fun - n * (1 - n / (n + 1)) ** 2 - (n / (n + 1)) ** 2) < 1e-7


def control(N):
    """x₁' = x₂, x₂' = u from (0, 0) to (1, 0) with the least ∫ u²/2, by the trapezoid rule."""
    h = 1 / N

    def cost(p):
        return h * (np.sum(p["u"] ** 2) - 0.5 * (p["u"][0] ** 2 + p["u"][-1] ** 2)) / 2

    def defects(p):
        x, u = p["x"], p["u"]
        slope = np.stack([x[:, 1], u], axis=1)
        return x[1:] - x[:-1] - h / 2 * (slope[1:] + slope[:-1])

    ends = lambda p: np.concatenate([p["x"][0], p["x"][-1] - np.array([1.0, 0.0])])
    return cost, defects, ends, {"x": np.zeros((N + 1, 2)), "u": np.zeros(N + 1)}


@pytest.mark.parametrize("engine", ENGINES)
def test_optimal_control(engine):
    """The continuous optimum is 6 (u = 6 − 12 t); the discretised one comes nearer with h²."""
    errors = []
    for N in (50, 100):
        cost, defects, ends, start = control(N)
        found = nlp(cost, start, equalities=[defects, ends], engine=engine)
        assert found.success
        assert found.nit <= 3
        errors.append(found.fun - 6)
        assert np.allclose(found.x["u"][1:-1], (6 - 12 * np.linspace(0, 1, N + 1))[1:-1], atol=0.2)
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.02)


@pytest.mark.parametrize("engine", [*ENGINES, "trust-constr"])
def test_what_is_wrong_is_said(engine):
    run = lambda f, x, **more: nlp(f, np.array(x, float), engine=engine, jit=False, maxiter=300, **more)
    nowhere = run(lambda x: x @ x, [1, 1], equalities=lambda x: x @ x + 1)
    assert not nowhere.success
    assert "equalities[0], violated by 1" in nowhere.message
    with np.errstate(invalid="ignore"):
        no_number = run(lambda x: np.log(x[0]) + x[1], [-1, 1])
    assert not no_number.success
    assert "not finite" in no_number.message
    assert "np.log(x[0])" in no_number.message
    below = run(lambda x: -x[0], [1, 1], inequalities=lambda x: x)
    assert not below.success
    if engine != "trust-constr":
        assert "no point near this one" in nowhere.message
        assert "no lowest value" in below.message


def test_multipliers_are_sensitivities(rng):
    """df*/db for c(x) = b, by central differences of the optimum."""
    a = rng.uniform(1, 2, 3)
    f = lambda x, b: np.sum(a * x**2) + np.exp(x[0])
    c = lambda x, b: np.sum(x) - b[0]
    g = lambda x, b: x[1] * x[2] - b[1]
    solve = lambda b: nlp(f, np.ones(3), equalities=c, inequalities=g, args=(b,), jit=False, engine="interior-point")
    b = np.array([3.0, 2.0])
    found = solve(b)
    steps = 1e-4 * np.eye(2)
    slopes = [(solve(b + s).fun - solve(b - s).fun) / 2e-4 for s in steps]
    assert np.allclose([found.multipliers.equalities, found.multipliers["inequalities"]], slopes, rtol=1e-5)


def test_variables_with_equal_bounds_are_held():
    found = nlp(
        lambda x: (x[0] - 2) ** 2 + (x[1] - 1) ** 2, np.ones(2), bounds=[(0, 0), (None, 0.5)],
        engine="interior-point", jit=False,
    )  # fmt: skip
    assert np.allclose(found.x, [0, 0.5], atol=1e-8)
    assert np.allclose(found.multipliers.upper, [4, 1], atol=1e-6)
    assert np.allclose(found.multipliers.lower, 0, atol=1e-6)


def test_without_an_objective_any_feasible_point_will_do():
    found = nlp(
        None,
        np.ones(2),
        equalities=lambda x: np.array([x @ x - 25, x[0] * x[1] - 9]),
        jit=False,
        engine="interior-point",
    )
    assert found.success
    assert abs(found.x @ found.x - 25) < 1e-6
    assert abs(np.prod(found.x) - 9) < 1e-6


def test_callbacks_stop_and_see_containers():
    seen = []

    def look(x):
        seen.append(x)
        return len(seen) == 3

    found = nlp(lambda p: rosenbrock(p["x"]), {"x": np.zeros(2)}, callback=look, engine="interior-point", jit=False)
    assert not found.success
    assert "callback" in found.message
    assert len(seen) == 3
    assert np.array_equal(found.x["x"], seen[-1]["x"])


@needs_ipopt
def test_small_programs_are_our_own_and_ipopt_tries_what_is_left(monkeypatch):
    found = nlp(lambda x: (x[0] - 1) ** 2, np.zeros(1))
    assert (found.success, found.method) == (True, "interior-point")
    found = nlp(lambda x: (x[0] - 1) ** 2, np.zeros(1), options={"mu_strategy": "adaptive"})
    assert (found.success, found.method) == (True, "ipopt")
    stuck = EngineResult(np.zeros(1), np.zeros(0), np.zeros(1), np.zeros(1), "stuck", 3)
    monkeypatch.setitem(SOLVERS, "interior-point", lambda *_: stuck)
    found = nlp(lambda x: (x[0] - 1) ** 2, np.zeros(1))
    assert (found.success, found.method) == (True, "ipopt")


def test_what_is_refused():
    with pytest.raises(ValueError, match="engine is"):
        nlp(np.sum, np.ones(2), engine="simplex")
    with pytest.raises(MismatchError, match="difference of both sides"):
        nlp(np.sum, np.ones(2), inequalities=lambda x: x > 0)
    with pytest.raises(MismatchError, match="functions of x"):
        nlp(np.sum, np.ones(2), equalities=np.ones(2))
    if not ipopt.is_there():
        with pytest.raises(MissingPackageError, match=r"wengert\[ipopt\]"):
            nlp(np.sum, np.ones(2), engine="ipopt")


def test_the_program_on_vectors_keeps_its_shapes():
    program = FlatProgram(np.sum, np.ones(3), None, None, (np.full(3, -inf), np.full(3, inf)), (), False, True)
    assert program.first(np.ones(3))[3].shape == (0, 3)
    assert Unknowns({"a": 1, "b": np.ones(2)}).container(np.arange(3.0))["b"].tolist() == [1, 2]


def test_a_program_that_is_solved_again_is_not_compiled_again():
    f, ball = lambda x, a: np.sum((x - a) ** 2), lambda x, a: 1 - x @ x
    free = np.full(2, -np.inf), np.full(2, np.inf)
    one, two = (FlatProgram(f, np.zeros(2), None, ball, free, (a,), True) for a in (2.0, 3.0))
    assert one._first is two._first
    assert one._second is two._second
    other = FlatProgram(f, np.zeros(2), ball, None, free, (2.0,), True)
    assert other._first is not one._first
    for a in (2.0, -3.0):
        found = nlp(f, np.zeros(2), inequalities=ball, args=(a,), engine="interior-point")
        np.testing.assert_allclose(found.x, np.sign(a) * 0.5**0.5, atol=1e-7)


def test_trust_constr_goes_on_until_its_barrier_is_low():
    """Hock and Schittkowski's problem 35; with SciPy's own end five digits of the value."""
    f = lambda x: (
        9 - 8 * x[0] - 6 * x[1] - 4 * x[2] + 2 * x[0] ** 2 + 2 * x[1] ** 2 + x[2] ** 2 + 2 * x[0] * (x[1] + x[2])
    )
    found = nlp(f, np.full(3, 0.5), inequalities=lambda x: 3 - x[0] - x[1] - 2 * x[2], bounds=[(0, None)] * 3,
                engine="trust-constr", jit=False)  # fmt: skip
    assert abs(found.fun - 1 / 9) < 1e-9


def test_trust_constr_at_a_kink_and_with_more_equalities_than_unknowns():
    found = nlp(lambda x: np.abs(x[0] - 1) + x[1] ** 2, np.zeros(2), inequalities=lambda x: x[0] - 2 * x[1],
                engine="trust-constr", jit=False)  # fmt: skip
    assert not found.success or abs(found.x[1]) < 1e-4  # its steps become short beside the optimum, (1, 0)
    rows = lambda x, b: np.array([x[0] - 1, x[1] - 2, x[0] + x[1] - b])
    solve = lambda b: nlp(lambda x, b: x @ x, np.zeros(2), equalities=rows, args=(b,), engine="trust-constr", jit=False)
    np.testing.assert_allclose(solve(3.0).x, [1, 2], atol=1e-7)
    assert not solve(4.0).success


def test_a_start_on_a_ridge_is_left():
    """The gradient is zero across the ridge; only curvature says that it is no minimum."""
    solve = lambda f, x, **more: nlp(f, np.array(x), engine="interior-point", jit=False, **more)
    assert solve(lambda x: x[0] ** 2 - x[1] ** 2 + x[1] ** 4, [1.0, 0.0]).fun == pytest.approx(-0.25)
    assert solve(lambda x: x[0] * x[1], [0.0, 0.0], bounds=[(-1, 1)] * 2).fun == pytest.approx(-1, abs=1e-6)
    on_circle = solve(lambda x: -(x[0] ** 2) - x[1], [0.0, 1.0], equalities=lambda x: x @ x - 1)
    assert on_circle.fun == pytest.approx(-1.25)
    flat = solve(lambda x: (x[0] + x[1] - 1) ** 2, [0.0, 0.0])
    assert flat.success
    assert flat.fun < 1e-15


def test_an_objective_that_overflows_downwards_is_unbounded():
    found = nlp(lambda x: -np.exp(x[0]), np.array([0.5]), engine="interior-point", jit=False)
    assert not found.success
    assert "no lowest value" in found.message
