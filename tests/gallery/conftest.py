"""Programs of the gallery also say and draw what they have found, as they do when they are run from a shell."""

import ast
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def report_of_results(request, monkeypatch, tmp_path):
    """Of the results of a test, what a program does with them at its end: `if __name__ == "__main__":`."""
    program = request.module.program
    main, results = program.main, []

    def recorded(**options):
        results.append(main(**options))
        return results[-1]

    monkeypatch.setattr(program, "main", recorded)
    yield
    if results:
        *_, last = ast.parse(Path(program.__file__).read_text(encoding="utf-8")).body
        assert isinstance(last, ast.If)
        names = vars(program) | {"main": lambda: results[-1], "__file__": str(tmp_path / "program.py")}
        exec(compile(ast.Module(last.body, []), program.__file__, "exec"), names)
        assert (tmp_path / "program.svg").read_text(encoding="utf-8").startswith("<svg")
