"""Random numbers: NumPy's generators and Python's, in compiled functions and on traced values.

A compiled function draws when it runs, in the order in which the function itself would draw, from the generator itself:
one that it is given or finds outside goes on from where it is, one that it makes is made anew at each call. The numbers
are NumPy's own.

A draw with a location and a scale is `loc + scale * z` with a standard draw z, which is what NumPy computes, and so it
is differentiated. Drawing from an array is drawing indices. Other parameters have no derivative rule, and say so.

In a batch all examples have the same draw, as NumPy code that is run once would.
"""

from __future__ import annotations

import functools
import math
import random
import threading
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, MethodType
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.functions.operands import array, holds_traced, operand
from wengert.capture.values import is_symbolic
from wengert.capture.writing_calls import tell_of
from wengert.control.effects import called_back
from wengert.errors import StagingError, UnsupportedFunctionError
from wengert.ir.infer import Found
from wengert.ir.numbers import as_python
from wengert.ops.act import undifferentiable
from wengert.ops.index import ARRAY, index
from wengert.ops.op import Traced
from wengert.running import running
from wengert.types import SCALARS, broadcast_shapes, dtype_of, is_inexact, shape_of

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


class Made:
    """Stands for a generator that a compiled function makes: while the program runs, each thread has its own."""

    def __init__(self, make: Callable, seeds: Sequence[Any]):
        self._make = make
        self._sample = make(0)
        self._current = threading.local()
        called_back(self._start, seeds, ())

    @property
    def stands_for(self) -> type:
        """The class of the generator."""
        return type(self._sample)

    def _start(self, *seeds: Any) -> tuple:
        self._current.generator = self._make(*seeds)
        return ()

    def __getattr__(self, name: str) -> Any:
        if not hasattr(self._sample, name):
            raise AttributeError(f"a random generator has no attribute {name!r}")
        return functools.partial(drawn, lambda: self._current.generator, self._sample, name)


class StateKept:
    """Stands for the state of a generator, which a compiled function keeps and puts back."""

    def __init__(self, read: Callable[[], Any]):
        self._read = read
        self._of_thread = threading.local()
        called_back(self._keep, (), ())

    def _keep(self) -> tuple:
        self._of_thread.state = self._read()
        return ()

    def now(self) -> Any:
        return self._of_thread.state

    def __repr__(self) -> str:
        return "<the state of a random generator>"

    def _refused(self, *_: Any) -> Any:
        raise StagingError("a compiled function looks into the state of a random generator",
                           remedy="only give it back, with setstate or set_state")  # fmt: skip

    __getitem__ = __iter__ = __len__ = __eq__ = __hash__ = _refused


def _size(args: tuple, kwargs: dict, position: int) -> Any:
    size = kwargs["size"] if "size" in kwargs else args[position] if len(args) > position else None
    lengths = size if isinstance(size, (tuple, list)) else (size,)
    if any(isinstance(n, Traced) for n in lengths):
        raise StagingError("a number of random numbers that is known only when the compiled program runs",
                           remedy="draw as many as may be needed, and use a part of them")  # fmt: skip
    return size


# Parameters (name, default) of the methods, in order, before `size`; how the result comes from a standard draw.


def _scaled(z: Any, loc: Any, scale: Any) -> Any:
    return loc + scale * z


_LOCATED: dict[str, tuple[Sequence[tuple[str, float]], Callable[[Any, Any], Any], Callable]] = {
    "normal": ((("loc", 0.0), ("scale", 1.0)), lambda g, n: g.standard_normal(n), _scaled),
    "laplace": ((("loc", 0.0), ("scale", 1.0)), lambda g, n: g.laplace(size=n), _scaled),
    "logistic": ((("loc", 0.0), ("scale", 1.0)), lambda g, n: g.logistic(size=n), _scaled),
    "gumbel": ((("loc", 0.0), ("scale", 1.0)), lambda g, n: g.gumbel(size=n), _scaled),
    "uniform": ((("low", 0.0), ("high", 1.0)), lambda g, n: g.random(n), lambda z, low, high: low + (high - low) * z),
    "exponential": ((("scale", 1.0),), lambda g, n: g.standard_exponential(n), lambda z, scale: scale * z),
    "rayleigh": ((("scale", 1.0),), lambda g, n: g.rayleigh(size=n), lambda z, scale: scale * z),
    "lognormal": ((("mean", 0.0), ("sigma", 1.0)), lambda g, n: g.standard_normal(n),
                  lambda z, mean, sigma: np.exp(mean + sigma * z)),
}  # fmt: skip
_OF_PYTHON: dict[str, tuple[Callable[[Any], Any], Callable]] = {
    "uniform": (lambda g: g.random(), lambda z, a, b: a + (b - a) * z),
    "gauss": (lambda g: g.gauss(0.0, 1.0), lambda z, mu=0.0, sigma=1.0: mu + z * sigma),
    "normalvariate": (lambda g: g.normalvariate(0.0, 1.0), lambda z, mu=0.0, sigma=1.0: mu + z * sigma),
    "expovariate": (lambda g: g.expovariate(1.0), lambda z, lambd=1.0: z / lambd),
}
_STATES = frozenset(("seed", "spawn", "bit_generator", "bytes", "randbytes", "sample", "choices", "getrandbits"))
_READ, _WRITTEN = ("getstate", "get_state"), ("setstate", "set_state")


_OF_ITEMS = frozenset(("shuffle", "sample", "choice", "choices", *_READ, *_WRITTEN))
"""What moves items of lists about, whatever they are, or the generator's own state."""


def _holds_boxes(args: tuple, kwargs: dict) -> bool:
    return any(isinstance(a, (Box, np.ndarray)) for a in (*args, *kwargs.values()))


def _is_traced(args: tuple, kwargs: dict) -> bool:
    return any(isinstance(a, Traced) or holds_traced(a) for a in (*args, *kwargs.values()))


def drawn(get: Callable[[], Any], sample: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """A method of a generator, which `get` gives when the program runs; `sample` is one of the same kind."""
    if running.state.capture is None and name in _OF_ITEMS | _STATES and not _holds_boxes(args, kwargs):
        return getattr(get(), name)(*args, **kwargs)
    if name in _READ and running.state.capture is not None:
        return StateKept(lambda: getattr(get(), name)(*args, **kwargs))
    if name in _WRITTEN and running.state.capture is not None:
        (state,) = (*args, *kwargs.values())
        called_back(lambda: getattr(get(), name)(state.now() if isinstance(state, StateKept) else state) or (), (), ())
        return None
    if name == "shuffle":
        tell_of(args[0] if args else kwargs.get("x"))
    elif "out" in kwargs:
        return _drawn_into(get, sample, name, args, kwargs)
    of_python = isinstance(sample, random.Random)
    if name == "shuffle" and len(args) == 1 and not kwargs and args[0].__class__ is list:
        return _shuffled(get, args[0])
    if name in ("permutation", "shuffle", "permuted", "choice") and not of_python:
        return _rearranged(get, sample, name, *args, **kwargs)
    if _is_traced(args, kwargs):
        if of_python and name in _OF_PYTHON:
            standard, combine = _OF_PYTHON[name]
            (z,) = called_back(lambda: standard(get()), (), (Found((), np.dtype(float), True),))
            return combine(z, *args, **kwargs)
        if not of_python and name in _LOCATED:
            return _located(get, name, args, kwargs)
        if name == "standard_gamma" or name == "gamma":
            return _gamma(get, sample, name, *args, **kwargs)
    return _called(get, sample, name, args, kwargs)


def _drawn_into(get: Callable, sample: Any, name: str, args: tuple, kwargs: dict) -> Any:
    """A draw with `out=`: NumPy writes to plain arrays, in a program the draw is written to one."""
    rest = {key: value for key, value in kwargs.items() if key != "out"}
    out = kwargs["out"]
    if running.state.capture is None and not isinstance(out, Traced):
        tell_of(out)
        return getattr(get(), name)(*args, **kwargs)
    if out is None:
        return drawn(get, sample, name, *args, **rest)
    if name == "standard_gamma" or not args:
        rest.setdefault("size", shape_of(out))
    y = drawn(get, sample, name, *args, **rest)
    if shape_of(y) != shape_of(out):
        raise ValueError("size does not match that of the output array")
    out[...] = y
    return out


def _located(get: Callable, name: str, args: tuple, kwargs: dict) -> Any:
    parameters, standard, combine = _LOCATED[name]
    size = _size(args, kwargs, len(parameters))
    given = dict(zip([p for p, _ in parameters], args, strict=False)) | {k: v for k, v in kwargs.items() if k != "size"}
    values = [operand(given.get(p, default)) for p, default in parameters]
    shape = broadcast_shapes([shape_of(v) for v in values])
    wanted = shape if size is None else tuple(size) if isinstance(size, (tuple, list)) else (int(size),)
    if broadcast_shapes([shape, wanted]) != wanted:
        raise ValueError("Output size is not compatible with broadcast dimensions of inputs.")
    scale = values[-1]
    if not isinstance(scale, Traced) and name != "uniform" and np.any(np.asarray(scale) < 0):
        raise ValueError(f"{parameters[-1][0]} < 0")
    (z,) = called_back(lambda: standard(get(), wanted or None), (), (Found(wanted, np.dtype(float), not wanted),))
    return combine(z, *values)


def _gamma(get: Callable, sample: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    if name == "gamma":
        scale = kwargs.pop("scale", args[1] if len(args) > 1 else 1.0)
        size = _size(args, kwargs, 2)
        kwargs.pop("size", None)
        shape = kwargs.pop("shape", args[0] if args else None)
        if size is None and shape_of(scale):
            size = broadcast_shapes([shape_of(operand(scale)), shape_of(operand(shape))])
        return scale * drawn(get, sample, "standard_gamma", shape, size=size)
    return _called(get, sample, name, args, kwargs)


def _rearranged(get: Callable, sample: Any, name: str, x: Any, *args: Any, **kwargs: Any) -> Any:
    """Permutations and choices are those of positions."""
    of_array = isinstance(x, (Box, np.ndarray, list, tuple)) and not (isinstance(x, Box) and not x.shape)
    plain = not is_symbolic(x) and not holds_traced(x)
    if (
        plain
        and not _is_traced(args, kwargs)
        and name != "shuffle"
        and isinstance(x, (int, np.integer, range, np.ndarray))
    ):
        return _called(get, sample, name, (x, *args), kwargs)
    if name == "permuted" or kwargs.get("axis", 0) != 0 or (name == "shuffle" and not isinstance(x, (Box, np.ndarray))):
        raise UnsupportedFunctionError(
            f"{name} of a random generator, of this, on values that are known only when the program runs",
            remedy="draw positions with permutation(n), and index with them",
        )
    x = array(x) if of_array else x
    n = shape_of(x)[0] if of_array else x
    if isinstance(n, Traced) or n.__class__ is not int:
        raise StagingError("a permutation of a length that is known only when the compiled program runs",
                           remedy="use arrays of a length that is known")  # fmt: skip
    positions = _called(get, sample, "permutation" if name == "shuffle" else name, (n, *args), kwargs)
    if not of_array:
        return positions
    y = index(x, positions, pattern=(ARRAY,))
    if name != "shuffle":
        return y
    x[...] = y
    return None


def _shuffled(get: Callable, items: Any) -> None:
    """`shuffle` of a list of numbers, in a program: their positions are shuffled."""
    n = len(items)

    def positions() -> np.ndarray:
        shuffled = list(range(n))
        get().shuffle(shuffled)
        return np.array(shuffled, np.int64)

    if not all(x.__class__ in SCALARS or isinstance(x, Traced) for x in items):
        raise StagingError(
            "shuffle of a random generator, of a list of other things than numbers, in a compiled function",
            remedy="shuffle a list of positions, and use them as indices",
        )
    (places,) = called_back(positions, (), (Found((n,), np.dtype(np.int64), False),))
    is_of_python = all(x.__class__ in SCALARS for x in items)
    moved = index(array(items), places, pattern=(ARRAY,))
    items[:] = [as_python(moved[k]) if is_of_python else moved[k] for k in range(n)]


_DUMMIES = (lambda k: None, lambda k: 0.5, lambda k: 0.25 * (k + 1), lambda k: 2 + k, lambda k: 5 - k)


def _called(get: Callable, sample: Any, name: str, args: tuple, kwargs: dict) -> Any:
    """Any other method: called back, with the values of its parameters."""
    what = f"{name} of a random generator"
    if name in _STATES and name != "seed":
        raise StagingError(f"{what} in a compiled function", remedy="call it outside, and pass numbers as arguments")
    names = list(kwargs)
    given = [*args, *kwargs.values()]
    places = [k for k, a in enumerate(given) if isinstance(a, Traced) or holds_traced(a)]
    operands = [_marked(array(given[k]), what) for k in places]
    if running.state.capture is None and any(isinstance(x, Traced) for x in operands):
        raise UnsupportedFunctionError(
            f"{what} has no derivative rule: its result does not depend on this parameter as on a location or a scale",
            remedy="use wg.stop_gradient where no derivative is wanted",
        )

    def function(*values: Any) -> Any:
        filled = list(given)
        for k, value in zip(places, values, strict=True):
            filled[k] = value
        n = len(filled) - len(names)
        y = getattr(get(), name)(*filled[:n], **dict(zip(names, filled[n:], strict=True)))
        return () if y is None else y

    if running.state.capture is None:
        return getattr(get(), name)(*args, **kwargs)
    if name == "seed":
        called_back(function, operands, (), what)
        return None
    found = called_back(function, operands, (_type_of_draw(sample, name, given, places, names),), what)
    return found[0]


def _marked(x: Any, what: str) -> Any:
    if not isinstance(x, Traced) or not is_inexact(dtype_of(x)):
        return x
    return undifferentiable(x, what=what, why="its result does not depend on this parameter as on a location or scale")


def _type_of_draw(sample: Any, name: str, given: list, places: list[int], names: list[str]) -> Found:
    """What a draw gives, tried on another generator."""
    failure: Exception | None = None
    for dummy in _DUMMIES:
        filled = list(given)
        for k in places:
            x = array(given[k])
            number = dummy(k)
            if number is None:  # probabilities add up to one
                number = 1.0 / math.prod(shape_of(x))
            if dtype_of(x).kind != "f":
                number = max(int(number), 1) + k
            filled[k] = np.full(shape_of(x), number, dtype_of(x)) if shape_of(x) else dtype_of(x).type(number).item()
        n = len(filled) - len(names)
        trial = random.Random(0) if isinstance(sample, random.Random) else type(sample)(np.random.MT19937(0))
        try:
            y = getattr(trial, name)(*filled[:n], **dict(zip(names, filled[n:], strict=True)))
        except Exception as error:
            failure = failure or error
            continue
        if y.__class__ not in SCALARS and not isinstance(y, (np.ndarray, np.generic)):
            raise StagingError(f"{name} of a random generator gives a {type(y).__name__}, which is no number",
                               remedy="call it outside and pass what it gives as an argument")  # fmt: skip
        return Found(shape_of(y), dtype_of(y), y.__class__ in SCALARS)
    assert failure is not None
    raise failure


def random_method(f: Any) -> Callable | None:
    """What is called for a method of a generator; `None` for all other functions."""
    if type(f) is not BuiltinFunctionType and type(f) is not MethodType:
        return None
    owner = f.__self__
    if not isinstance(owner, GENERATORS):
        return None
    return functools.partial(drawn, lambda: owner, owner, f.__name__)


def generator_made(f: Any) -> Callable | None:
    """What is called for a function that makes a generator."""
    if f is np.random.seed:
        return _seed
    if f is np.random.default_rng or f is np.random.RandomState or f is random.Random:
        return functools.partial(_made, f)
    return None


def _seed(seed: Any = None) -> None:
    called_back(lambda *seeds: np.random.seed(*seeds) or (), () if seed is None else (seed,), ())  # noqa: NPY002


def _made(make: Callable, /, *seeds: Any, **named: Any) -> Any:
    seeds = (*seeds, *named.values())
    if len(seeds) == 1 and isinstance(seeds[0], (GENERATORS, Made)):
        return seeds[0]
    if any(not isinstance(s, Traced) and s.__class__ is not int and s is not None for s in seeds):
        fixed = tuple(seeds)
        return Made(lambda *_: make(*fixed), ())
    symbols = tuple(s for s in seeds if s is not None)
    return Made(make, symbols)
