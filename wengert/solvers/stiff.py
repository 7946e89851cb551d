"""Steps of implicit methods: Radau IIA and Rodas5P, with matrices that are dense or sparse, by the structure of f.

Both need the Jacobian J of the right-hand side in y, which is exact. Radau solves for all its stages at once, by
Newton's method with one matrix of three times the size; its stages are an answer (`implicit.py`). Rodas5P is linearly
implicit (Rosenbrock): each of its stages is one linear system with the same matrix M/(hγ) − J, so that large sparse
systems cost one factorisation for a step, and one for its derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import scipy.sparse

from wengert.algorithms import ode
from wengert.api.products import jvp
from wengert.box.functions.operands import join
from wengert.box.writing import settled
from wengert.capture.hooks import instrument
from wengert.ops.elementwise import stop_gradient
from wengert.ops.op import Traced
from wengert.ops.sparse import product, sparse_solve
from wengert.solvers.implicit import Equation, Implicit
from wengert.solvers.slopes import ImplicitEquations
from wengert.types import shape_of

_ROOT = 6**0.5
_RADAU_A = np.array(
    [
        [(88 - 7 * _ROOT) / 360, (296 - 169 * _ROOT) / 1800, (-2 + 3 * _ROOT) / 225],
        [(296 + 169 * _ROOT) / 1800, (88 + 7 * _ROOT) / 360, (-2 - 3 * _ROOT) / 225],
        [(16 - _ROOT) / 36, (16 + _ROOT) / 36, 1 / 9],
    ]
)
_RADAU_C = np.array([(4 - _ROOT) / 10, (4 + _ROOT) / 10, 1.0])
_RADAU_E = np.array([-13 - 7 * _ROOT, -13 + 7 * _ROOT, -1]) / 3
_RADAU_MU = 3 + 3 ** (2 / 3) - 3 ** (1 / 3)

# Steinebach (2023), "Construction of Rosenbrock–Wanner method Rodas5P and numerical benchmarks within the Julia
# Differential Equations package", BIT 63:27; in the form of Hairer and Wanner (IV.7), without products by J.
_RODAS_GAMMA = 0.21193756319429014
_RODAS_LAST = [-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946]
_RODAS_A = [
    [],
    [3.0],
    [2.849394379747939, 0.45842242204463923],
    [-6.954028509809101, 2.489845061869568, -10.358996098473584],
    [2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641],
    _RODAS_LAST,
    [*_RODAS_LAST, 1.0],
    [*_RODAS_LAST, 1.0, 1.0],
]
_RODAS_WEIGHTS = np.array([*_RODAS_LAST, 1.0, 1.0, 1.0])
_RODAS_C = [
    [],
    [-14.155112264123755],
    [-17.97296035885952, -2.859693295451294],
    [147.12150275711716, -1.41221402718213, 71.68940251302358],
    [165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306],
    [24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471],
    [
        30.91273214028599,
        -3.1208243349937974,
        77.79954646070892,
        34.28646028294783,
        -19.097331116725623,
        -28.087943162872662,
    ],
    [
        37.80277123390563,
        -3.2571969029072276,
        112.26918849496327,
        66.9347231244047,
        -40.06618937091002,
        -54.66780262877968,
        -9.48861652309627,
    ],
]
_RODAS_TIMES = np.array([0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1, 1, 1])
_RODAS_DRIFT = np.array(
    [0.21193756319429014, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0, 0, 0]
)
_RODAS_INSIDE = np.array(
    [
        [
            25.948786856663858,
            -2.5579724845846235,
            10.433815404888879,
            -2.3679251022685204,
            0.524948541321073,
            1.1241088310450404,
            0.4272876194431874,
            -0.17202221070155493,
        ],
        [
            -9.91568850695171,
            -0.9689944594115154,
            3.0438037242978453,
            -24.495224566215796,
            20.176138334709044,
            15.98066361424651,
            -6.789040303419874,
            -6.710236069923372,
        ],
        [
            11.419903575922262,
            2.8879645146136994,
            72.92137995996029,
            80.12511834622643,
            -52.072871366152654,
            -59.78993625266729,
            -0.15582684282751913,
            4.883087185713722,
        ],
    ]
)


class ImplicitSteps(Protocol):
    """What these methods ask of the integrator in `ode.py`."""

    rtol: float
    worst: Callable

    def slope(self, t: Any, y: Any, values: Sequence[Any]) -> Any: ...

    def in_intervals(self, times: Any, values: Sequence[Any]) -> Callable: ...

    def clock(self, times: Any, t: Any, i: Any) -> tuple[Any, Any]: ...


def _lower(rows: Sequence[Sequence[float]]) -> np.ndarray:
    """A square matrix of which the part below the diagonal is given."""
    found = np.zeros((len(rows), len(rows)))
    for k, row in enumerate(rows):
        found[k, : len(row)] = row
    return found


# ---------------------------------------------------------------------------------------------------------- matrices


class DenseMatrices:
    """M and J as arrays. Systems that are solved several times are inverted."""

    def __init__(self, mass: Any, n: int):
        self.mass = np.eye(n) if mass is None else dense_mass(mass)

    def slopes(self, matrix: Any) -> Any:
        """What determines J, of the Jacobian as `slopes.py` has it."""
        return matrix.entries[0]

    def weighted(self, mass: Any, x: Any) -> Any:
        """M x for the rows x of a matrix, or one vector."""
        return x @ mass.T

    def shifted(self, scale: Any, mass: Any, slopes: Any) -> Any:
        """What `solve_shifted` needs for scale · M − J."""
        return np.linalg.inv(scale * mass - slopes)

    def solve_shifted(self, prepared: Any, b: Any) -> Any:
        return prepared @ b

    def coupled(self, A: np.ndarray, h: Any, mass: Any, slopes: Any) -> Any:
        """What `solve_coupled` needs for I ⊗ M − h A ⊗ J."""
        return np.linalg.inv(np.kron(np.eye(len(A)), mass) - h * np.kron(A, slopes))

    def solve_coupled(self, prepared: Any, b: Any) -> Any:
        return prepared @ b

    def coupled_pattern(self, s: int) -> Any:
        """Where I ⊗ M − h A ⊗ J, with s rows in A, has entries, if they are few."""
        return None


class SparseMatrices:
    """M and J by their entries at fixed places."""

    def __init__(self, mass: Any, pattern: Any):
        n = pattern.shape[0]
        entries = scipy.sparse.coo_array(scipy.sparse.eye_array(n) if mass is None else mass)
        self._identity = mass is None
        self.mass = np.asarray(entries.data, float)
        self._mass_places = entries.row, entries.col
        places = pattern.tocoo()
        self._places = places.row, places.col
        self._size = n

    def slopes(self, matrix: Any) -> Any:
        return matrix.entries[0]

    def weighted(self, mass: Any, x: Any) -> Any:
        if self._identity:
            return x
        if len(shape_of(x)) == 1:
            return product(mass, x, *self._mass_places, self._size)
        return product(mass, x.T, *self._mass_places, self._size).T

    def shifted(self, scale: Any, mass: Any, slopes: Any) -> Any:
        return join([scale * mass, -slopes], 0)

    def solve_shifted(self, prepared: Any, b: Any) -> Any:
        rows, columns = (np.concatenate(pair) for pair in zip(self._mass_places, self._places, strict=True))
        return sparse_solve(prepared, b, rows=rows, columns=columns)

    def coupled(self, A: np.ndarray, h: Any, mass: Any, slopes: Any) -> Any:
        blocks = [mass] * len(A) + [-(h * a) * slopes for a in A.ravel().tolist()]
        return join(blocks, 0)

    def solve_coupled(self, prepared: Any, b: Any) -> Any:
        rows, columns = self._coupled_places(shape_of(b)[0] // self._size)
        return sparse_solve(prepared, b, rows=rows, columns=columns)

    def _coupled_places(self, s: int) -> tuple[np.ndarray, np.ndarray]:
        n = self._size
        blocks = [(self._mass_places, k, k) for k in range(s)]
        blocks += [(self._places, k, j) for k in range(s) for j in range(s)]
        rows = np.concatenate([places[0] + k * n for places, k, _ in blocks])
        columns = np.concatenate([places[1] + j * n for places, _, j in blocks])
        return rows, columns

    def coupled_pattern(self, s: int) -> Any:
        rows, columns = self._coupled_places(s)
        found = scipy.sparse.coo_array((np.ones(len(rows), bool), (rows, columns)), shape=(s * self._size,) * 2).tocsr()
        found.sum_duplicates()
        found.data[:] = True
        return found


def dense_mass(mass: Any) -> Any:
    """A mass matrix as an array."""
    return mass.toarray() if scipy.sparse.issparse(mass) else mass


class SlopeJacobian:
    """The Jacobian of the right-hand side in y, in the form that its structure asks for."""

    def __init__(self, integrator: ImplicitSteps, y: Any, times: Any, values: Sequence[Any], mass: Any):
        self._integrator = integrator
        self._times, self._values = times, list(values)
        self._equations = ImplicitEquations(lambda y, t, *values: integrator.slope(t, y, values))
        mass = settled(mass)
        if isinstance(mass, Traced):
            self._equations.treat_as_dense()
        pattern = self._equations.pattern(y, [times[0], *values])
        n = shape_of(y)[0]
        self.matrices: Any = DenseMatrices(mass, n) if pattern is None else SparseMatrices(mass, pattern)

    def __call__(self, t: Any, y: Any, i: Any) -> Any:
        """What determines J, in the interval that ends with time i."""
        rate, true = self._integrator.clock(self._times, t, i)
        return rate * self.matrices.slopes(self._equations.matrix(y, [true, *self._values]))


# ----------------------------------------------------------------------------------------------------------- methods


def radau(integrator: ImplicitSteps, y: Any, times: Any, values: Sequence[Any], mass: Any) -> tuple:
    """A step, its interpolant, the number of stages and the order of the estimated error, for `ode.integrate`."""
    tolerance = max(1e-14, min(0.03 * integrator.rtol, 1e-6))
    jacobian = SlopeJacobian(integrator, y, stop_gradient(times), [stop_gradient(v) for v in values], mass)
    matrices = jacobian.matrices
    weight = matrices.mass

    def solve(t: Any, h: Any, y: Any, i: Any, prepared: Any, times: Any, weight: Any, values: Any) -> Any:
        return instrument(ode.stages_by_newton)(
            integrator.in_intervals(times, values), _RADAU_A, _RADAU_C, lambda x: matrices.weighted(weight, x), t, h, y,
            i, lambda r: matrices.solve_coupled(prepared, r), tolerance, integrator.worst,
        )  # fmt: skip

    def satisfied(Z: Any, t: Any, h: Any, y: Any, i: Any, prepared: Any, times: Any, weight: Any, values: Any) -> Any:
        return instrument(ode.stage_residual)(
            integrator.in_intervals(times, values), _RADAU_A, _RADAU_C, lambda x: matrices.weighted(weight, x), t, h, y,
            i, Z,
        )  # fmt: skip

    stages = Implicit(solve, Equation(satisfied), None, pattern=matrices.coupled_pattern(3))

    def solve_stages(t: Any, h: Any, y: Any, i: Any, slopes: Any) -> Any:
        prepared = matrices.coupled(_RADAU_A, h, stop_gradient(weight), slopes)
        return stages(t, h, y, i, stop_gradient(prepared), times, weight, list(values))

    def filtered(h: Any, slopes: Any, slope: Any, combined: Any) -> Any:
        plain = stop_gradient(weight)
        prepared = matrices.shifted(_RADAU_MU / h, plain, slopes)
        return matrices.solve_shifted(prepared, slope + matrices.weighted(plain, combined) / h)

    attempt = instrument(ode.radau)(_RADAU_C, _RADAU_E, jacobian, solve_stages, filtered, stop_gradient)
    return attempt, instrument(ode.polynomial_through)(_RADAU_C), 3, 3


def rosenbrock(integrator: ImplicitSteps, y: Any, times: Any, values: Sequence[Any], mass: Any) -> tuple:
    """The same for Rodas5P. What is differentiated are its formulas, with J in them."""
    jacobian = SlopeJacobian(integrator, y, times, values, mass)
    matrices = jacobian.matrices
    f = integrator.in_intervals(times, values)

    def system(t: Any, h: Any, y: Any, i: Any) -> tuple:
        """M x, x with (M/(hγ) − J) x = b, and ∂f/∂t."""
        prepared = matrices.shifted(1 / (h * _RODAS_GAMMA), matrices.mass, jacobian(t, y, i))
        drift = jvp(lambda t: f(t, y, i), (t,), (1.0,))[1]
        return (
            lambda x: matrices.weighted(matrices.mass, x),
            lambda b: matrices.solve_shifted(prepared, b),
            drift,
        )

    tableau: tuple[Callable | Any, ...] = (_lower(_RODAS_A), _lower(_RODAS_C), _RODAS_WEIGHTS, _RODAS_TIMES)
    attempt = instrument(ode.rosenbrock)(*tableau, _RODAS_DRIFT, system, stop_gradient)
    return attempt, instrument(ode.interpolated_between)(_RODAS_INSIDE), 8, 4
