"""For mkdocs: pages that live elsewhere in the repository (benchmarks, changelog, contributing) become pages here.

Such a page of `docs/` is one line, `--8<-- "path"`. Here the text takes its place, with its links turned to where they
lead from `docs/`: to pages of the site, to pictures of the benchmarks (which are added to the site), or nowhere, if
they lead to files that the site does not have.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
ELSEWHERE = r"(?:benchmarks/README|CHANGELOG|CONTRIBUTING|examples/gallery/\w+/README)\.md"
OUTSIDE = re.compile(rf'^--8<-- "({ELSEWHERE})"$', re.MULTILINE)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#:\s]+)(#[^)]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pictures of the benchmarks and of the gallery."""
    pictures = [*(ROOT / "benchmarks" / "results").glob("*.svg"), *(ROOT / "examples" / "gallery").glob("*/*.svg")]
    for picture in sorted(pictures):
        name = picture.relative_to(ROOT).as_posix()
        files.append(File(name, str(ROOT), config["site_dir"], config["use_directory_urls"]))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put the text of the other file in the place of the line that names it."""
    up = "../" * page.file.src_uri.count("/")
    return OUTSIDE.sub(lambda found: _included(ROOT / found.group(1), up), markdown)


def _included(path: Path, up: str) -> str:
    """The text of a file, for a page from which `up` leads to the root of the site."""

    def turned(link: re.Match) -> str:
        picture, text, target, anchor = link.group(1), link.group(2), link.group(3), link.group(4) or ""
        there = (path.parent / target).resolve()
        if there.is_relative_to(ROOT / "docs"):
            return f"{picture}[{text}]({up}{there.relative_to(ROOT / 'docs').as_posix()}{anchor})"
        if there.suffix == ".svg" and there.exists():
            return f"{picture}[{text}]({up}{there.relative_to(ROOT).as_posix()})"
        return text

    return LINK.sub(turned, path.read_text(encoding="utf-8"))
