"""Parameters: split, shared, frozen, counted, saved and loaded."""

import numpy as np
import pytest

import wengert as wg
from wengert import nn, tree
from wengert.errors import MismatchError


def tied(rng=0):
    """Its output weights are those of its embedding."""
    table = nn.Embedding(7, 4, rng)
    out = nn.Dense(4, 7, rng)
    return {"table": table, "out": nn.changed(out, weight=None), "head": table.weight}


def test_an_array_in_two_places_is_one_parameter():
    model = tied()
    parameters, state, build = nn.split(model)
    assert (len(parameters), len(state), nn.count(model)) == (2, 0, 28 + 7)
    again = build([2 * p for p in parameters])
    assert again["head"] is again["table"].weight
    x = np.array([1, 5])

    def loss(model):
        return np.sum(np.sin(model["table"](x) @ model["head"].T))

    found = wg.jit(wg.grad(lambda p: loss(build(p))))(parameters)
    apart = wg.grad(loss)(model)
    total = [apart["head"] + apart["table"].weight, apart["out"].bias]
    for a, b in zip(found, sorted(total, key=np.size, reverse=found[0].size > found[1].size), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
    assert "the same as" in nn.show(model)
    half = nn.cast(model, np.float32)
    assert half["head"] is half["table"].weight
    assert half["head"].dtype == np.float32


def test_what_is_frozen_is_not_trained():
    model = nn.Sequential(nn.freeze(nn.Sequential(nn.Dense(3, 4, rng=0), nn.BatchNorm(4))), nn.Dense(4, 2, rng=1))
    assert nn.count(model) == 10
    y, after = nn.train(model, np.ones((5, 3)))
    np.testing.assert_array_equal(y, model(np.ones((5, 3))))
    np.testing.assert_array_equal(after.layers[0].layer.layers[1].mean, 0.0)
    gradient = wg.grad(lambda m: np.sum(m(np.ones((1, 3))) ** 2))(model)
    assert all(not np.any(a) for a in tree.leaves(gradient.layers[0]))
    assert np.any(gradient.layers[1].weight)


@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_saved_models_come_back(kind, tmp_path):
    model = {"a": nn.Sequential(nn.Conv2d(1, 2, 3, rng=0), nn.BatchNorm(2)), "tied": tied(), "n": np.arange(3)}
    model["a"] = nn.cast(model["a"], np.float32)
    path = tmp_path / f"model.{kind}"
    nn.save(path, model)
    blank = tree.map(np.zeros_like, model)
    blank["tied"]["head"] = blank["tied"]["table"].weight
    again = nn.load(path, blank)
    for a, b in zip(tree.leaves(model), tree.leaves(again), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    assert again["tied"]["head"] is again["tied"]["table"].weight
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    with pytest.raises(MismatchError, match="shape"):
        nn.load(path, {**model, "n": np.arange(4)})
    with pytest.raises(MismatchError, match="missing"):
        nn.load(path, {**model, "other": np.arange(4)})
    with pytest.raises(MismatchError, match="file"):
        nn.save(tmp_path / "model.txt", model)
    with pytest.raises(MismatchError, match=r"the name a\.b"):
        nn.save(path, {"a.b": np.ones(2), "a": {"b": np.zeros(2)}})


def test_safetensors_files_are_as_their_definition_says(tmp_path):
    """Eight bytes with the length of a header, the header, then the numbers, which begin at a multiple of eight."""
    x = np.array([[1.5, -2.0]], np.float32)
    nn.save(tmp_path / "x.safetensors", {"x": x})
    data = (tmp_path / "x.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    assert (length % 8, len(data)) == (0, 8 + length + 8)
    assert data[8 : 8 + length].decode().strip() == '{"x": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}'
    assert data[8 + length :] == x.tobytes()


@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_arrays_may_have_any_name(kind, tmp_path):
    """Also those of arguments of `np.savez`; and the files may be read by those who may read other new files."""
    model = {name: np.full(2, k) for k, name in enumerate(("file", "args", "allow_pickle", "a/b", "é ü", "__metadata"))}
    path, other = tmp_path / f"model.{kind}", tmp_path / "other"
    nn.save(path, model)
    again = nn.load(path, {name: np.zeros(2, int) for name in model})
    for name, x in model.items():
        np.testing.assert_array_equal(again[name], x)
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode
    with pytest.raises(ValueError, match="Object|type object"):
        nn.save(path, {"x": np.array([None])})
    assert sorted(p.name for p in tmp_path.iterdir()) == [path.name, "other"]


@pytest.mark.parametrize("kept", [0, 4, 8, 60, -1])
def test_files_that_end_too_early_are_refused(kept, tmp_path):
    path, model = tmp_path / "x.safetensors", {"x": np.ones((2, 3))}
    nn.save(path, model)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(MismatchError, match="safetensors format|ends within x"):
        nn.load(path, model)
