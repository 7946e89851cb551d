"""Numerical differentiation: derivatives from nothing but values of the function, with the errors that brings.

It knows nothing of automatic differentiation, which makes it the independent witness against which exact derivatives
are checked, and the last resort for a function that can only be called. The operators mirror the exact ones.

The idea. A stencil combines values at a few points x + o·h into

    f⁽ᵏ⁾(x) ≈ h⁻ᵏ Σ wₒ f(x + o·h),      truncation error O(hᵖ),      rounding error about ε |f| / hᵏ.

The two errors balance at h ≈ ε^(1/(k+p)) times the length on which f varies (Press et al., Numerical Recipes, 3rd
ed., 2007, §5.7; the valley in Figure 3 of the survey). That length is unknown and taken to be max(|x|, 1), and ε is
that of the coarsest floating type that goes in or comes out. For the first derivative, k = 1:

| method       | formula                                       | p | error, float64     | calls of f |
|--------------|-----------------------------------------------|---|--------------------|------------|
| forward      | (f(x+h) − f(x)) / h                           | 1 | ε^(1/2) ≈ 1e-8     | 1          |
| backward     | (f(x) − f(x−h)) / h                           | 1 | ε^(1/2) ≈ 1e-8     | 1          |
| central      | (f(x+h) − f(x−h)) / 2h                        | 2 | ε^(2/3) ≈ 4e-11    | 2          |
| five-point   | (f(x−2h) − 8f(x−h) + 8f(x+h) − f(x+2h)) / 12h | 4 | ε^(4/5) ≈ 3e-13    | 4          |
| richardson   | central for shrinking h, extrapolated to 0    | – | about 1e-14        | 10 to 40   |
| complex-step | Im f(x + ih) / h, with h of the order of ε²   | 2 | ε: nothing cancels | 1          |

One more call, f(x), says what comes out and how precise it is. Higher derivatives use stencils of the same p, mixed
ones the products of stencils. The complex step (Squire and Trapp, SIAM Review 40, 1998) needs a function made of
analytic operations that accept complex numbers: not `abs`, `conj`, comparisons or `math.*`. It gives a first
derivative; higher ones are central differences of that.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from wengert import errors, tree
from wengert.api.operators import operation, result_of

__all__ = ["derivative", "grad", "jacobian", "hessian", "jvp", "METHODS"]

# p for each method. Extrapolation starts with the step at which a formula of order eight would be at its best.
_ACCURACY = {"forward": 1, "backward": 1, "central": 2, "five-point": 4, "richardson": 8, "complex-step": 2}

METHODS = tuple(_ACCURACY)
"""What `method` may be."""

Argnums = int | Sequence[int]
"""Which positional arguments: one, or several, which makes the result a tuple."""


# ---- The operators -------------------------------------------------------------------------------------------------


@operation
def derivative(f: Callable, order: int = 1, *, method: str = "central", step: float | None = None) -> Callable:
    """The derivative, of any order, of a function of one real number.

    `f` takes a float, or a NumPy scalar or array of shape (), as its first argument, and may return any container of
    numbers and arrays. `step` is the h of the formulas, and the first and largest h of "richardson"; x ± h must lie
    in the domain of `f`. If "complex-step" has to take differences as well (order > 1), `step` is that of those.

    >>> derivative(np.exp)(0.0)
    np.float64(1.000000)
    >>> derivative(np.sin, order=2, method="five-point")(1.0)
    np.float64(-0.841471)
    >>> derivative(lambda t: {"position": np.array([t, t**2])}, method="complex-step")(3.0)
    {'position': array([1., 6.])}

    Returns a function with the arguments of `f` and results of the same structure. Cost: the calls in the table
    above, and about k times as many for order k.
    """
    _check_options(method, step)
    if not isinstance(order, int) or order < 1:
        raise ValueError(f"order must be a positive integer, not {order!r}")

    @result_of("numerical.derivative", f)
    def derivative_of_f(x: Any, *args: Any, **kwargs: Any) -> Any:
        program = _Program(f, (x, *args), kwargs, 0)
        if program.input_structure != _LEAF or program.xs[0].shape:
            raise errors.NotDifferentiableInputError(
                "numerical.derivative differentiates with respect to one number, and the first argument is not one",
                remedy="use numerical.grad, numerical.jacobian or numerical.jvp",
            )
        return program.arrange(_differentiate(program, [(next(program.units()), order)], method, step))

    return derivative_of_f


@operation
def grad(f: Callable, argnums: Argnums = 0, *, method: str = "central", step: float | None = None) -> Callable:
    """The gradient of a function that returns one real number.

    >>> grad(lambda p: p["a"] * np.sum(p["x"] ** 2))({"a": 3.0, "x": np.array([1.0, 2.0])})
    {'a': np.float64(5.00000), 'x': array([ 6.00000, 12.00000])}
    >>> grad(lambda x, y: x * y, argnums=(0, 1), method="complex-step")(2.0, 5.0)
    (np.float64(5.0), np.float64(2.0))

    Returns a function with the arguments of `f`; its result has the structure and shapes of the argument that
    `argnums` names, or is a tuple of such if `argnums` is one. Cost: for n numbers n times the calls in the table,
    which is what automatic differentiation avoids. `method` and `step` are as in `derivative`.
    """
    _check_options(method, step)

    @result_of("numerical.grad", f)
    def grad_of_f(*args: Any, **kwargs: Any) -> Any:
        program = _Program(f, args, kwargs, argnums)
        outputs = program.outputs
        if program.output_structure != _LEAF or outputs[0].shape or outputs[0].dtype.kind == "c":
            returned = " and ".join(f"{y.dtype} of shape {y.shape}" for y in outputs) or "nothing"
            raise errors.NonScalarOutputError(
                "numerical.grad needs a function that returns one real number, in no container; this one returned "
                + returned,
                remedy="return one number, for instance a sum, or use numerical.jacobian",
            )
        return _jacobian(program, method, step)

    return grad_of_f


@operation
def jacobian(f: Callable, argnums: Argnums = 0, *, method: str = "central", step: float | None = None) -> Callable:
    """The Jacobian: derivatives of all numbers that come out with respect to all that go in.

    >>> jacobian(lambda x: np.array([x[0] * x[1], x[0] + x[1] ** 2]))(np.array([2.0, 3.0]))
    array([[3.00000, 2.00000],
           [1.00000, 6.00000]])
    >>> jacobian(lambda x, y: {"sum": x + y, "product": x * y}, argnums=(0, 1))(2.0, 5.0)
    {'sum': (np.float64(1.00000), np.float64(1.00000)), 'product': (np.float64(5.00000), np.float64(2.00000))}

    Returns a function with the arguments of `f`; its result has the structure of the output, each leaf replaced by
    the structure of the input, whose leaves are of shape `output.shape + input.shape`. Cost: for n numbers going in n
    times the calls in the table. `method` and `step` are as in `derivative`.
    """
    _check_options(method, step)

    @result_of("numerical.jacobian", f)
    def jacobian_of_f(*args: Any, **kwargs: Any) -> Any:
        return _jacobian(_Program(f, args, kwargs, argnums), method, step)

    return jacobian_of_f


@operation
def hessian(f: Callable, argnums: Argnums = 0, *, method: str = "central", step: float | None = None) -> Callable:
    """The Hessian: the second derivatives of what comes out, usually one number, by all pairs of numbers going in.

    >>> hessian(lambda x: x[0] ** 2 * x[1] ** 2, method="five-point")(np.array([1.0, 2.0]))
    array([[8.00000, 8.00000],
           [8.00000, 2.00000]])
    >>> hessian(lambda x, y: x**2 * y**2, argnums=(0, 1), method="complex-step")(1.0, 2.0)
    ((np.float64(8.00000), np.float64(8.00000)), (np.float64(8.00000), np.float64(2.00000)))

    Returns a function with the arguments of `f`; its result is that of `jacobian` with the structure and shapes of
    the input put in a second time. The errors exceed those of a gradient: ε^(1/2) for "central", ε^(2/3) for
    "five-point" and "complex-step". Cost: for n numbers about n² calls for "complex-step", 1.5 n² for "forward" and
    "backward", 2 n² for "central", 8 n² for "five-point", 10 to 40 n² for "richardson". `method` and `step` are as in
    `derivative`.
    """
    _check_options(method, step)

    @result_of("numerical.hessian", f)
    def hessian_of_f(*args: Any, **kwargs: Any) -> Any:
        program = _Program(f, args, kwargs, argnums)
        units = list(program.units())
        second = np.empty((program.value.size, len(units), len(units)), program.value.dtype)
        for i, j in itertools.combinations_with_replacement(range(len(units)), 2):
            directions = [(units[i], 2)] if i == j else [(units[i], 1), (units[j], 1)]
            second[:, i, j] = second[:, j, i] = _differentiate(program, directions, method, step)
        return program.arrange(second)

    return hessian_of_f


@operation
def jvp(
    f: Callable, primals: Sequence[Any], tangents: Sequence[Any], *, method: str = "central", step: float | None = None
) -> Any:
    """The directional derivative of `f` at `primals` along `tangents`: of f(x + t·v) by t, at t = 0.

    >>> jvp(lambda x, y: x * np.sin(y), (2.0, np.zeros(2)), (1.0, np.array([1.0, 10.0])))
    array([ 2.00000, 20.00000])

    `primals` are the arguments of `f`; `tangents` have the same structure and shapes. Returns derivatives in the
    structure of the result of `f`. Cost: the calls in the table, however many numbers go in. `method` and `step` are
    as in `derivative`: the arguments move by `step` times `tangents`.
    """
    _check_options(method, step)
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise errors.MismatchError(
            f"primals and tangents must be tuples, not {type(primals).__name__} and {type(tangents).__name__}",
            remedy="for a function of one argument write numerical.jvp(f, (x,), (x_dot,))",
        )
    program = _Program(f, tuple(primals), {}, range(len(primals)))
    return program.arrange(_differentiate(program, [(program.along(tuple(tangents)), 1)], method, step))


def _check_options(method: str, step: float | None) -> None:
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}: choose one of {', '.join(map(repr, METHODS))}")
    if step is not None and not 0 < step < math.inf:
        raise ValueError(f"step must be a positive number, or None for a sensible one, not {step!r}")


# ---- The function, seen as one from numbers to numbers -------------------------------------------------------------


@dataclass(frozen=True)
class _Direction:
    """A way for the inputs to move: leaf k by t times v[k]."""

    v: list[np.ndarray]
    scale: float  # the t at which a first number has moved by max(|x|, 1)
    first: np.floating  # that number,
    speed: np.floating  # and its v

    def representable(self, h: float) -> float:
        """The step near h by which x moves once x + h is rounded: (x + h) − x (Numerical Recipes §5.7)."""
        rounded = float((self.first + self.first.dtype.type(h) * self.speed - self.first) / self.speed)
        if rounded == 0:
            raise ValueError(f"a step of {h:g} is too small to change {self.first!r}: give a larger one, or none")
        return rounded


_Move = tuple[_Direction, complex]  # along what, and how far
_LEAF = tree.flatten(0.0)[1]  # the structure of what is in no container


class _Program:
    """A call of `f` in which the leaves of the arguments that `argnums` names are free to move."""

    def __init__(self, f: Callable, args: tuple, kwargs: dict[str, Any], argnums: Argnums):
        self.f, self.args, self.kwargs = f, args, kwargs
        self.many = isinstance(argnums, Sequence)
        named = list(argnums) if isinstance(argnums, Sequence) else [argnums]
        self.argnums = [k % len(args) for k in named if -len(args) <= k < len(args)]
        if len(set(self.argnums)) != len(named):
            raise ValueError(f"argnums={argnums!r} must name different ones of {len(args)} positional arguments")
        for k in self.argnums:
            for leaf, path in zip(tree.leaves(args[k]), tree.paths(args[k]), strict=True):
                _check_input(leaf, f"argument {k}{path}")
        free = tuple(args[k] for k in self.argnums)
        self.inputs, self.input_structure = tree.flatten(free if self.many else free[0])
        self.xs = [np.asarray(leaf) for leaf in self.inputs]

        leaves, self.output_structure = tree.flatten(self._call([]))
        self.outputs = [np.asarray(leaf) for leaf in leaves]
        for leaf, y in zip(leaves, self.outputs, strict=True):
            if y.dtype.kind not in "iufc":
                raise errors.NotDifferentiableOutputError(
                    f"the function returned a value of type {type(leaf).__name__}, which has no derivative",
                    remedy="return numbers, arrays of numbers, or containers of these",
                )
        self.value = _join(self.outputs)
        precisions = (float(np.finfo(a.dtype).eps) for a in self.xs + self.outputs if a.dtype.kind in "fc")
        self.epsilon = max(precisions, default=float(np.finfo(float).eps))

    def _call(self, moves: Sequence[_Move]) -> Any:
        leaves = [
            _like(leaf, sum((t * direction.v[k] for direction, t in moves), start=self.xs[k]))
            for k, leaf in enumerate(self.inputs)
        ]
        moved = tree.unflatten(self.input_structure, leaves)
        free = dict(zip(self.argnums, moved if self.many else [moved], strict=True))
        args = [free[k] if k in free else _protect(arg) for k, arg in enumerate(self.args)]
        return self.f(*args, **_protect(self.kwargs))

    def at(self, moves: Sequence[_Move]) -> list[np.ndarray]:
        """The leaves that come out when the inputs have moved."""
        leaves, structure = tree.flatten(self._call(moves))
        outputs = [np.asarray(leaf) for leaf in leaves]
        if structure != self.output_structure or _shapes(outputs) != _shapes(self.outputs):
            raise errors.MismatchError(
                "the function returned different structures or shapes at two points that are one step apart",
                remedy="give a smaller step, or differentiate where the structure does not change",
            )
        return outputs

    def units(self) -> Iterator[_Direction]:
        """The directions that move one number each, for all numbers that go in."""
        for k, position in ((k, position) for k, x in enumerate(self.xs) for position in range(x.size)):
            v = [np.zeros_like(x) for x in self.xs]
            v[k].flat[position] = 1
            yield self._direction(v)

    def along(self, tangents: tuple) -> _Direction:
        """The direction given by tangents."""
        leaves, structure = tree.flatten(tangents)
        v = [np.asarray(leaf) for leaf in leaves]
        fits = structure == self.input_structure and _shapes(v) == _shapes(self.xs)
        if not fits or any(a.dtype.kind not in "iuf" for a in v):
            raise errors.MismatchError(
                f"tangents {tangents!r:.200} do not fit arguments of structure {self.input_structure} and shapes "
                f"{_shapes(self.xs)}",
                remedy="give one tangent for every argument: real numbers of the same structure and shape",
            )
        return self._direction([a.astype(x.dtype) for a, x in zip(v, self.xs, strict=True)])

    def _direction(self, v: list[np.ndarray]) -> _Direction:
        scale, first, speed = math.inf, np.float64(1), np.float64(1)
        for x, x_dot in zip(self.xs, v, strict=True):
            moving = x_dot != 0
            x, x_dot = x[moving], x_dot[moving]
            if x.size:
                reach = np.maximum(abs(x), 1) / abs(x_dot)
                least = np.argmin(reach)
                if reach[least] < scale:
                    scale, first, speed = float(reach[least]), x[least], x_dot[least]
        return _Direction(v, scale if scale < math.inf else 1.0, first, speed)

    def arrange(self, numbers: np.ndarray) -> Any:
        """Containers like those that come out, from an array of shape (numbers out, numbers in, …, numbers in).

        The dtype is that in which NumPy would multiply what comes out and what went in.
        """
        dtypes = [x.dtype for x in self.xs] if numbers.ndim == 1 else []
        blocks = [
            self._arrange_inputs(numbers[rows].reshape(y.shape + numbers.shape[1:]), y.ndim, [y.dtype, *dtypes])
            for y, rows in _ranges(self.outputs)
        ]
        return tree.unflatten(self.output_structure, blocks)

    def _arrange_inputs(self, block: np.ndarray, axis: int, dtypes: list[np.dtype]) -> Any:
        """Every axis from `axis` on becomes a container like the one that goes in."""
        if axis == block.ndim:
            dtype = np.result_type(*dtypes)
            return (block if dtype.kind == "c" else block.real).astype(dtype)[()]
        before, after = block.shape[:axis], block.shape[axis + 1 :]
        blocks = []
        for x, columns in _ranges(self.xs):
            part = block[(slice(None),) * axis + (columns,)].reshape(before + x.shape + after)
            blocks.append(self._arrange_inputs(part, axis + x.ndim, [*dtypes, x.dtype]))
        return tree.unflatten(self.input_structure, blocks)


def _join(arrays: list[np.ndarray]) -> np.ndarray:
    """All numbers in a new vector. The empty array makes it float64 at least: differences add no rounding."""
    return np.concatenate([np.empty(0), *(array.ravel() for array in arrays)])


def _ranges(arrays: list[np.ndarray]) -> Iterator[tuple[np.ndarray, slice]]:
    """Each array with its place in the vector that `_join` makes."""
    stops = itertools.accumulate(array.size for array in arrays)
    return ((array, slice(stop - array.size, stop)) for array, stop in zip(arrays, stops, strict=True))


def _shapes(arrays: list[np.ndarray]) -> list[tuple[int, ...]]:
    return [array.shape for array in arrays]


def _like(leaf: Any, x: Any) -> Any:
    """A new value for an argument: of the type and precision that the caller gave, or its complex counterpart."""
    to_complex = np.iscomplexobj(x)
    if not isinstance(leaf, np.ndarray | np.generic):
        return complex(x) if to_complex else float(x)
    dtype = np.result_type(leaf.dtype, np.complex64) if to_complex else leaf.dtype
    return np.array(x, dtype).view(type(leaf)) if isinstance(leaf, np.ndarray) else dtype.type(x)


def _protect(value: Any) -> Any:
    """The same with its arrays copied, since `f` is called many times and may write into what it is given."""
    if not any(isinstance(leaf, np.ndarray) for leaf in tree.leaves(value)):
        return value
    return tree.map(lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf, value)


def _check_input(leaf: Any, name: str) -> None:
    is_number = isinstance(leaf, np.ndarray | np.generic | int | float | complex)
    kind = np.asarray(leaf).dtype.kind if is_number else "O"
    if kind != "f":
        remedies = dict.fromkeys("biu", "make it floating (3.0 for 3, x.astype(float) for an array), or ")
        remedies["c"] = "let the function take the real and the imaginary part as two arguments, or "
        what = f"{leaf.dtype} array" if isinstance(leaf, np.ndarray) else type(leaf).__name__
        raise errors.NotDifferentiableInputError(
            f"{name} ({what}) cannot change by a small real step",
            remedy=remedies.get(kind, "") + "leave it out of argnums",
        )


# ---- Differences ---------------------------------------------------------------------------------------------------


def _jacobian(program: _Program, method: str, step: float | None) -> Any:
    columns = [_differentiate(program, [(unit, 1)], method, step) for unit in program.units()]
    return program.arrange(np.stack(columns, axis=1) if columns else np.empty((program.value.size, 0)))


@cache
def _stencil(method: str, order: int) -> list[tuple[int, float]]:
    """Offsets and weights: the derivative at 0 of the polynomial through the values at the offsets (Lagrange's).

    >>> _stencil("five-point", 1) == [(-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12)]
    True
    """
    width = (order + 1) // 2 + (method == "five-point")
    offsets = {"forward": range(order + 1), "backward": range(-order, 1)}.get(method, range(-width, width + 1))
    stencil = []
    for offset in offsets:
        others = [other for other in offsets if other != offset]
        coefficient = float(np.poly(others)[-1 - order])  # of tᵏ in Π (t − other)
        weight = math.factorial(order) * coefficient / math.prod(offset - other for other in others)
        stencil += [(offset, weight)] if weight else []
    return stencil


def _differentiate(
    program: _Program, directions: list[tuple[_Direction, int]], method: str, step: float | None
) -> np.ndarray:
    """All numbers that come out, differentiated along each direction as often as is said with it."""
    # The weights of a stencil add up to zero, so f(x) may be subtracted from all values: constants then cancel exactly.
    function = lambda moves: _join(program.at(moves)) - program.value if moves else 0.0
    if method == "complex-step":
        *directions, (last, order) = directions
        directions += [(last, order - 1)] if order > 1 else []
        imaginary = last.scale * program.epsilon**2 if directions or step is None else step
        function = lambda moves: _complex_step(program, moves, last, imaginary)
    power = sum(order for _, order in directions) + _ACCURACY[method]

    def estimate(shrink: float) -> np.ndarray:
        factors, divisor = [], 1.0
        for direction, order in directions:
            h = direction.scale * program.epsilon ** (1 / power) if step is None else step
            h = direction.representable(h * shrink)
            factors.append([(direction, o * h, weight) for o, weight in _stencil(method, order)])
            divisor *= h**order
        total = np.zeros(program.value.size)
        for point in itertools.product(*factors):
            moves = [(direction, t) for direction, t, _ in point if t]
            total = total + math.prod(weight for *_, weight in point) * function(moves)
        return total / divisor

    return _extrapolate(estimate, program.epsilon) if method == "richardson" else estimate(1.0)


def _complex_step(program: _Program, moves: list[_Move], direction: _Direction, h: float) -> np.ndarray:
    """Im f(x + ih) / h, or an error if imaginary parts do not get through."""
    try:
        with warnings.catch_warnings():  # NumPy only warns when an imaginary part is discarded
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            outputs = program.at([*moves, (direction, 1j * h)])
        if any(y.dtype.kind != "c" for y in outputs):
            raise TypeError("real numbers came out for complex ones")
        if any(y.dtype.kind == "c" for y in program.outputs):
            raise TypeError("complex numbers came out for real ones")
    except (TypeError, np.exceptions.ComplexWarning) as error:
        raise errors.UnsupportedFunctionError(
            f"the complex step needs a function that computes with complex numbers as it does with real ones: {error}",
            remedy="write np.* for math.*, give new arrays the dtype of the argument, do without abs, real and conj; "
            'or choose method="richardson"',
        ) from error
    return _join(outputs).imag / h


_ROWS = 20  # at most
_SHRINK = (1 + math.sqrt(5)) / 2  # from one h to the next. A simple ratio could make them all periods of f.
_SAFE = 2.0  # how much worse the newest entry must be than the best one for us to stop


def _extrapolate(estimate: Callable[[float], np.ndarray], epsilon: float) -> np.ndarray:
    """The limit of `estimate(shrink)` for shrink → 0, whose error is a series in shrink².

    C. J. F. Ridders, "Accurate computation of F′(x) and F′(x) F″(x)", Advances in Engineering Software 4 (1982),
    as in Numerical Recipes §5.7, `dfridr`: every row of Neville's tableau adds a smaller step, every column removes
    one more power. The error of an entry is estimated by its distance from the two entries that it is made of, and
    the entry with the least error wins, for each number by itself; NaN, from outside the domain of f, never does.
    """
    with np.errstate(all="ignore"):
        row = [estimate(1.0)]
        best, error = row[0], np.full(row[0].shape, np.inf)
        for n in range(1, _ROWS):
            above, row, factor = row, [estimate(_SHRINK**-n)], 1.0
            for entry in above:
                factor *= _SHRINK**2
                row.append((factor * row[-1] - entry) / (factor - 1))
                distance = np.maximum(abs(row[-1] - row[-2]), abs(row[-1] - entry))
                better = distance < error
                best, error = np.where(better, row[-1], best), np.where(better, distance, error)
            # Unlike `dfridr` we go on until something has converged: the first steps may be much too long.
            converged = error <= math.sqrt(epsilon) * abs(best)
            if np.all(converged & (abs(row[-1] - above[-1]) >= _SAFE * error)):
                break
    return best
