"""The command line of the benchmarks, shared by `run.py` (which prepares) and `measure.py` (which measures)."""

import argparse

import tools


def names(text: str) -> list[str]:
    """Split a comma-separated list: `"numpy,wengert"` is `["numpy", "wengert"]`."""
    return [name.strip() for name in text.split(",") if name.strip()]


def tool_names(text: str) -> list[str]:
    """Split a list of tools and refuse unknown ones; NumPy is always among them, since every ratio needs it."""
    chosen = names(text)
    unknown = [name for name in chosen if name not in tools.NAMES]
    if unknown:
        raise argparse.ArgumentTypeError(f"no such tool: {', '.join(unknown)} (there are {', '.join(tools.NAMES)})")
    return [name for name in tools.NAMES if name in chosen or name == "numpy"]


def parse() -> argparse.Namespace:
    """Read the options from the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks/run.py", description="Eager gradients, side by side.")
    parser.add_argument("--only", type=names, help="problems or cases to run, such as helmholtz or mlp,helmholtz-8")
    parser.add_argument("--tools", type=tool_names, default=list(tools.NAMES), help="tools to run, comma-separated")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter samples: rougher figures")
    parser.add_argument("--write-readme", action="store_true", help="put the tables into benchmarks/README.md")
    return parser.parse_args()
