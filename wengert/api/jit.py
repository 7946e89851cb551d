"""`wg.jit`: a function as native code.

The function is captured (`capture/program.py`) for the types and shapes of its arguments, simplified (`passes/`) and
compiled (`backend/`), once for each combination that comes up. Derivatives need nothing special: in `jit(grad(f))` the
modes run over symbols while the program is captured; `grad(jit(f))` differentiates the captured program, and runs
compiled code in both sweeps.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Self, overload

import numpy as np

from wengert.api.call_form import Form, form_of_call, sees_order
from wengert.api.device_way import DeviceWay
from wengert.api.export import Exported, Staged, exported
from wengert.api.lowered import Lowered, with_constants
from wengert.api.operators import demand_function, named
from wengert.api.signatures import P, Q, R
from wengert.api.transport import keep_sources, portable, sources_of
from wengert.api.verify import verified
from wengert.backend.execute import builtin_function, execute, is_made, native, optimised
from wengert.backend.gpu.run import runs_here
from wengert.backend.llvm.calls.recipe import CallWay, NoRecipe
from wengert.backend.llvm.native import Native
from wengert.box.box import Box
from wengert.box.functions.lifted import AROUND
from wengert.box.writing import about_to_write, may_overlap, replace, settled
from wengert.capture.assuming import begun, refuted
from wengert.capture.deep import deeply
from wengert.capture.effects import refuse
from wengert.capture.given import is_given_twice
from wengert.capture.hooks import resolve
from wengert.capture.program import CANNOT_BE_CAPTURED, Captured, captured
from wengert.capture.session import current
from wengert.control.call import call as call_op
from wengert.errors import EscapedValueError, StagingError, told
from wengert.ir.build import type_of_value
from wengert.ops.choice import choice
from wengert.ops.library import is_foreign, may_share
from wengert.ops.op import Traced, call
from wengert.running import running

_MOST_VERSIONS = 8
"""How many programs are kept that differ only in what the function found outside."""
_MOST_WAYS = 8
"""How many forms of calls native code knows for one function."""


class Jitted(Generic[P, R]):
    """A compiled function; made by `jit`.

    What a call comes to is kept for each of them: `_call` at first, then, for the commonest programs, a builtin
    function that does all in native code and comes back to `_call` if the arguments are not as expected.
    """

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    else:
        __slots__ = ("__call__", "__dict__", "__weakref__")

    def __init__(self, f: Callable[P, R], static_argnums: Sequence[int], static_argnames: Sequence[str], fallback: bool,
                 verify: bool = False):  # fmt: skip
        functools.update_wrapper(self, f, updated=())
        self._become(self._call)
        self._f: Callable[..., Any] = f
        self._static_argnums = tuple(static_argnums)
        self._static_argnames = frozenset(static_argnames)
        self._fallback = fallback
        self._verify = verify
        self._versions: dict[Any, list[Captured]] = {}
        self._given_up: set[Any] = set()
        self._lock = threading.RLock()
        self._ways: list[tuple[Captured, CallWay, Native]] = []
        self._missed = 0
        self._leaves_something = False
        self._device_way: DeviceWay | None = None
        self._sees_order: bool | None = None
        self._is_captured = 0
        """How many captures of the function are under way: if it calls itself, it calls the function."""

    @property
    def compiled_function(self) -> Callable[..., Any]:
        """The function of which this is the same, but for speed."""
        return self._f

    def _become(self, call: Callable[..., Any]) -> None:
        """What a call comes to from now on."""
        setattr(self, "__call__", call)  # noqa: B010  (type checkers know it as a method)

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(self: Jitted[Concatenate[Any, Q], R], instance: object, owner: Any = None) -> Callable[Q, R]: ...
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
        return f"<wengert.jit of {named(self._f)}>"

    @told
    def _call(self, *args: Any, **kwargs: Any) -> Any:
        return self._general(args, kwargs)

    def _general(self, args: tuple, kwargs: dict) -> Any:
        way = self._device_way
        leaves = None if way is None or kwargs else way.leaves_of(args)
        if way is not None and leaves is not None:
            return way.call(leaves)
        if (self._leaves_something or self._is_captured) and running.state.capture is not None:
            return resolve(self._f)(*args, **kwargs)  # which the program around it leaves outside in its place
        watch = running.state.watch
        if watch is not None and running.state.capture is None:
            return watch.compiled(self._f, args, kwargs)
        form = self._form(args, kwargs)
        if not self._verify and form.is_plain:
            for found in self._versions.get(form.key, ()):
                if not found.inputs and is_made(found.called) and found.is_for(form.leaves) and found.holds():
                    return self._run(found, form, args, kwargs)
        return self._anew(form, args, kwargs)

    @deeply
    def _anew(self, form: Form, args: tuple, kwargs: dict) -> Any:
        """A call for which something may have to be captured or compiled first."""
        if form.key in self._given_up:
            return self._f(*args, **kwargs)
        try:
            found = self._version(form)
        except CANNOT_BE_CAPTURED as error:
            if running.state.capture is not None:
                return self._as_a_part(args, kwargs, error)
            if not self._fallback:
                raise
            self._given_up.add(form.key)
            warnings.warn(f"{self!r} runs as ordinary Python: {error}", RuntimeWarning, stacklevel=2)
            return self._f(*args, **kwargs)
        if self._verify:
            run = functools.partial(self._run, found, form, args, kwargs)
            return verified(self._f, repr(self), found, run, self._unverified(), args, kwargs, form.leaves)
        return self._run(found, form, args, kwargs)

    def _as_a_part(self, args: tuple, kwargs: dict, refusal: Exception | None) -> Any:
        """A call of what cannot be compiled by itself: as a part of the function around it, it may be."""
        try:
            return resolve(self._f)(*args, **kwargs)
        except EscapedValueError:  # lengths that differ between examples: what cannot be compiled says more
            if refusal is None:
                raise
            raise refusal from None

    def of(self, f: Callable) -> Jitted:
        """Another function, compiled in the same way."""
        return Jitted(f, self._static_argnums, tuple(self._static_argnames), self._fallback, self._verify)

    def __copy__(self) -> Jitted:
        return self.of(self._f)

    def _unverified(self) -> Jitted:
        """The same function, which is not compared with plain Python."""
        other = Jitted(self._f, self._static_argnums, tuple(self._static_argnames), False, False)
        other._versions = self._versions
        return other

    def _run(self, found: Captured, form: Form, args: tuple, kwargs: dict) -> Any:
        if not found.assumed:
            return self._run_once(found, form, args, kwargs)
        if running.state.capture is not None:  # the function around it is compiled for each of the branches
            return self._as_a_part(args, kwargs, found.refusal)
        with begun() as again:
            return self._run_assuming(found, form, args, kwargs, again)

    def _run_assuming(self, found: Captured, form: Form, args: tuple, kwargs: dict, again: Callable[[], None]) -> Any:
        tried: list[dict[str, bool]] = []
        while True:
            try:
                result = self._run_once(found, form, args, kwargs)
            except RuntimeError as error:
                place = refuted(error)
                if place not in found.assumed:
                    raise
            else:
                self._put_first(form, found)
                return result
            again()
            tried.append(found.assumed)
            opposite = {**found.assumed, place: not found.assumed[place]}
            if len(tried) > _MOST_VERSIONS or any(opposite.items() <= known.items() for known in tried):
                raise found.refusal or StagingError("an if goes both ways")
            found = self._assuming(form, opposite)

    def _assuming(self, form: Form, assumed: dict[str, bool]) -> Captured:
        """The program for a call, with assumptions."""
        with self._lock:
            for found in self._versions.get(form.key, ()):
                if assumed.items() <= found.assumed.items() and found.is_for(form.leaves) and found.holds():
                    return found
            types = [type_of_value(x) for x in form.leaves]
            return captured(self._f, types, form.rebuild, form.names(), form.leaves, assumed)

    def _put_first(self, form: Form, found: Captured) -> None:
        """Let a program whose assumptions have held be the first that is tried."""
        with self._lock:
            kept = self._versions.setdefault(form.key, [])
            if found.later is None and not (kept and kept[0] is found):
                kept[:] = [found, *[other for other in kept if other is not found]][:_MOST_VERSIONS]

    def _run_once(self, found: Captured, form: Form, args: tuple, kwargs: dict) -> Any:
        if found.left and running.state.capture is not None:
            self._leaves_something = True
            return resolve(self._f)(*args, **kwargs)
        if found.could_unroll and current.session is not None:
            if current.session.unrolls:
                return resolve(self._f)(*args, **kwargs)
            current.session.could_unroll = True
        if found.left and is_given_twice((args, kwargs), found.containers_outside):
            return self._f(*args, **kwargs)
        inputs = [*form.leaves, *found.fetched()]
        if found.writes and (_overlap(inputs, found.writes) or _is_read_only(inputs, found.writes)):
            return self._f(*args, **kwargs)  # two names for one array: only Python itself knows what happens when
        if any(isinstance(x, Traced) for x in inputs):
            results = call(call_op, *[settled(x) for x in inputs], body=found.called, name=found.name)
        elif runs_here(inputs):
            results = execute(found.called, found.name, inputs)
            if not self._verify and DeviceWay.is_for(found, form.leaves, args, kwargs):
                self._device_way = DeviceWay(found, args)
        else:
            code = native(found.called, found.name)
            results = code(*inputs)
            self._open(code, found, form, args, kwargs)
        n = len(found.block.results)
        for k, new in zip(found.writes, results[n - len(found.writes) : n], strict=True):
            if isinstance(inputs[k], Box):
                replace(inputs[k], new)
            elif isinstance(inputs[k], np.ndarray) or is_foreign(inputs[k]):
                about_to_write(inputs[k])
                inputs[k][...] = new
        return found.returned(inputs, results, (args, kwargs))

    def _open(self, code: Native, found: Captured, form: Form, args: tuple, kwargs: dict) -> None:
        """Let native code take calls like this one from now on, if it can.

        Some calls may never be like another, for instance if a static argument is a new object each time. So ways are
        opened less and less often: after a few times only at the 32nd, 64th, 128th, … call that found none.
        """
        is_possible = code.has_entry and form.is_plain and found.takes_inputs_in_c_order and not found.writes
        is_possible = is_possible and found.later is None and not (found.assumed or found.left)
        if not (is_possible and choice.is_default()):
            return
        with self._lock:
            self._missed += 1
            if self._missed > 2 * _MOST_WAYS and self._missed & (self._missed - 1):
                return
            n = len(found.block.results)
            try:
                way = CallWay(
                    code.take, args, kwargs, form.twin(), found.pinned, [p.type for p in found.block.params],
                    found.outside if found.guards or found.inputs else None, found.orders is not None,
                    found.structure, found.places, (n, len(found.called.results) - n), found.shared,
                )  # fmt: skip
            except NoRecipe:
                return
            if any(found is other and way.form == known.form for other, known, _ in self._ways):
                return
            self._ways = [(found, way, code), *self._ways[: _MOST_WAYS - 1]]
            _, ways, codes = zip(*self._ways, strict=True)
            self._become(builtin_function(found.name, ways, codes, self._call))

    @deeply
    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """What the function becomes for these arguments: `.ir`, `.llvm`, `.assembly`, `.python`, `.report`."""
        form = self._form(args, kwargs)
        like = next((x for x in form.leaves if is_foreign(x)), None)
        return Lowered(self.lasting_version(form), form.names(), like)

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

    def _form(self, args: tuple, kwargs: dict) -> Form:
        if kwargs and self._sees_order is None:
            self._sees_order = sees_order(self._f)
        return form_of_call(self._f, self._static_argnums, self._static_argnames, bool(self._sees_order), args, kwargs)

    def _version(self, form: Form) -> Captured:
        """The program for a call."""
        leaves = form.leaves
        for found in self._versions.get(form.key, ()):
            if found.is_for(leaves) and found.holds():
                return found
        with self._lock:
            for found in self._versions.get(form.key, ()):
                if found.is_for(leaves) and found.holds():
                    return found
            self._is_captured += 1
            try:
                found = captured(self._f, [type_of_value(x) for x in leaves], form.rebuild, form.names(), leaves)
            finally:
                self._is_captured -= 1
            kept = self._versions.setdefault(form.key, [])
            kept.append(found.later or found)
            if len(kept) > _MOST_VERSIONS and found.pinned and kept[0].pinned:
                text = ", ".join([form.names()[k] for k in found.pinned])
                warnings.warn(
                    f"{self!r} is compiled anew for every value of {text}, since it cannot be compiled for all of them",
                    RuntimeWarning, stacklevel=3,
                )  # fmt: skip
            del kept[:-_MOST_VERSIONS]
            return found

    def lasting_version(self, form: Form) -> Captured:
        """The program for calls like this one, whatever the values: other than the first if that leaves something
        outside, and without assumptions."""
        found = self._version(form)
        if found.refusal is not None:
            raise found.refusal
        return found.later or found


AROUND[Jitted] = "_f", Jitted.of


def _stage(static: tuple[int, ...], static_names: tuple[str, ...], f: Callable, args: tuple, kwargs: dict) -> Staged:
    """A function as a program that has all it needs: arrays from outside are constants as they are now."""
    jitted = Jitted(f, static, static_names, False)
    form = jitted._form(args, kwargs)
    found = jitted.lasting_version(form)
    leaves, own = form.leaves, form.names()
    if found.pinned:
        names = ", ".join([str(own[k]) for k in found.pinned])
        raise StagingError(
            f"{found.name} is compiled for one value of {names} only, and in C it could be given another",
            remedy="name it in static_argnums or static_argnames of wg.jit, or let the function find it outside",
        )
    if found.left:
        raise refuse(found.left[0].place.what)
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


def _overlap(inputs: Sequence[Any], writes: Sequence[int]) -> bool:
    """Whether an array that is written to shares memory with another."""
    for k in writes:
        if isinstance(inputs[k], np.ndarray) or is_foreign(inputs[k]):
            if any(may_share(inputs[k], x) for j, x in enumerate(inputs) if j != k):
                return True
        elif isinstance(inputs[k], Box) and any(may_overlap(inputs[k], x) for j, x in enumerate(inputs) if j != k):
            return True
    return False


def _is_read_only(inputs: Sequence[Any], writes: Sequence[int]) -> bool:
    """Whether an array must not be written to that the program may write to: Python raises only if it comes there."""
    return any(isinstance(inputs[k], np.ndarray) and not inputs[k].flags.writeable for k in writes)


@overload
def jit(
    f: Callable[P, R],
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    fallback: bool = False,
    verify: bool | None = None,
) -> Jitted[P, R]: ...
@overload
def jit(
    f: None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    fallback: bool = False,
    verify: bool | None = None,
) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...
@told
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
    demand_function("jit", f)
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
