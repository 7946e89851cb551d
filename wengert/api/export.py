"""`jit(f).export`: a compiled function, and derivatives of it, as object code and a header for C.

Each becomes a program as under `jit`; then `backend/llvm/calls/standalone.py` makes functions of C of them. Derivatives
are taken with respect to all arguments that consist of floating-point numbers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wengert import tree
from wengert.api.arguments import Prepared
from wengert.api.dense import dense_jacobian
from wengert.api.grad import grad, value_and_grad
from wengert.backend.llvm.calls.header import different, header, identifier
from wengert.backend.llvm.calls.standalone import StandaloneFunction, compiled
from wengert.errors import UnsupportedFunctionError
from wengert.ir.node import Program
from wengert.types import aval_of, dtype_of

LIBRARY_SUFFIX = {"darwin": ".dylib"}.get(sys.platform, ".so")


class Exported(NamedTuple):
    """The files that were written. There is no `library` where there is no C compiler to link one."""

    header: Path
    object: Path
    library: Path | None


class Staged(NamedTuple):
    """A function as a program, for certain arguments: `names` are those of the inputs, `places` says what becomes of
    each result (as in `Captured`), and `writes` names the arguments it writes to."""

    program: Program
    names: list[str]
    places: list[tuple[str, Any]]
    writes: list[str]
    output: Callable[[Sequence[Any]], Any]


Stage = Callable[[Callable, tuple, dict], Staged]
"""From a function and its arguments to the program."""


def exported(
    f: Callable,
    path: str | os.PathLike[str],
    args: tuple,
    kwargs: dict,
    stage: Stage,
    static: frozenset[int],
    name: str | None,
    derivatives: Sequence[str],
) -> Exported:
    """Write the files `path.h`, `path.o` and, if there is a C compiler, `path.so`."""
    place = Path(path)
    stem = place.with_suffix("") if place.suffix in (".h", ".o", LIBRARY_SUFFIX) else place
    name = identifier(name or getattr(f, "__name__", None) or stem.name)
    functions = _functions(f, args, kwargs, stage, static, name, derivatives)
    made = compiled(name, functions)
    stem.parent.mkdir(parents=True, exist_ok=True)
    files = Exported(
        stem.with_name(stem.name + ".h"), stem.with_name(stem.name + ".o"), stem.with_name(stem.name + LIBRARY_SUFFIX)
    )
    files.header.write_text(header(name, stem.name, functions, made), encoding="utf-8")
    files.object.write_bytes(made.code)
    assert files.library is not None
    is_linked = _link(files.object, files.library, made.libraries)
    return files if is_linked else files._replace(library=None)


def _functions(
    f: Callable, args: tuple, kwargs: dict, stage: Stage, static: frozenset[int], name: str, derivatives: Sequence[str]
) -> list[StandaloneFunction]:
    unknown = [d for d in derivatives if d not in DERIVATIVES]
    if unknown:
        raise ValueError(f"no such derivative to export: {', '.join(unknown)} (there are {', '.join(DERIVATIVES)})")
    itself = stage(f, args, kwargs)
    out = itself.output([np.zeros(_shape(r.type), r.type.dtype)[()] for r in itself.program.block.results])
    out_names = _leaves_named("out", out)
    functions = [_function(name, itself, itself.names, out_names, f"{name}, as a function of C.")]
    which = tuple([k for k, a in enumerate(args) if k not in static and _is_differentiable(a)])
    if derivatives and not which:
        raise ValueError(f"{name} has no argument that consists of floating-point numbers: there is no derivative")
    of = _Arguments(f, args, which, out, itself.names, out_names)
    for kind in derivatives:
        function, more, names, results, text = DERIVATIVES[kind](of)
        found = stage(function, (*args, *more), kwargs)
        functions.append(_function(f"{name}_{kind}", found, names, results, f"{text} {name}."))
    return functions


def _function(name: str, found: Staged, inputs: list[str], outputs: list[str], text: str) -> StandaloneFunction:
    """The program with names of C. What the function returns as it is has no place among the results."""
    if len(inputs) != len(found.names):
        inputs = found.names
    given = different(inputs)
    if len(outputs) != len(found.places):
        outputs = [f"out_{k}" for k in range(len(found.places))]
    own = [outputs[k] for k, (kind, _) in enumerate(found.places) if kind == "result"]
    own += [f"{n}_new" for n in found.writes]
    for k, result in enumerate(found.program.block.results):
        if not result.type.is_static:
            raise UnsupportedFunctionError(
                f"the length of {own[k]} is known only when the function runs; a function of C must know it before",
                remedy="return an array whose shape follows from the shapes of the arguments",
            )
    for k, (kind, what) in enumerate(found.places):
        if kind != "result":
            text += f" ({outputs[k]} is {given[what] if kind == 'argument' else what!r}.)"
    return StandaloneFunction(name, found.program, given, different(own, given), text)


def _shape(type: Any) -> tuple[int, ...]:
    return tuple([n if isinstance(n, int) else 0 for n in type.shape])


def _is_differentiable(argument: Any) -> bool:
    leaves = tree.flatten(argument)[0]
    return bool(leaves) and all(
        isinstance(x, (float, complex, np.ndarray, np.generic)) and dtype_of(x).kind in "fc" for x in leaves
    )


def _leaves_named(name: str, thing: Any) -> list[str]:
    leaves, structure = tree.flatten(thing)
    if tree.is_leaf(structure):
        return [name]
    return [f"{name}_{identifier(path).strip('_')}" for path in tree.paths(thing)] if leaves else []


# ------------------------------------------------------------------------------------------------------ derivatives


class _Arguments(NamedTuple):
    """A function, its arguments, which of them are differentiated, its result, and the names of all leaves."""

    f: Callable
    args: tuple
    which: tuple[int, ...]
    out: Any
    names: list[str]
    out_names: list[str]

    @property
    def chosen(self) -> tuple:
        return tuple([self.args[k] for k in self.which])

    def chosen_names(self) -> list[str]:
        """Names of the leaves that are differentiated, as far as arguments are data all through."""
        names, found = iter(self.names), []
        for k, a in enumerate(self.args):
            own = [next(names, f"arg{k}") for x in tree.flatten(a)[0] if isinstance(x, _DATA)]
            found += own if k in self.which else []
        return found


_DATA = (bool, int, float, complex, np.ndarray, np.generic)

Derivative = tuple[Callable, tuple, list[str], list[str], str]
"""The function that computes it, what it takes besides f's arguments, names of inputs and results, and what it is."""


def _grad(of: _Arguments) -> Derivative:
    function = value_and_grad(of.f, argnums=of.which)
    return function, (), of.names, [*of.out_names, *_with("_bar", of.chosen_names())], "The value and the gradient of"


def _vjp(of: _Arguments) -> Derivative:
    def pulled(*args: Any, **kwargs: Any) -> Any:
        *args_of_f, ct = args
        prepared = Prepared(of.f, of.which, tuple(args_of_f), kwargs, False)
        values, program = prepared.record()
        given = prepared.output_leaves(ct, [aval_of(y) for y in values])
        return prepared.outputs(values), prepared.cotangents(program.pull(given, consume=True), given)

    return (
        pulled,
        (of.out,),
        [*of.names, *_with("_bar", of.out_names)],
        [*of.out_names, *_with("_bar", of.chosen_names())],
        "The value and, for a cotangent of it, the cotangents of the arguments of",
    )


def _jvp(of: _Arguments) -> Derivative:
    def pushed(*args: Any, **kwargs: Any) -> Any:
        *args_of_f, tangents = args
        prepared = Prepared(of.f, of.which, tuple(args_of_f), kwargs, False)
        given = prepared.input_leaves(tangents, "the tangent")
        values, dots = prepared.push(given)
        return prepared.outputs(values), prepared.tangents(values, dots, given)

    return (
        pushed,
        (of.chosen,),
        [*of.names, *_with("_dot", of.chosen_names())],
        [*of.out_names, *_with("_dot", of.out_names)],
        "The value and, for tangents of the arguments, the tangent of the value of",
    )


def _jacobian(of: _Arguments) -> Derivative:
    names = [f"{y}_by_{x}" for y in of.out_names for x in of.chosen_names()]
    return dense_jacobian(of.f, of.which), (), of.names, names, "The Jacobian of"


def _hessian(of: _Arguments) -> Derivative:
    names = [f"by_{x}_{y}" for x in of.chosen_names() for y in of.chosen_names()]
    second = dense_jacobian(grad(of.f, of.which), of.which, "forward")
    return second, (), of.names, names, "The Hessian of"


def _with(suffix: str, names: Sequence[str]) -> list[str]:
    return [name + suffix for name in names]


DERIVATIVES: dict[str, Callable[[_Arguments], Derivative]] = {
    "grad": _grad,
    "vjp": _vjp,
    "jvp": _jvp,
    "jacobian": _jacobian,
    "hessian": _hessian,
}


# --------------------------------------------------------------------------------------------------------- linking


def _link(code: Path, library: Path, libraries: Sequence[str]) -> bool:
    """Make a shared library, if there is a compiler that can. BLAS and LAPACK are left to the program that uses it."""
    compiler = next((found for c in ("cc", "gcc", "clang") if (found := shutil.which(c))), None)
    if compiler is None or sys.platform == "win32":
        return False
    own = [f"-l{name}" for name in libraries if name in ("m", "mvec")]
    undefined = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    command = [compiler, "-shared", "-o", str(library), str(code), *undefined, *own]
    done = subprocess.run(command, capture_output=True)
    return done.returncode == 0
