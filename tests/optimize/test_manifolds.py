"""Least squares on manifolds: rotations, rigid motions, quaternions, spheres, and users' own."""

import numpy as np
import pytest

import wengert as wg
from wengert import errors, optimize
from wengert.optimize import SE3, SO3, Manifold, sphere, unit_quaternion


@pytest.fixture
def clouds(rng):
    points = rng.normal(size=(20, 3))
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    rotation = q * np.sign(np.linalg.det(q))
    return points, points @ rotation.T + 0.01 * rng.normal(size=(20, 3))


def procrustes(points, images):
    """The best rotation, in closed form (Kabsch)."""
    u, _, v = np.linalg.svd(images.T @ points)
    return u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v


def matrix_of(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.mark.parametrize("sparse", [False, True])
def test_rotations_and_quaternions_find_the_best_rotation(clouds, sparse):
    points, images = clouds
    best = procrustes(points, images)
    options = {"sparse": sparse, "jit": False, "ftol": 1e-15}
    found = optimize.least_squares(lambda R: points @ R.T - images, np.eye(3), manifold="so3", **options)
    assert found.success
    np.testing.assert_allclose(found.x, best, atol=1e-7)
    np.testing.assert_allclose(found.x @ found.x.T, np.eye(3), atol=1e-13)
    r = lambda q: points @ matrix_of(q).T - images
    found = optimize.least_squares(r, np.array([1.0, 0, 0, 0]), manifold="unit-quaternion", **options)
    np.testing.assert_allclose(matrix_of(found.x), best, atol=1e-7)
    assert found.covariance.shape == (3, 3)


def test_covariance_of_a_rotated_point_does_not_depend_on_how_rotations_are_written(clouds):
    points, images = clouds
    first = optimize.least_squares(lambda R: points @ R.T - images, np.eye(3), manifold=SO3, jit=False)
    start = np.array([1.0, 0, 0, 0])
    r = lambda q: points @ matrix_of(q).T - images
    second = optimize.least_squares(r, start, manifold=unit_quaternion, jit=False)
    there = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(
        first.covariance_of(lambda R: R @ there), second.covariance_of(lambda q: matrix_of(q) @ there), atol=1e-10
    )


def test_rigid_motions_move_the_centre_too(clouds):
    points, images = clouds
    images = images + np.array([1.0, -2.0, 3.0])
    r = lambda p: points @ p["pose"][:3, :3].T + p["pose"][:3, 3] - images
    found = optimize.least_squares(r, {"pose": np.eye(4)}, manifold={"pose": "se3"}, jit=False)
    centred = procrustes(points - points.mean(0), images - images.mean(0))
    np.testing.assert_allclose(found.x["pose"][:3, :3], centred, atol=1e-9)
    np.testing.assert_allclose(found.x["pose"][:3, 3], images.mean(0) - centred @ points.mean(0), atol=1e-9)
    np.testing.assert_array_equal(found.x["pose"][3], [0, 0, 0, 1])


def test_one_point_of_several_is_held_and_plain_numbers_stand_beside(rng):
    targets = rng.normal(size=(3, 4))
    start = np.tile([0.0, 0, 0, 1.0], (3, 1))
    held = np.array([[False] * 4, [True] * 4, [False] * 4])
    found = optimize.least_squares(
        lambda p: p["scale"] * p["directions"] - targets / np.linalg.norm(targets, axis=1)[:, None] * 2,
        {"directions": start, "scale": 1.0}, manifold={"directions": sphere(4)}, constant={"directions": held},
        jit=False)  # fmt: skip
    unit = targets / np.linalg.norm(targets, axis=1)[:, None]
    np.testing.assert_allclose(found.x["directions"][[0, 2]], unit[[0, 2]], atol=1e-8)
    np.testing.assert_array_equal(found.x["directions"][1], start[1])
    assert found.jac.shape == (12, 7)


@pytest.mark.parametrize("manifold", [SO3, SE3, unit_quaternion, sphere(5)])
def test_retractions_keep_the_manifold_and_start_at_their_point(manifold, rng):
    if manifold.shape == (4,):
        x = np.array([0.5, 0.5, -0.5, 0.5])
    elif manifold is sphere(5) or manifold.shape == (5,):
        x = rng.normal(size=5)
    else:
        x = np.eye(manifold.shape[0])
        x[:3, :3] = matrix_of([0.5, 0.5, -0.5, 0.5])
    zero = np.zeros(manifold.dimension)
    np.testing.assert_allclose(manifold.move(x, zero), x, atol=1e-15)
    moved = manifold.move(x, 0.3 * rng.normal(size=manifold.dimension))
    if x.ndim == 1:
        np.testing.assert_allclose(np.linalg.norm(moved), np.linalg.norm(x))
    else:
        np.testing.assert_allclose(moved[:3, :3] @ moved[:3, :3].T, np.eye(3), atol=1e-14)
    slopes = wg.jacobian(lambda d: manifold.move(x, d))(zero).reshape(-1, manifold.dimension)
    assert np.linalg.matrix_rank(slopes) == manifold.dimension
    stacked = manifold.move(np.stack([x, x]), np.stack([zero, zero + 0.1]))
    np.testing.assert_allclose(stacked[1], manifold.move(x, zero + 0.1))


def test_a_manifold_of_ones_own_and_several_points_on_it():
    def turn(x, d):
        c, s = np.cos(d[0]), np.sin(d[0])
        return np.array([c * x[0] - s * x[1], s * x[0] + c * x[1]])

    targets = np.array([[3.0, 4.0], [0.0, -2.0]])
    for manifold, start in ((Manifold(turn, 1, (2,)), np.array([[1.0, 0], [1, 0]])), ((turn, 1), np.array([1.0, 0]))):
        goal = targets if start.ndim == 2 else targets[0]
        found = optimize.least_squares(lambda x, goal=goal: x - goal, start, manifold=manifold, jit=False)
        np.testing.assert_allclose(found.x, goal / np.linalg.norm(goal, axis=-1, keepdims=True), atol=1e-8)


def test_what_cannot_be_is_refused():
    r = lambda x: x.ravel()
    with pytest.raises(errors.MismatchError, match="shape"):
        optimize.least_squares(r, np.eye(4), manifold="so3")
    with pytest.raises(errors.MismatchError, match="part of a point"):
        optimize.least_squares(r, np.ones(3), manifold="sphere", constant=[0])
    with pytest.raises(errors.MismatchError, match="bounds"):
        optimize.least_squares(r, np.ones(3), manifold="sphere", bounds=(0, 1))


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("so3", np.ones((3, 3))),
        ("so3", np.diag([1.0, 1.0, -1.0])),  # a reflection
        ("unit-quaternion", np.array([2.0, 0, 0, 0])),
        ("se3", np.diag([1.0, 1.0, 1.0, 2.0])),
        ("se3", np.full((2, 4, 4), np.nan)),
    ],
)
def test_a_start_that_is_not_on_the_manifold_is_refused(name, start):
    with pytest.raises(wg.errors.MismatchError, match=f"not on '{name}'"):
        optimize.least_squares(lambda x: np.ravel(x) - 1.0, start, manifold=name)
