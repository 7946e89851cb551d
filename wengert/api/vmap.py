"""`vmap`: a function of one example as a function of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np

from wengert import tree
from wengert.api.jit import jit
from wengert.api.operators import Operated, operation, result_of
from wengert.api.signatures import Array
from wengert.box.box import Box
from wengert.box.foreign import hides_traced, where_it_hides
from wengert.box.writing import HoldsNoDerivative, settled
from wengert.capture.effects import Effects
from wengert.capture.hooks import resolve
from wengert.capture.one_of import numbers_in
from wengert.capture.program import CANNOT_BE_CAPTURED
from wengert.capture.reachable import noted
from wengert.capture.retrying import undone_if_refused
from wengert.capture.texts import TracedText
from wengert.control.differing import EachByItself
from wengert.errors import ConcretizationError, EscapedValueError, InPlaceError, MismatchError, UnsupportedFunctionError
from wengert.modes.batch import Apart, BatchTrace
from wengert.ops.index import index
from wengert.ops.library import example_of
from wengert.ops.shape import transpose
from wengert.running import making, running
from wengert.strides import copy_as
from wengert.types import ndim_of, shape_of

CANNOT_BE_TOGETHER = (ConcretizationError, UnsupportedFunctionError, HoldsNoDerivative)
"""How code refuses a batch that may well take one example."""


@overload
def vmap(f: Callable[..., Array | float], in_axes: Any = 0, out_axes: Any = 0) -> Operated[..., Array]: ...
@overload
def vmap(f: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Operated[..., Any]: ...
@operation
def vmap(f: Callable, in_axes: Any = 0, out_axes: Any = 0) -> Callable:
    """Apply a function to many examples at once, written for one.

    The examples lie along an axis of the arguments; inside `f` that axis is hidden, and each operation is applied to
    all examples together. It nests with itself and with every derivative operator: `vmap(grad(f), (None, 0))(w, X)`
    are the gradients for each example, at about the cost of one gradient of the whole batch.

    Args:
        f: a function of arrays and containers of them.
        in_axes: along which axis of each positional argument the examples lie: one number for all, or a tuple with one
            entry for each; `None` for an argument that all examples share. An entry may be a container like its
            argument, with a number or `None` for each leaf. Keyword arguments are shared.
        out_axes: at which axis of the result the examples shall lie; a number, or a container of them like the result.

    Where examples go different ways (`if x > 0`, `while x < 10`, `x[x > 0]`), or what is done can be done for one only
    (a function of a library that is not followed), they cannot be computed together: `f` is then run on one example
    after the other, as in a loop of Python. `np.where`, and `jit(vmap(f))`, are quicker.

    >>> import numpy as np
    >>> vmap(np.dot)(np.ones((3, 2)), np.arange(6.0).reshape(3, 2))
    array([1., 5., 9.])
    >>> vmap(np.dot, (0, None))(np.eye(2), np.array([5.0, 7.0]))
    array([5., 7.])
    """

    @result_of("vmap", f)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.flatten(args)
        axes = _axes_of_arguments(in_axes, args, len(leaves))
        batch = BatchTrace(_number_of_examples(leaves, axes, args))
        stacked = [x if axis is None else _moved(x, axis, 0) for x, axis in zip(leaves, axes, strict=True)]

        def arguments() -> tuple:
            boxes = [x if axis is None else batch.wrap(x) for x, axis in zip(stacked, axes, strict=True)]
            return tree.unflatten(structure, boxes)

        if running.state.capture is not None:
            result = _in_a_program(f, batch, arguments, kwargs)
        else:
            shared = [x for x, axis in zip(leaves, axes, strict=True) if axis is None]
            outside, common = noted(f, [*shared, kwargs])
            batch.splits = True
            try:
                result = _together(f, arguments(), kwargs)
                if batch.shown and any(isinstance(x, (str, bytes)) for x in tree.leaves(result)):
                    raise Apart(batch)  # each example has a text of its own
            except (Apart, *CANNOT_BE_TOGETHER) as apart:
                if isinstance(apart, Apart) and apart.trace is not batch:
                    raise
                outside.undo()
                common.undo()
                pairs = list(zip(stacked, axes, strict=True))
                examples = [
                    tree.unflatten(structure, [x if axis is None else _example(x, k) for x, axis in pairs])
                    for k in range(batch.size)
                ]
                result = _one_by_one(f, batch, examples, kwargs, common)
            finally:
                batch.splits = False
        outs, out_structure = tree.flatten(result)
        places = _axes_like(out_axes, result, len(outs), "out_axes")
        return tree.unflatten(out_structure, [_result(batch, settled(y), k) for y, k in zip(outs, places, strict=True)])

    return mapped


def _together(f: Callable, args: tuple, kwargs: dict) -> Any:
    """All examples at once."""
    running.state.depth += 1
    try:
        with making(example_of(tree.flatten(args)[0])):
            return numbers_in(resolve(f)(*args, **kwargs))
    finally:
        running.state.depth -= 1


def _in_a_program(f: Callable, batch: BatchTrace, arguments: Callable[[], tuple], kwargs: dict) -> Any:
    """All examples at once; or, if that is refused, since they do what can be done for one only, a call of a program
    for one example, of which the batch makes a loop (`control/call.py`).

    Where examples go different ways that is told at once, before other ways of staging what they do are tried, such as
    writing out a loop; these are left for functions of which there is no program for one example.
    """

    def together() -> tuple[Any, BaseException | None]:
        return undone_if_refused(lambda: _together(f, arguments(), kwargs), (Apart, *CANNOT_BE_CAPTURED))

    def one_after_the_other() -> tuple[Any, BaseException | None]:
        try:
            return numbers_in(jit(f)(*arguments(), **kwargs)), None
        except CANNOT_BE_CAPTURED as error:
            return None, error

    batch.splits, alone = True, None
    try:
        result, refusal = together()
    finally:
        batch.splits = False
    if isinstance(refusal, Apart):
        if refusal.trace is not batch:
            raise refusal
        result, alone = one_after_the_other()
        if alone is None:
            return result
        result, refusal = together()
    if any(isinstance(x, TracedText) for x in tree.flatten_until(result, lambda x: isinstance(x, TracedText))[0]):
        raise ConcretizationError(
            "a compiled vmap returns a text of values that differ between examples",
            remedy="compile the function itself, wg.vmap(wg.jit(f)), or return the values",
        )
    if refusal is None:
        return result
    if alone is None:
        result, alone = one_after_the_other()
    if alone is not None:
        raise (alone if isinstance(refusal, (EscapedValueError, EachByItself)) else refusal) from None
    return result


def _one_by_one(f: Callable, batch: BatchTrace, examples: list[tuple], kwargs: dict, common: Effects) -> Any:
    """Each example by itself; the results are put together as those of the batch.

    Each finds the arguments that all share as they were given, and leaves the same behind.
    """
    function, results, left = resolve(f), [], None
    for k, args in enumerate(examples):
        if k:
            common.undo()
        results.append(tree.flatten(numbers_in(function(*args, **kwargs))))
        left, before = common.arrays(), left
        if before is not None and not all(map(_is_same, left, before)):
            raise InPlaceError(
                "examples write different values into an array that they share",
                remedy="give each example an array of its own (in_axes=0), or write into a copy: a = a.copy()",
            )
    container = results[0][1]
    if any(other != container for _, other in results):
        raise MismatchError(
            "the function returns other containers for some examples than for others",
            remedy="return the same containers, whatever the values",
        )
    return tree.unflatten(
        container, [_stacked(batch, ys) for ys in zip(*[leaves for leaves, _ in results], strict=True)]
    )


def _is_same(x: Any, y: Any) -> bool:
    return x is y or np.array_equal(x, y, equal_nan=True)


def _example(x: Any, k: int) -> Any:
    y = index(x, pattern=(k,))
    return copy_as(y) if y.__class__ is np.ndarray else y  # the caller's arrays are not written to


def _stacked(batch: BatchTrace, examples: tuple) -> Any:
    examples = tuple([settled(y) for y in examples])
    if any(shape_of(y) != shape_of(examples[0]) for y in examples):
        shapes = ", ".join(sorted({str(shape_of(y)) for y in examples}))
        raise MismatchError(
            f"the function returns arrays of other shapes for some examples than for others: {shapes}",
            remedy="return arrays of one shape, or loop over the examples",
        )
    return batch.wrap(np.stack(examples))


def _result(batch: BatchTrace, y: Any, axis: int | None) -> Any:
    if not isinstance(y, Box) and hides_traced(y):
        raise MismatchError(
            f"a result is a {type(y).__name__}, in which there are values that differ between examples",
            remedy=where_it_hides(y),
        )
    if axis is None:
        if batch.owns(y):
            raise MismatchError(
                "out_axes is None for a result that differs between examples", remedy="give the axis for the examples"
            )
        return y
    return _moved(batch.unwrap(y), 0, axis)


def _moved(x: Any, source: int, target: int) -> Any:
    """An array with one axis moved to another place; a view, or the array itself."""
    rank = ndim_of(x)
    if not -rank <= source < rank or not -rank <= target < rank:
        raise MismatchError(
            f"axis {source or target} of an array with {rank} axes", remedy="count axes from 0, or from -1 backwards"
        )
    source, target = source % rank, target % rank
    if source == target:
        return x
    order = [k for k in range(rank) if k != source]
    order.insert(target, source)
    return transpose(x if hasattr(x, "shape") else np.asarray(x), axes=tuple(order))


def _axes_of_arguments(in_axes: Any, args: tuple, count: int) -> list[int | None]:
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        raise MismatchError(
            f"in_axes has {len(in_axes)} entries for {len(args)} positional arguments",
            remedy="give one number or None for each positional argument",
        )
    return _axes_like(in_axes, args, count, "in_axes")


def _axes_like(axes: Any, container: Any, count: int, what: str) -> list[int | None]:
    """One axis for each leaf of a container: `axes` is one for all, or a container of them, matching from the top."""
    if axes is None or isinstance(axes, (int, np.integer)):
        return [None if axes is None else int(axes)] * count
    keys: Any = None
    if isinstance(container, (tuple, list)) and isinstance(axes, (tuple, list)):
        keys = range(len(container))
    elif isinstance(container, dict) and isinstance(axes, dict) and axes.keys() == container.keys():
        keys = sorted(container)
    if keys is None or len(axes) != len(container):
        raise MismatchError(
            f"{what} does not fit the containers it is for", remedy="use a number, None, or the same containers"
        )
    found: list[int | None] = []
    for k in keys:
        found.extend(_axes_like(axes[k], container[k], len(tree.leaves(container[k])), what))
    return found


def _number_of_examples(leaves: list[Any], axes: list[int | None], args: tuple) -> int:
    sizes: dict[int, str] = {}
    for x, axis, path in zip(leaves, axes, tree.paths(args), strict=True):
        if axis is not None:
            shape = shape_of(x)
            if not -len(shape) <= axis < len(shape):
                raise MismatchError(
                    f"argument{path} has {len(shape)} axes, so the examples cannot lie along axis {axis}",
                    remedy="pass an array with an axis for examples, or None in in_axes for what all examples share"
                    + ("; a list is a container: make it an array" if any(isinstance(a, list) for a in args) else ""),
                )
            sizes.setdefault(shape[axis], path)
    if len(sizes) != 1:
        found = ", ".join(f"argument{path}: {n}" for n, path in sizes.items())
        raise MismatchError(
            f"arguments disagree about the number of examples ({found})" if sizes else "no argument has examples",
            remedy="pass arrays with as many examples each; None in in_axes for what all examples share",
        )
    return next(iter(sizes))
