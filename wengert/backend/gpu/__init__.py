"""Programs on GPUs: kernels through LLVM's NVPTX target, everything else by the library of the arrays (CuPy).

    math.py      elementary functions, as functions of the module: a GPU has no C library
    scalar.py    the scalar code of an op
    elements.py  the element of a value at given coordinates: slices, joined arrays and writes are no work of their own
    kernel.py    one kernel for a region: elements of one shape, and reductions, of everything or along axes
    regions.py   which values are made in which kernel, which are never in memory, and what is left to the library
    ptx.py       kernels as PTX, kept on disk
    device.py    where kernels are loaded and launched, for each GPU by itself
    blas.py      products of matrices
    launch.py    the kernels of a region, launched
    crossing.py  a table that is reduced along rows and along columns: made once, in registers
    loop_kernel.py  a counted loop as one kernel, where threads can go through it by themselves
    partial_sums.py  sums that loops add to carried values, made after them
    plan.py      what a block is made of
    prepared.py  programs of a few kernels: what they allocate and launch, repeated
    recording.py launches that are recorded once, and repeated
    run.py       a block, run

The kernels of a region are specialised on shapes and strides. Sums are made in steps of a fixed order, without atomic
operations: the same digits every time.
"""
