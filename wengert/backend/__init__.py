"""From programs to code that runs: native code (`llvm/`) and readable NumPy source (`python/`)."""
