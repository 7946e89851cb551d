"""Readable NumPy source of a program: `python_source`.

What comes out runs on its own, with NumPy and, where needed, SciPy, and reads as much as possible as if somebody had
written it: the user's names, operators with few parentheses, loops that update arrays in place. `code.py` makes a
program ready, `memory.py` says what is written in place, `writer.py` writes statements, `expressions.py` says how each
op is written, `definitions.py` adds what the file needs besides.
"""

from wengert.backend.python.source import python_source

__all__ = ["python_source"]
