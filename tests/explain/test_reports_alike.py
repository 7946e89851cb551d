"""The reports of `trace`, `profile`, `explain` and `compare_ways` have the same methods, and nothing in them is read as
markup that is not."""

import os
from xml.etree import ElementTree

import numpy as np
import pytest

import wengert as wg
from wengert.errors import MismatchError
from wengert.explain.pictures import Picture


def energy(x):
    y = np.sin(x) * x  # <b>&amp; "quoted"
    return np.sum(y if x[0] < 2.0 else -y)


X = np.linspace(0.1, 1.0, 5)


@pytest.fixture(scope="module", params=["trace", "profile", "explain", "compare_ways", "lambda"])
def report(request):
    if request.param == "lambda":
        made = wg.profile(lambda x: np.sum(x * x), X)
    else:
        made = getattr(wg, request.param)(energy, X)
    yield made
    if request.param == "explain":
        made.unlink()


def test_methods_and_attributes(report):
    assert report.name
    assert isinstance(report.text(), str)
    assert report.html() == report._repr_html_() or "table" in report._repr_html_()
    ElementTree.fromstring(report.svg)
    assert report.svg._repr_svg_() == report.svg


def test_nothing_of_the_users_is_markup(report):
    for text in (report.html(), report.page(), str(report.svg)):
        assert "<lambda>" not in text
        assert "<b>&amp;" not in text.replace("\\u003c", "<") or "srcdoc" in text


def test_files(report, tmp_path):
    assert report.save(tmp_path / "r.html").read_text(encoding="utf-8").lower().startswith("<!doctype html>")
    ElementTree.parse(report.save(tmp_path / "r.svg"))
    assert report.save(tmp_path / "r.txt").read_text(encoding="utf-8") == report.text()
    assert report.save(str(tmp_path / "r.md")).exists()
    with pytest.raises(MismatchError, match=r"r\.png would be a file of another kind"):
        Picture("<svg/>").save(tmp_path / "r.png")


def test_a_page_is_a_path_and_a_frame(tmp_path):
    page = wg.explain(energy, X, path=tmp_path / "e.html")
    assert os.fspath(page) == str(page) == str(tmp_path / "e.html")
    assert page == tmp_path / "e.html"
    assert page.read_text(encoding="utf-8") == page.page()
    assert page.suffix == ".html"
    frame = ElementTree.fromstring(page._repr_html_())
    assert frame.tag == "iframe"
    assert frame.attrib["srcdoc"].split() == page.page().split()
    assert len(page.trace) > 0
    assert repr(page) == f"<page of energy: {tmp_path / 'e.html'}>"


def test_what_operators_give_says_what_it_is():
    assert repr(wg.grad(energy)) == "<wengert.grad of energy>"
    assert repr(wg.jit(wg.grad(energy))) == "<wengert.jit of wengert.grad of energy>"
    assert repr(wg.grad(wg.jit(energy))) == "<wengert.grad of wengert.jit of energy>"
    assert repr(wg.jit(energy)) == "<wengert.jit of energy>"
    assert repr(wg.custom_jvp(energy)) == "<wengert.custom_jvp of energy>"
