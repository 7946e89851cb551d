"""Python's builtins and NumPy's constructors in staged code, where numbers and lengths may be symbols.

`BUILTINS` says what is called in place of each. What depends on the hooks themselves, as `str`, `setattr` or `list` do,
is added in `staged_hooks.py`.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.constructors import bounds_of_arange
from wengert.box.dispatch import FUNCTIONS, entered_in, first_by_name
from wengert.box.functions.operands import cast, demand, demand_real, fitted
from wengert.box.writing import settled
from wengert.capture import hooks, ordering, real_or_complex, retrying, rewrite, stage, whole_numbers
from wengert.capture.copying import COPYING
from wengert.capture.deciding import condition
from wengert.capture.draws import Made
from wengert.capture.followed.unknown_content import UnknownContent
from wengert.capture.growing import as_array, earlier_of, length_of
from wengert.capture.iteration import Items, counted_range, staged_enumerate, staged_range, staged_reversed, staged_zip
from wengert.capture.one_of import OneOf, whether
from wengert.capture.open_lists import JOINING, as_an_array, columns, length
from wengert.capture.opened import Opened, is_open
from wengert.capture.replacements import demand_number
from wengert.capture.values import as_number, converted, holds_symbols, is_symbolic, truth
from wengert.capture.whole_numbers import as_pythons, of_integers
from wengert.capture.words import ChosenWords, are_words
from wengert.capture.words import refused as words_refused
from wengert.errors import StagingError
from wengert.ir.infer import DependsOnWhetherInteger
from wengert.ir.node import Type
from wengert.ir.numbers import as_python, check_whole, noted_boolean, python_class
from wengert.ir.symbol import Sym, known
from wengert.ops import elementwise as e
from wengert.ops import shape as s
from wengert.ops.op import Traced
from wengert.ops.sizes import counting, iota
from wengert.running import running
from wengert.types import dtype_of, shape_of

_operates_for_user = True

BUILTINS: dict[Any, Callable] = {
    range: staged_range,
    enumerate: staged_enumerate,
    reversed: staged_reversed,
    **ordering.REPLACED,
    **real_or_complex.REPLACED,
    **COPYING,
    **whole_numbers.REPLACED,
    operator.contains: lambda things, item: stage.chain(item, ("contains",), lambda: things),
    operator.countOf: lambda things, item: ordering.number_in(list(things), item),
    operator.indexOf: lambda things, item: ordering.place_in(list(things), item),
    operator.not_: stage.not_,
}
"""What is called in place of builtins, and of constructors with lengths that may be symbols."""


replaces = functools.partial(entered_in, BUILTINS)


def _is_plain_symbol(x: Any) -> bool:
    """Whether a symbol stands for a number that is differentiated by nobody inside the program."""
    return is_symbolic(x) and settled(x).__class__ is Sym


@replaces(len)
def _len(x: Any) -> Any:
    if isinstance(x, Items):
        return x.count
    if (earlier := earlier_of(x)) is not None:
        return length_of(x, earlier)
    if is_open(x):
        return length(x)
    if isinstance(x, Box):
        return known(x.shape[0]) if x.shape else len(x)
    return len(x)


def _conversion(original: Callable, dtype: Any, default: Any) -> Callable:
    eager = hooks.REPLACEMENTS.get(original, original)

    def python_number(x: Any = default, /, *base: Any, **named: Any) -> Any:
        demand_number(x)
        if is_symbolic(x):
            demand_real(x, original)
        if base or named:  # of a text
            return eager(x, *base, **named)
        if is_symbolic(x) and dtype is np.int64:
            check_whole(x)
        if _is_plain_symbol(x):
            return as_number(x, dtype)
        if is_symbolic(x) and dtype is np.int64:
            return as_number(e.stop_gradient(x), dtype)
        y = eager(x)
        return as_python(y) if is_symbolic(y) else y

    return python_number


BUILTINS[int] = _conversion(int, np.int64, 0)
BUILTINS[float] = _conversion(float, np.float64, 0.0)


def _numpy_scalar(kind: type) -> Callable:
    eager = hooks.REPLACEMENTS.get(kind, kind)

    def converted_to(*args: Any) -> Any:
        if len(args) != 1 or not is_symbolic(args[0]):
            return eager(*args)
        x = args[0]
        if settled(x).__class__ is Sym and not shape_of(x):
            return converted(fitted(x, np.dtype(kind)), Type((), np.dtype(kind), False))
        return eager(x)

    return converted_to


for _kind in (np.float64, np.float32, np.complex128, np.complex64, np.bool_, np.int64, np.int32, np.int16, np.int8,
              np.uint64, np.uint32, np.uint16, np.uint8):  # fmt: skip
    BUILTINS[_kind] = _numpy_scalar(_kind)


@replaces(bool, operator.truth)
def _bool(x: Any = False) -> Any:
    x = condition(x)
    return as_python(truth(x)) if is_symbolic(x) else bool(settled(x))


def _rounding(op: Any, original: Callable) -> Callable:
    eager = hooks.REPLACEMENTS.get(original, original)

    def rounded(x: Any) -> Any:
        demand_number(x)
        if not is_symbolic(x):
            return eager(x)
        check_whole(x)
        if dtype_of(x).kind in "iu" and not shape_of(x):
            return as_pythons(x)
        return as_number(op(e.stop_gradient(x)), np.int64)

    return rounded


BUILTINS[math.floor] = _rounding(e.floor, math.floor)
BUILTINS[math.ceil] = _rounding(e.ceil, math.ceil)
BUILTINS[math.trunc] = _rounding(e.trunc, math.trunc)


@replaces(round)
def _round(number: Any, ndigits: Any = None) -> Any:
    x = number
    if not is_symbolic(x):
        return round(x) if ndigits is None else round(x, ndigits)
    if shape_of(x):
        raise TypeError("type numpy.ndarray doesn't define __round__ method")
    if ndigits is None and not shape_of(x):
        check_whole(x)
        return as_pythons(x) if dtype_of(x).kind in "iu" else as_number(e.rint(e.stop_gradient(x)), np.int64)
    y = e.round(x, decimals=ndigits or 0)
    return y if python_class(x) is None else as_python(y)


@replaces(pow)
def _pow(base: Any, exp: Any, mod: Any = None) -> Any:
    if mod is None or not any(map(is_symbolic, (base, exp, mod))):
        return hooks.REPLACEMENTS.get(pow, pow)(base, exp) if mod is None else pow(base, exp, mod)
    return of_integers(pow)(base, exp, mod)


@replaces(sum)
def _sum(iterable: Any, /, start: Any = 0) -> Any:
    if isinstance(iterable, Box) and is_symbolic(iterable) and iterable.ndim and not _is_known_to_be_empty(iterable):
        kind = dtype_of(iterable)
        total = FUNCTIONS[np.sum](iterable, axis=0, dtype=kind if kind.kind in "iu" else None)
        return total if start.__class__ is int and start == 0 else start + total
    return sum(iterable, start)


def _is_known_to_be_empty(array: Any) -> bool:
    """Whether nothing is added to a zero, which stays an integer."""
    return shape_of(array)[:1] == (0,)


@replaces(zip)
def _zip(*iterables: Any, strict: bool = False) -> Any:
    if len(iterables) == 1 and iterables[0].__class__ is Opened:  # zip(*items)
        return columns(iterables[0])
    return staged_zip(*iterables, strict=strict)


def _all_of(original: Callable, numpy_function: Callable) -> Callable:
    def answer(iterable: Any, /) -> Any:
        iterable = as_an_array(iterable) if is_open(iterable) else iterable
        if isinstance(iterable, Box) and is_symbolic(iterable) and iterable.ndim == 1:
            return noted_boolean(FUNCTIONS[numpy_function](iterable))
        decides = original is any
        values: list[Any] = []
        items = map(condition, iterable)
        for value in items:
            if is_symbolic(value):
                values = [value, *retrying.without_effects(items, original.__name__)]
                break
            if bool(settled(value)) is decides:
                return decides
        if not values:
            return not decides
        combine = stage.or_ if decides else stage.and_
        return noted_boolean(truth(combine(*[lambda v=v: v for v in values])))

    return answer


BUILTINS[any], BUILTINS[all] = _all_of(any, np.any), _all_of(all, np.all)


@replaces(isinstance)
def _isinstance(x: Any, classes: Any) -> Any:
    of_value = hooks.REPLACEMENTS[isinstance]
    if x.__class__ is OneOf:
        return whether(x, lambda one: _isinstance(one, classes))
    if x.__class__ is ChosenWords:
        words_refused()
    if x.__class__ is Made or isinstance(x, UnknownContent):
        return issubclass(x.stands_for, classes)
    if isinstance(x, Box) and issubclass(int, classes) != issubclass(float, classes):
        _demand_one_class(x)
    return of_value(x, classes)


@replaces(type)
def _type(*args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and isinstance(args[0], Box):
        _demand_one_class(args[0])
    if len(args) == 1 and isinstance(args[0], UnknownContent):
        return args[0].stands_for
    return hooks.REPLACEMENTS[type](*args, **kwargs)


def _demand_one_class(x: Box) -> None:
    """Refuse to say what class a number is of that is an integer in some cases, and a float in others."""
    if not shape_of(x) and settled(x)._may_be_integer and dtype_of(x).kind == "f":
        raise DependsOnWhetherInteger(
            "it is asked for the class of a number that is an integer in some cases and a float in others, which is "
            "known only when the compiled program runs",
            remedy="let it be a float in all of them: 0.0 in place of 0",
        )


@replaces(np.errstate)
def _errstate(**settings: Any) -> Any:
    loud = [f'{name}="{how}"' for name, how in settings.items() if how not in (None, "ignore", "warn")]
    if loud:
        raise StagingError(
            f"np.errstate({', '.join(loud)}) in a compiled function: compiled code looks at no floating-point flags",
            remedy="test for what must not happen, for instance with np.isfinite, or use wg.debug_nans; "
            "Python's own numbers raise as in Python",
        )
    return np.errstate(**settings)


@replaces(np.seterr)
def _seterr(*args: Any, **settings: Any) -> Any:
    if any(how not in (None, "ignore", "warn") for how in (*args, *settings.values())):
        return _seterrcall()
    return np.geterr()  # compiled code warns of nothing


@replaces(np.seterrcall)
def _seterrcall(*args: Any) -> Any:
    raise StagingError("a compiled function changes NumPy's settings, which would happen only once",
                       remedy="change them outside, or use with np.errstate(...)")  # fmt: skip


# ------------------------------------------------------------------------------------------- constructors of arrays


def _lengths(shape: Any) -> tuple:
    shape = settled(shape)
    if isinstance(shape, (tuple, list)):
        return tuple([settled(n) for n in shape])
    return (shape,)


def _filling(original: Callable, value: Any) -> Callable:
    eager = hooks.REPLACEMENTS[original]

    def constructed(shape: Any = (), dtype: Any = float, *rest: Any, **options: Any) -> Any:
        lengths = _lengths(shape)
        if not any(map(is_symbolic, lengths)):
            return eager(shape, dtype, *rest, **options)
        dtype = np.dtype(float if dtype is None else dtype)
        return s.copy(running.state.capture.process(s.broadcast_to, (dtype.type(value),), {"shape": lengths}))

    return constructed


for _function, _value in ((np.zeros, 0), (np.ones, 1), (np.empty, 0)):
    BUILTINS[_function] = _filling(_function, _value)


@replaces(np.tri)
def _tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, **options: Any) -> Any:
    rows, columns = _lengths((N, N if M is None else M))
    if not any(map(is_symbolic, (rows, columns, settled(k)))):
        return hooks.REPLACEMENTS[np.tri](N, M, k, dtype, **options)
    down, along = s.reshape(counting(rows), shape=(rows, 1)), counting(columns)
    return cast(e.greater_equal(down + settled(k), along), dtype)


@replaces(np.eye)
def _eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, *rest: Any, **options: Any) -> Any:
    rows, columns = _lengths((N, N if M is None else M))
    if not any(map(is_symbolic, (rows, columns, settled(k)))):
        return hooks.REPLACEMENTS[np.eye](N, M, k, dtype, *rest, **options)
    down, along = s.reshape(counting(rows), shape=(rows, 1)), counting(columns)
    return cast(e.equal(down + settled(k), along), dtype)


@replaces(np.identity)
def _identity(n: Any, dtype: Any = None, **options: Any) -> Any:
    return _eye(n, dtype=float if dtype is None else dtype, **options)


@replaces(np.full)
def _full(shape: Any, fill_value: Any, dtype: Any = None, *rest: Any, **options: Any) -> Any:
    lengths = _lengths(shape)
    if not any(map(is_symbolic, lengths)):
        return hooks.REPLACEMENTS[np.full](shape, fill_value, dtype, *rest, **options)
    value = settled(fill_value)
    if isinstance(value, Traced):
        return s.copy(s.broadcast_to(value if dtype is None else cast(value, dtype), shape=lengths))
    if dtype is not None:
        value = np.dtype(dtype).type(value)
    return s.copy(running.state.capture.process(s.broadcast_to, (value,), {"shape": lengths}))


@replaces(np.full_like)
def _full_like(a: Any, fill_value: Any, dtype: Any = None, *rest: Any, shape: Any = None, **options: Any) -> Any:
    lengths = _lengths(tuple([known(n) for n in shape_of(settled(a))]) if shape is None else shape)
    if not any(map(is_symbolic, lengths)):
        return hooks.REPLACEMENTS[np.full_like](a, fill_value, dtype, *rest, shape=shape, **options)
    return _full(lengths, fill_value, dtype_of(settled(a)) if dtype is None else dtype)


@replaces(np.arange)
def _arange(*args: Any, **options: Any) -> Any:
    if not any(is_symbolic(settled(x)) for x in (*args, *options.values())):
        return hooks.REPLACEMENTS[np.arange](*args, **options)
    *bounds, dtype = bounds_of_arange(args, options)
    bounds = [settled(b) for b in bounds]
    dtype = None if dtype is None else np.dtype(dtype)
    if dtype is not None and bounds[0].__class__ is not int:
        fitted(bounds[0], dtype)
    if any(dtype_of(b).kind not in "iu" for b in bounds):
        return _evenly_spaced(bounds, dtype)
    items = counted_range(*bounds)
    counted = running.state.capture.process(iota, (), {"n": items.count})
    return items.item(counted) if dtype is None else cast(items.item(counted), dtype)


def _between(original: Callable) -> Callable:
    """`np.linspace` and its like, which ask only the ends whether they are traced."""

    def spaced(start: Any, stop: Any, num: Any = 50, *rest: Any, **options: Any) -> Any:
        num = settled(num)
        if is_symbolic(num):
            return FUNCTIONS[original](start, stop, num, *rest, **options)
        return hooks.call(original, 1, rewrite.ANYTHING)(start, stop, num, *rest, **options)

    return spaced


for _spacing in (np.linspace, np.logspace, np.geomspace):
    BUILTINS[_spacing] = _between(_spacing)


def _evenly_spaced(bounds: list, dtype: Any) -> Any:
    """`np.arange` between floats: as many as NumPy computes."""
    start, stop, step = bounds
    if any(dtype_of(b).kind not in "iuf" for b in bounds) or (dtype is not None and dtype.kind not in "f"):
        raise StagingError("np.arange with bounds that are no integers and known only when the compiled program runs, "
                           "of a type that is no float", remedy="use a + step * np.arange(n)")  # fmt: skip
    many = e.ceil(e.divide(*[e.stop_gradient(x) if isinstance(x, Traced) else x for x in (stop - start, step)]))
    demand(e.isfinite(many), "arange: cannot compute length")
    count = cast(e.maximum(many, 0.0), np.int64)
    places = cast(running.state.capture.process(iota, (), {"n": count}), np.float64)
    return cast(start + places * (start + step - start), dtype or np.result_type(*map(dtype_of, bounds), np.float64))


def _of_lists(original: Callable) -> Callable:
    def joined(things: Any, *rest: Any, **options: Any) -> Any:
        if original in JOINING and is_open(things):
            return JOINING[original](as_an_array(things), *rest, **options)
        found = as_array(things) if not rest and not options and original in _AS_ROWS else None
        return hooks.call(original, 1, rewrite.ANYTHING)(things, *rest, **options) if found is None else found

    return joined


_AS_ROWS = (np.array, np.asarray, np.stack)
for _joining in {*_AS_ROWS, *JOINING}:
    BUILTINS[_joining] = first_by_name(_joining, _of_lists(_joining))


def _choosing(original: Callable) -> Callable:
    """`np.where` or `np.select`, which may choose among texts."""

    def chosen_from(tests: Any, *choices: Any, **options: Any) -> Any:
        listed = [c for choice in choices for c in (choice if choice.__class__ in (list, tuple) else [choice])]
        if holds_symbols(tests) and any(isinstance(c, str) or are_words(c) for c in listed):
            return ChosenWords(tests)
        return hooks.call(original, 1, rewrite.ANYTHING)(tests, *choices, **options)

    return chosen_from


BUILTINS[np.where], BUILTINS[np.select] = _choosing(np.where), first_by_name(np.select, _choosing(np.select))
