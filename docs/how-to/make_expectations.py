"""The table and the picture of `gradients-of-expectations.md`: how much estimates from one draw vary.

`python docs/how-to/make_expectations.py` writes them.
"""

from __future__ import annotations

import html
from pathlib import Path

import numpy as np
from scipy import stats

from wengert import infer
from wengert.errors import EstimatorError

HERE = Path(__file__).parent
SAMPLES = 20_000


def cost(x):
    return np.sin(x) + 0.3 * x**2


def cost_of_many(x):
    return (x[0] - 0.45) ** 2 + 1.5 * x[0] * x[1] - np.cos(2 * x[1] + x[2])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    return np.exp(x) / np.sum(np.exp(x))


LOGITS = np.array([0.3, -1.2, 0.8])
CASES = (
    ("normal, mean", cost, lambda m: stats.norm(m, 1.3), 0.7),
    ("normal, standard deviation", cost, lambda s: stats.norm(0.7, s), 1.3),
    ("gamma, shape", cost, lambda a: stats.gamma(a, scale=0.8), 2.5),
    ("beta, a", cost, lambda a: stats.beta(a, 1.8), 2.5),
    ("Student, degrees of freedom", cost, lambda df: stats.t(df), 9.0),
    ("Poisson, rate", cost, lambda rate: stats.poisson(rate), 1.7),
    ("three of 0/1, logits", cost_of_many, lambda logits: stats.bernoulli(sigmoid(logits)), LOGITS),
    ("one-hot of three, logits", cost_of_many, lambda logits: stats.multinomial(1, softmax(logits)), LOGITS),
)
ESTIMATORS = (
    *("reparameterization", "implicit", "measure-valued", "score", "rebar", "relax"),
    *("gumbel-softmax", "straight-through"),
)


def estimates():
    """Rows of (distribution, estimator, estimates from single draws)."""
    for name, f, dist, params in CASES:
        for estimator in ESTIMATORS:
            try:
                found = infer.expectation_grad(f, dist, params, estimator=estimator, samples=SAMPLES, per_sample=True)
            except EstimatorError:
                continue
            yield name, estimator, np.reshape(found, (SAMPLES, -1))


def written(value):
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def table(rows):
    variances = {(name, estimator): x.var(axis=0).sum() for name, estimator, x in rows}
    lines = ["| | " + " | ".join(ESTIMATORS) + " |", "|---" * (len(ESTIMATORS) + 1) + "|"]
    for name, *_ in CASES:
        unbiased = [variances[name, e] for e in ESTIMATORS[:6] if (name, e) in variances]
        cells = []
        for e in ESTIMATORS:
            value = variances.get((name, e))
            text = "" if value is None else written(value) if value > 1e-12 else "0"
            text = f"**{text}**" if value is not None and e in ESTIMATORS[:6] and value == min(unbiased) else text
            cells.append(f"*{text}*" if text and e in ESTIMATORS[6:] else text)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += ["", "Bold: the smallest of those without bias. Italic: biased."]
    return "\n".join(lines) + "\n"


def picture(rows):
    shown = [row for row in rows if row[0] in ("gamma, shape", "three of 0/1, logits")]
    width, line, left = 640, 22, 210
    parts, top, last = [], 34, None
    for name, estimator, x in shown:
        if name != last:
            parts.append(f'<text x="14" y="{top}" font-weight="600">{html.escape(name)}</text>')
            last, top = name, top + line
            column = x[:, 0]
            low, high = np.quantile(np.concatenate([r[2][:, 0] for r in shown if r[0] == name]), [0.01, 0.99])
        column = x[:, 0]
        place = lambda v, low=low, high=high: left + (width - left - 20) * (np.clip(v, low, high) - low) / (high - low)
        a, b, mean = np.quantile(column, 0.025), np.quantile(column, 0.975), column.mean()
        color = "#94a3b8" if estimator in ESTIMATORS[6:] else "#4051b5"
        parts.append(f'<text x="{left - 10}" y="{top + 4}" text-anchor="end">{estimator}</text>')
        for v in column[:150]:
            parts.append(f'<circle cx="{place(v):.1f}" cy="{top}" r="1.4" fill="{color}" fill-opacity="0.25"/>')
        parts.append(f'<line x1="{place(a):.1f}" x2="{place(b):.1f}" y1="{top}" y2="{top}" stroke="{color}" '
                     'stroke-width="2"/>')  # fmt: skip
        parts.append(f'<circle cx="{place(mean):.1f}" cy="{top}" r="4" fill="#ea7317"/>')
        top += line
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" width="{width}" height="{top}" '
        f'font-family="system-ui,sans-serif" font-size="12" fill="#1f2933">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>\n'
    )


if __name__ == "__main__":
    rows = list(estimates())
    (HERE.parent / "generated" / "expectations.md").write_text(table(rows), encoding="utf-8")
    (HERE / "expectations.svg").write_text(picture(rows), encoding="utf-8")
