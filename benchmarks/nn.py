"""Training steps of networks side by side: `python benchmarks/nn.py` from the root of the repository, on one core.

A step is the loss, its gradient, and plain descent, in single precision: wengert compiled, PyTorch (eager, and compiled
where it can be), JAX compiled. Peers that are not installed are left out. Losses are compared before anything is timed.
Then per-example gradients and products with the Hessian of the first network. The process stays on one core, and times
are those of the processor, so that others who use the machine do not count.
"""

import argparse
import gc
import importlib.util
import itertools
import math
import os
import resource
import sys
import time

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np  # noqa: E402

import wengert as wg  # noqa: E402
from wengert import nn  # noqa: E402

RATE = 1e-3


def normal(rng, *shape, scale=None):
    fan = shape[0] if len(shape) == 2 else math.prod(shape[1:]) if len(shape) > 2 else 1
    return (rng.standard_normal(shape) * (scale if scale is not None else fan**-0.5)).astype(np.float32)


# Each network: `make(rng)` gives parameters and a batch; then its loss for each tool. `F` and `torch` are PyTorch's.


class Mlp:
    name = "MLP 784-512-256-10, 64 examples"

    def make(rng):
        sizes = (784, 512, 256, 10)
        p = [a for n, m in itertools.pairwise(sizes) for a in (normal(rng, n, m), np.zeros(m, np.float32))]
        return p, (normal(rng, 64, 784, scale=1.0), rng.integers(0, 10, 64))

    def wengert(p, x, y):
        h = nn.relu(x @ p[0] + p[1])
        h = nn.relu(h @ p[2] + p[3])
        return nn.cross_entropy(h @ p[4] + p[5], y)

    def torch(torch, F, p, x, y):
        h = torch.relu(x @ p[0] + p[1])
        h = torch.relu(h @ p[2] + p[3])
        return F.cross_entropy(h @ p[4] + p[5], y)

    def jax(jax, jnp, p, x, y):
        h = jax.nn.relu(x @ p[0] + p[1])
        h = jax.nn.relu(h @ p[2] + p[3])
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(h @ p[4] + p[5]), y[:, None], 1))


class Cnn:
    name = "CNN on 28 × 28, 32 examples"

    def make(rng):
        p = [normal(rng, 16, 1, 3, 3), np.zeros(16, np.float32), normal(rng, 32, 16, 3, 3), np.zeros(32, np.float32)]
        p += [normal(rng, 1568, 10), np.zeros(10, np.float32)]
        return p, (normal(rng, 32, 1, 28, 28, scale=1.0), rng.integers(0, 10, 32))

    def wengert(p, x, y):
        h = nn.max_pool(nn.relu(nn.conv(x, p[0], padding=1) + p[1][:, None, None]), 2)
        h = nn.max_pool(nn.relu(nn.conv(h, p[2], padding=1) + p[3][:, None, None]), 2)
        return nn.cross_entropy(h.reshape(32, -1) @ p[4] + p[5], y)

    def torch(torch, F, p, x, y):
        h = F.max_pool2d(torch.relu(F.conv2d(x, p[0], p[1], padding=1)), 2)
        h = F.max_pool2d(torch.relu(F.conv2d(h, p[2], p[3], padding=1)), 2)
        return F.cross_entropy(h.reshape(32, -1) @ p[4] + p[5], y)

    def jax(jax, jnp, p, x, y):
        def layer(h, w, b):
            h = jax.nn.relu(jax.lax.conv_general_dilated(h, w, (1, 1), ((1, 1), (1, 1))) + b[:, None, None])
            return jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

        h = layer(layer(x, p[0], p[1]), p[2], p[3])
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(h.reshape(32, -1) @ p[4] + p[5]), y[:, None], 1))


class Lstm:
    name = "LSTM language model, 128 features, 32 times, 16 examples"

    def make(rng):
        p = [normal(rng, 64, 32, scale=1.0), normal(rng, 32, 512), normal(rng, 128, 512), np.zeros(512, np.float32)]
        p += [normal(rng, 128, 64), np.zeros(64, np.float32)]
        return p, (rng.integers(0, 64, (16, 32)), rng.integers(0, 64, (16, 32)))

    def wengert(p, x, y):
        layer = nn.LSTM.__new__(nn.LSTM)
        layer.weight, layer.recurrent, layer.bias = p[1], p[2], p[3]
        return nn.cross_entropy(layer(p[0][x]) @ p[4] + p[5], y)

    def torch(torch, F, p, x, y):
        zero = torch.zeros(1, 16, 128)
        weights = [p[1].T.contiguous(), p[2].T.contiguous(), p[3], torch.zeros_like(p[3])]
        h, _, _ = torch.lstm(p[0][x], (zero, zero), weights, True, 1, 0.0, True, False, True)
        return F.cross_entropy((h @ p[4] + p[5]).reshape(-1, 64), y.reshape(-1))

    def jax(jax, jnp, p, x, y):
        given = jnp.swapaxes(p[0][x] @ p[1] + p[3], 0, 1)

        def step(state, z):
            h, c = state
            i, f, g, o = jnp.split(z + h @ p[2], 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((16, 128), jnp.float32)
        _, h = jax.lax.scan(step, (zero, zero), given)
        logp = jax.nn.log_softmax(jnp.swapaxes(h, 0, 1) @ p[4] + p[5])
        return -jnp.mean(jnp.take_along_axis(logp, y[..., None], 2))


class Transformer:
    name = "transformer block, 128 features, 4 heads, 64 times, 8 examples"

    def make(rng):
        p = [normal(rng, 128, 384), normal(rng, 128, 128), normal(rng, 128, 512), normal(rng, 512, 128)]
        p += [np.ones(128, np.float32), np.zeros(128, np.float32), np.ones(128, np.float32), np.zeros(128, np.float32)]
        return p, (normal(rng, 8, 64, 128, scale=1.0), normal(rng, 8, 64, 128, scale=1.0))

    def wengert(p, x, y):
        def norm(x, scale, shift):
            d = x - np.mean(x, axis=-1, keepdims=True)
            return d / np.sqrt(np.mean(d * d, axis=-1, keepdims=True) + 1e-5) * scale + shift

        heads = lambda a: np.swapaxes(a.reshape(8, 64, 4, 32), 1, 2)
        q, k, v = np.split(norm(x, p[4], p[5]) @ p[0], 3, axis=-1)
        a = nn.attend(heads(q), heads(k), heads(v), nn.causal_mask(64))
        x = x + np.swapaxes(a, 1, 2).reshape(8, 64, 128) @ p[1]
        x = x + nn.gelu(norm(x, p[6], p[7]) @ p[2]) @ p[3]
        return nn.mse(x, y)

    def torch(torch, F, p, x, y):
        heads = lambda a: a.reshape(8, 64, 4, 32).transpose(1, 2)
        q, k, v = (F.layer_norm(x, (128,), p[4], p[5]) @ p[0]).split(128, -1)
        a = F.scaled_dot_product_attention(heads(q), heads(k), heads(v), is_causal=True)
        x = x + a.transpose(1, 2).reshape(8, 64, 128) @ p[1]
        x = x + F.gelu(F.layer_norm(x, (128,), p[6], p[7]) @ p[2]) @ p[3]
        return F.mse_loss(x, y)

    def jax(jax, jnp, p, x, y):
        def norm(x, scale, shift):
            d = x - jnp.mean(x, axis=-1, keepdims=True)
            return d / jnp.sqrt(jnp.mean(d * d, axis=-1, keepdims=True) + 1e-5) * scale + shift

        heads = lambda a: jnp.swapaxes(a.reshape(8, 64, 4, 32), 1, 2)
        q, k, v = [heads(a) for a in jnp.split(norm(x, p[4], p[5]) @ p[0], 3, axis=-1)]
        scores = q @ jnp.swapaxes(k, 2, 3) / math.sqrt(32)
        a = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((64, 64), bool)), scores, -1e30)) @ v
        x = x + jnp.swapaxes(a, 1, 2).reshape(8, 64, 128) @ p[1]
        x = x + jax.nn.gelu(norm(x, p[6], p[7]) @ p[2], approximate=False) @ p[3]
        return jnp.mean((x - y) ** 2)


class Resnet:
    name = "residual block, 32 channels of 16 × 16, 16 examples"

    def make(rng):
        p = [normal(rng, 32, 32, 3, 3), np.ones(32, np.float32), np.zeros(32, np.float32)]
        p += [normal(rng, 32, 32, 3, 3), np.ones(32, np.float32), np.zeros(32, np.float32)]
        return p, (normal(rng, 16, 32, 16, 16, scale=1.0), normal(rng, 16, 32, 16, 16, scale=1.0))

    def wengert(p, x, y):
        def norm(x, scale, shift):
            d = x - np.mean(x, axis=(0, 2, 3), keepdims=True)
            factor = scale[:, None, None] / np.sqrt(np.mean(d * d, axis=(0, 2, 3), keepdims=True) + 1e-5)
            return d * factor + shift[:, None, None]

        h = nn.relu(norm(nn.conv(x, p[0], padding=1), p[1], p[2]))
        return nn.mse(nn.relu(x + norm(nn.conv(h, p[3], padding=1), p[4], p[5])), y)

    def torch(torch, F, p, x, y):
        norm = lambda x, scale, shift: F.batch_norm(x, None, None, scale, shift, True)
        h = torch.relu(norm(F.conv2d(x, p[0], padding=1), p[1], p[2]))
        return F.mse_loss(torch.relu(x + norm(F.conv2d(h, p[3], padding=1), p[4], p[5])), y)

    def jax(jax, jnp, p, x, y):
        def norm(x, scale, shift):
            d = x - jnp.mean(x, axis=(0, 2, 3), keepdims=True)
            factor = scale[:, None, None] / jnp.sqrt(jnp.mean(d * d, axis=(0, 2, 3), keepdims=True) + 1e-5)
            return d * factor + shift[:, None, None]

        conv = lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), ((1, 1), (1, 1)))
        h = jax.nn.relu(norm(conv(x, p[0]), p[1], p[2]))
        return jnp.mean((jax.nn.relu(x + norm(conv(h, p[3]), p[4], p[5])) - y) ** 2)


class Vae:
    name = "VAE 784-256-16-256-784, 64 examples"

    def make(rng):
        sizes = [(784, 256), (256, 32), (16, 256), (256, 784)]
        p = [a for n, m in sizes for a in (normal(rng, n, m), np.zeros(m, np.float32))]
        return p, (rng.random((64, 784)).astype(np.float32), normal(rng, 64, 16, scale=1.0))

    def wengert(p, x, noise):
        z = np.tanh(x @ p[0] + p[1]) @ p[2] + p[3]
        mean, spread = z[:, :16], z[:, 16:]
        h = np.tanh((mean + np.exp(0.5 * spread) * noise) @ p[4] + p[5])
        return nn.binary_cross_entropy(h @ p[6] + p[7], x, reduction="sum") / 64 + np.mean(nn.kl_normal(mean, spread))

    def torch(torch, F, p, x, noise):
        z = torch.tanh(x @ p[0] + p[1]) @ p[2] + p[3]
        mean, spread = z[:, :16], z[:, 16:]
        h = torch.tanh((mean + torch.exp(0.5 * spread) * noise) @ p[4] + p[5])
        kl = 0.5 * torch.sum(torch.exp(spread) + mean * mean - 1 - spread, dim=-1)
        return F.binary_cross_entropy_with_logits(h @ p[6] + p[7], x, reduction="sum") / 64 + kl.mean()

    def jax(jax, jnp, p, x, noise):
        z = jnp.tanh(x @ p[0] + p[1]) @ p[2] + p[3]
        mean, spread = z[:, :16], z[:, 16:]
        h = jnp.tanh((mean + jnp.exp(0.5 * spread) * noise) @ p[4] + p[5])
        logits = h @ p[6] + p[7]
        kl = 0.5 * jnp.sum(jnp.exp(spread) + mean * mean - 1 - spread, axis=-1)
        return jnp.sum(jnp.logaddexp(0.0, logits) - x * logits) / 64 + kl.mean()


NETWORKS = (Mlp, Cnn, Lstm, Transformer, Resnet, Vae)


def of_wengert(network, p, batch):
    def step(p, *batch):
        value, g = wg.value_and_grad(network.wengert)(p, *batch)
        return value, [a - RATE * b for a, b in zip(p, g, strict=True)]

    compiled = wg.jit(step)
    return lambda: float(compiled(p, *batch)[0])


def of_torch(network, p, batch):
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(1)
    p = [torch.tensor(a, requires_grad=True) for a in p]
    batch = [torch.tensor(a) for a in batch]

    def step():
        value = network.torch(torch, F, p, *batch)
        g = torch.autograd.grad(value, p)
        with torch.no_grad():
            [a - RATE * b for a, b in zip(p, g, strict=True)]
        return float(value.detach())

    return step


def of_torch_compiled(network, p, batch):
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(1)

    q, data = [torch.tensor(a, requires_grad=True) for a in p], [torch.tensor(a) for a in batch]
    loss = torch.compile(lambda p, *batch: network.torch(torch, F, p, *batch))

    def run():
        value = loss(q, *data)
        g = torch.autograd.grad(value, q)
        with torch.no_grad():
            [a - RATE * b for a, b in zip(q, g, strict=True)]
        return float(value.detach())

    return run


def of_jax(network, p, batch):
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(p, *batch):
        value, g = jax.value_and_grad(lambda p: network.jax(jax, jnp, p, *batch))(p)
        return value, [a - RATE * b for a, b in zip(p, g, strict=True)]

    p, batch = [jnp.asarray(a) for a in p], [jnp.asarray(a) for a in batch]
    return lambda: float(jax.block_until_ready(step(p, *batch))[0])


# ----------------------------------------------------------------------- per-example gradients and Hessian products


def examples_of_wengert(p, x, y):
    one = lambda p, x, y: Mlp.wengert(p, x[None], y[None])
    compiled = wg.jit(wg.vmap(wg.grad(one), in_axes=(None, 0, 0)))
    return lambda: compiled(p, x, y)[0][0, 0, 0]


def examples_of_torch(p, x, y):
    import torch
    import torch.nn.functional as F

    p, x, y = [torch.tensor(a) for a in p], torch.tensor(x), torch.tensor(y)
    one = lambda p, x, y: Mlp.torch(torch, F, p, x[None], y[None])
    each = torch.func.vmap(torch.func.grad(one), in_dims=(None, 0, 0))
    return lambda: float(each(p, x, y)[0][0, 0, 0])


def examples_of_jax(p, x, y):
    import jax
    import jax.numpy as jnp

    one = lambda p, x, y: Mlp.jax(jax, jnp, p, x[None], y[None])
    each = jax.jit(jax.vmap(jax.grad(one), in_axes=(None, 0, 0)))
    p, x, y = [jnp.asarray(a) for a in p], jnp.asarray(x), jnp.asarray(y)
    return lambda: float(jax.block_until_ready(each(p, x, y))[0][0, 0, 0])


def hessian_of_wengert(p, x, y):
    compiled = wg.jit(lambda p, v: wg.jvp(lambda p: wg.grad(Mlp.wengert)(p, x, y), (p,), (v,))[1])
    return lambda: compiled(p, p)[0][0, 0]


def hessian_of_torch(p, x, y):
    import torch
    import torch.nn.functional as F

    p, x, y = [torch.tensor(a) for a in p], torch.tensor(x), torch.tensor(y)
    gradient = torch.func.grad(lambda p: Mlp.torch(torch, F, p, x, y))
    return lambda: float(torch.func.jvp(gradient, (p,), (p,))[1][0][0, 0])


def hessian_of_jax(p, x, y):
    import jax
    import jax.numpy as jnp

    x, y = jnp.asarray(x), jnp.asarray(y)
    product = jax.jit(lambda p, v: jax.jvp(jax.grad(lambda p: Mlp.jax(jax, jnp, p, x, y)), (p,), (v,))[1])
    p = [jnp.asarray(a) for a in p]
    return lambda: float(jax.block_until_ready(product(p, p))[0][0, 0])


TOOLS = {
    "wengert": (of_wengert, "wengert"),
    "torch": (of_torch, "torch"),
    "torch compiled": (of_torch_compiled, "torch"),
    "jax": (of_jax, "jax"),
}
EXTRAS = {
    "per-example gradients of the MLP": {
        "wengert": examples_of_wengert, "torch": examples_of_torch, "jax": examples_of_jax,
    },
    "Hessian product of the MLP": {"wengert": hessian_of_wengert, "torch": hessian_of_torch, "jax": hessian_of_jax},
}  # fmt: skip


def measured(runs, seconds):
    """Milliseconds of the processor for a call of each: the best of rounds in which they take turns."""
    best = dict.fromkeys(runs, math.inf)
    end = time.perf_counter() + seconds * len(runs)
    while time.perf_counter() < end:
        for name, run in runs.items():
            start, count = time.process_time(), 0
            while time.process_time() - start < 0.05:
                run()
                count += 1
            best[name] = min(best[name], (time.process_time() - start) / count)
    return {name: 1e3 * t for name, t in best.items()}


def report(title, makers, seconds, tolerance=1e-4):
    runs, firsts, values = {}, {}, {}
    for name, make in makers.items():
        start = time.perf_counter()
        try:
            run = make()
            values[name] = run()
        except Exception as error:
            print(f"  {name}: {type(error).__name__} {str(error)[:100]!r}")
            continue
        runs[name], firsts[name] = run, time.perf_counter() - start
    for name, value in values.items():
        assert abs(value - values["wengert"]) <= tolerance * (abs(values["wengert"]) + 1e-3), (name, values)
    times = measured(runs, seconds)
    cells = "  ".join(f"{name} {t:.3f} ms (first {firsts[name]:.1f} s)" for name, t in times.items())
    peers = {name: t for name, t in times.items() if name != "wengert"}
    ratio = min(peers.values()) / times["wengert"] if peers else math.nan
    print(f"{title}\n  {cells}\n  fastest peer / wengert: {ratio:.2f}", flush=True)


def peak(name, network):
    """Peak memory of a process that does one step, in MB above what importing takes."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    p, batch = network.make(np.random.default_rng(0))
    run = TOOLS[name][0](network, p, batch)
    for _ in range(3):
        run()
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="how long to measure each")
    parser.add_argument("--only", default="", help="networks whose names contain this")
    parser.add_argument("--eager", action="store_true", help="leave out torch.compile, which takes minutes")
    parser.add_argument("--peak", default="", help="print the peak memory of this tool's step and end")
    options = parser.parse_args()
    chosen = [n for n in NETWORKS if options.only.lower() in n.name.lower()]
    if options.peak:
        peak(options.peak, chosen[0])
        return
    tools = {name: make for name, (make, package) in TOOLS.items() if importlib.util.find_spec(package)}
    if options.eager:
        tools.pop("torch compiled", None)
    wg.set_num_threads(1)
    for network in chosen:
        p, batch = network.make(np.random.default_rng(0))
        report(
            network.name,
            {name: lambda make=make, p=p, batch=batch, n=network: make(n, p, batch) for name, make in tools.items()},
            options.seconds,
        )
        gc.collect()
    if not options.only:
        p, batch = Mlp.make(np.random.default_rng(0))
        for title, makers in EXTRAS.items():
            present = {n: m for n, m in makers.items() if n in tools}
            report(title, {n: lambda m=m: m(p, *batch) for n, m in present.items()}, options.seconds, 1e-2)


if __name__ == "__main__":
    sys.exit(main())
