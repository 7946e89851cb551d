"""Optimal control of a pendulum: swing it up with a motor that is too weak to lift it.

The torques of 60 intervals are the unknowns. The pendulum is simulated in a plain loop; the gradient of the cost with
respect to all torques comes from one reverse sweep through the simulation.
"""

from pathlib import Path

import numpy as np

from examples.gallery.drawing import Figure
from wengert import optimize

STEPS, STEP, LIMIT = 120, 0.05, 4.0  # the weight of the pendulum needs a torque of 9.81


def swing(torques):
    """Angles (0 hangs down) and speeds at all times; each torque is held for two steps."""
    change = lambda angle, speed, torque: (speed, torque - 9.81 * np.sin(angle) - 0.1 * speed)
    angle, speed = 0.0, 0.0
    path = np.zeros((STEPS + 1, 2))
    for k in range(STEPS):
        torque = LIMIT * np.tanh(torques[k // 2])
        a1, s1 = change(angle, speed, torque)
        a2, s2 = change(angle + STEP / 2 * a1, speed + STEP / 2 * s1, torque)
        angle, speed = angle + STEP * a2, speed + STEP * s2
        path[k + 1] = angle, speed
    return path


def cost(torques):
    path = swing(torques)
    high, speed = np.cos(path[-20:, 0]) + 1, path[-20:, 1]  # in the last second; upright is 0
    return np.sum(2 * high**2 + high + 0.1 * speed**2) + 0.001 * np.sum(np.tanh(torques) ** 2)


def main(small=False):
    start = 0.5 * np.sin(np.sqrt(9.81) * STEP * np.arange(0, STEPS, 2))  # pushes in its own rhythm
    found = optimize.minimize(cost, start, method="L-BFGS-B", options={"maxiter": 200 if small else 1000})
    return dict(cost=found.fun, first=cost(start), torques=LIMIT * np.tanh(found.x), path=swing(found.x))


def picture(results):
    figure = Figure(2)
    time = STEP * np.arange(STEPS + 1)
    axes = figure.axes("Angle over half a turn", xlabel="time")
    axes.line(time, results["path"][:, 0] / np.pi, "angle / π")
    axes.line(time[[0, -1]], [1, 1], color="#999999", dashed=True)
    axes.line(time[[0, -1]], [-1, -1], color="#999999", dashed=True)
    axes = figure.axes("Torque of the motor", xlabel="time")
    axes.line(time[:-1], np.repeat(results["torques"], 2))
    axes.line(time[[0, -1]], [9.81, 9.81], "needed to hold it sideways", dashed=True)
    return figure


if __name__ == "__main__":
    found = main()
    print(f"cost {found['first']:.2f} -> {found['cost']:.4f}, angle at the end {found['path'][-1, 0] / np.pi:.4f} π")
    picture(found).save(Path(__file__).with_suffix(".svg"))
