"""The readings of a program: each mode gives its boxes companions, and says what an op does with these.

    sin of a dual number (x, x_dot)            (sin x, cos x · x_dot)
    sin of a tape's box                        sin x, and a node that times cos x: the sweep comes later
    sin of a batch                             sin of all examples at once
    sin of a series (x₀, x₁, …)                (sin x₀, cos x₀ · x₁, …)
    sin of an interval [a, b]                  an interval that contains sin of all that is between

`mode.py` is what all have in common, for ops that hold code. Forward: `dual.py`; its tangents may be batches,
patterns (`pattern.py`, with `sets.py`), entries (`slots.py`, `contributions.py`) or rows of directions
(`directions.py`). Reverse: `tape.py` records, `linear.py` sweeps, `held.py` copies what others may write to,
`cuts.py` notes where a derivative ends, `searches.py` where comparisons find a number.
`batch.py`, `series.py` with `coefficients.py`, and `interval.py` are by themselves; `switches.py` finds where a
function of one variable jumps. `watching.py` looks on.
"""
