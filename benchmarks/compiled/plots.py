"""The pictures: one for each family, with logarithmic axes."""

from pathlib import Path

from compiled.families import FAMILIES
from compiled.goals import ADBENCH

try:
    import matplotlib
    from matplotlib import pyplot as plt
except ImportError:  # the tables do without
    matplotlib = None

COLOURS = {
    "numpy": "#777777",
    "wengert_jit": "#c0392b",
    "numba": "#2471a3",
    "jax_jit": "#1e8449",
    "casadi": "#b7950b",
    "torch": "#7d3c98",
    "autograd": "#d35400",
}
STYLES = {"function": "--", "derivative": "-"}


def draw(results: dict, folder: Path) -> dict[str, Path]:
    """Draw the families that were measured; return where each picture is."""
    if matplotlib is None:
        print("no pictures: matplotlib is not installed")
        return {}
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "wengert", "svg.fonttype": "none", "font.size": 8})
    drawn = {}
    for family in FAMILIES:
        cases = [case for case in results["cases"].values() if case["family"] == family.name and case["seconds"]]
        if cases:
            figure = curves(cases, results) if family.name in ("helmholtz", "loops") else bars(cases, results)
            figure.suptitle(family.title)
            drawn[family.name] = folder / f"{family.name}.svg"
            figure.savefig(drawn[family.name], metadata={"Date": None})
            plt.close(figure)
    return drawn


def curves(cases: list[dict], results: dict):
    """Draw time against size, a panel for each problem: dashed the function, solid the derivative."""
    names = list(dict.fromkeys(case["problem"] for case in cases))
    columns = min(4, len(names))
    rows = -(-len(names) // columns)
    width, height = (7.0, 4.5) if len(names) == 1 else (2.8 * columns, 2.4 * rows + 0.8)
    figure, axes = plt.subplots(rows, columns, figsize=(width, height), squeeze=False, layout="constrained")
    for panel, name in zip(axes.flat, names, strict=False):
        mine = [case for case in cases if case["problem"] == name]
        for entry in dict.fromkeys(entry for case in mine for entry in case["seconds"]):
            tool, what = entry.split("/")
            points = [(case["size"], 1e6 * case["seconds"][entry]) for case in mine if entry in case["seconds"]]
            title = results["tools"][tool]["title"]
            text = f"{title}, {what}" if (tool, what) != ("numba", "derivative") else "by hand (Numba), derivative"
            panel.loglog(*zip(*points, strict=True), STYLES[what], color=COLOURS[tool], marker=".", label=text)
        panel.set_title(mine[0]["title"].split(",")[0])
        sizes = [case["size"] for case in mine]
        shown = sizes if len(sizes) <= 4 else sizes[:2] + sizes[-3:]
        panel.set_xticks(shown, [f"{size:,}".replace(",", " ") for size in shown])
        panel.minorticks_off()
        panel.set_xlabel("n")
        panel.set_ylabel("µs")
        panel.grid(alpha=0.3)
    for panel in list(axes.flat)[len(names) :]:
        panel.set_axis_off()
    shown = {text: line for panel in axes.flat for line, text in zip(*panel.get_legend_handles_labels(), strict=True)}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=3)
    return figure


def bars(cases: list[dict], results: dict):
    """Draw the time of the derivative ÷ that of NumPy's function as points, a row for each case; goals as bars."""
    figure, panel = plt.subplots(figsize=(8.0, 0.32 * len(cases) + 1.6), layout="constrained")
    for k, case in enumerate(reversed(cases)):
        yardstick = case["seconds"].get("numpy/function")
        if yardstick is None:
            continue
        for entry, seconds in case["seconds"].items():
            tool, what = entry.split("/")
            if what == ("derivative" if case["derivative"] else "function") and entry != "numpy/function":
                panel.plot(seconds / yardstick, k, "o", color=COLOURS[tool], label=results["tools"][tool]["title"])
        goal = ADBENCH.get(f"{case['problem']}-{case['size']}")
        if goal is not None:
            panel.plot(goal, k, "k|", markersize=14, label="goal")
    panel.set_xscale("log")
    panel.axvline(1.0, color="#777777", linewidth=0.8)
    panel.set_yticks(range(len(cases)), [case["title"] for case in reversed(cases)])
    panel.set_xlabel("time ÷ NumPy's time for the function")
    panel.grid(alpha=0.3)
    shown = dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=4)
    return figure
