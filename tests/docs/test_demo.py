"""`make demo` runs to its end, and its numbers agree with each other."""

import importlib.util
import re
from pathlib import Path

import pytest

DEMO = Path(__file__).parent.parent.parent / "examples" / "demo.py"


@pytest.mark.slow
def test_the_tour(capsys):
    spec = importlib.util.spec_from_file_location("demo", DEMO)
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    demo.main()
    text = capsys.readouterr().out
    assert [int(n) for n in re.findall(r"^(\d+)\. ", text, re.MULTILINE)] == list(range(1, 9))
    assert float(re.search(r"largest relative difference: (\S+)", text).group(1)) < 1e-13
    assert "results agree" in text
    page = Path(re.search(r"^   (\S+\.html)$", text, re.MULTILINE).group(1))
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    page.unlink()
