"""ADBench's articulated hand: the mesh, the correspondences, and where the vertices go for given joint angles."""

from dataclasses import dataclass

import adbench
import numpy as np

FINGERS, JOINTS = 5, 4
BONES = 1 + FINGERS * JOINTS + 1


@dataclass(frozen=True)
class Hand:
    """The hand at rest: bones (whose parents come first), vertices, how each bone moves each vertex, triangles."""

    parents: tuple
    relative: np.ndarray
    inverse: np.ndarray
    vertices: np.ndarray
    weights: np.ndarray
    triangles: np.ndarray


def rows(name: str) -> list[list[str]] | None:
    """Return the fields of each line of a file of the model."""
    text = adbench.text(f"hand/model/{name}.txt")
    return None if text is None else [line.split(":") for line in text.splitlines() if line.strip()]


def hand() -> Hand:
    """Return the suite's hand, or one of the same size made up of random numbers."""
    bones, vertices, triangles = rows("bones"), rows("vertices"), rows("triangles")
    if bones is None or vertices is None or triangles is None:
        return made_up()
    frames = np.array([bone[2:34] for bone in bones], float).reshape(len(bones), 2, 4, 4)
    places, weights = np.ones((len(vertices), 4)), np.zeros((len(vertices), len(bones)))
    for place, weight, vertex in zip(places, weights, vertices, strict=True):
        place[:3] = np.array(vertex[:3], float)
        for j in range(int(vertex[8])):
            weight[int(vertex[9 + 2 * j])] = float(vertex[10 + 2 * j])
    parents = tuple(int(bone[1]) for bone in bones)
    return Hand(parents, frames[:, 0], frames[:, 1], places, weights, np.array(triangles, int))


def made_up() -> Hand:
    """Return a hand of the same size."""
    random = np.random.default_rng(0)
    parents = (-1, *(0 if j == 0 else 4 * f + j for f in range(FINGERS) for j in range(JOINTS)), 0)
    relative = np.eye(4) + 0.1 * random.normal(size=(BONES, 4, 4)) * np.array([[1.0], [1.0], [1.0], [0.0]])
    weights = random.uniform(size=(544, BONES)) * (random.uniform(size=(544, BONES)) < 0.2)
    vertices = np.column_stack([random.normal(size=(544, 3)), np.ones(544)])
    return Hand(parents, relative, np.linalg.inv(relative), vertices, weights, random.integers(0, 544, (1084, 3)))


def measurements(folder: str, count: int, on_triangles: bool) -> tuple[np.ndarray, ...]:
    """Return pose (26), correspondences, measured points, and coordinates within triangles, for `count` points."""
    name = {100: "hand1_t26_c100", 800: "hand5_t26_c800"}[count]
    given = adbench.numbers(f"hand/{folder}/{name}.txt")
    if given is None:
        random = np.random.default_rng(count)
        table = np.column_stack([random.integers(0, 544, count), random.normal(size=(count, 3))])
        inside = random.uniform(0.0, 0.5, 2 * count if on_triangles else 0)
        given = np.concatenate([[count, 26], table.ravel(), inside, random.normal(0.0, 0.3, 26)])
    shapes = (count, 4), (count if on_triangles else 0, 2), (26,)
    table, inside, pose = adbench.taken(given[2:], *shapes)
    return pose, table[:, 0].astype(int), table[:, 1:], inside
