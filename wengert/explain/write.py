"""`wg.explain`: one self-contained HTML page that shows an evaluation and both sweeps, step by step.

The page is a template with a style sheet and a script, kept beside this file in `page/`; all are put into one file
with the data (`data.py`) and the picture (`graph.py`), so that the page needs nothing else, now or in ten years.
"""

from __future__ import annotations

import html
import json
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wengert.api.operators import operation
from wengert.explain.data import page_data
from wengert.explain.pictures import Picture
from wengert.explain.report import Report
from wengert.explain.trace import WengertList, trace

_PARTS = Path(__file__).parent / "page"


def page_of(found: WengertList) -> str:
    """The page of a trace, as text."""
    graph = found.graph()
    data = json.dumps(page_data(found, graph), ensure_ascii=False, separators=(",", ":"))
    template = (_PARTS / "page.html").read_text(encoding="utf-8")
    parts = {
        "TITLE": html.escape(found.name),
        "STYLE": (_PARTS / "page.css").read_text(encoding="utf-8"),
        "GRAPH": graph.svg,
        "DATA": data.replace("</", "<\\/").replace("<!--", "<\\!--"),  # so that no text of the user's ends the script
        "SCRIPT": (_PARTS / "page.js").read_text(encoding="utf-8"),
    }
    before, *rest = template.split("{{")
    out = [before]
    for piece in rest:
        name, _, after = piece.partition("}}")
        out += [parts[name], after]
    return "".join(out)


class Page(Report):
    """The page of `wg.explain`: notebooks show it; `path` is its file, and what a path can do it can do, too.

    `trace` is the Wengert list that it shows.
    """

    def __init__(self, found: WengertList, path: Path, page: str):
        self.trace, self.path, self._page = found, path, page
        self.name = found.name

    def text(self) -> str:
        """The Wengert list as text."""
        return self.trace.text()

    def page(self) -> str:
        """The page itself."""
        return self._page

    def html(self) -> str:
        """The page in a frame of its own, so that its style and script meddle with nothing around."""
        return (
            f'<iframe srcdoc="{html.escape(self._page, quote=True)}" title="{html.escape(self.name, quote=True)}" '
            'style="width:100%;height:720px;border:1px solid #ccc"></iframe>'
        )

    @property
    def svg(self) -> Picture:
        """The computational graph as a picture."""
        return self.trace.svg

    def show(self) -> None:
        """Show the file in a browser."""
        webbrowser.open(self.path.resolve().as_uri())

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"<page of {self.name}: {self.path}>"

    def __eq__(self, other: object) -> bool:
        return self.path == (other.path if isinstance(other, Page) else other)

    def __hash__(self) -> int:
        return hash(self.path)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "path":
            raise AttributeError(name)
        return getattr(self.path, name)


@operation
def explain(f: Callable, *args: Any, path: str | Path | None = None, open: bool = False, **kwargs: Any) -> Page:
    """Write a page that explains how `f(*args, **kwargs)` is evaluated and differentiated.

    The page shows the source beside the computational graph and the Wengert list. Step through the forward and the
    reverse sweep and watch values, tangents and adjoints appear; point at a line to see its operations; click a node to
    follow its derivative back to the inputs. It is one HTML file that needs no network.

    Args:
        f: a function of numbers, arrays and containers of them.
        args: where to evaluate it; the floating-point numbers among them are the inputs.
        path: where to write the page; if it is not given, a temporary file.
        open: whether to show the page in a browser.

    Returns:
        The page: notebooks show it, `.path` is its file, `.trace` the Wengert list, `.svg` the graph, `.show()` opens a
        browser, `.save(path)` writes it elsewhere.

    Cost: about two milliseconds for each operation, and the memory of all intermediate values.

    >>> import numpy as np
    >>> page = explain(lambda x: np.sin(x) * x, 1.0)
    >>> page.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    >>> page.unlink()
    """
    found = trace(f, *args, **kwargs)
    text = page_of(found)
    if path is None:
        with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as file:
            file.write(text)
        path = file.name
    else:
        Path(path).write_text(text, encoding="utf-8")
    page = Page(found, Path(path), text)
    if open:
        page.show()
    return page
