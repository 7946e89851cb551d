"""The command line of the benchmarks, shared by `run.py` (which prepares) and what it starts (which measures)."""

import argparse

import tools


def names(text: str) -> list[str]:
    """Split a comma-separated list: `"numpy,wengert"` is `["numpy", "wengert"]`."""
    return [name.strip() for name in text.split(",") if name.strip()]


def tool_names(text: str) -> list[str]:
    """Split a list of tools and refuse unknown ones."""
    known = list(dict.fromkeys(name for suite in tools.SUITES.values() for name in suite))
    unknown = [name for name in names(text) if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"no such tool: {', '.join(unknown)} (there are {', '.join(known)})")
    return names(text)


def parse() -> argparse.Namespace:
    """Read the options from the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks/run.py", description="Derivatives, side by side.")
    parser.add_argument("--suite", choices=[*tools.SUITES, "all"], default="all", help="eager, compiled, or both")
    parser.add_argument("--only", type=names, help="problems, cases or families, such as helmholtz or mlp,helmholtz-8")
    parser.add_argument("--tools", type=tool_names, help="tools to run, comma-separated")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter samples: rougher figures")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall", help="cpu: for a machine that is busy")
    parser.add_argument("--write-readme", action="store_true", help="put the tables into benchmarks/README.md")
    return parser.parse_args()
