"""Readable NumPy source of a program: `python_source`.

What comes out runs on its own, with NumPy and, where needed, SciPy, and reads as much as possible as if somebody had
written it: the user's names, operators with few parentheses, loops that update arrays in place.

`source.py` puts a file together. Before writing: `code.py` makes a program ready, `tidy.py` simplifies what only
readers see, `memory.py` says what is written in place, `questions.py` answers what does not depend on how it is
written. Writing: `writer.py` writes functions and loops, with `branches.py`, `statements.py` and `lines.py` (what
gets a variable of its own), and `names.py` for these. Expressions: `expressions.py` is the table from ops to how they
are written, in `operators.py`, `reductions.py`, `structure.py` and `forms.py`; `text.py` knows where parentheses are
needed, `literals.py` writes constants. `definitions.py` adds what the file needs besides, cut out of this package's
source by `syntax.py`.
"""

from wengert.backend.python.source import python_source

__all__ = ["python_source"]
