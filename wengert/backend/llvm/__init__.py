"""Native code through LLVM: `compile_program` turns a program into a callable."""

from wengert.backend.llvm.native import Native, compile_program

__all__ = ["Native", "compile_program"]
