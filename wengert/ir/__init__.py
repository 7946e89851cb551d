"""The program as data: typed SSA with regions.

    def f(x):                  program f(%x: f64[3]) {
        y = np.sin(x)            %y: f64[3] = sin(%x)
        return y * 2.0           %0: f64[3] = multiply(%y, 2.0)
                                 return %0
                               }

`node.py` has what it is made of, `symbol.py` the values of a program that is being captured, and `build.py` captures:
`infer.py` says which type a result has, `lengths.py` what is known of integers and lengths, `numbers.py` where
Python's own numbers raise, `orders.py` how arrays lie, `aliases.py` which may be the same. `loops.py` names the parts
of loops. `show.py` prints, `parse.py` reads it back (constants: `literal.py`), `check.py` says whether a program is
well formed, `interpret.py` runs it node by node. `garbage.py` has Python's collector look at what is new only.
`analysis/` answers questions of passes and planner.
"""
