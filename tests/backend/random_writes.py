"""Random programs that write to arrays in place: parts that overlap, views, joins, gathers; in loops and branches.

A program is source text of `f(x, i, s)`, with x an array of rank one to three, i and s numbers that the compiler does
not know. It is grown line by line; every line is run at once, by NumPy, so that it is known which shapes there are, and
lines that raise are left out. All operations are polynomials and sines, so that a complex step differentiates them.

    python tests/backend/random_writes.py 1000 2000        # tries the programs with these numbers, and prints failures
"""

from __future__ import annotations

import linecache
import sys
import traceback
from typing import Any

import numpy as np

import wengert as wg
from wengert.errors import WengertError

SHAPES = ((6,), (9,), (33,), (150,), (3, 3), (4, 4), (5, 2), (20, 20), (2, 3, 2), (3, 3, 3))
LARGEST, MOST_LINES = 500, 9


def compiled(source: str, name: str) -> Any:
    """The function `f` of a source text."""
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope: dict = {"np": np}
    exec(compile(source, file, "exec"), scope)
    return scope["f"]


class Growing:
    """A program that is being grown."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)
        self.shape = self.choice(SHAPES)
        self.x = self.rng.normal(size=self.shape)
        self.i, self.s = int(self.rng.integers(0, self.shape[0])), float(self.rng.normal())
        self.lines: list[str] = []
        self.names = 0
        self.scope: dict[str, Any] = {"np": np, "x": self.x.copy(), "i": self.i, "s": self.s}
        self.arrays = ["x"]
        if self.chance(0.8):
            self.attempt(f"a = {self.choice(('x * 2.0', 'x.copy()', 'np.zeros_like(x)', 'np.sin(x)', '1.0 * x'))}")
        while len(self.lines) < 3 or (len(self.lines) < MOST_LINES and self.chance(0.85)):
            self.attempt(self.choice((self.store,) * 7 + (self.view,) * 2 + (self.join,) * 2 + (self.new,) * 2
                                     + (self.loop, self.branch))())  # fmt: skip
        number = int(self.rng.integers(1, 4))
        results = [self.choice(self.arrays[-4:]) for _ in range(number)]
        self.source = "\n".join(
            ["def f(x, i, s):", *[f"    {line}" for text in self.lines for line in text.split("\n")],
             f"    return {', '.join(results)},", ""]
        )  # fmt: skip

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def choice(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def attempt(self, line: str | None) -> None:
        """Add a line if it runs."""
        if line is None:
            return
        names = [name for name, a in self.scope.items() if isinstance(a, np.ndarray)]
        before = {name: self.scope[name].copy() for name in names}
        known = set(self.scope)
        try:
            with np.errstate(all="ignore"):
                exec(line, self.scope)
        except (ValueError, IndexError, TypeError, AttributeError):
            failed = True
        else:
            values = [a for name, a in self.scope.items() if isinstance(a, (np.ndarray, np.generic))]
            failed = any(
                a.dtype != np.float64 or a.size > LARGEST or a.size == 0 or not np.all(np.abs(a) < 1e3) for a in values
            )
        if failed:
            for name in set(self.scope) - known:
                del self.scope[name]
            for name, value in before.items():
                self.scope[name][...] = value
            return
        self.lines.append(line)
        self.arrays += [name for name in self.scope if name not in known and np.ndim(self.scope[name])]

    # --------------------------------------------------------------------------------------------------- expressions

    def array(self) -> str:
        return self.choice(self.arrays if self.chance(0.5) else self.arrays[-2:])

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def side(self, n: int, counter: str | None = None) -> str:
        """An index along an axis of length n."""
        a, b = sorted(int(k) for k in self.rng.integers(0, n + 1, 2))
        options = [":", "::-1", "1:", ":-1", f"{a}:{b}", f"{b}:{a}:-1", "::2", "1::2", "2:", ":-2", "1:-1", "0", "-1",
                   str(int(self.rng.integers(n))), "::-2"]  # fmt: skip
        if self.chance(0.2):
            options += ["i", "i:", ":i"]
        if counter is not None:
            options += [counter] * 8 + [f"{counter} - 1", f"-1 - {counter}", f"{counter}:", f":{counter}",
                                        f"{counter}:{counter} + 2"] * 2  # fmt: skip
        return self.choice(options)

    def index(self, shape: tuple[int, ...], counter: str | None = None) -> str:
        if self.chance(0.06):
            rows = [int(k) for k in self.rng.integers(-shape[0], shape[0], int(self.rng.integers(1, 4)))]
            return str(rows)
        if self.chance(0.04):
            return f"np.arange({shape[0]}) % 2 == 0"
        if self.chance(0.04):
            return str([int(k) for k in self.rng.permutation(shape[0])])
        items = [self.side(n, counter) for n in shape[: int(self.rng.integers(1, len(shape) + 1))]]
        if self.chance(0.05):
            items.insert(int(self.rng.integers(0, len(items) + 1)), "None")
        if self.chance(0.05):
            items = ["...", *items[-1:]]
        return ", ".join(items)

    def value(self, shape: tuple[int, ...], counter: str | None = None, of: str | None = None, deep: int = 2) -> str:
        """Something that can be written to a place of a shape, most of the time."""
        kind = self.rng.random()
        if kind < 0.15 or not shape:
            number = self.choice(("2.0", "-0.5", "s", "0.0", "x.flat[0]" if self.chance(0.1) else "x[(0,) * x.ndim]"))
            if shape or self.chance(0.5):
                return number
        if kind < 0.3 and deep:
            left, right = self.value(shape, counter, of, deep - 1), self.value(shape, counter, of, deep - 1)
            return f"({left} {self.choice('+-*')} {right})"
        if kind < 0.4 and deep:
            return f"{self.choice(('np.sin', '0.5 * ', '-'))}({self.value(shape, counter, of, deep - 1)})"
        for _ in range(12):  # a part of an array that has the shape
            name = of if of is not None and self.chance(0.6) else self.array()
            array = self.scope[name]
            text = self.choice((name, f"{name}[{self.index(array.shape, counter)}]", f"{name}.T"))
            if text != name and self.chance(0.15):
                text += self.choice(("[::-1]", ".T", "[1:]", "[:-1]", ".copy()"))
            try:
                found = eval(text, {**self.scope, counter or "_": 1})
            except (IndexError, TypeError, ValueError):
                continue
            if np.shape(found) == shape or (
                found.ndim < len(shape) and found.shape == shape[len(shape) - found.ndim :]
            ):
                return text
        return self.choice(("2.0", "s"))

    # ---------------------------------------------------------------------------------------------------- statements

    def store(self, counter: str | None = None) -> str | None:
        name = self.array()
        array = self.scope[name]
        if not array.ndim:
            return None
        index = self.index(array.shape, counter)
        try:
            shape = eval(f"np.shape({name}[{index}])", {**self.scope, counter or "_": 1})
        except (IndexError, TypeError, ValueError):
            return None
        operator = self.choice(("=",) * 6 + ("+=", "*=", "-="))
        return f"{name}[{index}] {operator} {self.value(shape, counter, name)}"

    def view(self) -> str:
        name = self.array()
        array = self.scope[name]
        options = [f"{name}[{self.index(array.shape)}]"] * 4 + [f"{name}.T", f"{name}[::-1]", f"{name}.ravel()"]
        options += [f"{name}.reshape(-1)", f"np.swapaxes({name}, 0, -1)", f"{name}[None]", f"{name}.reshape(-1, 1)"]
        return f"{self.name()} = {self.choice(options)}"

    def new(self) -> str:
        name = self.array()
        shape = self.scope[name].shape
        if self.chance(0.3):
            fresh = self.name()
            cut = self.choice(("1", "-1", "2"))
            first, second = f"{fresh}[:{cut}] = {self.value(())}", f"{fresh}[{cut}:] = {self.value(())}"
            return f"{fresh} = np.empty_like({name})\n{first}\n{second}"
        options = [f"{name}.copy()", f"np.zeros_like({name})", f"np.sin({name})", f"{name} * 0.5",
                   f"np.ones({shape}, x.dtype)", self.value(shape), self.value(shape)]  # fmt: skip
        return f"{self.name()} = {self.choice(options)}"

    def join(self) -> str:
        name = self.array()
        shape = self.scope[name].shape
        other = self.choice((name, name, self.array(), self.value(shape)))
        third = self.choice((name, other, self.array(), f"{name}[::-1]"))
        axis = int(self.rng.integers(0, len(shape) + 1))
        options = [
            f"np.stack([{name}, {other}], axis={axis})", f"np.concatenate([{name}, {other}])",
            f"np.concatenate([{name}, {other}, {third}], axis={min(axis, len(shape) - 1)})",
            f"np.concatenate([{name}[1:], {other}, {name}[:1]])", f"np.hstack([{name}, {other}])",
            f"np.vstack([{name}, {other}])", f"np.array([{name}, {other}])", f"np.array([{other}, {third}, {name}])",
            f"np.block([[{name}, {other}], [{other}, {name}]])", f"np.tile({name}, 2)", f"np.repeat({name}, 2, axis=0)",
            f"np.roll({name}, 1, axis=0)", f"np.append({name}, {other})", f"np.roll({name}, -1)",
            f"np.dstack([{name}, {other}])",
            f"np.flip({name}, 0)", f"np.column_stack([{name}, {other}])", f"np.pad({name}, 1)",
        ]  # fmt: skip
        return f"{self.name()} = {self.choice(options)}"

    def loop(self) -> str | None:
        n = int(self.rng.integers(2, 8)) if self.chance(0.5) else self.shape[0]
        body = [self.store("k") for _ in range(int(self.rng.integers(1, 3)))]
        if any(line is None for line in body):
            return None
        return "\n".join([f"for k in range({n}):", *[f"    {line}" for line in body]])

    def branch(self) -> str | None:
        then, orelse = self.store(), self.store()
        if then is None or orelse is None:
            return None
        return f"if s > 0.0:\n    {then}\nelse:\n    {orelse}"


def weights(shape: tuple[int, ...]) -> np.ndarray:
    return np.cos(1.0 + np.arange(np.prod(shape, dtype=int)).reshape(shape))


def total(f: Any) -> Any:
    """A number that depends on every element of every result."""

    def g(x: Any, i: int, s: Any) -> Any:
        whole = 0.0
        for r in f(x, i, s):
            whole = whole + np.sum(r * weights(np.shape(r)))
        return whole

    return g


class Refused(Exception):
    """A program for which there is an error that says so."""


def check(seed: int) -> None:
    """Run a random program, compiled and not; AssertionError if anything differs, Refused if it cannot be run."""
    program = Growing(seed)
    f = compiled(program.source, f"writes-{seed}")
    x, i, s = program.x, program.i, program.s
    plain = x.copy()
    expected = f(plain, i, s)
    given = x.copy()
    context = f"\nprogram {seed}, x of shape {x.shape}, i = {i}, s = {s}\n{program.source}"
    direction, step = np.sin(2.0 + np.arange(x.size)).reshape(x.shape), 1e-200
    with np.errstate(all="ignore"):
        slope = (total(f)(x + 1j * step * direction, i, s)).imag / step
    try:
        found = wg.jit(f)(given, i, s)
        gradients = {
            "jit(grad(f))": wg.jit(wg.grad(total(f)))(x.copy(), i, s),
            "grad(jit(f))": wg.grad(total(wg.jit(f)))(x.copy(), i, s) if seed % 3 == 0 else None,
        }
    except WengertError as error:
        raise Refused(f"{type(error).__name__}: {error}{context}") from error
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}{context}") from error
    for k, (got, want) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9, err_msg=f"result {k}{context}")
    np.testing.assert_allclose(given, plain, rtol=1e-9, atol=1e-9, err_msg=f"the argument{context}")
    for name, gradient in gradients.items():
        if gradient is None:
            continue
        np.testing.assert_allclose(
            np.sum(gradient * direction), slope, rtol=1e-7, atol=1e-7, err_msg=f"{name}{context}"
        )


def main(start: int, stop: int) -> None:
    failures, refused = [], []
    for seed in range(start, stop):
        try:
            check(seed)
        except Refused as reason:
            refused.append(f"{seed}: {str(reason).splitlines()[0]}")
        except AssertionError as error:
            failures.append(seed)
            print(error)
        except Exception:
            failures.append(seed)
            print(f"program {seed}\n{Growing(seed).source}")
            traceback.print_exc()
    print(f"{stop - start} programs, {len(failures)} wrong: {failures}, {len(refused)} refused")
    print("\n".join(refused[:40]))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
