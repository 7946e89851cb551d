"""The pictures of the page on sparse derivatives are those that its script draws."""

from __future__ import annotations

import importlib.util
from pathlib import Path

FOLDER = Path(__file__).parent.parent.parent / "docs" / "how-to"


def test_the_pictures_are_up_to_date(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("make_sparse", FOLDER / "make_sparse.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "HERE", tmp_path)
    module.main()
    written = sorted(tmp_path.iterdir())
    assert len(written) == 3
    for path in written:
        assert path.read_text(encoding="utf-8") == (FOLDER / path.name).read_text(encoding="utf-8"), (
            "run docs/how-to/make_sparse.py"
        )
