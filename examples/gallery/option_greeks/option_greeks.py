"""Option Greeks: all first and second sensitivities of a price, in closed form and by simulation.

The price of a European call in the model of Black and Scholes has known derivatives; an Asian option has no closed
form, and its price is the mean over simulated paths. Both are plain NumPy, and the Greeks are their derivatives.
"""

from pathlib import Path

import numpy as np
from scipy.special import ndtr

import wengert as wg
from examples.gallery.drawing import Figure

MARKET = np.array([100.0, 0.2, 0.03, 1.0])  # spot, volatility, interest rate, time to expiry
STRIKE = 105.0


def call_price(market):
    spot, volatility, rate, time = market
    spread = volatility * np.sqrt(time)
    d1 = (np.log(spot / STRIKE) + (rate + volatility**2 / 2) * time) / spread
    return spot * ndtr(d1) - STRIKE * np.exp(-rate * time) * ndtr(d1 - spread)


def asian_price(market, normals):
    """The mean over paths of what a call on the average price pays. `normals` has a row for each path."""
    spot, volatility, rate, time = market
    step = time / normals.shape[1]
    moves = (rate - volatility**2 / 2) * step + volatility * np.sqrt(step) * normals
    averages = np.mean(spot * np.exp(np.cumsum(moves, axis=1)), axis=1)
    return np.exp(-rate * time) * np.mean(np.maximum(averages - STRIKE, 0))


def main(small=False):
    gradient, hessian = wg.jit(wg.grad(call_price)), wg.jit(wg.hessian(call_price))
    delta, vega, rho, minus_theta = gradient(MARKET)
    gamma, vanna = hessian(MARKET)[0, :2]

    normals = np.random.default_rng(0).normal(size=(2_000 if small else 100_000, 50))
    asian, asian_greeks = wg.jit(wg.value_and_grad(asian_price))(MARKET, normals)

    spots = np.linspace(70, 140, 71)
    at = lambda spot: np.array([spot, *MARKET[1:]])
    over_spots = wg.jit(wg.vmap(lambda spot: (wg.grad(call_price)(at(spot)), wg.hessian(call_price)(at(spot))[0])))
    first, second = over_spots(spots)
    return dict(price=call_price(MARKET), delta=delta, gamma=gamma, vega=vega, theta=-minus_theta, rho=rho, vanna=vanna,
                asian=asian, asian_greeks=asian_greeks, spots=spots, first=first, second=second)  # fmt: skip


def picture(results):
    figure = Figure(2)
    axes = figure.axes("First derivatives of a call", xlabel="spot")
    axes.line(results["spots"], results["first"][:, 0] * 40, "delta × 40")
    axes.line(results["spots"], results["first"][:, 1], "vega")
    axes = figure.axes("Second derivatives", xlabel="spot")
    axes.line(results["spots"], results["second"][:, 0] * 40, "gamma × 40")
    axes.line(results["spots"], results["second"][:, 1], "vanna")
    return figure


if __name__ == "__main__":
    found = main()
    for name in ("price", "delta", "gamma", "vega", "theta", "rho", "vanna", "asian"):
        print(f"{name:8} {found[name]:10.6f}")
    print("Greeks of the Asian option:", found["asian_greeks"].round(4))
    picture(found).save(Path(__file__).with_suffix(".svg"))
