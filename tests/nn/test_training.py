"""`nn.fit`: it finds what is known, stops early, and goes on from checkpoints to the same digits."""

import warnings

import numpy as np
import pytest

from wengert import nn, tree
from wengert.errors import ConvergenceError, MismatchError


class Adam:
    """Kingma and Ba 2015, Algorithm 1, written from the paper."""

    def __init__(self, rate):
        self.rate = rate

    def init(self, parameters):
        return ([np.zeros_like(p) for p in parameters], [np.zeros_like(p) for p in parameters], 0)

    def update(self, gradients, state, parameters):
        first, second, t = state
        t = t + 1
        first = [0.9 * m + 0.1 * g for m, g in zip(first, gradients, strict=True)]
        second = [0.999 * v + 0.001 * g * g for v, g in zip(second, gradients, strict=True)]
        moved = [
            p - self.rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
            for p, m, v in zip(parameters, first, second, strict=True)
        ]
        return moved, (first, second, t)


def circles(rng, n=96):
    x = rng.uniform(-1, 1, (n, 2))
    return x, (np.sum(x**2, axis=1) < 0.5).astype(int)


def small():
    return nn.Sequential(
        nn.Dense(2, 8, rng=0), nn.BatchNorm(8), np.tanh, nn.Dropout(0.1), nn.Dense(8, 2, rng=1)
    )  # fmt: skip


def equal(a, b):
    return all(np.array_equal(p, q) for p, q in zip(tree.leaves(a), tree.leaves(b), strict=True))


@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_training_goes_on_to_the_same_digits(jit, rng, tmp_path):
    data, path = circles(rng), tmp_path / "training.npz"
    options = {"optimizer": Adam(0.03), "batch_size": 32, "validation": 0.25, "jit": jit, "seed": 3}
    options |= {"schedule": lambda epoch: 1 / (1 + epoch)}
    loss = nn.supervised(nn.cross_entropy)
    whole = nn.fit(small(), loss, data, epochs=6, **options)
    nn.fit(small(), loss, data, epochs=2, checkpoint=path, **options)
    seen = []
    rest = nn.fit(
        small(),
        loss,
        data,
        epochs=6,
        checkpoint=path,
        resume=True,
        callback=lambda r, m: seen.append(r["epoch"]),
        **options,
    )
    assert seen == [3, 4, 5, 6]
    assert rest.history["loss"] == whole.history["loss"]
    assert rest.history["validation"] == whole.history["validation"]
    assert equal(rest.model, whole.model)
    other = nn.Sequential(nn.Dense(2, 2, rng=0))
    with pytest.raises(MismatchError, match="another model"):
        nn.fit(other, loss, data, checkpoint=path, resume=True, **options)


def test_it_finds_a_line_and_keeps_what_is_not_trained(rng):
    x = rng.normal(size=(200, 3))
    y = x @ np.array([[1.0], [-2.0], [0.5]]) + 0.3
    model = nn.Sequential(nn.freeze(nn.Dense(3, 3, rng=0)), nn.Dense(3, 1, rng=1))
    result = nn.fit(model, lambda model, x, y: nn.mse(model(x), y), (x, y), optimizer=Adam(0.05), epochs=60)
    frozen, free = result.model.layers
    np.testing.assert_array_equal(frozen.layer.weight, model.layers[0].layer.weight)
    np.testing.assert_allclose(frozen.layer.weight @ free.weight, [[1.0], [-2.0], [0.5]], atol=0.02)
    np.testing.assert_allclose(free.bias, 0.3, atol=0.02)
    assert result.curves().startswith("<svg")


def test_it_stops_when_validation_does_not_become_better(rng):
    x, noise = rng.normal(size=(20, 5)), rng.normal(size=(20, 1))
    model = nn.Sequential(nn.Dense(5, 30, rng=0), np.tanh, nn.Dense(30, 1, rng=1))
    held_out = (rng.normal(size=(50, 5)), rng.normal(size=(50, 1)))
    loss = lambda model, x, y: nn.mse(model(x), y)
    result = nn.fit(
        model, loss, (x, noise), optimizer=Adam(0.03), epochs=200, validation=held_out, patience=3, jit=False
    )
    seen = result.history["validation"]
    assert len(seen) < 200
    assert len(seen) - 1 - int(np.argmin(seen)) == 3
    np.testing.assert_allclose(loss(result.model, *held_out), min(seen))


def test_define_by_run_lets_one_look(rng, capsys):
    def loss(model, x, y):
        print("batch", x.shape)
        return nn.mse(model(x), y)

    x = rng.normal(size=(5, 2))
    nn.fit(nn.Dense(2, 1, rng=0), loss, (x, x[:, :1]), optimizer=Adam(0.1), epochs=1, batch_size=3, jit=False)
    assert capsys.readouterr().out.split("\n")[:2] == ["batch (3, 2)", "batch (2, 2)"]


def test_batches_may_come_from_a_function(rng):
    seen = []

    def data(generator):
        for _ in range(3):
            seen.append(generator.normal(size=(4, 2)))
            yield seen[-1]

    nn.fit(nn.Dense(2, 1, rng=0), lambda m, x: np.mean(m(x) ** 2), data, optimizer=Adam(0.1), epochs=2, jit=False)
    assert len(seen) == 6
    assert not np.array_equal(seen[0], seen[3])


def test_data_by_name_is_the_data(rng):
    x = rng.normal(size=(20, 3))
    y = x @ np.ones((3, 1))
    options = {"epochs": 2, "batch_size": 8, "validation": 0.2, "jit": False}
    by_place = nn.fit(nn.Dense(3, 1, rng=0), lambda m, x, y: nn.mse(m(x), y), (x.tolist(), y), **options)
    by_name = nn.fit(nn.Dense(3, 1, rng=0), lambda m, d: nn.mse(m(d["x"]), d["y"]), {"x": x, "y": y}, **options)
    assert by_place.history["validation"] == by_name.history["validation"]
    assert equal(by_place.model, by_name.model)


@pytest.mark.parametrize("rate", [0.1, 60.0])
def test_a_loss_that_training_makes_larger_is_warned_of(rng, rate):
    x = rng.normal(size=(20, 2))
    square = nn.supervised(nn.mse)
    options = {"optimizer": Adam(rate), "epochs": 3, "batch_size": 5, "jit": False}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        nn.fit(nn.Dense(2, 1, rng=0), square, (x, x[:, :1] + 1), **options)
    assert ["steps" in str(w.message) for w in told] == ([True] if rate > 1 else [])


def test_what_goes_wrong_is_said(rng, tmp_path):
    x = rng.normal(size=(4, 2))
    options = {"optimizer": Adam(0.1), "epochs": 1, "jit": False}
    loss = lambda model, x: np.mean(model(x))
    with pytest.raises(ConvergenceError, match="epoch 1, batch 1"):
        nn.fit(nn.Dense(2, 1, rng=0), lambda model, x: np.inf * np.mean(model(x) ** 2), x, **options)
    for jit in (False, True):
        with pytest.raises(ConvergenceError, match=r"batch 1\nlog gave nan\n  at .*np\.log\("):
            nn.fit(
                nn.Dense(2, 1, rng=0), lambda model, x: np.log(-np.mean(model(x) ** 2)), x, **{**options, "jit": jit}
            )
    with pytest.raises(ConvergenceError, match="validation loss is nan in epoch 1"):
        nn.fit(nn.Dense(2, 1, rng=0), loss, x, validation=np.nan * x, **options)
    for wrong in ({"batch_size": 2.5}, {"batch_size": 0}, {"schedule": 0.1}, {"validation": lambda rng: iter(())}):
        with pytest.raises(MismatchError, match=next(iter(wrong)).split("_")[0]):
            nn.fit(nn.Dense(2, 1, rng=0), loss, x, **options, **wrong)
    with pytest.raises(MismatchError, match="shapes"):
        nn.fit(nn.Dense(2, 1, rng=0), loss, (x, x[:3]), **options)
    with pytest.raises(MismatchError, match="to train"):
        nn.fit(nn.freeze(nn.Dense(2, 1, rng=0)), loss, x, **options)
    with pytest.raises(MismatchError, match="once"):
        nn.fit(nn.Dense(2, 1, rng=0), loss, (x for _ in range(3)), **options)
    with pytest.raises(MismatchError, match="batches"):
        nn.fit(nn.Dense(2, 1, rng=0), loss, [(x, x), (x, x)], **options)
    with pytest.raises(MismatchError, match="patience"):
        nn.fit(nn.Dense(2, 1, rng=0), loss, x, patience=2, **options)
    with pytest.raises(MismatchError, match="optimizer"):
        nn.fit(nn.Dense(2, 1, rng=0), loss, x, **{**options, "optimizer": "adam"})
    with pytest.raises(MismatchError, match="resume"):
        nn.fit(nn.Dense(2, 1, rng=0), loss, x, resume=True, **options)
