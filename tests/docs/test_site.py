"""The site builds without a warning, and needs nothing from the network when it is read."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
MISSING = [name for name in ("mkdocs", "material", "mkdocstrings") if importlib.util.find_spec(name) is None]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    if MISSING:
        pytest.skip(f"needs {', '.join(MISSING)}: pip install '.[docs]'")
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=env, timeout=300)
    assert built.returncode == 0, built.stdout + built.stderr
    return out


@pytest.mark.slow
def test_every_page_is_there(site):
    pages = {p.relative_to(site).as_posix() for p in site.rglob("*.html")}
    for name in ("index", "tutorial/1-first-gradient", "coming-from/jax", "survey/3-modes", "modes", "coverage"):
        assert f"{name}.html" in pages
    assert (site / "survey" / "generated" / "explorer.html").exists()
    assert not list(site.rglob("*.py"))
    assert not list(site.rglob("*.pyc"))


@pytest.mark.slow
def test_nothing_is_fetched_from_elsewhere(site):
    fetched = re.compile(r"""<(?:script|link|img|iframe)[^>]+(?:src|href)=["']?(https?:)?//""")
    for page in site.rglob("*.html"):
        found = fetched.search(page.read_text(encoding="utf-8"))
        assert found is None or "canonical" in found.group(0), (page, found.group(0))


@pytest.mark.slow
def test_the_tables_arrived(site):
    text = (site / "survey" / "5-implementations.html").read_text(encoding="utf-8")
    assert "Stalingrad" in text
    assert "--8<--" not in "".join(p.read_text(encoding="utf-8") for p in site.rglob("*.html"))
    reference = (site / "reference" / "operators.html").read_text(encoding="utf-8")
    assert 'id="wengert.grad"' in reference
    assert "&gt;&gt;&gt; " in reference
