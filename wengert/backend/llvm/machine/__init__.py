"""LLVM itself: from IR to code in memory, hints for its optimiser, functions of this process that code may call."""
