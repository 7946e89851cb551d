"""Programs on GPUs: kernels through LLVM's NVPTX target, everything else by the library of the arrays (CuPy).

    math.py      elementary functions, as functions of the module: a GPU has no C library
    kernel.py    one kernel for a region: elementwise work, and sums of all its elements
    regions.py   which nodes of a block go into which region, and which are left to the library
    device.py    where code is compiled, loaded and launched
    run.py       a block, run

The kernels of a region are specialised on shapes and strides. Sums are made in steps of a fixed order, without atomic
operations: the same digits every time.
"""
