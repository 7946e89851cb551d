"""Sensitivity of an epidemic: how the peak and the end depend on what is done, and when.

An SEIR model is integrated by SciPy's `solve_ivp`, as people do. Contacts are reduced from a day on. The derivatives
of the height of the peak and of the number of all who fall ill, with respect to every parameter, come from the solver.
"""

from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import wengert as wg
from examples.gallery.drawing import Figure

DAYS = np.linspace(0, 180, 361)
NAMES = ("contacts per day", "days of incubation", "days of illness", "day of the measures", "strength of the measures")
PARAMETERS = np.array([0.6, 3.0, 5.0, 45.0, 0.5])


def epidemic(parameters, days=DAYS):
    """Shares of susceptible, exposed, ill and recovered people, a row for each day."""
    contacts, incubation, illness, start, strength = parameters

    def change(t, state):
        susceptible, exposed, ill, _ = state
        reduction = strength / (1 + np.exp(-(t - start)))  # the measures take effect within days
        infections = contacts * (1 - reduction) * susceptible * ill
        return [-infections, infections - exposed / incubation, exposed / incubation - ill / illness, ill / illness]

    start_state = [1 - 1e-4, 1e-4, 0.0, 0.0]
    return solve_ivp(change, (0, days[-1]), start_state, t_eval=days, rtol=1e-8, atol=1e-10).y.T


def peak_and_total(parameters):
    states = epidemic(parameters)
    return np.array([np.max(states[:, 2]), states[-1, 3]])


def main(small=False):
    values = peak_and_total(PARAMETERS)
    sensitivities = wg.jacobian(peak_and_total)(PARAMETERS)
    elasticities = sensitivities * PARAMETERS / values[:, None]
    later = wg.jvp(epidemic, (PARAMETERS,), (np.array([0.0, 0.0, 0.0, 1.0, 0.0]),))[1]  # one day later
    return dict(values=values, sensitivities=sensitivities, elasticities=elasticities, states=epidemic(PARAMETERS),
                later=later)  # fmt: skip


def picture(results):
    figure = Figure(2)
    axes = figure.axes("An epidemic with measures from day 45", xlabel="day", ylabel="share of people")
    for k, name in enumerate(("susceptible", "exposed", "ill", "recovered")):
        axes.line(DAYS, results["states"][:, k], name)
    axes = figure.axes("Change per day of delay", xlabel="day", ylabel="share of people")
    for k, name in ((2, "ill"), (3, "recovered")):
        axes.line(DAYS, results["later"][:, k], name)
    return figure


if __name__ == "__main__":
    found = main()
    print(f"peak {found['values'][0]:.4f}, ill in all {found['values'][1]:.4f}")
    for name, (of_peak, of_total) in zip(NAMES, found["elasticities"].T, strict=True):
        print(f"one percent more {name:26} peak {of_peak:+.3f} %, total {of_total:+.3f} %")
    picture(found).save(Path(__file__).with_suffix(".svg"))
