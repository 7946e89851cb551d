"""What is shown is well formed, whatever the program: SVG, HTML, LaTeX, Markdown; and the layout keeps its promises."""

import shutil
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wengert as wg
from wengert.explain.fold import fold
from wengert.explain.layout import isotonic, layers_of, layout

VOID = {"meta", "input", "br", "link", "path", "circle", "rect"}


class Balanced(HTMLParser):
    """Checks that every tag is closed."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open, f"</{tag}> closes nothing"
            assert self.open.pop() == tag


def well_formed(text: str) -> None:
    parser = Balanced()
    parser.feed(text)
    assert not parser.open


def loop(x, n):
    a, b = x[0], x[1]
    for _ in range(n):
        a, b = a + 0.1 * b, b - 0.1 * np.sin(a)
        if a < b and "<&>":
            a = a * 0.9
    return a**2 + b**2


TRACES = [
    lambda: wg.trace(lambda x: x * x, 2.0, tangent=1.0, cotangent=1.0),
    lambda: wg.trace(loop, np.array([1.0, 0.5]), 3, tangent=np.ones(2), cotangent=1.0),
    lambda: wg.trace(loop, np.array([1.0, 0.5]), 60, cotangent=1.0),
    lambda: wg.trace(lambda p: {"a_b": p["<x&y>"] @ p["<x&y>"]}, {"<x&y>": np.ones((3, 3)) + 0j}),
    lambda: wg.trace(lambda A: np.linalg.svd(A)[1], np.diag([3.0, 2.0, 1.0]), tangent=np.eye(3)),
    lambda: wg.trace(lambda *xs: sum(xs), *np.arange(1.0, 30.0)),
]


@pytest.mark.parametrize("make", TRACES)
def test_well_formed(make):
    t = make()
    for level in (None, "none", "line", "function"):
        root = ET.fromstring(t.graph(level).svg)
        assert root.tag.endswith("svg")
        nodes = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if "node" in g.get("class", "").split()]
        assert len(nodes) == len(t.graph(level).folded.nodes)
    well_formed(t._repr_html_())
    assert len({line.count("|") - line.count(r"\|") for line in t.markdown().splitlines()}) == 1
    latex = t.latex()
    assert latex.count("{") - latex.count(r"\{") == latex.count("}") - latex.count(r"\}")
    assert latex.count("$") % 2 == 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
@pytest.mark.parametrize("make", TRACES[:5])
def test_latex_compiles(make, tmp_path):
    (tmp_path / "t.tex").write_text(
        r"\documentclass{article}\usepackage[paperwidth=200cm,paperheight=200cm]{geometry}\usepackage{booktabs,amsmath}"
        r"\begin{document}" + make().latex(rows=20) + r"\end{document}",
        encoding="utf-8",
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-1500:]


def test_graph_is_saved(tmp_path):
    graph = wg.trace(np.sin, 1.0).graph()
    assert graph.save(tmp_path / "g.svg").read_text(encoding="utf-8") == graph.svg == graph._repr_svg_()


def test_folding_keeps_all_operations():
    t = wg.trace(loop, np.array([1.0, 0.5]), 40)
    for level in ("none", "line", "function"):
        folded = fold(t.listing, level)
        assert sum(len(node.steps) for node in folded.nodes) == len(t.listing.steps)
        assert folded.node_of.keys() == set(t.listing.variables)
    assert len(t.graph().folded.nodes) < 10
    assert any(e.back for e in t.graph("line").folded.edges)  # the loop
    with pytest.raises(ValueError, match="fold="):
        t.graph("everything")


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 14))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    edges = draw(st.sets(pairs.map(lambda p: (min(p), max(p))), max_size=24))
    sizes = draw(st.lists(st.tuples(st.floats(5, 80), st.floats(5, 80)), min_size=n, max_size=n))
    return sizes, sorted(edges)


@given(graphs())
def test_layout(graph):
    """Edges lead from left to right, and no two nodes overlap."""
    sizes, edges = graph
    layer = layers_of(len(sizes), edges)
    assert all(layer[u] < layer[v] for u, v in edges)
    found = layout(sizes, edges)
    for u, v in edges:
        assert found.centres[u][0] < found.centres[v][0]
    for route, (u, v) in zip(found.routes, edges, strict=True):
        assert (route[0], route[-1]) == (found.centres[u], found.centres[v])
    for i, (x, y) in enumerate(found.centres):
        for j in range(i):
            a, b = found.centres[j]
            apart_x = abs(x - a) >= (sizes[i][0] + sizes[j][0]) / 2 - 1e-6
            apart_y = abs(y - b) >= (sizes[i][1] + sizes[j][1]) / 2 - 1e-6
            assert apart_x or apart_y
        assert y - sizes[i][1] / 2 >= -1e-6
        assert y + sizes[i][1] / 2 <= found.height + 1e-6


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.1, 3)), min_size=1, max_size=20))
def test_isotonic(pairs):
    """Nondecreasing, and optimal: within each pool of equal values the weighted residuals sum to zero."""
    wanted, weights = map(np.array, zip(*pairs, strict=True))
    found = np.array(isotonic(wanted, weights))
    assert np.all(np.diff(found) >= -1e-12)
    np.testing.assert_allclose(np.sum(weights * (wanted - found)), 0, atol=1e-9)
    assert np.all(np.cumsum(weights * (wanted - found)) >= -1e-9)  # the multipliers of the constraints
