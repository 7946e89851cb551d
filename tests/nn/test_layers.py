"""Layers against plain loops over their formulas."""

import numpy as np
import pytest

import wengert as wg
from wengert import nn, tree
from wengert.errors import MismatchError


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def some_weights(layer, rng):
    """The layer with random numbers for all its arrays, so that nothing is zero."""
    return tree.map(lambda a: np.abs(rng.normal(size=a.shape)) + 0.1, layer)


def test_recurrent_layers_follow_their_equations(rng):
    x = rng.normal(size=(2, 5, 3))
    rnn = some_weights(nn.RNN(3, 4, rng=0), rng)
    h = np.zeros((2, 4))
    for t, found in enumerate(np.swapaxes(rnn(x), 0, 1)):
        h = np.tanh(x[:, t] @ rnn.weight + rnn.bias + h @ rnn.recurrent)
        np.testing.assert_allclose(found, h)
    gru = some_weights(nn.GRU(3, 4, rng=0), rng)
    h = np.zeros((2, 4))
    for t, found in enumerate(np.swapaxes(gru(x), 0, 1)):
        a, b = x[:, t] @ gru.weight + gru.bias, h @ gru.recurrent
        r, z = sigmoid(a[:, :4] + b[:, :4]), sigmoid(a[:, 4:8] + b[:, 4:8])
        n = np.tanh(a[:, 8:] + r * (b[:, 8:] + gru.inner))
        assert np.allclose(gru.step(x[:, t], h), (1 - z) * n + z * h)
        h = (1 - z) * n + z * h
        np.testing.assert_allclose(found, h)
    lstm = some_weights(nn.LSTM(3, 4, rng=0), rng)
    h, c = np.zeros((2, 4)), np.zeros((2, 4))
    for t, found in enumerate(np.swapaxes(lstm(x), 0, 1)):
        i, f, g, o = np.split(x[:, t] @ lstm.weight + lstm.bias + h @ lstm.recurrent, 4, axis=1)
        stepped = lstm.step(x[:, t], (h, c))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        np.testing.assert_allclose(found, h)
        np.testing.assert_allclose(stepped, (h, c))
    both = nn.Bidirectional(rnn, gru)(x)
    np.testing.assert_allclose(both[:, 1, 4:], gru(x[:, ::-1])[:, 3])


def test_attention_is_a_weighted_mean(rng):
    attention = some_weights(nn.MultiHeadAttention(6, heads=2, rng=0), rng)
    x, other = rng.normal(size=(2, 4, 6)), rng.normal(size=(2, 3, 6))
    for context, mask, causal in [(x, None, True), (other, rng.random((2, 1, 4, 3)) > 0.3, False)]:
        wanted = np.zeros((2, 4, 6))
        q, k, v = attention.query(x), attention.key(context), attention.value(context)
        for e in range(2):
            for head in range(2):
                part = slice(3 * head, 3 * head + 3)
                for t in range(4):
                    allowed = [
                        s
                        for s in range(context.shape[1])
                        if (not causal or s <= t) and (mask is None or mask[e, 0, t, s])
                    ]
                    if not allowed:
                        allowed = list(range(context.shape[1]))
                    scores = np.array([q[e, t, part] @ k[e, s, part] / np.sqrt(3) for s in allowed])
                    p = np.exp(scores - scores.max())
                    if mask is not None and not mask[e, 0, t].any():
                        p = np.ones(len(allowed))
                    wanted[e, t, part] = sum(a * v[e, s, part] for a, s in zip(p / p.sum(), allowed, strict=True))
        wanted = attention.output(wanted)
        found = attention(x, None if context is x else context, mask=mask, causal=causal)
        np.testing.assert_allclose(found, wanted, rtol=1e-10)
    blind = np.array([[True, False, True], [False, False, False]])  # who may look at none looks at all alike
    q, k, v = rng.normal(size=(2, 4)), rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    for attend in (nn.attend, wg.jit(nn.attend)):
        np.testing.assert_allclose(attend(q, k, v, blind)[1], np.mean(v, axis=0), rtol=1e-12)


@pytest.mark.parametrize("rotary", [False, True])
def test_what_is_remembered_gives_what_all_at_once_gives(rotary, rng):
    attention = nn.MultiHeadAttention(8, heads=2, rng=0, rotary=rotary)
    x = rng.normal(size=(3, 6, 8))
    cache, found = attention.empty_cache(3, 8), []
    step = wg.jit(lambda x, cache: attention.extend(x, cache))
    for t in range(6):
        y, cache = step(x[:, t : t + 1], cache)
        found.append(y)
    np.testing.assert_allclose(np.concatenate(found, axis=1), attention(x, causal=True), rtol=0, atol=1e-12)
    assert nn.cast(attention, np.float32).empty_cache(3, 8).keys.dtype == np.float32


def test_rotated_products_depend_on_differences_of_positions(rng):
    a, b = rng.normal(size=(1, 6)), rng.normal(size=(1, 6))
    at = lambda x, p: nn.rotate(x, np.array([p]))[0]
    np.testing.assert_allclose(at(a, 3) @ at(b, 1), at(a, 12) @ at(b, 10))
    np.testing.assert_allclose(np.sum(at(a, 7) ** 2), np.sum(a**2))


@pytest.mark.parametrize(("size", "stride", "padding"), [(2, None, 0), (3, 2, 1), ((2, 3), (1, 2), (1, 0))])
def test_pools_look_at_windows(size, stride, padding, rng):
    x = rng.normal(size=(2, 3, 7, 8))
    sizes, pads = [np.broadcast_to(v, 2) for v in (size, padding)]
    strides = sizes if stride is None else np.broadcast_to(stride, 2)
    wide = [np.pad(x, [(0, 0), (0, 0), (pads[0],) * 2, (pads[1],) * 2], constant_values=v) for v in (-np.inf, 0.0)]
    places = [(n - k) // s + 1 for n, k, s in zip(wide[0].shape[2:], sizes, strides, strict=True)]
    largest, mean = np.zeros((2, 3, *places)), np.zeros((2, 3, *places))
    for i, j in np.ndindex(*places):
        window = (
            ...,
            slice(i * strides[0], i * strides[0] + sizes[0]),
            slice(j * strides[1], j * strides[1] + sizes[1]),
        )
        largest[..., i, j] = wide[0][window].max(axis=(2, 3))
        mean[..., i, j] = wide[1][window].mean(axis=(2, 3))
    np.testing.assert_allclose(nn.MaxPool(size, stride, padding)(x), largest)
    np.testing.assert_allclose(nn.AvgPool(size, stride, padding)(x), mean)


def test_normalised_arrays_have_mean_zero_and_variance_one(rng):
    x = 3 + 2 * rng.normal(size=(4, 6, 5))
    moments = lambda y, axis: (np.mean(y, axis), np.var(y, axis))
    for y, axes in [
        (nn.LayerNorm(5, epsilon=0.0)(x), -1),
        (nn.GroupNorm(6, groups=2, epsilon=0.0)(x).reshape(4, 2, -1), 2),
        (nn.BatchNorm(6, epsilon=0.0).train(x)[0], (0, 2)),
    ]:
        mean, variance = moments(y, axes)
        np.testing.assert_allclose(mean, 0, atol=1e-12)
        np.testing.assert_allclose(variance, 1)
    np.testing.assert_allclose(np.mean(nn.RMSNorm(5, epsilon=0.0)(x) ** 2, axis=-1), 1)


def test_batch_normalisation_remembers_what_it_has_seen(rng):
    x = rng.normal(size=(8, 3, 4, 4))
    norm = nn.BatchNorm(3, momentum=1.0, epsilon=0.0)
    y, after = norm.train(x)
    np.testing.assert_allclose(after.mean, x.mean(axis=(0, 2, 3)))
    np.testing.assert_allclose(after.variance, np.var(x, axis=(0, 2, 3), ddof=1))
    np.testing.assert_allclose(after(x), y * np.sqrt(127 / 128))
    np.testing.assert_array_equal(norm.mean, 0.0)  # it was not changed itself


def test_dropout_keeps_the_mean():
    x = np.ones((200, 500))
    y, _ = nn.Dropout(0.3).train(x, np.random.default_rng(0))
    assert set(np.unique(y)) == {0.0, 1 / 0.7}
    np.testing.assert_allclose(y.mean(), 1.0, atol=0.01)
    with pytest.raises(MismatchError, match="random"):
        nn.Dropout(0.3).train(x, None)
    with pytest.raises(MismatchError, match="rate"):
        nn.Dropout(1.0)


@pytest.mark.slow
def test_compiled_batched_and_differentiated_models_agree(rng):
    model = nn.Sequential(
        nn.Conv2d(2, 4, 3, rng=0, padding=1), nn.BatchNorm(4), nn.relu, nn.MaxPool(3, 2, 1),
        nn.Residual(nn.Conv2d(4, 4, 1, rng=1)), nn.GlobalAvgPool(), nn.Dense(4, 3, rng=2),
    )  # fmt: skip
    x, labels = rng.normal(size=(5, 2, 6, 6)), np.array([0, 2, 1, 1, 0])

    def loss(model, x, labels):
        y, after = nn.train(model, x)
        return nn.cross_entropy(y, labels), after

    (value, after), gradient = wg.value_and_grad(loss, has_aux=True)(model, x, labels)
    (value_2, after_2), gradient_2 = wg.jit(wg.value_and_grad(loss, has_aux=True))(model, x, labels)
    for a, b in [(value, value_2), (after, after_2), (gradient, gradient_2)]:
        tree.map(lambda p, q: np.testing.assert_allclose(p, q, rtol=0, atol=1e-12), a, b)
    np.testing.assert_array_equal(gradient.layers[1].mean, 0.0)
    wg.check_gradients(lambda m: loss(m, x, labels)[0], model)

    # Per-example gradients add up to that of the whole batch.
    one = lambda model, x, label: nn.cross_entropy(model(x[None]), label[None])
    each = wg.vmap(wg.grad(one), in_axes=(None, 0, 0))(model, x, labels)
    whole = wg.grad(lambda m: nn.cross_entropy(m(x), labels))(model)
    tree.map(lambda a, b: np.testing.assert_allclose(a.mean(axis=0), b, rtol=0, atol=1e-12), each, whole)


def test_initial_weights_have_the_variance_they_say():
    shape, draws = (30, 50, 3, 3), {}
    for name in ("glorot_uniform", "glorot_normal", "he_uniform", "he_normal", "lecun_uniform", "lecun_normal"):
        draws[name] = np.var(getattr(nn.initializers, name)(0, shape))
    inputs, outputs = 450, 270
    for name, value in draws.items():
        wanted = {"g": 2 / (inputs + outputs), "h": 2 / inputs, "l": 1 / inputs}[name[0]]
        np.testing.assert_allclose(value, wanted, rtol=0.05)
    q = nn.initializers.orthogonal(0, (3, 8))
    np.testing.assert_allclose(q @ q.T, np.eye(3), atol=1e-12)
    assert np.max(np.abs(nn.initializers.truncated_normal(0, 1000, scale=1.0))) < 2


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Dense(3, 2, rng=0), (5, 4)),
        (nn.GRU(3, 2, rng=0), (5, 6, 4)),
        (nn.LayerNorm(3), (5, 1)),
        (nn.RMSNorm(1), (5, 3)),
        (nn.BatchNorm(3), (5, 1, 4)),
        (nn.GroupNorm(1, 1), (5, 3)),
    ],
)
def test_arrays_of_another_width_are_refused(layer, shape):
    """Also where they would be broadcast to the layer's own width."""
    name = type(layer).__name__
    for call in (layer, wg.jit(lambda x: nn.train(layer, x)[0])):
        with pytest.raises(MismatchError, match=rf"{name} was made for \d .*, and is called with an array of shape"):
            call(np.ones(shape))


def both_ways_of_running(f):
    return (f, wg.jit(f))


X = np.ones((2, 4, 6))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nn.RNN(6, 4, rng=0)(X[0]), "axes are .examples, time, features"),  # (time, features), of one length
        (lambda: nn.GRU(6, 4, rng=0)(X[None]), "axes are .examples, time, features"),
        (lambda: nn.LSTM(6, 4, rng=0)(X, (X[:1, 0, :4], X[:1, 0, :4])), "begins with a state of shape .1, 4"),
        (lambda: nn.RNN(6, 4, rng=0)(X, X[0, 0, :4]), "begins with a state of shape .4,"),
        (lambda: nn.MultiHeadAttention(6, 2, rng=0)(X[0]), "axes are .examples, time, features"),
        (lambda: nn.MultiHeadAttention(6, 2, rng=0)(X, mask=np.zeros((4, 4))), "mask of type float64"),
        (lambda: nn.MultiHeadAttention(6, 2, rng=0)(X, mask=np.ones((2, 4, 4), bool)), "examples or heads"),
        (lambda: nn.MultiHeadAttention(6, 2, rng=0, rotary=True)(X), "heads of 3 features"),
        (lambda: nn.rotate(X[..., :3]), "3 features"),
        (lambda: nn.LearnedPositions(1, 6, rng=0)(X), "made for 1 times"),
        (lambda: nn.LearnedPositions(4, 6, rng=0)(X[..., :1]), "made for 6 features"),
        (lambda: nn.Residual(nn.Dense(6, 1, rng=0))(X), "residual of shape"),
        (lambda: nn.Residual(nn.Dense(6, 1, rng=0)).train(X), "residual of shape"),
        (lambda: nn.Embedding(4, 2, rng=0)(X), "type float64"),
        (lambda: nn.Embedding(4, 2, rng=0)(X > 0), "type bool"),
        (lambda: nn.max_pool(X[0], 2), "windows in an array"),
        (lambda: nn.max_pool(X, (2, 2)), "size="),
        (lambda: nn.avg_pool(X, 2, 0), "stride="),
        (lambda: nn.ConvTranspose1d(4, 3, 3, rng=0, groups=2), "2 groups"),
        (lambda: nn.Conv1d(4, 2, 3, rng=0, groups=0), "0 groups"),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    """Much of it would broadcast to something else."""
    for run in both_ways_of_running(call):
        with pytest.raises(MismatchError, match=words):
            run()


@pytest.mark.parametrize("padding", [None, 1])
def test_rows_are_counted_from_zero(padding):
    table = nn.Embedding(4, 2, rng=0, padding=padding)
    for run in both_ways_of_running(lambda x: table(x)):
        np.testing.assert_array_equal(run(np.array([3, 0])), table.weight[[3, 0]])
        with pytest.raises(IndexError, match="negative"):
            run(np.array([0, -1]))
        with pytest.raises(IndexError):
            run(np.array([0, 4]))
    np.testing.assert_array_equal(table((2, 3)), table.weight[[2, 3]])
    np.testing.assert_array_equal(nn.Embedding(4, 2, rng=0, padding=-1)([2, -1]), [table.weight[2], [0, 0]])


def test_the_last_state_of_an_lstm_goes_on(rng):
    lstm, x = nn.LSTM(3, 4, rng=0), rng.normal(size=(2, 6, 3))
    first, state = lstm.run(x[:, :2])
    rest, (h, _) = lstm.run(x[:, 2:], state)
    np.testing.assert_allclose(np.concatenate([first, rest], axis=1), lstm(x), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(h, rest[:, -1])


def test_fewer_queries_than_keys_are_of_the_last_times(rng):
    attention, x = nn.MultiHeadAttention(8, heads=2, rng=0, rotary=True), rng.normal(size=(2, 6, 8))
    np.testing.assert_allclose(attention(x[:, 4:], x, causal=True), attention(x, causal=True)[:, 4:], atol=1e-14)


def test_edges_of_shapes():
    for layer, shape, wanted in [
        (nn.LSTM(3, 4, rng=0), (2, 0, 3), (2, 0, 4)),
        (nn.GRU(3, 4, rng=0), (0, 5, 3), (0, 5, 4)),
        (nn.Conv1d(1, 1, 1, rng=0), (1, 1, 1), (1, 1, 1)),
        (nn.Flatten(), (0, 3, 4), (0, 12)),
        (nn.MaxPool(2, 1, 1), (1, 1, 1), (1, 1, 2)),
    ]:
        for run in both_ways_of_running(lambda x, layer=layer: layer(x)):
            assert run(np.ones(shape)).shape == wanted
    np.testing.assert_array_equal(nn.max_pool(np.array([[[-3, -5, -4]]]), 2, 1, 1), [[[-3, -3, -4, -4]]])
