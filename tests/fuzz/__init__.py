"""One generator of programs for everything: random Python and NumPy, run in every composition of the operators.

    scope.py         what a program knows so far: names with sample values, and the random choices
    expressions.py   numbers, integers, conditions
    arrays.py        arrays: elementwise, reductions, products, gathers, joins, views
    writing.py       writes in place through every kind of index
    suites.py        statements: names, branches, loops, jumps, exceptions
    containers.py    dicts, lists, tuples, dataclasses, objects with state, closures
    idioms.py        flags, generators, unpacking, floors, choices, empty arrays: what ordinary programs have besides
    buffers.py       state that loops change: buffers that take turns, histories, arrays in objects, helpers on views
    algorithms.py    eliminations, iterations, searches, filters, as people write them
    numerics.py      mixed dtypes, several axes, found places, orders in memory
    flow.py          ways out of nested loops, dispatch, closures, operators used by programs
    grids.py         sweeps over slices of grids, and functions of arrays that may be one
    nests.py         loops over elements that read and write where they like, also behind themselves
    aliases.py       nothing but names, copies, views and writes
    references.py    objects that data choose and that are then changed; lists and sets under computed keys
    classes.py       classes as people write them: inheritance, operators, dataclasses, managers; and patterns
    structures.py    trees, chains, tables of lists, copies; Python's own library; what is true
    science.py       transforms, factorisations, stacks of matrices, SciPy
    methods.py       time steps, searches, dynamic programming, filters, layers
    library.py       the functions, classes and custom rules that programs may call
    program.py       a whole program, from a seed, as a module in a real file
    reference.py     what plain NumPy computes, and its derivatives by differences
    compositions.py  value, grad, jvp, …, vmap, with jit outside, inside, both, around helpers
    outside.py       what programs keep outside from call to call
    calls.py         called again, with other data and other kinds of arguments
    interpreted.py   the captured program, without native code
    sizes.py         what large arrays meet, for small ones
    outcome.py       same, wrong, error, refusal, too slow
    shrink.py        a smaller program that fails in the same way
    hunt.py          worker processes, for as long as asked (`make fuzz`)

`python -m fuzz --help` (in the folder `tests`) says what can be asked for.
"""
