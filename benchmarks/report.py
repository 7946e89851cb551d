"""Turn results into text: the tables and the goals, in Markdown, which is as readable in a terminal."""

from goals import ratio


def render(results: dict) -> str:
    """Return the whole report."""
    tools, cases = results["tools"], results["cases"]
    titles = {name: tool["title"] for name, tool in tools.items()}
    gradients = [name for name in tools if name != "numpy"]
    others = [name for name in gradients if name != "wengert"]
    parts = [heading(results)]
    if gradients:
        parts += [
            "**Gradient ÷ function**: the time of one gradient divided by the time that NumPy takes for the function.",
            table(titles, gradients, cases, lambda case, tool: plain(ratio(case, tool, "numpy"))),
        ]
    if "wengert" in tools and others:
        parts += [
            "**Times faster**: the other tool's time for the gradient divided by wengert's (above 1: it wins).",
            table(titles, others, cases, lambda case, tool: plain(ratio(case, tool, "wengert"))),
        ]
    if results["notes"]:
        parts += [
            "**Programs** of tools that do not run the in-place NumPy code as it stands:",
            "\n".join(
                f"- {problem}, {titles[tool]}: {note}"
                for problem, said in results["notes"].items()
                for tool, note in said.items()
            ),
        ]
    parts += [
        "**Microseconds** per call on that machine on that day, for orientation.",
        table(titles, list(tools), cases, lambda case, tool: microseconds(case["seconds"].get(tool))),
        "**Goals**",
        "\n".join(goal_line(verdict, cases) for verdict in results["goals"]),
    ]
    return "\n\n".join(parts)


def heading(results: dict) -> str:
    """Say on what it was measured."""
    machine, settings = results["machine"], results["settings"]
    versions = ", ".join(f"{name} {tool['version']}" for name, tool in results["tools"].items() if name != "jax_jit")
    lines = [f"{machine['processor']}, one thread; Python {machine['python']}; {versions}."]
    lines += [
        f"Shortest of {settings['rounds']} interleaved samples of at least {1000 * settings['seconds']:g} ms (of fewer,"
        f" where they would take longer than {settings['budget']:g} s together, but of {settings['fewest']} or more)."
    ]
    if settings.get("clock") == "cpu":
        lines += ["Times are the processor's, not the wall's."]
    if results["missing"]:
        lines += [f"Not available: {', '.join(results['missing'])}."]
    return "\n".join(lines)


def table(titles: dict, columns: list, cases: dict, cell) -> str:
    """Return a Markdown table with a row per case and a column per tool, aligned."""
    rows = [["", *(titles[tool] for tool in columns)]]
    rows += [[case["title"], *(cell(case, tool) for tool in columns)] for case in cases.values()]
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(line(row, widths) for row in [rows[0], rule, *rows[1:]])


def line(row: list[str], widths: list[int]) -> str:
    """Return one line of a table: the first column to the left, the others to the right."""
    cells = [row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]
    return f"| {' | '.join(cells)} |"


def plain(figure: float | None) -> str:
    """Write a ratio with three digits or so."""
    if figure is None:
        return "–"
    if figure < 0.01:
        return f"{figure:.1g}"
    return f"{figure:.0f}" if figure >= 100 else f"{figure:.1f}" if figure >= 10 else f"{figure:.2f}"


def microseconds(seconds: float | None) -> str:
    """Write a time."""
    return "–" if seconds is None else plain(1e6 * seconds)


def goal_line(verdict: dict, cases: dict) -> str:
    """Say whether a goal is met, with the figure that decides it and the cases that miss it."""
    figures, missed = verdict["figures"], verdict["missed"]
    if not figures:
        return f"- not measured: {verdict['goal']}"
    text = f"- {'MISSED' if missed else 'met'}: {verdict['goal']}: {plain(figures[verdict['worst']])}"
    if len(figures) > 1:
        text += f" at worst ({cases[verdict['worst']]['title']})"
    if missed:
        text += f"; missed in {len(missed)} of {len(figures)} cases"
    if verdict["unmeasured"]:
        text += f"; not measured: {', '.join(verdict['unmeasured'])}"
    if verdict["remark"]:
        text += f". {verdict['remark']}"
    return text
