"""Users' source, followed: what NumPy's protocols cannot see is made visible, control flow becomes part of a program.

    def f(x):                      def f(x):                                  a twin for eager modes (`rewrite.py`)
        y = np.zeros(3)                y = own(call(np.zeros)(3))
        if x > 0:                      if x > 0:
            y[0] = math.sin(x)             y = store(call(math.sin)(x), y, 0, True)
        return y                       return own(y)

                                   def f(x):                                  a twin for `jit` (`lower.py`)
                                       y = own(call(np.zeros)(3))
                                       def then(): nonlocal y; y = store(…)
                                       if_(x > 0, then, None, …)
                                       return own(y)

(What is really written has more to it; `lower.py` and `rewrite.py` show it.) The files, by what they are about:

From a function to its twin: `instrument` finds the source (`locate`, `typed`, `sourceless` where there is none) and
keeps what it makes (`twins`, on disk; `of_code`). `rewrite` changes the syntax, `hooks` says what calls mean then and
`stores` what reads and writes do, with `replacements` for constructors, `math` and builtins, `local_values` for
`locals()`, and `writing_calls` for NumPy's own code that writes into plain arrays. `ownership` says which arrays may be
written to, `classes` follows methods that Python calls by itself, `held_arrays` functions of arrays of derived classes,
`tried` what fails for some examples of a batch. `numba` and `autograd` are packages whose functions have Python behind
them; `followed/` is plain Python of ours that is followed like a user's.

Loops that are reversed with few states kept, without compiling: `looped`, `repeating`, `snapshots`.

From a function to a program: `program` is the way from `jit` to a block, `session` one capture with what it takes from
outside, `assuming` what is taken for granted where branches cannot be put together. `deep` makes room for recursion.

Syntax, before anything runs: `lower` turns suites into functions, with `expressions`, `conditions`, `flags` (jumps),
`attempts` (`try`), `matching` (`match`), `named_apart`, `managers` (`with`). They are written with `syntax` and the
names in `lowered`; questions about syntax are `names`, `liveness`, `written` and `only_read`, which `reading` asks of
functions.

What lowered code calls: `stage` (`if`, `and`, `==`, …), `staged_loops`, `staged_hooks` (calls), `staged_builtins`,
`staged_reads` and `staged_stores` (items, attributes), `staged_texts`, `deciding`, `compared`. Branches: `branching`,
`merging`, `undefined`. Loops: `carried` (what they hand on), `identity` and `identified` (which object a name stands
for), `iteration`, `leaving`, `growing`, `counters` (what these decide). Exceptions: `exceptions`, `retrying`.
Generators: `generators` (syntax), `generated`. Dicts and sets that a comprehension fills: `filtering`; dicts with keys
that the program computes: `tables`. Recursion: `recursion` (syntax), `recursing`. Closures: `closures`.

Values that only the program knows: `values` and `containers` take Python's objects apart, `one_of` is one of several
things, or None (`each_of`, `words`, `outlived`; `references` for objects that are changed), `texts` and `read_texts`
are texts with numbers in them. Lists: `opening` finds those whose length data decide, `opened` stands for their
items, `open_lists` has their methods, `placed` writes to computed places, `each_item` changes one of several,
`chosen` has those that a condition chooses, `ordering` sorts and compares. Numbers: `domains` (`math`),
`whole_numbers`, `real_or_complex`.

What is outside of a function: `guards` compare what was read, by `paths`; `behaviour` does so for classes. `kinds` and
`objects` say what something is and what it holds, `effects` what was changed, `reachable` what might be; `left`,
`kept` and `given` are changes that a program makes at each call, once, and to its arguments. `returned` and
`returned_lists` are its results. `outside` calls back (printing, the time), `draws` for random numbers; `files` are
read, `copying` copies what may come from outside.
"""
