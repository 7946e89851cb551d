"""From a user's function to its instrumented twin.

The twin is compiled from the rewritten syntax tree (`rewrite.py`) under the same file name, with the same line numbers,
and shares everything with the original: globals, closure cells, defaults. So tracebacks, breakpoints and coverage point
at the user's lines, and what the original would see the twin sees.

There are three kinds of twins. Those of the eager kind run on traced values as Python would; in those of the staged
kind control flow goes through hooks too (`lower.py`), so that it can be captured; in those of the looped kind through
hooks that let loops be run again (`looped.py`). All are made of the same code here, and their hooks have the same
names, but each kind has functions of its own behind them.

A twin is made once per code object. Which code is followed says `packages.py`: the user's, and that of most installed
packages. A function whose source cannot be had has a twin of another kind (`sourceless.py`).
"""

from __future__ import annotations
import __future__

import ast
import functools
import re
import threading
import weakref
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType, WrapperDescriptorType
from typing import Any

import numpy as np

from wengert.box.array_classes import ArrayClasses
from wengert.box.dispatch import BLIND, HAVE_MEANING
from wengert.box.distributions.lookup import is_of_scipy_stats, stand_in
from wengert.capture import twins
from wengert.capture.classes import Follow, followed, meet, meet_value
from wengert.capture.deep import deeply
from wengert.capture.followed.decorated import decorated
from wengert.capture.local_values import with_locals_written_out
from wengert.capture.locate import Located, locate
from wengert.capture.lower import LOWERED_HOOKS, UNDEFINED, defined, lower
from wengert.capture.lowered import DEFINED, UNDEFINED_NAME
from wengert.capture.matching import without_match
from wengert.capture.numba import python_of
from wengert.capture.of_code import OfCode
from wengert.capture.rewrite import HOOKS, PrivateNames, Rewriter
from wengert.capture.sourceless import twin_without_source
from wengert.capture.syntax import OURS, at, copied
from wengert.capture.written import Write, may_write, parameter_at, parameter_named, writes_of
from wengert.counted import with_references
from wengert.imported import look_for_imports
from wengert.packages import is_followed, is_program_of_library
from wengert.running import running
from wengert.types import wrapped_in

TWIN, STAGED_TWIN, LOOPED_TWIN = "__wengert_twin__", "__wengert_staged_twin__", "__wengert_twin_looped__"
_WRITES = "__wengert_writes__"
_WRITTEN = "__wengert_written__"
_NOTHING = (None, None)
_TWIN_OF = "__wengert_twin_of__"
"""The function that a twin was made of: what is compiled inside a function that is differentiated is that."""

_lock = threading.RLock()


class _Original:
    """A function that its twin does not keep alive; in another process, to which twins are sent, there is none."""

    def __init__(self, f: Any = None):
        self._reference = None if f is None else weakref.ref(f)

    def __call__(self) -> Any:
        return None if self._reference is None else self._reference()

    def __reduce__(self) -> tuple:
        return _Original, ()


class TwinKind:
    """A kind of twins: where they are kept, and what their hooks do.

    `attribute` is the attribute of functions that holds their twin, `made` has the twins' code by the code they were
    made from, `finished` the code that needs no twin of this kind.
    """

    def __init__(self, attribute: str, hooks: tuple[str, ...]):
        self.attribute = attribute
        self.entered: Callable[[Any], None] = lambda f: None
        """Called with each function whose twin is asked for."""
        self.allocated: Callable[[Any], None] = lambda instance: None
        """Called with each instance that is made, before it is initialised."""
        self.operates: Callable[[Any], None] = lambda instance: None
        """Called with each instance of which a special method is called."""
        self.made = OfCode()
        self.finished = OfCode()
        self.load: Callable | None = None
        """What a global name stands for, in functions without source."""
        self.hooks = {name: CellType() for name in hooks}
        """The free variables of the twins that are not the user's."""

    def set_hooks(self, table: dict[str, Any]) -> None:
        for name, function in table.items():
            self.hooks[name].cell_contents = function


EAGER = TwinKind(TWIN, HOOKS)
STAGED = TwinKind(STAGED_TWIN, (*HOOKS, *LOWERED_HOOKS))
LOOPED = TwinKind(LOOPED_TWIN, (*HOOKS, *LOWERED_HOOKS))
STAGED.set_hooks({UNDEFINED_NAME: UNDEFINED, DEFINED: defined})
set_hooks, set_staged_hooks = EAGER.set_hooks, STAGED.set_hooks


def staged(f: Any) -> Any:
    """The staged twin of a callable; the callable itself where there is nothing to rewrite."""
    return instrument(f, STAGED)


def instrument(f: Any, of: TwinKind | None = None) -> Any:
    """The instrumented twin of a callable; the callable itself where there is nothing to rewrite.

    While a program is captured it is the staged twin, and the capture is told (`STAGED.entered`).
    """
    kind = type(f)
    if of is None:
        state = running.state
        of = STAGED if state.capture is not None else EAGER if state.budget is None else LOOPED
    if kind is FunctionType:
        return _instrumented_function(f, of)
    if kind is MethodType:
        return stand_in(f) if is_of_scipy_stats(f) else _instrumented_method(f.__func__, f, of)
    if kind is functools.partial:
        function = instrument(f.func, of)
        args = tuple([instrument(a, of) if is_user_function(a) else a for a in f.args])
        return f if function is f.func and args == f.args else functools.partial(function, *args, **f.keywords)
    if kind is type or isinstance(f, type):
        meet(f)
        return f
    if kind is BuiltinFunctionType:
        return f
    python = python_of(f)
    if python is not None:
        return instrument(python, of)
    if kind is np.vectorize:
        return BLIND[kind](instrument(f.pyfunc, of), f.otypes, None, f.excluded, f.cache, f.signature)
    meet_value(f)
    if is_of_scipy_stats(f):
        return stand_in(f)
    method = _call_of(kind)
    if type(method) is FunctionType and is_user_code(method.__code__):
        return _instrumented_method(method, f, of)
    return f


def _call_of(kind: type) -> Any:
    """What a call of an object of a class runs. (Functions that wrapt decorates pretend to be what they wrap: `type`
    tells, `__class__` does not.)"""
    method = kind.__dict__.get("__call__") or getattr(kind, "__call__", None)  # noqa: B004
    if type(method) is WrapperDescriptorType and method.__objclass__.__name__ in _OF_WRAPT:
        return decorated if method.__objclass__.__module__.endswith("_wrappers") else method
    return followed(method)


_OF_WRAPT = frozenset(("_FunctionWrapperBase", "BoundFunctionWrapper"))


def _instrumented_function(f: Any, of: TwinKind) -> Any:
    if of is not EAGER and _TWIN_OF in f.__dict__:
        original, code = f.__dict__[_TWIN_OF]
        f = (code is f.__code__ and original()) or f  # (wrappers get the attributes of what they wrap)
    if of is STAGED:
        of.entered(f)
    if f.__code__ in of.finished:
        return f
    if f.__code__ in DECORATED:
        return DECORATED[f.__code__](f) if is_user_function(f) else f
    twin = f.__dict__.get(of.attribute)
    if twin is not None and twin[0] is f.__code__:
        if twin[1].__defaults__ is not f.__defaults__ or twin[1].__kwdefaults__ is not f.__kwdefaults__:
            twin[1].__defaults__, twin[1].__kwdefaults__ = f.__defaults__, f.__kwdefaults__
        return twin[1]
    return _twin_of_function(f, of)


def _instrumented_method(function: Any, f: Any, of: TwinKind) -> Any:
    """The twin of a method, or of an object that is called; `function` is what it calls."""
    owner = f.__self__ if type(f) is MethodType else f
    if of is STAGED:
        of.entered(f if type(f) is MethodType else MethodType(function, owner))
    twin = instrument(function, of)
    return f if twin is function else MethodType(twin, owner)


DECORATED: dict[CodeType, Callable[[FunctionType], Any]] = {}
"""Code that decorators of libraries put around functions -> what makes a twin of one that is around the user's."""


def is_user_function(f: Any) -> bool:
    """Whether something is a function, method or partial of the user's."""
    while f.__class__ is functools.partial:
        f = f.func
    if type(f) is MethodType:
        f = f.__func__
    while type(f) is FunctionType and f.__code__ in DECORATED:
        f = f.__wrapped__  # type: ignore[attr-defined]
    return type(f) is FunctionType and is_user_code(f.__code__)


def is_staged(f: Any) -> bool:
    """Whether a function, method, partial or object is one of the user's whose source is staged."""
    while f.__class__ is functools.partial:
        f = f.func
    if type(f) is MethodType:
        f = f.__func__
    if type(f) is not FunctionType:
        call = _call_of(type(f))
        return not isinstance(f, type) and type(call) is FunctionType and is_staged(call)
    code = f.__code__
    if not is_user_code(code):
        return False
    if code in STAGED.finished:
        return True
    known = STAGED.made.get(code)
    return known is None or known[0] is not None


is_user_file = is_followed


def is_user_code(code: CodeType) -> bool:
    """Whether a code object is of source that is followed."""
    if not is_program_of_library(code.co_filename):
        return is_followed(code.co_filename)
    look_for_imports()
    return code not in HAVE_MEANING


def written_arguments(f: Any, kinds: tuple[bool, ...], named: dict[str, bool]) -> tuple[tuple[int, ...], list[str]]:
    """Of positional arguments the positions, and of keyword arguments the names, of those that a function may write to.
    Of each is given whether it is a container."""
    before = 0
    while type(f) is not FunctionType or not is_user_code(f.__code__):
        if f.__class__ is functools.partial:
            before += len(f.args)
            f = f.func
        elif type(f) is MethodType:
            before += 1
            f = f.__func__
        else:  # compiled, batched, … : what it stands for
            inner = wrapped_in(f)
            if inner is None or inner is f:
                return (), []
            f = inner
    code, known = f.__dict__.get(_WRITTEN, (None, None))
    if code is not f.__code__:  # `functools.wraps` copies what is noted of another function
        known = {}
        f.__dict__[_WRITTEN] = f.__code__, known
    positions = known.get((before, kinds))
    if positions is None:
        found = [k for k, kind in enumerate(kinds) if _is_written(f, known, parameter_at(f, before + k), kind)]
        positions = known[before, kinds] = tuple(found)
    return positions, [name for name in named if _is_written(f, known, parameter_named(f, name), named[name])]


def _is_written(f: FunctionType, known: dict[Any, Any], parameter: str | None, is_container: bool) -> bool:
    if parameter is None:
        return False
    found = known.get((parameter, is_container))
    if found is None:
        found = known[parameter, is_container] = may_write(f, parameter, is_container, _noted_of)
    return found


def _noted_of(f: FunctionType) -> frozenset[Write] | None:
    """What is noted of the writes of a function; nothing if it is of a library, None if its source cannot be had."""
    if not is_user_code(f.__code__):
        return frozenset()
    twin = f if f.__dict__.get(_WRITES, _NOTHING)[0] is f.__code__ else instrument(f)
    if not isinstance(twin, FunctionType):
        return None
    code, writes = twin.__dict__.get(_WRITES, _NOTHING)
    return writes if code is twin.__code__ else None


def _twin_of_function(f: FunctionType, of: TwinKind) -> Any:
    code = f.__code__
    _meet_what_is_named(f)
    with _lock:
        known = of.made.get(code)
        if known is None:
            known = of.made.put(code, _compile_twin(code, f.__globals__, of))
    new_code, writes = known
    if new_code is None:
        twin: Any = twin_without_source(f, of, of.load) if is_user_code(code) else f
    else:
        cells = dict(zip(code.co_freevars, f.__closure__ or (), strict=True))
        closure = tuple([of.hooks[n] if n in of.hooks else cells[n] for n in new_code.co_freevars])
        twin = FunctionType(new_code, f.__globals__, f.__name__, f.__defaults__, closure)
        twin.__kwdefaults__ = f.__kwdefaults__
        twin.__qualname__, twin.__module__, twin.__doc__ = f.__qualname__, f.__module__, f.__doc__
        twin.__dict__.update(
            {k: v for k, v in f.__dict__.items() if k not in (TWIN, STAGED_TWIN, LOOPED_TWIN, _WRITTEN)}
        )
        twin.__dict__[_WRITES] = new_code, writes
        twin.__dict__[_TWIN_OF] = _Original(f), new_code
    if twin is not f:
        f.__dict__[of.attribute] = (code, twin)
    return twin


_OF_MATRICES = frozenset(("matrix", "asmatrix", "bmat"))
"""Functions of NumPy's that make objects of a derived class, which every program has and hardly one uses."""


def _meet_what_is_named(f: FunctionType) -> None:
    """Meet the classes that a function can know of, by its globals, free variables and defaults."""
    names = f.__globals__
    if is_user_code(f.__code__):
        if not _OF_MATRICES.isdisjoint(f.__code__.co_names):
            ArrayClasses.exist = True
        for name in f.__code__.co_names:
            if name in names:
                meet_value(names[name])
        for cell in f.__closure__ or ():
            try:
                meet_value(cell.cell_contents)
            except ValueError:
                pass  # empty yet
        for value in f.__defaults__ or ():
            meet_value(value)


@deeply
def _compile_twin(
    code: CodeType, module_globals: dict[str, Any], of: TwinKind
) -> tuple[CodeType | None, frozenset[Write]]:
    """The code of the twin, or `None` if the function runs as it is."""
    if not is_user_code(code):
        return None, frozenset()
    key = twins.key_of(code, module_globals, of.attribute)
    ready = None if key is None else twins.find(key)
    if ready is None:
        ready = _rewritten(code, module_globals, of)
        if ready is None:
            return None, frozenset()
        if key is not None:
            twins.keep(key, *ready)
    found, writes = with_references(ready[0]), ready[1]
    if of is not EAGER:
        _adopt(found, of)
    _adopt(found, EAGER)
    return found, writes


def _rewritten(
    code: CodeType, module_globals: dict[str, Any], of: TwinKind
) -> tuple[CodeType, frozenset[Write]] | None:
    """The same, from the source."""
    located = locate(code, module_globals)
    if located is None:
        return None
    node, libraries = copied(located.node), _libraries_in(module_globals)
    kinds = {inner.__class__ for inner in ast.walk(node)}
    if located.classes or ast.ClassDef in kinds:
        node = PrivateNames(located.classes).visit(node)
    if ast.Match in kinds:
        node = without_match(node)
    node = with_locals_written_out(node, code.co_freevars, module_globals)
    writes = writes_of(node, frozenset([name for name in libraries if _computes_arrays(module_globals[name])]))
    if not isinstance(node, ast.Lambda):
        node.decorator_list = []
    if of is not EAGER:
        node = lower(node, code.co_freevars)
    tree = _in_a_factory(Rewriter(of is STAGED, libraries).visit(node), located, code.co_freevars, of)
    compiled = compile(tree, code.co_filename, "exec", dont_inherit=True, flags=code.co_flags & _FUTURE_FLAGS)
    found = _find(compiled, code)
    if found is None or set(found.co_freevars) - set(code.co_freevars) - set(of.hooks):
        return None
    found = found.replace(co_qualname=code.co_qualname)
    return (_with_names_as_written(found) if of is not EAGER else found), writes


def _libraries_in(module_globals: dict[str, Any]) -> frozenset[str]:
    """The global names of modules that are not the user's."""
    return frozenset(
        name
        for name, value in module_globals.items()
        if value.__class__ is ModuleType and not is_user_file(getattr(value, "__file__", None) or "<frozen>")
    )


def _computes_arrays(module: ModuleType) -> bool:
    """Whether a module is NumPy's or SciPy's."""
    return module.__name__.partition(".")[0] in ("numpy", "scipy")


_FUTURE_FLAGS = __future__.annotations.compiler_flag


def _in_a_factory(node: Any, located: Located, free: tuple[str, ...], of: TwinKind) -> ast.Module:
    """A module in which the function stands as it stood: inside its classes, with its free variables around it."""
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [ast.Expr(node)]
    else:
        body = [node]
    for name in reversed(located.classes):
        body = [ast.ClassDef(name=name, bases=[], keywords=[], body=body, decorator_list=[], **_TYPE_PARAMS)]
    outermost = getattr(body[0], "name", None)
    if outermost is not None and outermost not in free:
        body.insert(0, ast.Global([outermost]))  # a function that calls itself, or names its class, means the global
    parameters = [ast.arg(name) for name in (*of.hooks, *[n for n in free if n != "__class__" and n not in of.hooks])]
    arguments = ast.arguments(posonlyargs=[], args=parameters, kwonlyargs=[], kw_defaults=[], defaults=[])
    factory = ast.FunctionDef(
        name="_wengert_factory", args=arguments, body=body, decorator_list=[], returns=None, **_TYPE_PARAMS
    )
    return ast.fix_missing_locations(ast.Module([at(factory, located.node)], []))


_TYPE_PARAMS: dict[str, Any] = {"type_params": []} if "type_params" in ast.FunctionDef._fields else {}


def _find(compiled: CodeType, original: CodeType) -> CodeType | None:
    """The code object of the function in a compiled factory: the outermost one of its name."""
    level = [compiled]
    while level:
        inner = [c for code in level for c in code.co_consts if isinstance(c, CodeType)]
        for code in inner:
            if code.co_name == original.co_name:
                return code
        level = inner
    return None


def _with_names_as_written(code: CodeType) -> CodeType:
    """Suites that are functions by now bear the name of the function they are of: it is what tracebacks show."""
    constants = []
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            is_suite = inner.co_name.startswith(OURS)
            name = code.co_name if is_suite else inner.co_name
            qualified = code.co_qualname if is_suite else _SUITE.sub("", inner.co_qualname)
            inner = _with_names_as_written(inner.replace(co_name=name, co_qualname=qualified))
        constants.append(inner)
    return code.replace(co_consts=tuple(constants))


_SUITE = re.compile(rf"{OURS}\w+\.<locals>\.")


def _adopt(code: CodeType, of: TwinKind) -> None:
    """Remember that a code object, and those inside it, are instrumented."""
    of.finished.put(code, True)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _adopt(constant, of)


def _allocated(instance: Any) -> None:
    (EAGER if running.state.capture is None else STAGED).allocated(instance)


def _operates(instance: Any) -> None:
    if running.state.capture is not None:
        STAGED.operates(instance)


Follow.allocated, Follow.operates = staticmethod(_allocated), staticmethod(_operates)
Follow.is_user_code, Follow.instrument = staticmethod(is_user_code), staticmethod(instrument)
Follow.is_user_function = staticmethod(is_user_function)
