"""Native code through LLVM: `compile_program` turns a program into a callable.

    v1 = sin(x)             v1 is not in memory: whoever reads        for i in range(n):
    v2 = multiply(v1, y)    it computes an element                        z[i] = sin(x[i]) * y[i]
    return v2               v2 is made in one loop, as LLVM IR; LLVM makes vectors of it

`native.py` is the way from a program to code in memory, `kernel.py` writes one function, with `emitter.py` for blocks
and their values (where these lie was decided in `backend/plan/`), and `run.py` says which file writes the code of
which node. All are handed a `context.py`. `control.py` has loops and branches, `checks.py` what is checked in loops
and acted on after them.

    arrays/     where elements lie or how they are computed; loops that read and write them
    linalg/     products, factorisations, linear systems, transforms: libraries, and code of our own for small sizes
    scalars/    one number: an op's `impl`, run on lanes
    threads/    loops that several threads share
    outline/    large kernels in several functions
    calls/      the borders: how Python and C call code, how it calls back, what it says when something goes wrong
    cache/      object code on disk
    machine/    LLVM itself, and functions of this process that code may call
"""

from wengert.backend.llvm.native import Native, compile_program

__all__ = ["Native", "compile_program"]
