"""What `container[key]` and `owner.name` are while a program is captured.

A key may be a number that only the program knows, or one of several things (`one_of.py`): then what is read is an
element of an array, or one of several things in its turn, or found by comparing the key with those of a dict.
"""

from __future__ import annotations

import functools
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.box.box import Box
from wengert.box.dispatch import SUBSCRIPTED
from wengert.box.functions.operands import array
from wengert.box.writing import settled, without_flags
from wengert.capture import placed, stage, stores
from wengert.capture.assuming import TELLS_NUMBERS_APART, tells_apart
from wengert.capture.chosen import as_array_of
from wengert.capture.containers import about_to_change, note_created
from wengert.capture.each_of import each, each_argument
from wengert.capture.growing import earlier_of, item_of
from wengert.capture.identified import identified
from wengert.capture.iteration import Items, item_at, number_at, table_of
from wengert.capture.kinds import is_object
from wengert.capture.one_of import MOST, OneOf, code_of, is_constant, one_of
from wengert.capture.open_lists import read_item
from wengert.capture.opened import is_open
from wengert.capture.references import refers
from wengert.capture.replacements import class_of, has_attribute
from wengert.capture.session import current
from wengert.capture.tables import refuse_computed
from wengert.capture.values import holds_symbols, is_number, is_symbolic, note_either
from wengert.capture.whole_numbers import method_of_integer
from wengert.capture.words import ChosenWords, are_words
from wengert.ir.numbers import as_python, innermost, python_class
from wengert.ir.symbol import Sym, known
from wengert.ops.index import ARRAY, index, place, split_index
from wengert.ops.op import Traced, call
from wengert.running import running
from wengert.types import dtype_of, shape_of

_operates_for_user = True


def key_holds_symbols(key: Any) -> bool:
    """Whether a key has in it what only the program knows."""
    if key.__class__ is tuple:
        return any(key_holds_symbols(item) for item in key)
    if key.__class__ is slice:
        return any(isinstance(end, Traced) for end in (key.start, key.stop, key.step))
    return isinstance(key, Traced) or (key.__class__ is list and holds_symbols(key))


def read(container: Any, key: Any) -> Any:
    """`container[key]`."""
    if container.__class__ is OneOf or key.__class__ is OneOf:
        return each_argument(read, (container, key), {})
    if container.__class__ in (dict, OrderedDict, Counter) and is_open_key(key, container):
        return found_under(container, key, lambda: _no_such_key(container))
    if isinstance(container, (np.ndarray, Box)):
        key = as_array_of(key)
    if container.__class__ is np.ndarray:
        return _read_array(container, key) if key_holds_symbols(key) else container[key]
    if isinstance(container, Box):
        return container[settled_key(key)]
    if isinstance(container, Items):
        return item_at(container, key)
    if (earlier := earlier_of(container)) is not None:
        return item_of(container, earlier, key)
    if is_open(container):
        return read_item(container, key)
    if container.__class__ in (tuple, list, dict) and _is_either(container, key):
        return stage.ifexp(key, lambda: read(container, True), lambda: read(container, False))
    if container.__class__ in (str, tuple, list) and (found := _at_symbol(container, key)) is not None:
        return found
    if container.__class__ in SUBSCRIPTED:
        return stores.subscripted(container, key)
    if isinstance(container, dict):
        refuse_computed(container, key)
    value = container[identified(key) if isinstance(container, dict) else key]
    session = current.session
    if session is not None:
        value = session.item(container, key, value)
    return note_created(value) if container.__class__ is list and key.__class__ is slice else value


def _read_array(container: np.ndarray, key: Any) -> Any:
    """Elements of a constant array, at places that only the program knows."""
    if are_words(container):
        now = settled_key(key)
        if not key_holds_symbols(now):  # arrays that were made here, of constants
            return container[now]
        read(np.zeros(container.shape, bool), key)  # where the place must be
        return ChosenWords(key)
    container, key = without_flags(container, settled_key(key))
    pattern, arrays = split_index(key)
    if any(isinstance(a, Traced) for a in arrays):
        return call(index, container, *arrays, pattern=pattern)
    return running.state.capture.process(index, (container, *arrays), {"pattern": pattern})


def _at_symbol(container: Any, key: Any) -> Any:
    """What a text, tuple or list holds at a place that only the program knows, as one value of the program; `None` if
    the place is known, or it cannot be one."""
    is_text = container.__class__ is str
    if not is_text and isinstance(key, Traced) and (found := _number_in(container, key)) is not None:
        return found
    if not is_text and placed.is_place(key) and (found := placed.read(container, key)) is not None:
        return found
    if not is_text and refers() and placed.is_place(key) and any(item.__class__ is OneOf for item in container):
        return _chosen_in(container, key)
    if is_symbolic(key) and not shape_of(key) and (found := _constant_in(container, key)) is not None:
        return found
    if not is_text and is_symbolic(key) and not shape_of(key) and _are_of_different_kinds(container, key):
        return _chosen_in(container, key)
    if not is_text and placed.is_place(key) and (found := placed.row_at(container, key)) is not None:
        return found
    if not is_text and key.__class__ is slice and key_holds_symbols(key):
        return placed.cut(container, settled_key(key))
    return None


def is_open_key(key: Any, mapping: dict) -> bool:
    """Whether a key of a dict is, or has in it, one of several things; or a number that only the program knows, if what
    the dict holds are numbers or constants (a loop that looks for arrays by its counter is unrolled)."""
    if key.__class__ is tuple:
        return any(is_open_key(part, mapping) for part in key)
    if key.__class__ is OneOf:
        return True
    if not is_symbolic(key) or shape_of(key) or _is_counter(key) or len(mapping) > MOST:
        return False
    return all(is_constant(v) or (is_number(v) and not shape_of(v)) for v in mapping.values())


def _is_counter(key: Any) -> bool:
    """Whether a number is the counter of a loop of known length, which may be unrolled."""
    symbol = innermost(key)
    if symbol.__class__ is not Sym or symbol._span is None or symbol._span[1] is None:
        return False
    return any(symbol._node is p for p in getattr(symbol._owner, "params", ()))


def _constant_in(container: Any, key: Any) -> Any:
    """An item of a list of texts, functions or other constants, at a place that is a symbol."""
    if dtype_of(key).kind not in "iu" or _is_counter(key) or not 0 < len(container) <= MOST:
        return None
    if not all(map(is_constant, container)):
        return None
    if current.session is not None:  # which makes sure that they are still the same
        container = [current.session.item(container, k, item) for k, item in enumerate(container)]
    codes = [code_of(item) for item in container]
    return one_of(number_at(np.array(codes), key), tuple(sorted({*codes})), {})


def _are_of_different_kinds(container: Any, key: Any) -> bool:
    """Whether a list that is read at a symbol has constants and numbers or arrays of one type, `(x, None)[k]`: a branch
    for each item can choose one."""
    if dtype_of(key).kind not in "iu" or _is_counter(key) or not 0 < len(container) <= MOST:
        return False
    others = [item for item in container if not is_constant(item)]
    if not 0 < len(others) < len(container):
        return False
    return all(map(is_number, others)) and len({(shape_of(item), dtype_of(item)) for item in others}) == 1


def _chosen_in(container: Any, key: Any) -> Any:
    place = number_at(np.arange(len(container)), key)

    def look(places: list[int]) -> Any:
        first, *rest = places
        if not rest:
            return read(container, first)
        return stage.ifexp(stage.equality(place, first, True), lambda: read(container, first), lambda: look(rest))

    return look(sorted(range(len(container)), key=lambda k: is_constant(container[k])))


def found_under(mapping: dict, key: Any, otherwise: Callable[[], Any]) -> Any:
    """What a dict holds under a key that is compared with each of its own."""
    if key.__class__ is OneOf:
        return each(key, lambda one: read(mapping, one) if one in mapping else otherwise())
    keys = list(mapping)

    def look(k: int) -> Any:
        if k == len(keys):
            return otherwise()
        return stage.ifexp(stage.equality(key, keys[k], True), lambda: read(mapping, keys[k]), lambda: look(k + 1))

    return look(0)


def _no_such_key(mapping: dict) -> Any:
    if mapping.__class__ is Counter:
        return 0
    raise KeyError(f"a key that is none of {list(mapping)}")


def _is_either(container: Any, key: Any) -> bool:
    """Whether a truth value that only the program knows chooses one of two items."""
    if not is_symbolic(key) or shape_of(key) or dtype_of(key).kind != "b":
        return False
    if container.__class__ is dict:
        return True in container and False in container
    return python_class(key) is bool and len(container) > 1  # NumPy's truth values are no indices of lists


def _number_in(container: tuple | list, key: Any) -> Any:
    """An item of a tuple or list of numbers, at a place that is a symbol: it is read in an array of them."""
    key = settled(key)
    if not shape_of(key) and dtype_of(key).kind in "iu" and any(map(is_symbolic, container)):
        if all(is_number(item) and not shape_of(item) for item in container):
            classes = {python_class(item) for item in container}
            if None in classes and len(classes) > 1 and tells_apart(TELLS_NUMBERS_APART):
                return _chosen_in(container, key)
            found = call(index, array(list(container)), place(key), pattern=(ARRAY,))
            note_either(found, *container, is_chosen=True)
            return as_python(found) if len(classes) == 1 and None not in classes else found
        return None
    if shape_of(key) or dtype_of(key).kind not in "iu":
        return None
    at = table_of(container)
    return None if at is None else at(key)


def settled_key(key: Any) -> Any:
    """A key with the current values of what is in it."""
    if key.__class__ is tuple:
        return tuple([settled_key(item) for item in key])
    if key.__class__ is slice:
        return slice(*[settled(end) for end in (key.start, key.stop, key.step)])
    if key.__class__ is list and holds_symbols(key):
        return settled(array(key))  # x[[i, j]]
    return settled(key)


def attr(owner: Any, name: str) -> Any:
    """`owner.name`."""
    if owner.__class__ is OneOf:
        return each(owner, lambda one: attr(one, name))
    if isinstance(owner, Box):
        if name == "__class__":
            return class_of(owner)
        if (of_integer := method_of_integer(owner, name)) is not None:
            return of_integer
        if not has_attribute(owner, name):
            raise AttributeError(f"'{class_of(owner).__name__}' object has no attribute '{name}'")
        if name == "shape":
            return tuple([known(n) for n in owner.shape])
        if name == "size":
            return known(owner.size)
        return getattr(owner, name)
    if _is_cached_property(owner, name):  # it is kept in the object once it has been computed
        about_to_change(owner)
    value = getattr(owner, name)
    if name == "__dict__" and value.__class__ is dict and is_object(owner):  # what is done to it is done to the object
        about_to_change(owner)
        note_created(value)
    session = current.session
    return value if session is None else session.attribute(owner, name, value)


def _is_cached_property(owner: Any, name: str) -> bool:
    for cls in owner.__class__.__mro__:
        if name in cls.__dict__:
            return cls.__dict__[name].__class__ is functools.cached_property
    return False
