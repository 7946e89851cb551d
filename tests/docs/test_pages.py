"""The site tells the truth: the Python blocks of its pages run and give the values beside them; links lead somewhere.

The blocks are run as those of the README are, page by page.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from test_readme import blocks, run

from wengert.errors import WengertError

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGES = sorted(p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md") if "generated" not in p.parts)
WITH_CODE = [p for p in PAGES if list(blocks((DOCS / p).read_text(encoding="utf-8")))]
DEMANDING = {"compare_ways": "sympy", "wg.symbolic": "sympy", "expression_swell": "sympy"}


@pytest.mark.parametrize("page", WITH_CODE)
def test_the_blocks_run(page, tmp_path, monkeypatch):
    text = (DOCS / page).read_text(encoding="utf-8")
    for word, package in DEMANDING.items():
        if word in text and importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")
    found = list(blocks(text))
    lines = [""] * text.count("\n")
    for start, block in found:
        own = block.splitlines()
        lines[start : start + len(own)] = own
    path = tmp_path / (Path(page).stem.replace("-", "_") + ".py")  # a file, so that the functions' source is found
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    for start, block in found:
        run(path, "\n" * start + block, names)


def test_there_is_code_on_the_pages_that_teach():
    for folder in ("tutorial", "coming-from", "survey"):
        assert sum(page.startswith(folder) for page in WITH_CODE) >= 4, folder


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    path = DOCS / page
    prose = re.sub(r"^ *```.*?^ *```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"`[^`\n]+`", "", prose)
    for target in re.findall(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)", prose):
        assert (path.parent / target).exists(), target
    for target in re.findall(r'^ *--8<-- "([^"]+)"', prose, flags=re.MULTILINE):
        assert (DOCS / target).exists() or (DOCS.parent / target).exists(), target


def test_every_page_is_in_the_navigation():
    nav = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page for page in PAGES if page not in nav] == []


def test_the_reference_lists_every_public_name():
    import wengert as wg

    text = "".join(p.read_text(encoding="utf-8") for p in (DOCS / "reference").glob("*.md"))
    listed = set(re.findall(r"^::: wengert(?:\.\w+)*\.(\w+)", text, flags=re.MULTILINE))
    assert sorted(set(wg.__all__) - listed) == []


def test_every_error_has_a_page():
    """But the base, and what is only raised inside: such a class is called what users can catch, and has its page."""
    for module in ("api.check", "infer.workers", "infer.handlers"):
        importlib.import_module(f"wengert.{module}")
    classes, pending = set(), [WengertError]
    while pending:
        found = pending.pop().__subclasses__()
        classes.update(found)
        pending += found
    index = (DOCS / "errors" / "index.md").read_text(encoding="utf-8")
    assert len(classes) > 20
    for error in classes:
        if error.__module__.startswith("wengert."):
            assert f"({error.page}.md)" in index, error
