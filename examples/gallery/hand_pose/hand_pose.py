"""The pose of an articulated hand, found from the places of points on it (as in the survey's benchmark).

Four fingers and a thumb of three bones each, in a chain of rotations: 21 joint angles and six numbers for where the
hand is and how it is turned. Measured are the tips and joints, with noise; Gauss–Newton with exact Jacobians finds
the angles.
"""

from pathlib import Path

import numpy as np

import wengert as wg
from examples.gallery.drawing import Figure

BASES = np.array([[-0.6, 0.3, 0.0], [-0.3, 1.0, 0.0], [0.0, 1.1, 0.0], [0.3, 1.0, 0.0], [0.6, 0.8, 0.0]])
LENGTHS = np.array([[0.5, 0.35, 0.3], [0.5, 0.35, 0.25], [0.55, 0.4, 0.25], [0.5, 0.35, 0.25], [0.4, 0.3, 0.2]])
SIDEWAYS = np.array([0.8, 0.15, 0.0, -0.15, -0.3])


def rotation(axis, angle):
    """A rotation around a coordinate axis."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    matrix = np.eye(3)
    matrix[i, i], matrix[i, j], matrix[j, i], matrix[j, j] = c, -s, s, c
    return matrix


def hand(pose):
    """The places of the wrist and of all joints and tips: (5 fingers, 4 places, 3)."""
    turned = rotation(2, pose[5]) @ rotation(1, pose[4]) @ rotation(0, pose[3])
    bends = pose[6:].reshape(5, 4)  # one angle to the side and three to bend, of each finger
    places = np.zeros((5, 4, 3))
    for finger in range(5):
        frame = turned @ rotation(2, SIDEWAYS[finger] + bends[finger, 0])
        place = pose[:3] + turned @ BASES[finger]
        places[finger, 0] = place
        for bone in range(3):
            frame = frame @ rotation(0, bends[finger, bone + 1])
            place = place + frame @ np.array([0.0, LENGTHS[finger, bone], 0.0])
            places[finger, bone + 1] = place
    return places


def main(small=False):
    rng = np.random.default_rng(0)
    truth = np.r_[0.2, -0.1, 0.3, 0.3, -0.2, 0.4, (np.abs(rng.normal(size=(5, 4))) * [0.1, 0.5, 0.4, 0.3]).ravel()]
    noise = 0.002
    measured = hand(truth) + noise * rng.normal(size=(5, 4, 3))
    both = wg.jit(wg.value_and_jacobian(lambda pose: (hand(pose) - measured).ravel()))
    pose, history, damping = np.zeros(26), [], 1e-2
    for _ in range(30):
        residual, jacobian = both(pose)
        history.append(np.sqrt(np.mean(residual**2)))
        step = np.linalg.solve(jacobian.T @ jacobian + damping * np.eye(26), jacobian.T @ residual)
        better = np.sum(both(pose - step)[0] ** 2) < np.sum(residual**2)
        pose, damping = (pose - step, damping / 5) if better else (pose, damping * 5)
    return dict(history=np.array(history), pose=pose, truth=truth, measured=measured, places=hand(pose),
                before=hand(np.zeros(26)), error=np.max(np.abs(hand(pose) - hand(truth))), noise=noise)  # fmt: skip


def picture(results):
    figure = Figure(3, width=290, height=300)
    figure.axes("Distance from the points", "iteration", log_y=True).line(
        np.arange(len(results["history"])), results["history"]
    )
    for title, places in (("Before", results["before"]), ("After", results["places"])):
        axes = figure.axes(title, xlim=(-1.8, 1.8), ylim=(-0.8, 2.6), equal=True)
        for finger in range(5):
            axes.line(*places[finger, :, :2].T, color="#3b6fb6", width=4)
        axes.points(*results["measured"].reshape(-1, 3)[:, :2].T, color="#d1672b", size=3)
    return figure


if __name__ == "__main__":
    results = main()
    print(f"distance {results['history'][0]:.3f} -> {results['history'][-1]:.5f}; largest error {results['error']:.4f}")
    picture(results).save(Path(__file__).with_suffix(".svg"))
