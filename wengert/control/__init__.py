"""Ops that hold code. `lifting.py` does for all modes at once what a mode has to do with the code; reverse mode, which
goes through it twice, has rules of its own.

    loop(5, x; body)      forward: loop(5, x, x_dot; body of both)
                          reverse: loop(5, x; body that saves residuals), loop(5, x_bar, residuals; body transposed)

The ops: `loop.py`, `while_.py`, `cond.py`, `call.py`, `custom.py` (rules of users), `checkpoint.py`, `effects.py`
(what is done besides computing). `blocks.py` makes the two blocks of reverse mode, `remat.py` and `stable_reads.py`
choose what is not saved, `derived.py` keeps what was made. Examples of a batch that go different ways:
`differing.py`. Within a `budget.py`: `checkpointed_loop.py`, `spilled_loop.py` with `states_on_disk.py`. Patterns of
programs: `united.py`, `at_once.py`.
"""

from wengert.control import call, cond, loop, while_

__all__ = ["call", "cond", "loop", "while_"]
