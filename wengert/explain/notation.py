"""How variables and numbers are written: as text, as LaTeX, as HTML.

A `Style` knows the marks of one medium; what is written (`formula.py`, `table.py`) does not depend on it. Numbers are
rounded as in the survey's tables: three decimals, without trailing zeros.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.box.writing import plain
from wengert.types import shape_of

_SUBSCRIPTS = str.maketrans("0123456789-", "₀₁₂₃₄₅₆₇₈₉₋")
_SUPERSCRIPTS = str.maketrans("0123456789-.", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻·")
_ACCENTS = {"dot": "\u0307", "bar": "\u0304"}
_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#",
    "^": r"\^{}", "~": r"\~{}",
}  # fmt: skip
_LATEX_WORDS = {"ln", "sin", "cos", "tan", "exp", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "max", "min"}
_LATEX_SYMBOLS = {"Σ": r"\sum", "√": r"\sqrt", "sech²": r"\mathrm{sech}^2"}
_FULL = 5
"""Vectors of at most so many elements are written in full."""


def rounded(x: float, decimals: int = 3) -> str:
    """A real number as the survey writes it.

    >>> rounded(0.6931), rounded(10.0), rounded(-0.28366), rounded(1.5e-7), rounded(1 / 3 * 1e9)
    ('0.693', '10', '-0.284', '1.5e-07', '3.333e+08')
    """
    if not np.isfinite(x):
        return "nan" if np.isnan(x) else "∞" if x > 0 else "-∞"
    if x != 0 and not 0.5 * 10.0**-decimals <= abs(x) < 1e6:
        mantissa, exponent = f"{x:.{decimals}e}".split("e")
        return f"{_trimmed(mantissa)}e{exponent}"
    text = _trimmed(f"{x:.{decimals}f}")
    return "0" if text == "-0" else text


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def number(x: Any) -> str:
    """A number of any type."""
    x = plain(x)
    if isinstance(x, (bool, np.bool_)):
        return str(bool(x))
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    if isinstance(x, (complex, np.complexfloating)):
        x = complex(x)
        sign = "-" if np.signbit(x.imag) else "+"
        return f"{rounded(x.real)} {sign} {rounded(abs(x.imag))}i"
    return rounded(float(x))


def summary(x: Any) -> str:
    """A value in a few characters, whatever its size.

    >>> summary(np.float64(11.652)), summary(np.arange(3.0)), summary(np.arange(100.0)), summary(np.ones((3, 4)))
    ('11.652', '[0, 1, 2]', '[0, 1, …, 99] (100)', '3×4, all 1')
    """
    x = plain(x)
    shape = shape_of(x)
    if getattr(x, "__array_interface__", None) is None and not isinstance(x, (bool, int, float, complex, np.generic)):
        return f"{type(x).__name__}" + (f" {times(shape)}" if shape else "")
    x = np.asarray(x)
    if not shape:
        return number(x[()])
    if not x.size:
        return f"{times(shape)}, empty"
    if len(shape) == 1:
        if x.size <= _FULL:
            return "[" + ", ".join(map(number, x)) + "]"
        return f"[{number(x[0])}, {number(x[1])}, …, {number(x[-1])}] ({x.size})"
    if x.dtype.kind == "b":
        return f"{times(shape)}, {int(x.sum())} of {x.size} true"
    if x.dtype.kind == "c":
        return f"{times(shape)}, |·| ≤ {rounded(float(np.abs(x).max()))}"
    if np.isnan(x).any():
        return f"{times(shape)}, with nan"
    low, high = x.min(), x.max()
    return f"{times(shape)}, all {number(low)}" if low == high else f"{times(shape)}, {number(low)} … {number(high)}"


def times(shape: Sequence[int]) -> str:
    """A shape as people write it.

    >>> times((3, 4)), times((5,))
    ('3×4', '5')
    """
    return "×".join(map(str, shape))


def width(text: str) -> int:
    """How many columns a text takes: accents take none.

    >>> width("v̇₋₁")
    3
    """
    return sum(not unicodedata.combining(c) for c in text)


def padded(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def _split(name: str) -> tuple[str, str]:
    """A name of the user's, and the digits at its end."""
    found = re.fullmatch(r"([A-Za-z]\w*?)_?(\d+)", name)
    return (found[1], found[2]) if found else (name, "")


class Style:
    """Plain text with Unicode subscripts and accents."""

    multiply, minus, matmul, left, right = "×", "−", "@", "(", ")"

    def variable(self, index: int, accent: str = "") -> str:
        """v₋₁, with a dot or bar above if it is a tangent or an adjoint."""
        return "v" + _ACCENTS.get(accent, "") + str(index).translate(_SUBSCRIPTS)

    def named(self, name: str, accent: str = "") -> str:
        """A name of the user's; digits at its end become a subscript."""
        base, digits = _split(name)
        return base[:1] + _ACCENTS.get(accent, "") + base[1:] + digits.translate(_SUBSCRIPTS)

    def number(self, text: str) -> str:
        return text.replace("-", "−") if text.startswith("-") else text

    def word(self, name: str) -> str:
        """The name of a function."""
        return name

    def plain(self, text: str) -> str:
        return text

    def power(self, base: str, exponent: str) -> str:
        bare = exponent.replace("−", "-")
        if exponent == "ᵀ":
            return base + exponent
        if re.fullmatch(r"-?\d+", bare):
            return base + bare.translate(_SUPERSCRIPTS)
        return f"{base}^{exponent}"

    def partial(self, upper: str, lower: str) -> str:
        """∂v₅/∂v₄"""
        return f"∂{upper}/∂{lower}"

    def bold(self, text: str) -> str:
        return text


class Latex(Style):
    """The inside of LaTeX's mathematics."""

    multiply, minus, matmul = r"\times", "-", r"\,"

    def variable(self, index: int, accent: str = "") -> str:
        subscript = str(index) if 0 <= index < 10 else f"{{{index}}}"
        return (rf"\{accent}{{v}}" if accent else "v") + f"_{subscript}"

    def named(self, name: str, accent: str = "") -> str:
        base, digits = _split(name)
        if len(base) > 1:
            base = rf"\mathrm{{{self._escaped(base)}}}"
        base = rf"\{accent}{{{base}}}" if accent else base
        return base + (f"_{digits if len(digits) == 1 else f'{{{digits}}}'}" if digits else "")

    def number(self, text: str) -> str:
        if text in ("True", "False", "nan"):
            return rf"\mathrm{{{text}}}"
        text = re.sub(r"e([+-]\d+)", lambda found: rf" \cdot 10^{{{int(found[1])}}}", text)
        return text.replace("∞", r"\infty")

    def word(self, name: str) -> str:
        if name in _LATEX_SYMBOLS:
            return _LATEX_SYMBOLS[name]
        return rf"\{name}" if name in _LATEX_WORDS else rf"\mathrm{{{self._escaped(name)}}}"

    def plain(self, text: str) -> str:
        return rf"\mbox{{{self._escaped(text)}}}"

    def power(self, base: str, exponent: str) -> str:
        return f"{base}^{{{exponent}}}"

    def partial(self, upper: str, lower: str) -> str:
        return rf"\frac{{\partial {upper}}}{{\partial {lower}}}"

    def bold(self, text: str) -> str:
        return r"\boldsymbol{" + text + "}"

    def _escaped(self, text: str) -> str:
        text = "".join(_LATEX_SPECIAL.get(c, c) for c in text)
        for mark, command in (("…", r"\dots{}"), ("×", r"$\times$"), ("−", "$-$"), ("≤", r"$\le$"), ("∞", r"$\infty$"),
                              ("·", r"$\cdot$"), ("←", r"$\leftarrow$")):  # fmt: skip
            text = text.replace(mark, command)
        return text


def _marked(accent: str) -> str:
    """Accents are drawn by a style sheet (`ACCENTS`): few fonts have a v with a dot or bar."""
    return f' class="wg-{accent}"' if accent else ""


ACCENTS = (
    ".wg-dot,.wg-bar{position:relative}.wg-dot::before,.wg-bar::before{content:'';position:absolute}"
    ".wg-dot::before{left:.24em;top:.24em;width:.13em;height:.13em;border-radius:1em;background:currentColor}"
    ".wg-bar::before{left:.06em;right:.02em;top:.3em;border-top:.065em solid currentColor}"
)


class Html(Style):
    """HTML that needs no script to be shown."""

    def variable(self, index: int, accent: str = "") -> str:
        return f"<i{_marked(accent)}>v</i><sub>{str(index).replace('-', '−')}</sub>"

    def named(self, name: str, accent: str = "") -> str:
        base, digits = _split(name)
        return f"<i{_marked(accent)}>{html.escape(base)}</i>" + (f"<sub>{digits}</sub>" if digits else "")

    def word(self, name: str) -> str:
        return html.escape(name)

    def plain(self, text: str) -> str:
        return html.escape(text)

    def power(self, base: str, exponent: str) -> str:
        return f"{base}<sup>{exponent}</sup>"

    def bold(self, text: str) -> str:
        return f"<b>{text}</b>"


TEXT, LATEX, HTML = Style(), Latex(), Html()
