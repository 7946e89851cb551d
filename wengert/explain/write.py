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

from wengert.explain.data import page_data
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


def explain(f: Callable, *args: Any, path: str | Path | None = None, open: bool = False, **kwargs: Any) -> Path:
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
        The path of the page.

    Cost: about two milliseconds for each operation, and the memory of all intermediate values.

    >>> import numpy as np
    >>> page = explain(lambda x: np.sin(x) * x, 1.0)
    >>> page.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    >>> page.unlink()
    """
    text = page_of(trace(f, *args, **kwargs))
    if path is None:
        with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as file:
            file.write(text)
        path = file.name
    else:
        Path(path).write_text(text, encoding="utf-8")
    path = Path(path)
    if open:
        webbrowser.open(path.resolve().as_uri())
    return path
