"""From programs to code that runs: native code (`llvm/`), kernels for GPUs (`gpu/`), readable NumPy source (`python/`).

`plan/` decides before code is written what lies in memory, and `execute.py` keeps what was compiled with its block.
"""
