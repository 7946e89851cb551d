"""Table 5 of the survey: its list of tools, with what this project offers of each.

Language, kind and modes are the survey's (COM compiler, INT interpreter, LIB library, OO operator overloading, ST
source transformation; F forward, R reverse). The last two columns are ours: what one went to the tool for, and where
that is found here, or that it is not.
"""

from __future__ import annotations

import re
from pathlib import Path

from writing import markdown, run

TOOLS = (
    (
        "AMPL",
        "AMPL",
        "INT",
        "F, R",
        "models of optimisation in algebra, handed to solvers",
        "`wg.to_scipy` hands any NumPy function to SciPy's solvers; no modelling language",
    ),
    ("C, C++", "ADIC", "ST", "F, R", "derivative code from C code", "`wg.source` writes derivative code, in NumPy"),
    (
        "",
        "ADOL-C",
        "OO",
        "F, R",
        "a tape that is recorded once and replayed; any order; sparsity",
        "`wg.linearize` keeps the tape, `wg.jit` compiles it; `wg.derivative` of any order; `wg.sparsity`",
    ),
    (
        "C++",
        "Ceres Solver",
        "LIB",
        "F",
        "least squares by small Jacobians, forwards",
        "`wg.jacfwd`, and `wg.linearize` for SciPy's `lsqr` and `least_squares`",
    ),
    (
        "",
        "CppAD",
        "OO",
        "F, R",
        "recorded functions, optimised tapes, any order",
        "`wg.jit(wg.grad(f))` simplifies and compiles the recorded program",
    ),
    (
        "",
        "FADBAD++",
        "OO",
        "F, R",
        "modes that are stacked by templates",
        "any nesting of operators: `wg.jvp` of `wg.grad` of …",
    ),
    (
        "",
        "Mxyzptlk",
        "OO",
        "F",
        "high-order derivatives forwards",
        "`wg.derivative(f, order=n)`; truncated series not yet",
    ),
    (
        "C#",
        "AutoDiff",
        "LIB",
        "R",
        "gradients of expressions that are built by hand",
        "`wg.grad` of ordinary functions",
    ),
    (
        "F#, C#",
        "DiffSharp",
        "OO",
        "F, R",
        "nesting, and one operator for each derivative people want",
        "the same: `wg.grad`, `wg.hvp`, `wg.laplacian`, `wg.curl`, `wg.divergence`, …",
    ),
    (
        "Fortran",
        "ADIFOR",
        "ST",
        "F, R",
        "derivatives of programs as they stand, loops and writes included",
        "loops, branches and writes in place of NumPy programs as they stand, eager and by `wg.jit`",
    ),
    (
        "",
        "NAGWare",
        "COM",
        "F, R",
        "differentiation inside a compiler",
        "`wg.jit`: one compiler for functions and derivatives",
    ),
    (
        "",
        "TAMC",
        "ST",
        "R",
        "adjoint code of models of weather and ocean",
        "`wg.source(wg.grad(f), x)` is adjoint code",
    ),
    ("Fortran, C", "COSY", "INT", "F", "Taylor models with enclosures", '`wg.enclose(f, method="taylor", order=n)`'),
    (
        "",
        "Tapenade",
        "ST",
        "F, R",
        "adjoint code that people can read and that is fast",
        "`wg.source` with `y_bar` for the adjoint of `y`; native code by `wg.jit`; checkpoints not yet",
    ),
    (
        "Haskell",
        "ad",
        "OO",
        "F, R",
        "one table of rules, many modes; types against confusion",
        "one table of rules, many modes; tags against confusion",
    ),
    (
        "Java",
        "ADiJaC",
        "ST",
        "F, R",
        "transformation of bytecode",
        "transformation of Python's syntax tree, for what NumPy's protocols cannot see",
    ),
    ("", "Deriva", "LIB", "R", "compiled gradients of expressions", "`wg.jit(wg.grad(f))`"),
    (
        "Julia",
        "JuliaDiff",
        "OO",
        "F, R",
        "forward mode without overhead; rules that packages share",
        "`wg.jvp` inside `wg.jit` has none; `wg.custom_jvp`, `wg.custom_vjp`",
    ),
    (
        "Lua",
        "**torch-autograd**",
        "OO",
        "R",
        "gradients of ordinary code, in containers",
        "`wg.grad` with nested containers",
    ),
    (
        "MATLAB",
        "ADiMat",
        "ST",
        "F, R",
        "array programs by transformation",
        "array programs by instrumentation and protocols",
    ),
    ("", "INTLab", "OO", "F", "verified enclosures", "`wg.enclose`, `wg.verified_roots`, `wg.verified_minimum`"),
    (
        "",
        "TOMLAB/MAD",
        "OO",
        "F",
        "sparse Jacobians for optimisation",
        "`wg.jacobian(f, sparse=True)`, `wg.hessian`: patterns, colourings, `scipy.sparse` matrices",
    ),
    (
        "Python",
        "ad",
        "OO",
        "R",
        "first and second derivatives of numbers",
        "`wg.grad`, `wg.hessian`, of numbers and arrays",
    ),
    (
        "",
        "**autograd**",
        "OO",
        "F, R",
        "NumPy programs, by its own `numpy`",
        "NumPy's own `numpy`; `wengert.numpy` where source is missing",
    ),
    ("", "**Chainer**", "OO", "R", "define-by-run networks", "define-by-run; layers and training not yet"),
    (
        "",
        "**PyTorch**",
        "OO",
        "R",
        "tensors on accelerators, a large ecosystem",
        "`wg.to_torch` takes a NumPy function there; no accelerators",
    ),
    (
        "",
        "**Tangent**",
        "ST",
        "F, R",
        "derivatives as Python code that can be read",
        "`wg.source`, with loops and branches",
    ),
    (
        "Scheme",
        "R6RS-AD",
        "OO",
        "F, R",
        "nesting with referential transparency",
        "operators that nest in any order and depth",
    ),
    ("", "Scmutils", "OO", "F", "derivatives as operators on functions", "`wg.derivative`, `wg.grad` return functions"),
    (
        "",
        "Stalingrad",
        "COM",
        "F, R",
        "nested derivatives compiled away",
        "`wg.jit(wg.grad(lambda x: … wg.grad(g)(x) …))` is one native program",
    ),
)
HEAD = ("language", "tool", "type", "mode", "known for", "here")


def names_used() -> set[str]:
    """The names of the package that the last column speaks of."""
    return {name for row in TOOLS for name in re.findall(r"wg\.(\w+)", row[-1])}


def make(out: Path, quick: bool = False) -> None:
    """Write table-5.md."""
    (out / "table-5.md").write_text(markdown(HEAD, TOOLS), encoding="utf-8")


if __name__ == "__main__":
    run(make, __doc__)
