"""Generated NumPy source of random programs computes what the interpreter computes."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from backend.as_source import compare, copies
from hypothesis import given
from hypothesis import strategies as st

from wengert.ir.build import type_of_value
from wengert.ir.interpret import run
from wengert.ir.node import Block, Const, Node, Program, Type, Var
from wengert.ops.index import ARRAY
from wengert.ops.op import TABLE


class Maker:
    """Makes a random block; every value has an example, from which types come."""

    def __init__(self, draw: Callable[[int], int]):
        self.draw = draw  # a number below the given one

    def pick(self, items: Sequence[Any]) -> Any:
        return items[self.draw(len(items))]

    def block(self, samples: Sequence[Any], size: int, depth: int, counter: bool = False) -> tuple[Block, dict]:
        params = [Var(type_of_value(s), self.pick([None, "a", "b"])) for s in samples]
        known: dict[Var, Any] = dict(zip(params, samples, strict=True))
        nodes: list[Node] = []
        for _ in range(size):
            self.node(nodes, known, depth, params[0] if counter else None)
        return Block(params, nodes, []), known

    def emit(self, nodes: list, known: dict, name: str, args: Sequence[Any], **params: Any) -> None:
        values = [a.value if isinstance(a, Const) else known[a] for a in args]
        ys = TABLE[name].impl(*copies(values), **params)
        ys = ys if isinstance(ys, tuple) else (ys,)
        outs = tuple([Var(type_of_value(y), self.pick([None, None, "a", "c"])) for y in ys])
        nodes.append(Node(TABLE[name], tuple(args), params, outs))
        known.update(zip(outs, ys, strict=True))

    def node(self, nodes: list, known: dict, depth: int, k: Var | None) -> None:
        arrays = [v for v in known if v.type.ndim == 1]
        matrices = [v for v in known if v.type.ndim == 2]
        numbers = [v for v in known if v.type.ndim == 0 and not v.type.weak]
        kind = self.draw(12 if depth else 9)
        a, m, s = self.pick(arrays), self.pick(matrices), self.pick(numbers)
        same = [v for v in arrays if v.type == a.type]
        if kind == 0:
            self.emit(nodes, known, self.pick(["add", "subtract", "multiply"]), [a, self.pick(same)])
        elif kind == 1:
            self.emit(nodes, known, self.pick(["sin", "negative", "tanh"]), [self.pick([a, m, s])])
        elif kind == 2:
            self.emit(
                nodes, known, "index", [m], pattern=self.pick([(0,), (slice(None), 1), (1, slice(None, None, -1))])
            )
        elif kind == 3:
            self.emit(nodes, known, "transpose", [m], axes=(1, 0))
        elif kind == 4:
            self.emit(nodes, known, "sum", [self.pick([a, m])], axis=(0,))
        elif kind in (5, 6):
            place = k if k is not None and self.draw(2) else Const(np.array(self.draw(2)), Type((), np.dtype(np.int64)))
            x = self.pick([a, m])
            part = [v for v in known if v.type.shape == x.type.shape[1:] and not v.type.weak]
            v = self.pick(part) if part else Const(0.25, Type((), np.dtype(float), True))
            self.emit(nodes, known, self.pick(["store", "add_at"]), [x, v, place], pattern=(ARRAY,))
        elif kind == 7:
            n = a.type.shape[0]
            part = [v for v in arrays if v.type.shape == (n - 1,)] + [s]
            self.emit(nodes, known, self.pick(["store", "add_at"]), [a, self.pick(part)], pattern=(slice(1, None),))
            self.emit(
                nodes,
                known,
                "index",
                [self.pick([a, nodes[-1].outs[0]])],
                pattern=(slice(0, -1) if n > 2 else slice(None),),
            )
        elif kind == 8:
            self.emit(nodes, known, "multiply", [self.pick([a, m]), s])
        elif kind == 9:
            self.loop(nodes, known, depth)
        elif kind == 10:
            self.cond(nodes, known, depth)
        else:
            self.loop(nodes, known, depth, is_while=True)

    def some(self, known: dict, count: int) -> list[Var]:
        strong = [v for v in known if not v.type.weak]
        least = [next(v for v in strong[::-1] if v.type.ndim == n) for n in (0, 1, 2)]
        return [*least, *[self.pick(strong) for _ in range(count)]]

    def results(self, known: dict, types: Sequence[Type]) -> list[Var]:
        return [self.pick([v for v in known if v.type == t]) for t in types]

    def loop(self, nodes: list, known: dict, depth: int, is_while: bool = False) -> None:
        carried, consts = self.some(known, 2), self.some(known, 1)
        iterations = Const(0, Type((), np.dtype(np.int64), True))
        first: list[Any] = [iterations] if is_while else []
        samples = [*([0] if True else []), *[known[v] for v in (*carried, *consts)]]
        body, inside = self.block(samples, 4, depth - 1, counter=True)
        types = [v.type for v in carried]
        results = self.results(inside, types)
        kept = [self.pick([v for v in inside if not v.type.weak]) for _ in range(self.draw(3))]
        if is_while:
            one = Const(1, Type((), np.dtype(np.int64), True))
            count = Var(Type((), np.dtype(np.int64), True))
            body.nodes.append(Node(TABLE["add"], (body.params[0], one), {}, (count,)))
            body.results = [count, *results, *kept]
            params = [Var(p.type) for p in body.params]
            stop = Const(self.draw(3), Type((), np.dtype(np.int64), True))
            going = Var(Type((), np.dtype(bool)))
            test = Block(params, [Node(TABLE["less"], (params[0], stop), {}, (going,))], [going])
            self.emit(
                nodes, known, "while", [*first, *carried, *consts], body=body, test=test, carried=1 + len(carried)
            )
        else:
            body.results = [*results, *kept]
            count_ = Const(self.draw(2) + 1, Type((), np.dtype(np.int64), True))
            self.emit(nodes, known, "loop", [count_, *carried, *consts], body=body, carried=len(carried))
        for v in nodes[-1].outs:  # stacks are not of the shapes that this is about
            if v.type.ndim > 2 or v.type.shape[:1] in ((0,), (1,)) or (v.type.ndim == 2 and 1 in v.type.shape):
                del known[v]

    def cond(self, nodes: list, known: dict, depth: int) -> None:
        args = self.some(known, 2)
        types = [v.type for v in self.some(known, 0)]
        s = self.pick([v for v in known if v.type.ndim == 0 and not v.type.weak])
        self.emit(nodes, known, "greater", [s, Const(0.1, Type((), np.dtype(float), True))])
        asked = nodes[-1].outs[0]
        branches = []
        for _ in range(2):
            branch, inside = self.block([known[v] for v in args], 3, depth - 1)
            branch.results = list(self.results(inside, types))
            branches.append(branch)
        del known[asked]
        chosen = branches[0] if (s_value := np.asarray(known[s])) > 0.1 else branches[1]
        del s_value
        ys = run(chosen, [known[v] for v in args])
        outs = tuple([Var(type_of_value(y)) for y in ys])
        nodes.append(Node(TABLE["cond"], (asked, *args), {"then": branches[0], "orelse": branches[1]}, outs))
        known.update(zip(outs, ys, strict=True))


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
def test_random_programs(seed):
    maker = Maker(random.Random(seed).randrange)
    samples = [np.float64(0.3), np.array([0.5, -0.2]), np.array([[0.1, 0.7], [-0.4, 0.9]]), np.array([0.2, 0.6])]
    block, known = maker.block(samples, 8, 2)
    strong = [v for v in known if not v.type.weak]
    block.results = [*strong[-3:], *[maker.pick(strong) for _ in range(4)]]
    compare(Program("f", block), *samples)
