"""What the reports of this package have in common: they print, notebooks show them, and files keep them.

report.name             of the function
report.text(), print    as text
report.html()           as HTML, which notebooks show
report.svg              the picture that belongs to it, if there is one
report.save(path)       a file, of the kind that its suffix says: .html, .svg, .md, .tex, or text
report.show()           in a browser
"""

from __future__ import annotations

import html
import tempfile
import webbrowser
from pathlib import Path
from typing import Any

from wengert.explain.pictures import Picture


class Report:
    """See the module's text."""

    name: str

    def text(self) -> str:
        raise NotImplementedError

    def html(self) -> str:
        raise NotImplementedError

    @property
    def svg(self) -> Picture:
        raise NotImplementedError

    def page(self) -> str:
        """A whole page of HTML."""
        return f'<!doctype html>\n<meta charset="utf-8">\n<title>{html.escape(self.name)}</title>\n{self.html()}\n'

    def save(self, path: str | Path) -> Path:
        """Write it to a file; returns its path."""
        path = Path(path)
        ways: dict[str, Any] = {
            ".html": self.page, ".htm": self.page, ".svg": lambda: str(self.svg),
            ".md": getattr(self, "markdown", self.text), ".tex": getattr(self, "latex", self.text),
        }  # fmt: skip
        path.write_text(ways.get(path.suffix.lower(), self.text)(), encoding="utf-8")
        return path

    def show(self) -> None:
        """Show it in a browser."""
        with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as file:
            file.write(self.page())
        webbrowser.open(Path(file.name).resolve().as_uri())

    def _repr_html_(self) -> str:
        return self.html()
