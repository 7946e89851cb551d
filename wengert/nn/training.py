"""The loop that trains a model: batches, validation, schedules, early stopping, checkpoints.

A step is one function of arrays: parameters, the other arrays of the model, the optimiser's state and a batch in, the
same and the loss out. It is compiled unless that is not wished; what it draws it draws from one generator. Everything
that the next epoch depends on is in a checkpoint, with the states of both generators (one for the order of examples,
one for the model), so that training goes on to the same digits.
"""

from __future__ import annotations

import inspect
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wengert import tree
from wengert.api.grad import grad, value_and_grad
from wengert.api.jit import jit as compiled
from wengert.errors import ConvergenceError, MismatchError, NonFiniteError, WengertError, told, warn_user
from wengert.explain.nans import debug_nans
from wengert.explain.pictures import write_svg
from wengert.nn.curves import drawn
from wengert.nn.files import read, write
from wengert.nn.layers import train
from wengert.nn.parameters import Build
from wengert.optimize.first_order.methods import adam

_COMPARED = 4
"""So many batches are looked at again where training may have made the loss larger."""
_CLEARLY = 0.01
"""By this part of it."""


@dataclass
class Fitted:
    """What `fit` returns."""

    model: Any
    """The model, as it was after the best epoch where there is validation and `patience`, otherwise after the last."""
    history: dict[str, list[float]]
    """For each epoch: `epoch`, `loss`, `seconds`, and `validation` if there is such data."""
    stopped: str
    """Why training came to its end."""

    def curves(self, path: Any = None) -> str:
        """A picture of the losses, as SVG; written to a file if there is a path."""
        picture = drawn(self.history)
        if path is not None:
            write_svg(path, picture)
        return picture


def supervised(loss: Callable) -> Callable:
    """From a loss of results and what they should be, the loss of a model on a batch (x, y), for `fit`.

    >>> from wengert import nn
    >>> value, _ = nn.supervised(nn.mse)(np.sin, np.zeros(3), np.ones(3))
    >>> value
    np.float64(1.0)
    """

    def of_model(model: Any, x: Any, y: Any, rng: Any = None) -> tuple[Any, Any]:
        if rng is None:
            return loss(model(x), y), model
        found, model = train(model, x, rng)
        return loss(found, y), model

    return of_model


@told
def fit(
    model: Any,
    loss: Callable,
    data: Any,
    *,
    optimizer: Any = None,
    epochs: int = 10,
    batch_size: int = 32,
    validation: Any = None,
    schedule: Callable[[int], float] | None = None,
    patience: int | None = None,
    checkpoint: Any = None,
    resume: bool = False,
    seed: int = 0,
    shuffle: bool = True,
    jit: bool = True,
    progress: bool | None = None,
    callback: Callable[[dict, Any], Any] | None = None,
) -> Fitted:
    """Train a model on batches.

    Args:
        model: a layer, or any container of arrays.
        loss: `loss(model, *batch)` returns the mean loss of a batch. If it has a parameter `rng`, it is called with a
            generator in training, and with None for validation; it may return the model as it is afterwards as well
            (`nn.supervised` makes such functions).
        data: an array, or a tuple or dict of arrays, with the examples along their first axes, or a function of a
            generator that gives the batches of an epoch, one after the other. A dict is one argument of the loss.
        optimizer: one of `wengert.optimize`, or what has `init(parameters)` and `update(gradients, state, parameters)`
            like those; by default `optimize.adam(1e-3)`.
        validation: data like that, or how much of the data (0.1 for a tenth, the last ones) is not trained on.
        schedule: by what the steps of an epoch are multiplied, from its number (counted from 0).
        patience: stop when validation has not become better for so many epochs, and return the best model.
        checkpoint: a `.npz` file, written after every epoch.
        resume: go on from the checkpoint if there is one: the same digits as without interruption.
        shuffle: a new order of the examples for each epoch.
        jit: compile the step. Without, it is plain Python: print and breakpoints work.
        progress: show a line with losses; by default where there is a terminal.
        callback: `callback(record, model)` after every epoch; training stops when it returns True.

    A loss that is not finite raises `ConvergenceError`, and of one that training has made larger there is a warning.
    Ctrl-C ends training after the epochs that are complete.

    >>> from wengert import nn, optimize
    >>> x = np.linspace(-1, 1, 64)[:, None]
    >>> model = nn.Sequential(nn.Dense(1, 16, rng=0), np.tanh, nn.Dense(16, 1, rng=1))
    >>> result = nn.fit(model, nn.supervised(nn.mse), (x, np.sin(3 * x)), optimizer=optimize.adam(0.05), epochs=60)
    >>> result.history["loss"][-1] < 0.05
    True
    """
    optimizer = adam(1e-3) if optimizer is None else optimizer
    path = None if checkpoint is None else Path(checkpoint)
    _demand_sense(optimizer, patience, validation, batch_size, schedule, path, resume)
    batches, held_out = _data(data, validation, batch_size)
    _demand_loss(loss, data)
    training = Training(model, loss, optimizer, seed, jit)
    if resume and path is not None and path.exists():
        training.restore(read(path))
    line = Line(progress)
    stopped = f"after {epochs} epochs"
    try:
        while len(training.history["epoch"]) < epochs:
            if patience is not None and held_out is not None and training.waited() >= patience:
                stopped = f"validation has not become better for {patience} epochs"
                break
            record = training.epoch(batches(training.order, shuffle), held_out, schedule, line)
            if path is not None:
                write(path, training.snapshot())
            if callback is not None and callback(record, training.model):
                stopped = "as the callback said"
                break
    except KeyboardInterrupt:
        stopped = f"interrupted after {len(training.history['epoch'])} epochs"
        training.undo()
    line.end()
    risen = training.risen()
    if risen is not None:
        warn_user(
            RuntimeWarning(
                "nn.fit: the loss is {:.4g} after training and was {:.4g} before, of the same examples: the steps of "
                "the optimiser may be too large".format(*risen)
            )
        )
    found = training.best_model if patience is not None and held_out is not None else training.model
    return Fitted(found, training.history, stopped)


def _demand_loss(loss: Any, data: Any) -> None:
    """Refuse a loss that does not take a model and a batch, before it is called."""
    remedy = "write loss(model, x, y), or nn.supervised(nn.mse), and the data in a tuple: nn.fit(model, loss, (x, y))"
    if not callable(loss):
        raise MismatchError(f"the loss is to be a function, and not of class {type(loss).__name__}", remedy=remedy)
    if isinstance(data, tuple):
        try:
            inspect.signature(loss).bind(None, *data)
        except TypeError as error:
            name = getattr(loss, "__name__", "the loss")
            raise MismatchError(
                f"fit calls {name}(model, *batch), with {1 + len(data)} arguments: {error}", remedy=remedy
            ) from None
        except ValueError:  # a function whose parameters nobody knows
            return


def _demand_sense(optimizer: Any, patience: int | None, validation: Any, batch_size: Any, schedule: Any,
                  path: Path | None, resume: bool) -> None:  # fmt: skip
    if not hasattr(optimizer, "init") or not hasattr(optimizer, "update"):
        raise MismatchError(f"optimizer={optimizer!r}", remedy="give a method, such as optimize.adam(1e-3)")
    if patience is not None and validation is None:
        raise MismatchError("patience without validation", remedy="say what to validate on: validation=0.1, or data")
    if not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
        raise MismatchError(f"batches of {batch_size} examples", remedy="give batch_size=, a whole number from one on")
    if schedule is not None and not callable(schedule):
        raise MismatchError(f"schedule={schedule!r}", remedy="give a function of the epoch, or the optimizer the rate")
    if resume and path is None:
        raise MismatchError("resume=True without a checkpoint", remedy="say from which file: checkpoint=…")
    if path is not None and path.suffix != ".npz":
        raise MismatchError(f"a checkpoint named {path.name}", remedy="name a .npz file")


# --------------------------------------------------------------------------------------------------------- the state


class Training:
    """A model in training: its arrays, the optimiser's, two generators, and what happened so far."""

    def __init__(self, model: Any, loss: Callable, optimizer: Any, seed: int, jit: bool):
        self.build = Build(model)
        self.parameters, self.state = list(self.build.parameters), list(self.build.state)
        if not self.parameters:
            raise MismatchError(
                "the model has no arrays of floating numbers to train", remedy="give a layer, or a container of arrays"
            )
        # Numbers as steps return them, so that one program does all steps.
        self.memory = tree.map(lambda x: np.asarray(x)[()], optimizer.init(self.parameters))
        self.order, self.draws = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2)]
        self.history: dict[str, list[float]] = {"epoch": [], "loss": [], "seconds": []}
        self.best: tuple[list, list] = (self.parameters, self.state)
        self._kept: Any = None
        self._before = (self.parameters, self.state)
        self._first: list[tuple[tuple, float]] = []
        takes_rng = "rng" in inspect.signature(loss).parameters
        build, draws = self.build, self.draws

        def evaluate(parameters: list, state: list, batch: tuple) -> Any:
            model = build(parameters, state)
            found = loss(model, *batch, rng=None) if takes_rng else loss(model, *batch)
            return found[0] if isinstance(found, tuple) else found

        def step(parameters: list, state: list, memory: Any, factor: float | None, batch: tuple) -> tuple:
            def trained_loss(parameters: list) -> tuple[Any, list]:
                model = build(parameters, state)
                found = loss(model, *batch, rng=draws) if takes_rng else loss(model, *batch)
                if isinstance(found, tuple):
                    value, after = found
                    return value, build.state_of(after)
                return found, state

            (value, after), gradients = value_and_grad(trained_loss, has_aux=True)(parameters)
            updated, memory = optimizer.update(gradients, memory, parameters)
            if factor is not None:
                updated = [p + factor * (q - p) for p, q in zip(parameters, updated, strict=True)]
            return value, updated, after, memory

        self.step, self.evaluate = (compiled(step), compiled(evaluate)) if jit else (step, evaluate)

    @property
    def model(self) -> Any:
        return self.build(self.parameters, self.state)

    @property
    def best_model(self) -> Any:
        return self.build(*self.best)

    def epoch(self, batches: Iterator, held_out: Any, schedule: Callable | None, line: Line) -> dict:
        """One pass through the data, and validation."""
        self._keep()
        started, number = time.perf_counter(), len(self.history["epoch"])
        factor = None if schedule is None else float(schedule(number))
        total, count = 0.0, 0
        for k, (batch, size) in enumerate(batches):
            before = self.parameters, self.state
            value, self.parameters, self.state, self.memory = self.step(*before, self.memory, factor, batch)
            if not math.isfinite(value):
                raise ConvergenceError(
                    f"the loss is {float(value)} in epoch {number + 1}, batch {k + 1}{self._culprit(*before, batch)}",
                    remedy="take smaller steps, or clip gradients; wg.debug_nans finds where it comes from",
                )
            if number == 0 and k < _COMPARED:
                self._first.append((batch, float(value)))
            total, count = total + float(value) * size, count + size
            line.show(number, total / count, self.history)
        if not count:
            raise MismatchError("an epoch without batches", remedy="give data, and a function new batches each time")
        record = {"epoch": number + 1, "loss": total / count, "seconds": time.perf_counter() - started}
        if held_out is not None:
            record["validation"] = self._validate(held_out())
        for name, value in record.items():
            self.history.setdefault(name, []).append(value)
        seen = self.history.get("validation", self.history["loss"])
        if seen[-1] <= min(seen):
            self.best = (self.parameters, self.state)
        line.show(number, record["loss"], self.history)
        return record

    def risen(self) -> tuple[float, float] | None:
        """The loss after training and before, of the first batches, if it is larger afterwards."""
        if len(self.history["epoch"]) < 2 or not self._first or not self.history["loss"][-1] > self._first[0][1]:
            return None
        after, before = [
            sum([float(self.evaluate(*at, batch)) for batch, _ in self._first]) / len(self._first)
            for at in ((self.parameters, self.state), self._before)
        ]
        return (after, before) if after - before > _CLEARLY * abs(before) else None

    def _culprit(self, parameters: Any, state: Any, batch: Any) -> str:
        """Where a loss goes wrong, with its line; empty if that is not found."""
        if not all(np.all(np.isfinite(p)) for p in parameters):
            return ", and so are parameters after the step before"
        try:
            with debug_nans(), np.errstate(all="ignore"):
                grad(lambda p: self.evaluate(p, state, batch))(parameters)
        except NonFiniteError as error:
            return f"\n{error}"
        except WengertError:
            pass
        return ""

    def _validate(self, batches: Iterator) -> float:
        total, count = 0.0, 0
        for batch, size in batches:
            total, count = total + float(self.evaluate(self.parameters, self.state, batch)) * size, count + size
        if not count:
            raise MismatchError("validation without batches", remedy="give data, and a function new batches each time")
        if math.isnan(total):
            raise ConvergenceError(
                f"the validation loss is nan in epoch {len(self.history['epoch']) + 1}",
                remedy="look for nan in the data for validation; wg.debug_nans finds where it comes from",
            )
        return total / count

    def waited(self) -> int:
        """For how many epochs validation has not become better."""
        seen = self.history.get("validation", [])
        return len(seen) - 1 - int(np.argmin(seen)) if seen else 0

    def _keep(self) -> None:
        states = (self.order.bit_generator.state, self.draws.bit_generator.state)
        self._kept = (len(self.history["epoch"]), self.parameters, self.state, self.memory, states)

    def undo(self) -> None:
        """Back to the end of the last epoch that was complete."""
        if self._kept is not None and len(self.history["epoch"]) == self._kept[0]:
            _, self.parameters, self.state, self.memory, states = self._kept
            self.order.bit_generator.state, self.draws.bit_generator.state = states

    # ------------------------------------------------------------------------------------------------- checkpoints

    def snapshot(self) -> dict[str, np.ndarray]:
        """Everything that the next epochs depend on, as arrays."""
        parts = {"parameter": self.parameters, "state": self.state, "memory": tree.leaves(self.memory)}
        parts |= {"best_parameter": self.best[0], "best_state": self.best[1]}
        found = {f"{name}_{k}": np.asarray(x) for name, xs in parts.items() for k, x in enumerate(xs)}
        generators = [self.order.bit_generator.state, self.draws.bit_generator.state]
        text = json.dumps({"generators": generators, "history": self.history})
        return {**found, "record": np.frombuffer(text.encode(), np.uint8)}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on from a snapshot of a training like this one."""
        leaves, structure = tree.flatten(self.memory)

        def taken(name: str, like: Sequence[Any]) -> list[Any]:
            found = []
            for k, x in enumerate(like):
                saved = arrays.get(f"{name}_{k}")
                if saved is None or saved.shape != np.shape(x) or f"{name}_{len(like)}" in arrays:
                    raise MismatchError(
                        "the checkpoint is of another model or optimiser",
                        remedy="start with the model and optimiser that it was written with, or with resume=False",
                    )
                found.append(saved[()])
            return found

        best = (taken("best_parameter", self.parameters), taken("best_state", self.state))
        memory = tree.unflatten(structure, taken("memory", leaves))
        self.parameters, self.state = taken("parameter", self.parameters), taken("state", self.state)
        self.memory, self.best = memory, best
        record = json.loads(arrays["record"].tobytes())
        self.order.bit_generator.state, self.draws.bit_generator.state = record["generators"]
        self.history = record["history"]


# ---------------------------------------------------------------------------------------------------------- the data


def _data(data: Any, validation: Any, batch_size: int) -> tuple[Callable, Callable | None]:
    """Batches of an epoch, from a generator; and those for validation."""
    if isinstance(validation, (int, float)):
        if callable(data) or not 0 < validation < 1:
            raise MismatchError(
                f"validation={validation} of this data", remedy="give a part between 0 and 1 of arrays, or arrays"
            )
        data, count = _arrays(data)
        kept = count - max(1, round(validation * count))
        data, validation = [tree.map(lambda a, part=part: a[part], data) for part in (slice(kept), slice(kept, None))]
    held_out = None
    if validation is not None:
        given = validation
        held_out = (lambda: _counted(given(None))) if callable(given) else _in_order(given, batch_size)
    if callable(data):
        return (lambda rng, shuffle: _counted(data(rng))), held_out
    arrays, count = _arrays(data)

    def batches(rng: np.random.Generator, shuffle: bool) -> Iterator:
        order = rng.permutation(count) if shuffle else np.arange(count)
        for start in range(0, count, batch_size):
            some = order[start : start + batch_size]
            yield tree.map(lambda a, some=some: a[some], arrays), len(some)

    return batches, held_out


def _in_order(data: Any, batch_size: int) -> Callable:
    arrays, count = _arrays(data)

    def batches() -> Iterator:
        for start in range(0, count, batch_size):
            some = slice(start, min(start + batch_size, count))
            yield tree.map(lambda a, some=some: a[some], arrays), some.stop - start

    return batches


def _counted(batches: Any) -> Iterator:
    for batch in batches:
        batch = tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)
        yield batch, len(tree.leaves(batch)[0])


def _arrays(data: Any) -> tuple[tuple, int]:
    """The arguments that a loss takes of all data, arrays or dicts of such, and how many examples there are."""
    if isinstance(data, Iterator):
        raise MismatchError(
            "data that can be gone through once", remedy="give a function that makes the batches of an epoch anew"
        )
    parts = tuple(data) if isinstance(data, (tuple, list)) else (data,)
    if any(isinstance(part, (tuple, list)) and any(isinstance(a, np.ndarray) for a in part) for part in parts):
        raise MismatchError(
            "data that is a list of batches", remedy="give arrays of all examples, or lambda rng: batches"
        )
    arrays = tuple([{k: np.asarray(v) for k, v in p.items()} if isinstance(p, dict) else np.asarray(p) for p in parts])
    leaves = tree.leaves(arrays)
    lengths = {len(a) if a.ndim else 0 for a in leaves}
    if len(lengths) != 1 or lengths == {0}:
        raise MismatchError(
            f"data of shapes {', '.join(str(a.shape) for a in leaves)}",
            remedy="give arrays with as many examples along their first axes",
        )
    return arrays, lengths.pop()


# -------------------------------------------------------------------------------------------------------- the terminal


class Line:
    """One line of a terminal that says how far training has come."""

    def __init__(self, wished: bool | None):
        self._shown = sys.stderr.isatty() if wished is None else wished
        self._last = 0.0

    def show(self, epoch: int, loss: float, history: dict) -> None:
        now = time.perf_counter()
        complete = len(history["epoch"]) > epoch
        if not self._shown or (now - self._last < 0.1 and not complete):
            return
        self._last = now
        seen = history.get("validation", [])
        text = f"epoch {epoch + 1}  loss {loss:.5g}" + (f"  validation {seen[-1]:.5g}" if seen else "")
        print(f"\r{text:<60}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._shown:
            print(file=sys.stderr)
