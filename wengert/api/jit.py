"""`wg.jit`: a function as native code.

The function is captured (`capture/program.py`) for the types and shapes of its arguments, simplified (`passes/`) and
compiled (`backend/`), once for each combination that comes up. Derivatives need nothing special: in `jit(grad(f))` the
modes run over symbols while the program is captured; `grad(jit(f))` differentiates the captured program, and runs
compiled code in both sweeps.
"""

from __future__ import annotations

import functools
import inspect
import operator
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any, NamedTuple

import numpy as np

from wengert import tree
from wengert.api.arguments import shared_array
from wengert.api.export import Exported, Staged, exported
from wengert.api.transport import keep_sources, portable, sources_of
from wengert.api.verify import verified
from wengert.backend.execute import is_made, module, native, optimised
from wengert.backend.python import python_source
from wengert.box.box import Box
from wengert.box.subclasses import base_array
from wengert.box.writing import replace, settled
from wengert.capture.deep import deeply
from wengert.capture.program import Captured, captured
from wengert.control.call import call as call_op
from wengert.errors import ConcretizationError, EscapedValueError, StagingError, UnsupportedFunctionError, explained
from wengert.ir.build import type_of_value
from wengert.ir.node import Block, Const, Node, Program, Var
from wengert.ir.show import show
from wengert.ops.choice import choice
from wengert.ops.op import Traced, call
from wengert.running import running
from wengert.types import SCALARS

_NUMBERS = (np.ndarray, np.generic, Box)
_MOST_VERSIONS = 8
"""How many programs are kept that differ only in what the function found outside."""
_CANNOT_BE_CAPTURED = (ConcretizationError, EscapedValueError, StagingError, UnsupportedFunctionError)


def _is_data(x: Any) -> bool:
    if x.__class__ in SCALARS:
        return True
    return isinstance(x, _NUMBERS) and x.dtype.kind in "biufc"


class Lowered:
    """What becomes of a function for arguments of certain types; see `Jitted.lower`."""

    def __init__(self, found: Captured, names: Sequence[str]):
        self._found, self._names = found, names

    @property
    def program(self) -> Program:
        """The program as data."""
        return optimised(self._found.block, self._found.name)

    @property
    def ir(self) -> str:
        """The program as text."""
        return show(self.program)

    @property
    def python(self) -> str:
        """The program as NumPy source that runs on its own. Arrays that the function finds outside are arguments."""
        names = [*self._names, *[f"outer{k}" for k in range(len(self._found.inputs))]]
        return python_source(self.program, names)

    def python_with_constants(self, name: str) -> str:
        """The same with another name, in which arrays that the function finds outside are constants as they are now."""
        found = self._found
        if not found.inputs:
            return python_source(Program(name, self.program.block), list(self._names))
        block = with_constants(found.block, [path() for path in found.inputs])
        return python_source(optimised(block, name), list(self._names))

    @property
    def llvm(self) -> str:
        """The optimised LLVM code."""
        return module(self._found.block, self._found.name).text

    @property
    def assembly(self) -> str:
        """The machine code as text."""
        return module(self._found.block, self._found.name).assembly

    @property
    def report(self) -> Any:
        """How each operation was compiled: as native code, by a library, or by calling NumPy."""
        return native(self._found.block, self._found.name).report


def with_constants(block: Block, values: Sequence[Any]) -> Block:
    """A block with constants in place of its last parameters."""
    n = len(block.params) - len(values)
    known: dict[Any, Any] = {p: Const(v, p.type) for p, v in zip(block.params[n:], values, strict=True)}
    nodes = [
        Node(node.op, tuple([known.get(a, a) for a in node.args]), node.params, node.outs,
             tuple([known.get(s, s) for s in node.sizes]), node.source)
        for node in block.nodes
    ]  # fmt: skip
    return Block(block.params[:n], nodes, [known.get(r, r) for r in block.results])


class Jitted:
    """A compiled function; made by `jit`.

    What a call comes to is kept for each of them: `_call` at first, then, for the commonest programs, a builtin
    function that does all in native code and comes back to `_call` if the arguments are not as expected.
    """

    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[..., Any]

    def __init__(self, f: Callable, static_argnums: Sequence[int], static_argnames: Sequence[str], fallback: bool,
                 verify: bool = False):  # fmt: skip
        functools.update_wrapper(self, f, updated=())
        self.__call__ = self._call
        self._f = f
        self._static_argnums = tuple(static_argnums)
        self._static_argnames = frozenset(static_argnames)
        self._fallback = fallback
        self._verify = verify
        self._versions: dict[Any, list[Captured]] = {}
        self._given_up: set[Any] = set()
        self._lock = threading.RLock()
        self._quick: _Quick | None = None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        found: Any = sys.modules.get(self.__module__)
        name: str = getattr(self, "__qualname__", "")
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is self:  # a decorated function: its name means this, not what was decorated
            return name
        return _arrived, (
            portable(self._f), self._static_argnums, tuple(self._static_argnames), self._fallback, sources_of(self._f),
            self._verify,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<jit of {getattr(self._f, '__qualname__', self._f)!s}>"

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        try:
            quick = self._quick
            if quick is not None and not kwargs and choice.is_default():
                enter, found, static, places = quick
                data: Sequence[Any] = args
                if static:
                    if len(args) != len(static) + len(places):
                        return self._general(args, kwargs)
                    for k, x in static:
                        if args[k] is not x:
                            return self._general(args, kwargs)
                    data = [args[k] for k in places]
                given = data
                if not found.is_in_c_order:  # the entry, which takes arrays in C order only, must not be given others
                    if not (found.is_for(data) and all(map(_is_of_type, data, found.block.params))):
                        return self._general(args, kwargs)
                    given = [_in_order(x) for x in data]
                if found.depends_on_nothing_else:
                    results = enter(*given)
                elif found.guards_hold():  # the entry looks at types
                    bring = _in_order if found.orders is None else _as_it_is
                    results = enter(*given, *[bring(path()) for path in found.inputs])
                else:
                    return self._general(args, kwargs)
                if found.gives_one_array:
                    return results[0]
                if found.gives_argument is not None and not results:
                    return data[found.gives_argument]
                if found.gives_tuple and len(results) > 1:
                    return tuple(results)
                if results and results[0].__class__ is _Finished:
                    return results[0].value
                return found.output(data, results)
            return self._general(args, kwargs)
        except Exception as error:
            other = explained(error)
            if other is not None:
                raise other from None
            raise

    def _directly(self, code: Any, quick: _Quick) -> Callable | None:
        """The builtin function that is all there is to do, for programs without static arguments."""
        found = quick.found
        if quick.static or not found.is_in_c_order:
            return None
        if not (found.gives_one_array or found.gives_tuple or found.gives_argument is not None):
            return None
        more = None if found.depends_on_nothing_else else found.outside
        return code.direct(self._call, found.gives_argument or 0, more)

    def _mismatch(self, quick: _Quick, *values: Any) -> list[Any]:
        """Arguments, and arrays from outside, that are not as a program wants them.

        If all that is wrong is how the elements lie in memory, a copy does: the program writes to none of them.
        Otherwise the call starts again.
        """
        enter, found, static, _ = quick
        if found.orders is None and all(map(_is_of_type, values, found.block.params)):
            in_order = [_in_order(x) for x in values]
            if any(map(operator.is_not, in_order, values)):
                return enter(*in_order)
        self._quick = None
        self.__call__ = self._call
        args = list(values[: len(values) - len(found.inputs)])
        for k, x in static:
            args.insert(k, x)
        result = self._general(tuple(args), {})
        return [result if found.gives_one_array else _Finished(result)]

    def _general(self, args: tuple, kwargs: dict) -> Any:
        watch = running.state.watch
        if watch is not None and running.state.capture is None:
            return watch.compiled(self._f, args, kwargs)
        apart = self._taken_apart(args, kwargs)
        if not self._verify and all(x.__class__ is np.ndarray or x.__class__ in SCALARS for x in apart[0]):
            for found in self._versions.get(apart[1], ()):
                if not found.inputs and is_made(found.block) and found.is_for(apart[0]) and found.holds():
                    return self._run(found, apart[0], args, kwargs)
        return self._anew(apart, args, kwargs)

    @deeply
    def _anew(self, apart: tuple, args: tuple, kwargs: dict) -> Any:
        """A call for which something may have to be captured or compiled first."""
        leaves, key, rebuild, names = apart
        if key in self._given_up:
            return self._f(*args, **kwargs)
        try:
            found, leaves = self._version(leaves, key, rebuild, names)
        except _CANNOT_BE_CAPTURED as error:
            if not self._fallback:
                raise
            self._given_up.add(key)
            warnings.warn(f"{self!r} runs as ordinary Python: {error}", RuntimeWarning, stacklevel=2)
            return self._f(*args, **kwargs)
        if self._verify:
            run = functools.partial(self._run, found, leaves, args, kwargs)
            return verified(self._f, repr(self), found, run, self._unverified(), args, kwargs, leaves)
        return self._run(found, leaves, args, kwargs)

    def _unverified(self) -> Jitted:
        """The same function, which is not compared with plain Python."""
        other = Jitted(self._f, self._static_argnums, tuple(self._static_argnames), False, False)
        other._versions = self._versions
        return other

    def _run(self, found: Captured, leaves: list[Any], args: tuple, kwargs: dict) -> Any:
        inputs = [*leaves, *[path() for path in found.inputs]]
        if found.writes and _overlap(inputs, found.writes):
            return self._f(*args, **kwargs)  # two names for one array: only Python itself knows what happens when
        if any(isinstance(x, Traced) for x in inputs):
            results = call(call_op, *[settled(x) for x in inputs], body=found.block, name=found.name)
        else:
            code = native(found.block, found.name)
            static = () if kwargs else tuple(self._without_static(args, kwargs)[2])
            taken = [k for k, _ in static]
            places = tuple([k for k in range(len(args)) if k not in taken])
            is_flat = (
                not kwargs
                and len(leaves) == len(places)
                and all(args[k] is x for k, x in zip(places, leaves, strict=True))
            )
            is_known = found.is_in_c_order or not found.inputs
            is_quick = is_flat and is_known and not found.writes and not found.pinned
            if is_quick and code.has_entry and choice.is_default():
                results = code.plain(*inputs)
                quick = _Quick(code.enter, found, static, places)
                code.on_mismatch(functools.partial(self._mismatch, quick))
                self._quick = quick
                self.__call__ = self._directly(code, quick) or self._call
            else:
                results = code(*inputs)
        n = len(results) - len(found.writes)
        for k, new in zip(found.writes, results[n:], strict=True):
            if isinstance(inputs[k], Box):
                replace(inputs[k], new)
            elif isinstance(inputs[k], np.ndarray):
                inputs[k][...] = new
        return found.output(leaves, results[:n])

    @deeply
    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """What the function becomes for these arguments: `.ir`, `.llvm`, `.assembly`, `.python`, `.report`."""
        leaves, key, rebuild, names = self._taken_apart(args, kwargs)
        found, leaves = self._version(leaves, key, rebuild, names)
        return Lowered(found, names())

    def python(self, *args: Any, **kwargs: Any) -> str:
        """The captured program for these arguments as NumPy source that runs on its own."""
        return self.lower(*args, **kwargs).python

    def export(
        self,
        path: str | os.PathLike[str],
        /,
        *args: Any,
        name: str | None = None,
        derivatives: str | Sequence[str] = (),
        **kwargs: Any,
    ) -> Exported:
        """Write the function, for arguments like these, as object code and a header for C, which need no Python.

        Args:
            path: where, without a suffix: `path.h` and `path.o` are written, and a shared library (`path.so`) if there
                is a C compiler to link it.
            args, kwargs: arguments whose types and shapes are those of the functions in C. Static ones, and arrays that
                the function finds outside, become part of the code.
            name: that of the function in C; by default its own.
            derivatives: which to write besides, as functions `name_grad` and so on: "grad", "vjp", "jvp", "jacobian",
                "hessian"; in all arguments that consist of floating-point numbers.

        Returns:
            The paths of the files: `.header`, `.object`, `.library`.

        The code is made for processors like this one. Functions that go back to Python for an operation, and those of
        `scipy.special` that are not in C's own library, raise an error that names them.
        """
        wanted = (derivatives,) if isinstance(derivatives, str) else tuple(derivatives)
        positions = frozenset(k % len(args) for k in self._static_argnums if -len(args) <= k < len(args))
        return exported(
            self._f, path, args, kwargs, functools.partial(_stage, tuple(positions), tuple(self._static_argnames)),
            positions, name, wanted,
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------------- versions

    def _taken_apart(self, args: tuple, kwargs: dict) -> tuple[list[Any], Any, Callable, Callable]:
        """The leaves of a call that are data, what tells versions apart, how the call is put together again, and a
        function that names the leaves."""
        if self._static_argnums or self._static_argnames:
            args, kwargs, static = self._without_static(args, kwargs)
        else:
            static = ()
        everything, structure = tree.flatten((args, kwargs))
        for k, x in enumerate(everything):
            if x.__class__ is np.ndarray and x.dtype.kind in "biufc":
                continue
            if x.__class__ is not np.ndarray and isinstance(x, np.ndarray):
                everything[k] = base_array(x)
            elif x.__class__ is int and not -(1 << 63) <= x < 1 << 63:
                raise OverflowError("an argument of a compiled function is a Python integer that 64 bits cannot hold")
            elif not _is_data(x) and hasattr(x, "__dlpack__"):
                shared = shared_array(x)
                everything[k] = x if shared is None else shared
        is_data = list(map(_is_data, everything))
        places = [k for k, so in enumerate(is_data) if so]
        leaves = [everything[k] for k in places]
        others = [x for x, so in zip(everything, is_data, strict=True) if not so]
        types = tuple([_key_of(x) for x in leaves])
        key = (structure, types, tuple([_static_key(x) for x in others]), tuple([_static_key(x) for _, x in static]),
               choice.kinks, choice.ties)  # fmt: skip

        def rebuild(new: Sequence[Any]) -> tuple[tuple, dict]:
            filled = list(everything)
            for k, x in zip(places, new, strict=True):
                filled[k] = x
            a, kw = tree.unflatten(structure, filled)
            return _with_static(a, kw, static)

        return leaves, key, rebuild, functools.partial(_names_of, self._f, (args, kwargs), places)

    def _without_static(self, args: tuple, kwargs: dict) -> tuple[tuple, dict, tuple]:
        numbers = {k % len(args) for k in self._static_argnums if -len(args) <= k < len(args)} if args else set()
        if self._static_argnames:
            try:
                parameters = list(inspect.signature(self._f).parameters)
            except (TypeError, ValueError):
                parameters = []
            numbers |= {k for k, name in enumerate(parameters[: len(args)]) if name in self._static_argnames}
        static: list[tuple[Any, Any]] = [(k, args[k]) for k in sorted(numbers)]
        static += [(name, kwargs[name]) for name in sorted(self._static_argnames & kwargs.keys())]
        rest = {name: x for name, x in kwargs.items() if name not in self._static_argnames}
        return tuple([None if k in numbers else a for k, a in enumerate(args)]), rest, tuple(static)

    def _version(self, leaves: list[Any], key: Any, rebuild: Callable, names: Callable) -> tuple[Captured, list[Any]]:
        for found in self._versions.get(key, ()):
            if found.is_for(leaves) and found.holds():
                return found, leaves
        with self._lock:
            for found in self._versions.get(key, ()):
                if found.is_for(leaves) and found.holds():
                    return found, leaves
            found = captured(self._f, [type_of_value(x) for x in leaves], rebuild, names(), leaves)
            kept = self._versions.setdefault(key, [])
            kept.append(found)
            del kept[:-_MOST_VERSIONS]
            return found, leaves


def _stage(static: tuple[int, ...], static_names: tuple[str, ...], f: Callable, args: tuple, kwargs: dict) -> Staged:
    """A function as a program that has all it needs: arrays from outside are constants as they are now."""
    jitted = Jitted(f, static, static_names, False)
    leaves, key, rebuild, names = jitted._taken_apart(args, kwargs)
    found, leaves = jitted._version(leaves, key, rebuild, names)
    own = names()
    for k in found.writes:
        if k >= len(leaves):
            raise StagingError(
                f"{found.name} writes to an array that it was not given",
                remedy="pass it as an argument: in C there is no other place for it",
            )
    block = with_constants(found.block, [path() for path in found.inputs]) if found.inputs else found.block
    return Staged(
        optimised(block, found.name), own, found.places, [own[k] for k in found.writes],
        functools.partial(found.output, leaves),
    )  # fmt: skip


class _Quick(NamedTuple):
    """How the program was entered that ran last, if its arguments are plain arrays and numbers, by position, and it
    writes to none of them: the entry looks at their types itself, and asks `_mismatch` if they are not as expected.

    Static arguments have to be the very objects that they were.
    """

    enter: Callable
    found: Captured
    static: tuple[tuple[int, Any], ...]
    places: tuple[int, ...]  # of the others


class _Finished(NamedTuple):
    """What a call returns, from where it started again."""

    value: Any


def _in_order(x: Any) -> Any:
    """An array as native code takes it: in C order."""
    return x if x.__class__ is not np.ndarray or x.flags.c_contiguous else np.ascontiguousarray(x)


def _as_it_is(x: Any) -> Any:
    return x


def _is_of_type(x: Any, p: Var) -> bool:
    """Whether a value is an array or a number of the type of a parameter, as native code takes it but for the order."""
    if x.__class__ is np.ndarray:
        return x.dtype == p.type.dtype and x.shape == p.type.shape and x.flags.aligned
    return not isinstance(x, (np.ndarray, Traced)) and _is_data(x) and type_of_value(x) == p.type


def _key_of(x: Any) -> Any:
    if x.__class__ is np.ndarray:
        return (x.dtype, x.shape)
    return type_of_value(x) if isinstance(x, (np.generic, Box)) else x.__class__


def _static_key(x: Any) -> Any:
    """What tells static values apart: what they are equal to, and otherwise which they are."""
    try:
        hash(x)
    except TypeError:
        return _Same(x)
    return (x.__class__, x)


class _Same:
    """An object that cannot be a key, as one: it is equal to itself. Holds it, so that nothing else takes its place."""

    def __init__(self, thing: Any):
        self._thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other._thing is self._thing

    def __hash__(self) -> int:
        return id(self._thing)


def _with_static(args: tuple, kwargs: dict, static: tuple) -> tuple[tuple, dict]:
    if not static:
        return args, kwargs
    filled, named = list(args), dict(kwargs)
    for place, x in static:
        if place.__class__ is int:
            filled[place] = x
        else:
            named[place] = x
    return tuple(filled), named


def _names_of(f: Callable, arguments: tuple[tuple, dict], places: Sequence[int]) -> list[str]:
    """Names for the leaves that are data, from the names of the parameters."""
    args, kwargs = arguments
    try:
        signature = inspect.signature(f).parameters.values()
        parameters = [p.name for p in signature if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        parameters = []
    names: list[str] = []
    for k, a in enumerate(args):
        names += _leaf_names(parameters[k] if k < len(parameters) else f"arg{k}", a)
    for name in sorted(kwargs):
        names += _leaf_names(name, kwargs[name])
    return [names[k] if k < len(names) else f"arg{k}" for k in places]


def _leaf_names(name: str, argument: Any) -> list[str]:
    """The name of an argument, with what leads to each of its leaves.

    >>> _leaf_names("p", {"w": [1.0, 2.0], "b": 3.0})
    ['p_b', 'p_w_0', 'p_w_1']
    """
    if not tree.is_leaf(tree.flatten(argument)[1]):
        return ["_".join([name, *re.findall(r"\w+", path)]) for path in tree.paths(argument)]
    return [name]


def _overlap(inputs: Sequence[Any], writes: Sequence[int]) -> bool:
    """Whether an array that is written to shares memory with another."""
    for k in writes:
        if isinstance(inputs[k], np.ndarray):
            for j, x in enumerate(inputs):
                if j != k and isinstance(x, np.ndarray) and np.may_share_memory(inputs[k], x):
                    return True
        elif isinstance(inputs[k], Box) and any(inputs[j] is inputs[k] for j in range(len(inputs)) if j != k):
            return True
    return False


def jit(
    f: Callable | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    fallback: bool = False,
    verify: bool | None = None,
) -> Any:
    """Compile a function of NumPy arrays and numbers, with loops, branches and writes, to native code.

    >>> import numpy as np
    >>> @jit
    ... def total(x):
    ...     s = 0.0
    ...     for v in x:
    ...         s = s * 0.5 + np.sin(v)
    ...     return s
    >>> bool(np.isclose(total(np.arange(5.0)), -0.3537343))
    True

    The function is compiled for the types and shapes of its arguments when it is first called with such; results are
    those of NumPy up to rounding. It composes with every operator: `jit(grad(f))`, `grad(jit(f))`.

    `static_argnums` and `static_argnames` name arguments that are part of the program: it is compiled anew for each of
    their values. What is not a number or an array is static in any case. With `fallback=True`, a function that cannot
    be compiled runs as ordinary Python, and a warning says so once.

    With `verify=True`, or `WENGERT_VERIFY=1` in the environment, the first call for each combination of types also runs
    the function as plain Python, on copies of the arguments, and compares values, dtypes, effects on the arguments and
    exceptions; derivatives are compared with the eager ones. If they differ, `wg.errors.VerificationError` has both.
    """
    if f is None:
        return functools.partial(
            jit, static_argnums=static_argnums, static_argnames=static_argnames, fallback=fallback, verify=verify
        )
    if not callable(f):
        raise TypeError(f"jit compiles functions, not a {type(f).__name__}")
    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    if verify is None:
        verify = os.environ.get("WENGERT_VERIFY", "").strip().lower() not in ("", "0", "no", "off", "false")
    return Jitted(f, numbers, names, fallback, verify)


def _arrived(
    f: Callable, numbers: Sequence[int], names: Sequence[str], fallback: bool, sources: dict, verify: bool = False
) -> Jitted:
    """A compiled function that was pickled."""
    keep_sources(sources)
    return Jitted(f, numbers, names, fallback, verify)
