"""`wg.profile` charges operations, time and memory to the lines that cause them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

import wengert as wg
from wengert.explain.pictures import bars, curves


def program(x, A):
    y = A @ x
    for _ in range(4):
        y = np.tanh(y)
    return np.sum(y**2)


N = 200
ARGS = np.linspace(0.0, 1.0, N), np.eye(N)


def rows():
    p = wg.profile(program, *ARGS, repeat=2)
    first = program.__code__.co_firstlineno
    return p, {line.line - first: line for line in p.lines}


def test_operations_and_memory_by_line():
    p, by_line = rows()
    assert by_line.keys() == {1, 3, 4}
    assert [by_line[k].operations for k in (1, 3, 4)] == [1, 4, 2]
    vector = 8 * N
    assert [by_line[k].allocated for k in (1, 3, 4)] == [vector, 4 * vector, vector + 8]
    # the product keeps both factors, each tanh its slope, the square its slope
    assert by_line[1].kept == vector + 8 * N * N
    assert by_line[3].kept == 4 * vector
    assert by_line[4].kept == vector
    assert p.kept == 6 * vector + 8 * N * N
    assert by_line[3].text == "y = np.tanh(y)"


def test_every_time_is_there_and_derivatives_cost_more():
    p, by_line = rows()
    for line in p.lines:
        assert line.function > 0
        assert line.forward > 0
        assert line.reverse > line.sweep > 0
    assert p.function > 0
    assert p.forward > 0
    assert p.reverse > 0
    assert sum(line.forward for line in p.lines) > sum(line.function for line in p.lines)
    dearest = [line.function + line.forward + line.reverse for line in p.lines]
    assert dearest == sorted(dearest, reverse=True)


def test_slow_lines_are_slow():
    def f(x):
        a = np.exp(x[:10])
        b = x.reshape(300, 300) @ x.reshape(300, 300)
        return np.sum(a) + np.sum(b)

    p = wg.profile(f, np.linspace(0, 1, 90000), repeat=3)
    assert p.lines[0].text.startswith("b =")


def test_containers_integers_and_writes():
    def f(p, n):
        out = np.zeros(n)
        for i in range(n):
            out[i] = p["w"][i] * p["b"]
        return np.sum(out)

    p = wg.profile(f, {"w": np.ones(3), "b": 2.0}, 3, repeat=1)
    first = f.__code__.co_firstlineno
    assert {line.line - first for line in p.lines} >= {3, 4}


def test_shown():
    p, _ = rows()
    text = str(p)
    assert "y = np.tanh(y)" in text
    assert "kept by the tape" in text
    widths = {len(line) for line in text.splitlines()[3:-1] if "np.tanh" in line or "np.sum" in line}
    assert widths
    assert "<table>" in p._repr_html_()
    assert ET.fromstring(str(p.svg)).tag.endswith("svg")


def test_pictures_are_well_formed(tmp_path):
    picture = bars(["<a> & b", "c"], {"one": [1.0, 0.0], "two": [3.0, 2.0]}, lambda v: f"{v} < µs")
    root = ET.fromstring(str(picture))
    widths = [float(r.get("width")) for r in root.iter() if r.tag.endswith("rect")][2:]
    np.testing.assert_allclose(np.array(widths) / widths[1], [1 / 3, 1.0, 0.0, 2 / 3], atol=1e-3)
    picture.save(str(tmp_path / "bars.svg"))
    assert (tmp_path / "bars.svg").read_text(encoding="utf-8") == str(picture)
    root = ET.fromstring(str(curves([1e-3, 1e-2, 1e-1], {"e": [1.0, 0.0, 1e-4]}, "h", "error")))
    (line,) = [r for r in root.iter() if r.tag.endswith("polyline")]
    assert len(line.get("points").split()) == 2  # zero has no logarithm
