"""Policy gradient (REINFORCE, Williams 1992): a pole is balanced on a cart by trial and error.

The policy is a network with two outputs, push left or right. The gradient of the expected reward is estimated from
episodes: the gradient of log-probabilities, weighted by how much better than usual things went.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure
from wengert import nn, optimize

STEPS, EPISODES = 200, 16


def physics(state, push):
    """One step of 0.02 s of the cart-pole of Barto, Sutton and Anderson (1983); states are rows."""
    _, v, angle, spin = state.T
    c, s = np.cos(angle), np.sin(angle)
    shared = (np.where(push == 1, 10.0, -10.0) + 0.05 * spin**2 * s) / 1.1
    turning = (9.8 * s - c * shared) / (0.5 * (4 / 3 - 0.1 * c**2 / 1.1))
    return state + 0.02 * np.stack([v, shared - 0.05 * turning * c / 1.1, spin, turning], axis=1)


def fallen(state):
    return (np.abs(state[:, 0]) > 2.4) | (np.abs(state[:, 2]) > np.deg2rad(12))


def play(scores, rng, episodes):
    """States, pushes and whether the pole still stood, for each time and episode."""
    state, standing = rng.uniform(-0.05, 0.05, (episodes, 4)), np.ones(episodes, bool)
    states, pushes, stood = [], [], []
    for _ in range(STEPS):
        difference = scores(state)
        push = (rng.random(episodes) < 1 / (1 + np.exp(difference[:, 0] - difference[:, 1]))).astype(int)
        states.append(state)
        pushes.append(push)
        stood.append(standing)
        state = physics(state, push)
        standing = standing & ~fallen(state)
    return np.stack(states), np.stack(pushes), np.stack(stood)


def surrogate(policy, states, pushes, advantages):
    """Its gradient estimates that of the expected reward, negative."""
    scores = policy(states.reshape(-1, 4))
    chosen = scores[np.arange(len(scores)), pushes.ravel()] - wg.logsumexp(scores, axis=1)
    return -np.mean(chosen * advantages.ravel())


def main(small=False):
    rng = np.random.default_rng(0)
    policy = nn.Sequential(nn.Dense(4, 32, rng=rng), np.tanh, nn.Dense(32, 2, rng=rng))
    optimizer = optimize.adam(0.01)
    state, lengths = optimizer.init(policy), []

    @wg.jit
    def learn(policy, state, states, pushes, advantages):
        return optimizer.update(wg.grad(surrogate)(policy, states, pushes, advantages), state, policy)

    scores = wg.jit(lambda policy, x: policy(x))
    for _ in range(60 if small else 150):
        states, pushes, stood = play(lambda x: scores(policy, x), rng, EPISODES)  # noqa: B023
        to_come = np.cumsum(stood[::-1], axis=0)[::-1]  # how long it will still stand
        usual = np.sum(to_come * stood, axis=1, keepdims=True) / np.maximum(np.sum(stood, axis=1, keepdims=True), 1)
        advantages = (to_come - usual) * stood
        policy, state = learn(policy, state, states, pushes, advantages / (np.std(advantages) + 1e-8))
        lengths.append(np.mean(np.sum(stood, axis=0)))
    _, _, stood = play(lambda x: scores(policy, x), np.random.default_rng(1), 50)
    return dict(lengths=np.array(lengths), final=np.mean(np.sum(stood, axis=0)))


def picture(results):
    figure = Figure(1, width=460)
    axes = figure.axes("How long the pole stands, of 200 steps", "update", "steps")
    axes.line(np.arange(len(results["lengths"])), results["lengths"])
    return figure


if __name__ == "__main__":
    results = main()
    print(f"steps until the pole falls: {results['lengths'][0]:.0f} at first, {results['final']:.0f} of 200 at last")
    picture(results).save(Path(__file__).with_suffix(".svg"))
