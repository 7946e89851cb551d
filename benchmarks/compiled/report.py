"""Turn results into text: tables and goals, in Markdown, which is as readable in a terminal."""

from pathlib import Path

from report import line, plain

from compiled.families import FAMILIES
from compiled.goals import ADBENCH, Figure, build, microseconds, ratio, warm
from compiled.growth import ENTRIES

WARM = ("wengert_jit/function", "wengert_jit/derivative")

LOOP_COLUMNS = (
    ("f: wengert ÷ Numba", "wengert_jit/function", "numba/function"),
    ("JAX ÷ Numba", "jax_jit/function", "numba/function"),
    ("∇f ÷ f: wengert", "wengert_jit/derivative", "wengert_jit/function"),
    ("JAX", "jax_jit/derivative", "jax_jit/function"),
    ("∇f ÷ Numba's f: wengert", "wengert_jit/derivative", "numba/function"),
    ("by hand", "numba/derivative", "numba/function"),
    ("JAX's ∇f ÷ wengert's", "jax_jit/derivative", "wengert_jit/derivative"),
)


def render(results: dict, drawn: dict[str, Path]) -> str:
    """Return the whole report."""
    parts = [heading(results), "#### Goals", goals(results)]
    for family in FAMILIES:
        mine = {name: case for name, case in results["cases"].items() if case["family"] == family.name}
        if mine:
            parts += [f"#### {family.title}", *section(family.name, mine, results)]
            if family.name in drawn:
                parts += [f"![{family.title}](results/{drawn[family.name].name})"]
    parts += ["#### Building, memory, growth", *costs(results), *remarks(results)]
    return "\n\n".join(parts)


def heading(results: dict) -> str:
    """Say on what it was measured."""
    machine, settings = results["machine"], results["settings"]
    versions = ", ".join(f"{tool['title']} {tool['version']}" for tool in results["tools"].values())
    lines = [
        f"{machine['processor']}, one thread; Python {machine['python']}; {versions}.",
        f"Shortest of {settings['rounds']} samples of at least {1000 * settings['seconds']:g} ms, taken in turns (of"
        f" fewer, where they would take longer than {settings['budget']:g} s together, but of {settings['fewest']} or"
        " more).",
    ]
    if settings.get("clock") == "cpu":
        lines += ["Times are the processor's, not the wall's."]
    if results["missing"]:
        lines += [f"Not available: {', '.join(results['missing'])}."]
    return "\n".join(lines)


def section(family: str, cases: dict, results: dict) -> list[str]:
    """Return the tables of a family."""
    titles = {name: tool["title"] for name, tool in results["tools"].items()}
    if family == "loops":
        columns = {label: ratio(top, bottom) for label, top, bottom in LOOP_COLUMNS}
        text = "Ratios of times; f is the function, ∇f the gradient, by hand a gradient written for Numba."
        return [text, table(cases, columns), "Microseconds per call:", times(cases, titles)]
    if family == "overhead":
        return ["Microseconds per call:", times(cases, titles)]
    entries = [f"{name}/derivative" for name in titles if name != "numpy"]
    columns = {"goal": lambda case: ADBENCH.get(f"{case['problem']}-{case['size']}")} if family == "adbench" else {}
    columns |= {label(entry, titles): ratio(entry, "numpy/function") for entry in entries}
    columns["f: wengert"] = ratio("wengert_jit/function", "numpy/function")
    text = "The derivative's time divided by that of NumPy for the function; last, wengert's for the function itself."
    return [text, table(cases, columns), "Microseconds per call:", times(cases, titles)]


def label(entry: str, titles: dict) -> str:
    """Return the heading of the column of a derivative; Numba's are written by hand."""
    name, _ = entry.split("/")
    return "by hand (Numba)" if name == "numba" else titles[name]


def head(entry: str, titles: dict) -> str:
    """Return the heading of a column that may be of a function (f) or of a derivative (∂f)."""
    name, what = entry.split("/")
    return f"f {titles[name]}" if what == "function" else f"∂f {label(entry, titles)}"


def times(cases: dict, titles: dict) -> str:
    """Return the table of microseconds."""
    entries = [f"{name}/{what}" for what in ("function", "derivative") for name in titles]
    return table(cases, {head(entry, titles): microseconds(entry) for entry in entries})


def table(cases: dict, columns: dict) -> str:
    """Return a Markdown table with a row per case; columns that are all empty are left out."""
    figures = {heading: [figure(case) for case in cases.values()] for heading, figure in columns.items()}
    figures = {heading: column for heading, column in figures.items() if any(x is not None for x in column)}
    rows = [["", *figures]]
    rows += [
        [case["title"], *(plain(column[k]) for column in figures.values())] for k, case in enumerate(cases.values())
    ]
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(line(row, widths) for row in [rows[0], rule, *rows[1:]])


def goals(results: dict) -> str:
    """Say for each goal whether it is met, and by how much it is not."""
    cases, lines = results["cases"], []
    for verdict in results["goals"]:
        figures, missed = verdict["figures"], verdict["missed"]
        if not figures:
            failed = " (failed)" if verdict["unmeasured"] else ""
            lines += [f"- not measured{failed}: {verdict['goal']}"]
            continue
        text = f"- {'MISSED' if missed else 'met'}: {verdict['goal']}"
        if len(figures) == 1:
            (figure,) = figures.values()
            text += f": {plain(figure)}" + (f", {plain(figure / verdict['most'])} times the goal" if missed else "")
        else:
            text += f": reached in {len(figures) - len(missed)} of {len(figures)} cases"
            worst = sorted(missed, key=lambda name: -figures[name])
            text += "".join(f"\n  - {cases[name]['title']}: {plain(figures[name])}" for name in worst)
        if verdict["unmeasured"]:
            text += f"\n  - failed: {', '.join(cases[name]['title'] for name in verdict['unmeasured'])}"
        lines += [text]
    return "\n".join(lines)


def costs(results: dict) -> list[str]:
    """Return the tables of what else there is to pay: building, memory, growth."""
    cases, titles = results["cases"], {name: tool["title"] for name, tool in results["tools"].items()}
    largest = {case["problem"]: name for name, case in cases.items()}
    last = {name: cases[name] for name in largest.values()}
    entries = [f"{name}/{what}" for what in ("function", "derivative") for name in titles]
    parts = [
        "Seconds from the program to its first result (once, the compiler being warm; the largest size):",
        table(last, {head(entry, titles): build(entry) for entry in entries if entry != "numpy/function"}),
    ]
    if any(case["memory"] for case in last.values()):
        parts += [
            "Megabytes that a call touches at its peak: arguments, temporaries, results (the largest size; ± 1):",
            table(
                {name: case for name, case in last.items() if case["memory"]},
                {head(entry, titles): megabytes(entry) for entry in entries},
            ),
        ]
    if results["growth"]:
        rows = {problem: {"title": problem, "fits": fits} for problem, fits in results["growth"].items()}
        columns = {head(e, titles): (lambda row, e=e: row["fits"].get(e)) for e in ENTRIES if e in entries}
        parts += [
            "Time grows with the size n as nᵖ; p, fitted over the three largest sizes:",
            table(rows, columns),
        ]
    if any(case.get("warm") for case in last.values()):
        parts += [
            "Milliseconds to the first result in a new process that finds the code on disk, without imports and without"
            " the call itself (the largest size):",
            table(last, {head(entry, titles): warm(entry) for entry in WARM}),
        ]
    return parts


def megabytes(entry: str) -> Figure:
    """Return the figure: the megabytes of a call."""
    return lambda case: case["memory"][entry] / 1e6 if entry in case["memory"] else None


def remarks(results: dict) -> list[str]:
    """Return the notes on programs, and what failed."""
    titles = {name: tool["title"] for name, tool in results["tools"].items()}
    parts = []
    if results["notes"]:
        rows = [
            f"- {problem}, {titles.get(name, name)}: {note}"
            for problem, said in results["notes"].items()
            for name, note in said.items()
        ]
        parts += ["**Programs** of tools that do not run the NumPy code as it stands:", "\n".join(rows)]
    failures = [
        f"- {case['title']}, {entry}: {reason}"
        for case in results["cases"].values()
        for entry, reason in case["failed"].items()
    ]
    if failures:
        parts += ["**Failures**", "\n".join(failures)]
    return parts
