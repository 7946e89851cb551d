"""The compiled suite: functions and derivatives as native code, side by side.

`measure` (started by `run.py`) goes through the families of problems and starts a `worker` process for each problem, so
that a program that crashes, hangs or fills the memory takes nothing else with it. The worker builds the programs of all
tools, has them checked, and times them in turns. `goals` judges, `report` and `plots` show the results.

A thing that is timed is called by the tool and by what it computes: `wengert_jit/function`, `jax_jit/derivative`.
"""
