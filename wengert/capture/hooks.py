"""What instrumented code calls: the hooks of `rewrite.py`.

`call(f)` decides what is called for f: a replacement (`replacements.py`), the instrumented twin of a user's function,
or f itself. What reads, stores and operators do is in `stores.py`.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import itertools
import re
import sys
from abc import ABCMeta
from collections.abc import Callable, Iterable
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from wengert import tree
from wengert.box.array_classes import (
    ArrayClasses,
    Held,
    Holding,
    are_held,
    can_hold,
    class_that_holds,
    class_without,
    look_for_classes,
)
from wengert.box.box import Box, plain
from wengert.box.cells import lent, without_cells
from wengert.box.dispatch import CALLABLES, CALLERS, FUNCTIONS, METHODS, first_by_name, name_of, no_rule_yet
from wengert.box.distributions.lookup import is_of_scipy_stats
from wengert.box.distributions.tails import Depths
from wengert.box.foreign import cannot_hold
from wengert.box.functions.applying import Vectorized
from wengert.box.functions.lifted import Lifted
from wengert.box.functions.sparse_matrix import SparseMatrix, not_supported
from wengert.box.lists import method_of_array, method_of_ufunc, taking_lists
from wengert.box.number_classes import HeldNumber, can_hold_number
from wengert.box.ufunc_methods import Folds
from wengert.capture import rewrite
from wengert.capture.autograd import behind_autograd, unless_boxed
from wengert.capture.classes import meet, meet_value, without_follower
from wengert.capture.draws import GENERATORS, random_method
from wengert.capture.followed import depths, folds
from wengert.capture.followed.elements import each
from wengert.capture.held_arrays import takes_held, with_held
from wengert.capture.instrument import (
    DECORATED,
    EAGER,
    STAGED,
    TWIN,
    instrument,
    is_user_code,
    is_user_file,
    is_user_function,
    set_hooks,
    written_arguments,
)
from wengert.capture.local_values import local_values
from wengert.capture.matching import MATCHED, matched
from wengert.capture.numba import python_of
from wengert.capture.one_of import demand_known_things
from wengert.capture.ownership import own, own_attributes, owning_items
from wengert.capture.read_texts import in_percent, read_text
from wengert.capture.replacements import (
    FOLLOW_ARGUMENTS,
    REPLACEMENTS,
    class_of,
    extreme_of_intervals,
    replacement_of,
    replaces,
)
from wengert.capture.rewrite import ANYTHING, CONSTANTS, OUT, OVERWRITING
from wengert.capture.stores import (
    augment,
    augment_attribute,
    augment_item,
    holds_traced,
    operate,
    read,
    store,
    store_in_attribute,
    store_in_item,
)
from wengert.capture.writing_calls import (
    FIRST_WRITTEN,
    overwriting,
    place_of_result,
    set_in,
    tell_of_method,
    writing_first,
    writing_out,
)
from wengert.counted import all_count
from wengert.errors import REFUSALS, ConcretizationError, WengertError, names_our_class, refusals
from wengert.imported import PENDING, look_for_imports
from wengert.ops.op import Traced
from wengert.packages import is_followed, is_ours, is_program_of_library, is_standard
from wengert.running import running
from wengert.types import own_dict

_operates_for_user = True

__all__ = ["instrument", "resolve", "written_arguments"]

_CONTEXT_MANAGER = contextlib.contextmanager(lambda: iter(())).__code__
"""What `@contextmanager` makes of every function: it calls the user's generator function."""
_UFUNC = np.ufunc
_DISPATCHER = type(np.sum)
Vectorized.loop = staticmethod(lambda *args: instrument(each)(*args))
Depths.deep_enough = staticmethod(lambda *args: instrument(depths.deep_enough)(*args))
Folds.reduced = staticmethod(lambda *args: instrument(folds.reduced)(*args))
Folds.accumulated = staticmethod(lambda *args: instrument(folds.accumulated)(*args))


def call(f: Any, operands: int = 1, given: int = ANYTHING) -> Any:
    """What to call for `f`, with so many operands of such a kind (see `rewrite.py`)."""
    if operands == OVERWRITING:
        return overwriting(f, call(f, OUT, given))
    if ArrayClasses.exist and takes_held(f, False):
        return with_held(f, _called(f, operands, given), call)
    return _called(f, operands, given)


def _called(f: Any, operands: int, given: int) -> Any:
    kind = type(f)
    if kind is _UFUNC:
        found = taking_lists(f, f) if given == ANYTHING else f
        return found if operands <= f.nin else writing_out(found, f.nin)
    if kind is _DISPATCHER:
        found = REPLACEMENTS.get(f, f)
        if given == ANYTHING:
            found = taking_lists(f, found)
        if operands < 3:
            return found
        place = place_of_result(f)
        return writing_out(found, place) if operands == OUT or place < operands else found
    if kind is FunctionType:
        return _twin_of(f) or _for_function(f)
    if kind is BuiltinFunctionType:
        return _for_builtin(f, operands, given)
    if kind is MethodWrapperType and isinstance(f.__self__, np.ndarray):
        return tell_of_method(f, operands, f)
    if kind is MethodWrapperType and f.__name__ == "__call__" and not _calls_in_python(f.__self__.__class__):
        return call(f.__self__)
    found = _OF_KIND[kind](f) if kind in _OF_KIND else _for_class(f) if isinstance(f, type) else None
    return _for_other(f) if found is None else found


def _twin_of(f: Any) -> Any:
    """The twin that was made for a function before, while nothing asks for another one."""
    twin = f.__dict__.get(TWIN)
    if twin is None or twin[0] is not f.__code__ or f in REPLACEMENTS:
        return None
    if running.state.capture is not None or running.state.budget is not None:
        return None
    found = twin[1]
    return found if found.__defaults__ is f.__defaults__ and found.__kwdefaults__ is f.__kwdefaults__ else None


def _calls_in_python(kind: type) -> bool:
    """Whether a call runs Python code, as of a metaclass, in which `super().__call__` is another thing."""
    return inspect.getattr_static(kind, "__call__").__class__ is FunctionType


def _for_class(f: Any) -> Any:
    if f in CALLERS:
        return _implemented(CALLERS[f])
    found = replacement_of(f) if f.__class__ is type or f.__class__ is ABCMeta else None
    return _constructor(f) if found is None else found


def _for_other(f: Any) -> Any:
    """What is called for an object that has a class of its own."""
    kind = type(f)
    if PENDING:
        look_for_imports()
    if kind in CALLABLES:
        return CALLABLES[kind](f)
    if kind.__name__ in _OF_COMPILERS:
        return with_instrumented_arguments(f, False)
    python = python_of(f)
    return instrument(f) if python is None else _of_numba(f, python)


def _for_function(f: Any) -> Any:
    """What is called for a function of Python's kind that has no twin yet."""
    f = without_follower(f)
    behind = behind_autograd(f)
    if behind is not None:
        return unless_boxed(f, call(behind))
    if is_user_code(f.__code__):
        if PENDING:
            look_for_imports()
        if f in CALLERS:  # made by exec: some of SciPy's are
            return _implemented(CALLERS[f])
        return REPLACEMENTS.get(f) or instrument(f)
    if f.__code__ is _CONTEXT_MANAGER:
        return contextlib.contextmanager(instrument(f.__wrapped__))
    if f.__code__ in DECORATED and is_user_function(f):
        return instrument(f)
    if f.__closure__ and is_standard(f.__code__.co_filename):
        return _decorated(f)
    found = replacement_of(f)
    if found is not None:
        return found
    if f in CALLERS:
        return _implemented(CALLERS[f])
    if f.__module__ in _OF_FRAMES:
        return f
    if f.__module__ == "logging" and f.__name__ in _LOGGED:
        return logging_plain_values(f)
    return with_instrumented_arguments(f, not _of_a_library(f.__module__))


_OF_FRAMES = frozenset(("pdb", "bdb", "inspect", "traceback"))
"""Modules that ask who has called: it is to be the user."""
_LOGGED = frozenset(("debug", "info", "warning", "error", "exception", "critical", "log"))


def logging_plain_values(f: Any) -> Any:
    """A function or a method of the logging module, which makes a text of traced values by itself."""

    def called(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.flatten((args, kwargs))
        args, kwargs = tree.unflatten(structure, [plain(x) for x in leaves])
        return f(*args, **{**kwargs, "stacklevel": kwargs.get("stacklevel", 1) + 1})

    return called


def _for_builtin(f: Any, operands: int, given: int) -> Any:
    """What is called for a function or method that is written in C."""
    if isinstance(f.__self__, GENERATORS):
        return random_method(f)
    if f.__name__ == "__new__" and f.__self__ in _NEW:
        return _NEW[f.__self__]
    if f.__self__.__class__ is _MODULE:
        found = replacement_of(f)
        if found is not None:
            return found
        return with_instrumented_arguments(f, False) if _of_a_library(f.__self__.__name__) else f
    if isinstance(f.__self__, np.ndarray):
        return tell_of_method(f, operands, f if given == CONSTANTS else method_of_array(f))
    if f.__self__.__class__ is _UFUNC:
        if f.__name__ == "at":
            return writing_first(f)
        return method_of_ufunc(f) if operands < 4 else writing_out(method_of_ufunc(f), 3)
    kind = f.__self__.__class__
    if PENDING and getattr(builtins, kind.__name__, None) is not kind:
        look_for_imports()
    if (kind, f.__name__) in METHODS:
        return functools.partial(METHODS[kind, f.__name__], f)
    if f.__name__ == "sort" or _is_compiled(kind):
        sorts = f.__name__ == "sort"
        return with_instrumented_arguments(f, sorts, sorts)
    return f


def _for_method(f: Any) -> Any:
    """What is called for a method that is bound to its object."""
    if isinstance(f.__self__, GENERATORS):
        return random_method(f)
    f = without_follower(f)
    if is_user_function(f):
        meet_value(f.__self__)
        return instrument(f)
    if isinstance(f.__self__, Traced) and f.__name__ == "__array__":  # which NumPy may not ask for, but a program may
        return functools.partial(_called_for(np.array), f.__self__, copy=None)
    if f.__func__.__class__ is _CACHED:
        return functools.partial(_uncached(f.__func__), f.__self__)
    found = None if isinstance(f.__self__, Traced) or f.__self__.__class__.__hash__ is None else replacement_of(f)
    if found is None and not isinstance(f.__self__, Traced):
        method = replacement_of(f.__func__)
        if method is not None:
            return MethodType(method, f.__self__)
    if found is not None:
        return found
    if is_of_scipy_stats(f):
        return with_instrumented_arguments(instrument(f), False)
    if f.__func__.__module__ == "logging" and f.__name__ in _LOGGED:
        return logging_plain_values(f)
    if f.__func__.__module__ in _OF_FRAMES:
        return f
    return with_instrumented_arguments(f, not _of_a_library(f.__self__.__class__.__module__))


_OF_COMPILERS = frozenset(("cython_function_or_method", "fused_cython_function", "fortran"))
"""Classes of functions that Cython and f2py make; each module has its own."""


def _unbound(f: Any) -> Any:
    """`np.ndarray.sum`: a method of arrays that is given one. Its class may have another, which calls this one."""
    if f.__objclass__ not in ArrayClasses.bases:
        return None

    def called(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], Holding):
            return getattr(ArrayClasses.bases[f.__objclass__], f.__name__)(*args, **kwargs)
        if not args or not (args[0].__class__ is np.ndarray or isinstance(args[0], Traced)):
            return f(*args, **kwargs)
        return call(getattr(args[0], f.__name__))(*args[1:], **kwargs)

    return called


def _of_numba(f: Any, python: Any) -> Any:
    """A function that numba compiles: on plain values it is what it is."""
    twin, itself = call(python), with_instrumented_arguments(f, False)

    def called(*args: Any, **kwargs: Any) -> Any:
        return (twin if any(map(holds_traced, _all(args, kwargs))) else itself)(*args, **kwargs)

    return called


def _under_errstate(f: FunctionType) -> Any:
    """A function under `@np.errstate(…)`, as if that were a `with` statement in it."""
    state = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))["self"].cell_contents
    settings = {name: getattr(state, f"_{name}", None) for name in ("all", "divide", "over", "under", "invalid")}

    def called(*args: Any, **kwargs: Any) -> Any:
        with _called_for(np.errstate)(**settings):
            return _called_for(f.__wrapped__)(*args, **kwargs)  # type: ignore[attr-defined]

    return called


def _decorated(f: FunctionType) -> Any:
    """A function that a decorator of Python's (of functools, of contextlib) has made of one of the user's."""
    if hasattr(f, "registry") and hasattr(f, "dispatch"):  # functools.singledispatch
        return lambda *args, **kwargs: call(f.dispatch(kind_of(args[0])))(*args, **kwargs)
    cells = f.__closure__ or ()
    contents = {name: cell.cell_contents for name, cell in zip(f.__code__.co_freevars, cells, strict=True)}
    of_method = contents.get("self")
    if isinstance(of_method, functools.singledispatchmethod):
        return lambda *args, **kwargs: call(
            of_method.dispatcher.dispatch(kind_of(args[0])).__get__(contents["obj"], contents["cls"])
        )(*args, **kwargs)
    if not any(is_user_function(content) for content in contents.values()):
        if PENDING:
            look_for_imports()
        return _implemented(CALLERS[f]) if f in CALLERS else with_instrumented_arguments(f)
    closure = tuple([CellType(call(c) if is_user_function(c) else c) for c in contents.values()])
    twin = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, closure)
    twin.__kwdefaults__ = f.__kwdefaults__
    return twin


DECORATED[np.errstate()(len).__code__] = _under_errstate
DECORATED[contextlib.ContextDecorator()(len).__code__] = _decorated


def kind_of(x: Any) -> type:
    """`x.__class__`."""
    return class_of(x) if isinstance(x, Box) else x.__class__


def _constructor(cls: Any) -> Any:
    """What is called for a class."""
    if cls.__module__ == "builtins":
        return cls
    meet(cls)
    if _of_a_library(cls.__module__) and not _is_of_user(cls) and not can_hold(cls):
        return with_instrumented_arguments(cls, False)
    if issubclass(cls, np.ndarray):
        return functools.partial(_array_of_user, cls)
    if issubclass(cls, HeldNumber) or can_hold_number(cls):
        return functools.partial(_number_of_user, cls)
    return lambda *args, **kwargs: own_attributes(cls(*args, **kwargs))


def _new_array(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.ndarray.__new__`."""
    return (Held if issubclass(cls, Held) else np.ndarray).__new__(cls, *args, **kwargs)


def _array_of_user(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """An array of a class that users have derived from NumPy's."""
    given = list(_all(args, kwargs))
    demand_known_things(given, 1)
    is_written_to = can_hold(cls) and any(isinstance(a, Traced) for a in given)  # it may be, as the cell that it shows
    if not is_written_to and not any(map(holds_traced, given)) and not are_held(given):
        return cls(*args, **kwargs)
    if not issubclass(cls, Held) and not can_hold(cls):
        raise cannot_hold(cls.__name__)
    kind: Any = class_that_holds(cls)
    new = _called_for(kind.__new__)(kind, *args, **kwargs)
    if isinstance(new, cls) and kind.__init__ is not np.ndarray.__init__:
        _called_for(kind.__init__)(new, *args, **kwargs)
    return new


def _new_number(cls: Any, *args: Any) -> Any:
    """`float.__new__`."""
    return (HeldNumber if issubclass(cls, Holding) else float).__new__(cls, *args)


_NEW: dict[Any, Callable] = {np.ndarray: _new_array, float: _new_number}


def _number_of_user(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A number of a class that users have derived from Python's."""
    given = _all(args, kwargs)
    if not any(map(holds_traced, given)) and not are_held(given):
        return own_attributes(class_without(cls)(*args, **kwargs))
    kind: Any = class_that_holds(cls)
    new = _called_for(kind.__new__)(kind, *args, **kwargs)
    if isinstance(new, cls) and kind.__init__ is not object.__init__:
        _called_for(kind.__init__)(new, *args, **kwargs)
    return own_attributes(new)


def _is_of_user(cls: Any) -> bool:
    module = sys.modules.get(cls.__module__)
    return is_user_file(getattr(module, "__file__", None) or "<string>")


def resolve(f: Any) -> Any:
    """What a derivative operator calls for the function it is given: as `call`, but nothing is wrapped needlessly."""
    look_for_classes()
    twin = instrument(f)
    if twin is not f or isinstance(f, Traced) or is_of_package(f) or f.__class__ is _UFUNC or is_user_function(f):
        return twin  # (which a twin is itself: what it writes to is known of it)
    return _called_for(f)


def _called_for(f: Any) -> Any:
    """What instrumented code calls for a function."""
    return (STAGED if running.state.capture is not None else EAGER).hooks[rewrite.CALL].cell_contents(f)


def is_of_package(f: Any) -> bool:
    """Whether something that can be called is of this package, and knows what it is given."""
    while f.__class__ is functools.partial:
        f = f.func
    module = f.__module__ if type(f) is FunctionType else f.__class__.__module__
    return isinstance(module, str) and module.partition(".")[0] == "wengert"


_MODULE = type(sys)
_CACHED = functools._lru_cache_wrapper


def _uncached(f: Any) -> Any:
    """A function with a cache: what is traced, or holds what is, is no key of it."""

    def called(*args: Any, **kwargs: Any) -> Any:
        for a in (*args, *kwargs.values()):
            if isinstance(a, Traced) or (a.__class__ not in _KEYS and _cannot_be_key(a)):
                return call(f.__wrapped__)(*args, **kwargs)
        return f(*args, **kwargs)

    return called


_OF_KIND: dict[type, Callable[[Any], Any]] = {
    MethodType: _for_method,
    MethodDescriptorType: _unbound,
    WrapperDescriptorType: _unbound,
    functools.partial: lambda f: functools.partial(call(f.func), *[_argument(a) for a in f.args], **f.keywords),
    _CACHED: _uncached,
}
"""What is called for a function, by its class; `None` where that does not decide."""


_KEYS = (int, float, str, bool, type(None))


def _cannot_be_key(a: Any) -> bool:
    """Whether something is no key because of traced values in it: a tuple, or an object that is known by its fields."""
    try:
        hash(a)
    except ConcretizationError:
        return True
    except TypeError:
        pass  # the function says so itself
    return False


def with_instrumented_arguments(f: Any, keeps: bool = True, makes: bool = False) -> Any:
    """A library function that calls functions it is given: those of the user's are instrumented on the way in.

    Unless it `keeps` what it is given (as `list.append` does), it gets plain arrays for cells. Some call classes, too
    (`map(float, x)`), which `makes` says; to others they are types of elements.
    """

    def called(*args: Any, **kwargs: Any) -> Any:
        given = args, kwargs
        args = tuple([_argument(a, keeps, makes) for a in args])
        kwargs = {k: _argument(a, keeps, makes and k != "dtype") for k, a in kwargs.items()}
        if keeps or (isinstance(f, type) and issubclass(f, np.generic)):
            return f(*args, **kwargs)
        refused_before, refusal = refusals.of_conversions, None
        if _searches(f, args, kwargs):
            raise no_rule_yet(f)
        try:
            result = f(*args, **kwargs)
            if refusals.of_conversions == refused_before or _shows_traced(result):
                plain = [a for a, x in zip(_all(args, kwargs), _all(*given), strict=True) if a is not x]
                return lent(result, plain) if plain else result
        except Exception as error:  # pandas, for one, has classes of its own
            swallowed = refusals.of_conversions > refused_before and not isinstance(error, WengertError)
            given_now = _all(args, kwargs)
            if _is_of_sparse_matrices(error, given_now):
                raise not_supported(f"{name_of(f)} of a sparse matrix with traced entries") from error
            if not swallowed and not _rejects_traced(error, f) and not _names_class(error, given_now):
                raise
            refusal = error
        raise no_rule_yet(f) from (None if isinstance(refusal, ConcretizationError) else refusal)  # it says less

    return called


_DIFFERENCES = ("approx_fprime", "check_grad")
"""Functions of scipy.optimize that are formulas, whose steps have the right derivatives."""


def _searches(f: Any, args: tuple, kwargs: dict) -> bool:
    """Whether a solver of SciPy's without a rule is given a function that depends on traced values.

    The derivative of an answer is not that of the steps to it: a search that only compares would be constant.
    """
    if type(f) is not FunctionType or not str(f.__module__).startswith("scipy.optimize"):
        return False  # a constraint holds functions, and searches for nothing
    if f.__name__ in _DIFFERENCES:
        return False
    functions = [a for a in _all(args, kwargs) if isinstance(a, (FunctionType, MethodType))]
    return bool(functions and Lifted(functions).values)


def _all(args: tuple, kwargs: dict) -> tuple:
    return (*args, *kwargs.values())


def _implemented(f: Any) -> Any:
    """What a function that calls functions means on traced values: it gets instrumented functions, and plain arrays for
    cells."""

    def called(*args: Any, **kwargs: Any) -> Any:
        return f(*[_argument(a, False) for a in args], **{k: _argument(a, False) for k, a in kwargs.items()})

    return called


def _shows_traced(result: Any, depth: int = 3) -> bool:
    """Whether there are traced values in what a library function returned."""
    if isinstance(result, Traced) or not depth:
        return isinstance(result, Traced)
    if isinstance(result, dict):
        return any(_shows_traced(item, depth - 1) for item in result.values())
    if isinstance(result, (list, tuple)):
        return any(_shows_traced(item, depth - 1) for item in result)
    return any(_shows_traced(item, depth - 1) for item in own_dict(result).values())


def _rejects_traced(error: BaseException, f: Any) -> bool:
    """Whether an error out of a library's function means that it cannot work on traced values.

    Not what was refused in a function of the user's that the library called: that says itself what is wrong.
    """
    if isinstance(error, SystemError):
        return True  # C code that went on although a conversion had failed
    if isinstance(error, WengertError) and not isinstance(error, ConcretizationError):
        return False
    if isinstance(error, ConcretizationError) and str(error).startswith(("float(x)", "complex(x)")):
        return True  # conversions in users' code do not come to this; and C code may report one late, in a callback
    innermost, trace = None, error.__traceback__
    while trace is not None:
        if not is_ours(trace.tb_frame.f_code.co_filename):
            innermost = trace.tb_frame
        trace = trace.tb_next
    if innermost is not None and is_user_code(innermost.f_code):
        filename = innermost.f_code.co_filename
        own = innermost.f_globals.get("__name__", "").partition(".")[0] == str(f.__module__).partition(".")[0]
        if not own and not filename.endswith(_SOURCE_OF_CYTHON) and not _is_of_a_library(filename):
            return False
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConcretizationError):
            return True
        cause = cause.__cause__ or cause.__context__
    return any(f"{word} " in f"{error} " or f"{word}'" in str(error) for word in ("traced array", "symbolic array"))


def _is_of_a_library(filename: str) -> bool:
    return filename.endswith(_SOURCE_OF_CYTHON) or is_program_of_library(filename)


_SOURCE_OF_CYTHON = (".pyx", ".pxd", "<stringsource>")


_NO_OPERATOR = "type not understood"
"""What `scipy.sparse.linalg.aslinearoperator` says of matrices that it does not know, of whatever class."""


def _names_class(error: BaseException, args: tuple) -> bool:
    """Whether an error is about the class of a traced argument: "expected numpy.ndarray, got Dual", "not 'Sym'"."""
    words = str(error) if isinstance(error, TypeError) else ""
    if words == _NO_OPERATOR:
        return any(isinstance(a, Traced) for a in args)
    names = {name for a in args if isinstance(a, Traced) for name in (type(a).__name__, type(a).__qualname__)}
    return any(
        f"'{name}'" in words or re.search(rf"got {name}\b", words) or f" {name}(" in words or " <symbol " in words
        for name in names
    )


def _is_of_sparse_matrices(error: BaseException, args: tuple) -> bool:
    """Whether a function without a rule was given a sparse matrix with traced entries, and takes it for no matrix."""
    return isinstance(error, (TypeError, ValueError)) and any(isinstance(a, SparseMatrix) for a in args)


def _argument(a: Any, keeps: bool = True, makes: bool = False) -> Any:
    if makes and isinstance(a, type):
        return _called_for(a)
    if a.__class__ is _DISPATCHER or (type(a) is BuiltinFunctionType and a.__self__.__class__ is _MODULE):
        return REPLACEMENTS.get(a, a) if running.state.capture is None else _called_for(a)  # map(math.sin, x)
    if isinstance(a, Traced):
        return a if keeps else without_cells(a)
    if a.__class__ is SparseMatrix and not keeps:
        return a.plain_if_known()
    is_function = type(a) is FunctionType
    if is_user_function(a) or (makes and not is_function and _is_only_called(a)):
        return instrument(a)
    found = replacement_of(a) if is_function else None  # map(np.asarray_chkfinite, xs)
    return found or (a if python_of(a) is None else call(a))


def _is_only_called(a: Any) -> bool:
    """Whether something is an object that can be called, and neither gone through nor compared."""
    kind = type(a)
    return callable(a) and not hasattr(kind, "__iter__") and kind.__lt__ is object.__lt__  # type: ignore[operator]


def _is_compiled(kind: type) -> bool:
    """Whether a class with methods in C is of a library; some call themselves builtin."""
    if kind.__module__ == "builtins":
        return kind.__flags__ & _HEAP_TYPE != 0 and getattr(builtins, kind.__name__, None) is not kind
    return _of_a_library(kind.__module__)


_HEAP_TYPE = 1 << 9
"""Of classes that are made when a program runs (`Py_TPFLAGS_HEAPTYPE`)."""


def _of_a_library(module: Any) -> bool:
    """Whether a module, by name, is of a library other than Python's own, which works on arrays and keeps none."""
    if not isinstance(module, str):
        return False
    root = module.partition(".")[0]
    return root != "wengert" and root not in sys.stdlib_module_names


for _function in (np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal):
    REPLACEMENTS[_function] = first_by_name(_function, writing_first(FUNCTIONS[_function]))
for _function in FIRST_WRITTEN:
    REPLACEMENTS.setdefault(_function, writing_first(_function))
for _function in FOLLOW_ARGUMENTS:
    REPLACEMENTS.setdefault(_function, with_instrumented_arguments(_function, makes=True))
REPLACEMENTS[min] = extreme_of_intervals(REPLACEMENTS[min], np.minimum, np.min)
REPLACEMENTS[max] = extreme_of_intervals(REPLACEMENTS[max], np.maximum, np.max)
for _iterator in (map, itertools.starmap, itertools.accumulate):
    REPLACEMENTS[_iterator] = owning_items(_iterator)


def is_builtin(name: str, f: Any) -> bool:
    """Whether a name stands for Python's own function."""
    return f is getattr(builtins, name)


def shown_in(text: str, values: Any) -> str:
    """`text % values`. In a batch there is a text for each example, of which the first are shown."""
    if not isinstance(text, str):
        return text % values
    if values.__class__ is tuple:
        return _shown(values, lambda *plain_values: text % plain_values)
    if values.__class__ is dict:
        return _shown(values.values(), lambda *plain_values: text % dict(zip(values, plain_values, strict=True)))
    return _shown((values,), lambda value: text % value) if isinstance(values, Traced) else text % values


def _shown(values: Iterable[Any], write: Callable[..., str]) -> str:
    values = list(values)
    shown = [v._shown(is_part=True) if isinstance(v, Box) else v for v in values]
    batched = [isinstance(v, Traced) and np.ndim(p) > len(v.shape) for v, p in zip(values, shown, strict=True)]  # type: ignore[attr-defined]
    if not any(batched):
        return write(*[in_percent(p) if isinstance(v, Box) else p for v, p in zip(values, shown, strict=True)])
    n = min(len(p) for p, is_batched in zip(shown, batched, strict=True) if is_batched)
    texts = [write(*[p[k] if b else p for p, b in zip(shown, batched, strict=True)]) for k in range(min(n, 3))]
    return f"[{', '.join(texts)}{', …' if n > 3 else ''}]"


def refused(named: Any) -> Any:
    """What the handlers of a `try` let pass: our errors, unless the classes that they handle are some of them."""
    try:
        classes = named()
    except Exception:  # the expression after `except` raises; it will once more if Python comes to it
        return REFUSALS
    while any(isinstance(c, tuple) for c in classes):
        classes = [inner for c in classes for inner in (c if isinstance(c, tuple) else (c,))]
    if any(isinstance(c, type) and issubclass(c, WengertError) for c in classes):
        return ()
    return BaseException if _stands_for_refusal(sys.exc_info()[1]) else REFUSALS


def _stands_for_refusal(error: BaseException | None) -> bool:
    """Whether code of others raised an error because a traced value is no number, or in place of ours that said so."""
    if error is None or isinstance(error, REFUSALS):
        return False
    if names_our_class(error):
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or running.state.cut_at == (trace.tb_frame.f_code, trace.tb_lasti):
        return trace is not None
    frame = trace.tb_frame  # of code that is left alone, which looked at the class of what it was given?
    is_left_alone = not (is_followed(frame.f_code.co_filename) or is_ours(frame.f_code.co_filename))
    return error.__class__ is TypeError and is_left_alone and any(isinstance(v, Box) for v in frame.f_locals.values())


@replaces(contextlib.suppress)
class _Suppress(contextlib.suppress):
    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        if isinstance(error, refused(lambda: self._exceptions)):  # type: ignore[attr-defined]
            return False
        return super().__exit__(kind, error, trace)


EAGER_HOOKS: dict[str, Any] = {
    rewrite.CALL: call,
    rewrite.OWN: own,
    rewrite.REFUSED: refused,
    rewrite.READ: read,
    rewrite.STORE: store,
    rewrite.STORE_IN_ITEM: store_in_item,
    rewrite.STORE_IN_ATTRIBUTE: store_in_attribute,
    rewrite.AUGMENT: augment,
    rewrite.AUGMENT_ITEM: augment_item,
    rewrite.AUGMENT_ATTRIBUTE: augment_attribute,
    rewrite.SLICE: slice,
    rewrite.FORMAT: shown_in,
    rewrite.OPERATE: operate,
    rewrite.CLASS_OF: kind_of,
    rewrite.SET_IN: set_in,
    rewrite.READ_TEXT: read_text,
    rewrite.LOCALS: local_values,
    MATCHED: functools.partial(matched, is_instance=REPLACEMENTS[isinstance]),
}
set_hooks(EAGER_HOOKS)


all_count(globals())
