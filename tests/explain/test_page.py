"""The page of `wg.explain`, in a browser: what a reader does, and what then is there to see.

The browser runs without a window; a script that is added to a copy of the page acts as the reader and writes what it
finds into the page, which the browser then prints.
"""

import html
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

import wengert as wg

BROWSER = next((b for b in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if b), None)
in_browser = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here")


def f(x1, x2):
    a, b, c = np.log(x1), x1 * x2, np.sin(x2)
    return a + b - c


def pendulum(angle, speed, n):
    energy = 0.0
    for _ in range(n):
        speed = speed - 0.1 * np.sin(angle)
        angle = angle + 0.1 * speed
        energy = energy + speed**2 / 2 - np.cos(angle)
    return energy


def run(page, script, tmp_path, width=1400):
    """What the script puts into `found` when it runs at the end of the page."""
    text = page.read_text(encoding="utf-8")
    acting = """<script>
      const key = (k) => document.body.dispatchEvent(new KeyboardEvent("keydown", {key: k, bubbles: true}));
      const $ = (s) => document.querySelector(s), $$ = (s) => [...document.querySelectorAll(s)];
      const cell = (row, c) => $(`.row[data-row="${row}"] ${c}`).textContent;
      const found = {}; try { SCRIPT } catch (error) { found.error = String(error); }
      const out = document.createElement("pre"); out.id = "found"; out.textContent = JSON.stringify(found);
      document.body.append(out);</script></body>""".replace("SCRIPT", script)
    copy = tmp_path / "copy.html"
    copy.write_text(text.replace("</body>", acting), encoding="utf-8")
    arguments = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--window-size={width},1000",
        "--virtual-time-budget=2000",
    ]
    done = subprocess.run(
        [BROWSER, *arguments, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", copy.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    found = json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL).group(1)))
    assert "error" not in found, found["error"]
    return found


def test_it_is_self_contained_and_well_formed(tmp_path):
    path = wg.explain(f, 2.0, 5.0, path=tmp_path / "f.html")
    text = path.read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="(?!#)', text)
    assert "@import" not in text
    assert re.findall(r"https?://[^\"' <)]+", text.replace("http://www.w3.org/2000/svg", "")) == []
    assert "{{" not in text.split('<script type="application/json"')[0]
    parser = HTMLParser()
    parser.feed(text)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL).group(1))
    assert [row["value"] for row in data["rows"]] == ["2", "5", "0.693", "10", "−0.959", "10.693", "11.652"]
    assert data["forward"][0]["values"] == ["1", "0", "0.5", "5", "0", "5.5", "5.5"]
    assert [s[3] for s in data["reverse"][0]["statements"]] == ["1", "1", "−1", "1", "1", "−0.284", "5", "1.716", "5.5"]


def test_text_of_the_users_cannot_break_the_page(tmp_path):
    def g(x):
        return x * len("</script><script>alert(1)</script><!--")

    text = wg.explain(g, 2.0, path=tmp_path / "g.html").read_text(encoding="utf-8")
    assert text.count("<script") == 2
    assert text.count("</script>") == 2


@pytest.mark.slow
@in_browser
def test_stepping(tmp_path):
    page = wg.explain(f, 2.0, 5.0, path=tmp_path / "f.html")
    found = run(page, """
        found.end = $("#now").textContent; found.gradient = [cell(0, ".bar"), cell(1, ".bar")];
        key("Home"); found.start = $$(".row.later").length; found.faded = $$(".node.later").length;
        key("ArrowRight"); key("ArrowRight"); key("ArrowRight"); found.third = $("#now").textContent;
        found.active = $(".row.active").dataset.row; found.line = $(".line.active .number").textContent;
        for (let k = 0; k < 11; k++) key("ArrowRight");
        found.reverse = $("#now").textContent; found.partly = cell(1, ".bar");
        found.node = $(".node.active").dataset.node;
        key("ArrowLeft"); found.before = cell(1, ".bar");
        key("End"); found.done = [cell(0, ".bar"), cell(1, ".bar")];
        $("#direction").value = 1; $("#direction").dispatchEvent(new Event("change")); found.other = cell(6, ".dot");
        $("#theme").click(); found.theme = document.documentElement.dataset.theme;
        """, tmp_path)  # fmt: skip
    assert found["end"] == "complete∂y/∂x1=5.5∂y/∂x2=1.716"
    assert found["gradient"] == found["done"] == ["5.5", "1.716"]
    assert (found["start"], found["faded"]) == (7, 7)
    assert found["third"] == "forward 3 of 7v1=ln v−1=ln 2=0.693v1=v−1 / v−1=1 / 2=0.5"
    assert found["active"] == "2"
    assert found["reverse"] == "reverse 7 of 9v−1=v2 × v0=5"
    assert (found["partly"], found["before"], found["node"]) == ("−0.284", "−0.284", "0")
    assert found["other"] == "1.716"
    assert found["theme"] in ("dark", "light")


@pytest.mark.slow
@in_browser
def test_pointing_and_following(tmp_path):
    page = wg.explain(f, 2.0, 5.0, path=tmp_path / "f.html")
    found = run(page, """
        const line = $$(".line.busy")[1];
        line.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
        found.rows = $$(".row.lit").map((e) => e.dataset.row); found.nodes = $$(".node.lit").map((e) => e.dataset.node);
        $("#source").dispatchEvent(new MouseEvent("mouseleave")); found.none = $$(".lit").length;
        const node = $('.node[data-node="5"]');
        node.dispatchEvent(new MouseEvent("mouseenter")); found.back = $$(".line.lit").length;
        node.dispatchEvent(new MouseEvent("mouseleave")); node.dispatchEvent(new MouseEvent("click", {bubbles: true}));
        found.path = $$(".node.path").map((e) => +e.dataset.node).sort();
        found.labels = $$(".partial").map((e) => e.textContent).sort();
        found.detail = $("#detail").textContent; key("Escape"); found.cleared = $$(".path").length;
        found.names = $$("button").every((b) => b.textContent.trim() || b.getAttribute("aria-label"));
        found.focus = $$(".node").every((e) => e.tabIndex === 0 && e.getAttribute("aria-label"));
        """, tmp_path)  # fmt: skip
    assert found["rows"] == ["5", "6"]
    assert found["nodes"] == ["5", "6"]
    assert found["none"] == 0
    assert found["back"] == 1
    assert found["path"] == [0, 1, 2, 3, 5]  # not sin
    assert found["labels"] == ["0.5", "1", "1", "2", "5"]
    assert "∂v4/∂x15.5" in found["detail"]  # 1 · 0.5 + 1 · 5
    assert found["cleared"] == 0
    assert found["names"]
    assert found["focus"]


@pytest.mark.slow
@in_browser
def test_a_thousand_operations(tmp_path):
    page = wg.explain(pendulum, 1.0, 0.0, 110, path=tmp_path / "p.html")
    gradient = wg.grad(pendulum, argnums=(0, 1))(1.0, 0.0, 110)
    found = run(page, """
        found.rows = $$(".row").length; found.nodes = $$(".node").length; found.count = $("#count").textContent;
        found.gradient = [cell(0, ".bar"), cell(1, ".bar")];
        const start = performance.now(); key("Home"); for (let k = 0; k < 100; k++) key("ArrowRight");
        found.pace = (performance.now() - start) / 100; found.now = $("#now").textContent.slice(0, 19);
        $("#list").scrollTop = 20000; $("#list").dispatchEvent(new Event("scroll"));
        found.first = +$(".row").dataset.row;
        found.wide = document.documentElement.scrollWidth <= innerWidth;
        """, tmp_path)  # fmt: skip
    assert int(found["count"].split()[0]) > 900
    assert found["rows"] < 60  # only what can be seen
    assert found["nodes"] < 20  # folded
    assert [float(g.replace("−", "-")) for g in found["gradient"]] == pytest.approx(gradient, abs=1e-3)
    assert found["now"].startswith("forward 100 of ")
    assert found["first"] > 500
    assert found["wide"]
    assert found["pace"] < 200


@pytest.mark.slow
@in_browser
def test_a_narrow_screen(tmp_path):
    page = wg.explain(pendulum, 1.0, 0.0, 3, path=tmp_path / "p.html")
    found = run(page, "found.wide = document.documentElement.scrollWidth <= innerWidth;", tmp_path, width=520)
    assert found["wide"]
