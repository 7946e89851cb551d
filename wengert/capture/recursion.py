"""Functions that call themselves until data say that it is enough, as loops with lists for stacks: the syntax.

Staging the calls of such a function would never end. So beside a function that calls itself there stands a second one,
its *machine*, which is called instead once it is known that data decide (`recursing.py`). It is plain Python, cut into
blocks where calls of the function itself return and where loops around such calls begin; an iteration of its loop runs
one block:

    def f(x):                           def machine(x):
        if x < 1:                           kept, depth, block = [], 0, 0
            return x              ->        while block >= 0:
        return x * f(x / 2)                     if block == 0:
                                                    if x < 1: result, block = x, 1 if depth > 0 else -1
                                                    else: kept.append(x); x, depth, block = x / 2, depth + 1, 0
                                                else:
                                                    x, depth = kept.pop(), depth - 1
                                                    result, block = x * result, 1 if depth > 0 else -1
                                            return result

For each call there is a list for every variable that is needed after it, so all items of a list are of one kind and it
is read in one place. A call whose result is returned keeps nothing. Where a function has several other calls of itself,
one more list says where to go on. What is passed on unchanged by each call (a function, an array, a tolerance) stays a
parameter. Lists that data fill are `opened.py`'s; derivatives and batches of the loop are those of any other.
"""

from __future__ import annotations

import ast
import itertools
from typing import Any, NamedTuple

from wengert.capture.liveness import live_before
from wengert.capture.lowered import DEFAULT_OF, RECURSED, RECURSES
from wengert.capture.names import binds_in_place, bound, captured, own_nodes, read, scope_of
from wengert.capture.syntax import OURS, assign, at, copied, function, hook, load, thunk

_DEPTH, _BLOCK, _RESULT, _RETURNS = f"{OURS}depth", f"{OURS}block", f"{OURS}result", f"{OURS}returns"
MACHINE = f"{OURS}machine"
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Assert, ast.Delete, ast.Raise, ast.Pass, ast.Import,
           ast.ImportFrom, ast.FunctionDef, ast.If, ast.For, ast.While, ast.With, ast.Try)  # fmt: skip


class _CannotBeCut(Exception):
    """The function has calls of itself in places where a block cannot end."""


def machine_of(node: Any) -> ast.FunctionDef | None:
    """The machine of a function that calls itself; None if it does not, or not in places where it can be cut."""
    if not isinstance(node, ast.FunctionDef) or node.name.startswith(OURS) or node.decorator_list:
        return None
    calls = _Calls(node)
    if not calls.are_in(node.body):
        return None
    try:
        return _machine(copied(node), calls)
    except _CannotBeCut:
        return None


def callees_of(node: Any) -> ast.expr:
    """What a function calls that is taken for itself: whether it is, is known when it runs."""
    calls = _Calls(node)
    every = {ast.unparse(call.func): call.func for call in calls.every(node.body)}
    return at(ast.Tuple([copied(f) for f in every.values()], ast.Load()), node)


def asked_first(machine: ast.FunctionDef, callees: ast.expr, parameters: tuple[str, ...]) -> list[ast.stmt]:
    """Statements to begin the function with, whose machine has been lowered."""
    passed: list[ast.expr] = [load(name) for name in parameters]
    answer = at(ast.Return(ast.Call(load(machine.name), passed, [])), machine)
    return [machine, at(ast.If(hook(RECURSES, thunk(callees)), [answer], []), machine)]


class _Calls:
    """Which calls in a function are calls of itself."""

    def __init__(self, node: ast.FunctionDef):
        self.name, self.scope = node.name, scope_of(node)
        self.args = node.args

    def is_one(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        f = node.func
        if isinstance(f, ast.Attribute):  # self.f(…)
            return f.attr == self.name and isinstance(f.value, ast.Name) and f.value.id == self.scope.first
        return isinstance(f, ast.Name) and f.id == self.name and self.name not in self.scope.local

    def are_in(self, nodes: Any) -> bool:
        return any(self.is_one(node) for node in own_nodes(nodes))

    def every(self, nodes: Any) -> list[Any]:
        return [node for node in own_nodes(nodes) if self.is_one(node)]

    def bound(self, call: Any) -> dict[str, ast.expr]:
        """What a call passes, by the names of parameters."""
        args = self.args
        positional = [a.arg for a in (*args.posonlyargs, *args.args)]
        if isinstance(call.func, ast.Attribute):
            positional = positional[1:]
        if args.vararg or args.kwarg or len(call.args) > len(positional):
            raise _CannotBeCut
        if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            raise _CannotBeCut
        given = dict(zip(positional, call.args, strict=False))
        for keyword in call.keywords:
            if keyword.arg in given or keyword.arg not in self.scope.parameters:
                raise _CannotBeCut
            given[keyword.arg] = keyword.value
        return given

    def unchanged(self, body: list[Any]) -> set[str]:
        """The parameters that each call passes on as they are."""
        found = set(self.scope.parameters).difference(bound(body))
        for call in self.every(body):
            given = self.bound(call)
            own = {self.scope.first} if isinstance(call.func, ast.Attribute) else set()
            found = {n for n in found if n in own or (isinstance(a := given.get(n), ast.Name) and a.id == n)}
        return found


# ------------------------------------------------------------------------------------------------------------- blocks


class _Jump(NamedTuple):
    to: _Block


class _Choice(NamedTuple):
    test: ast.expr
    then: _Block
    orelse: _Block


class _CallAgain(NamedTuple):
    callee: ast.expr
    passed: dict[str, str]
    result: str
    to: _Block

    @property
    def is_last(self) -> bool:
        """Whether nothing is done with the result but to return it."""
        end = self.to.end
        returns = isinstance(end, _Return) and isinstance(end.value, ast.Name) and end.value.id == self.result
        return returns and not self.to.statements


class _Return(NamedTuple):
    value: ast.expr


class _Block:
    """Statements without calls of the function itself, and how they end."""

    def __init__(self) -> None:
        self.statements: list[Any] = []
        self.end: Any = None
        self.is_entered = False
        """Whether an iteration may begin here."""
        self.live: frozenset[str] = frozenset()
        self.before = 0
        """How many blocks end by going here."""

    def followers(self) -> list[_Block]:
        end = self.end
        return [end.then, end.orelse] if isinstance(end, _Choice) else [] if isinstance(end, _Return) else [end.to]


class _Cutting:
    """Cuts a function into blocks."""

    def __init__(self, calls: _Calls):
        self.calls = calls
        self.numbers = itertools.count(1)
        self.block = self.first = _Block()
        self.loops: list[tuple[_Block, _Block]] = []
        """Where `continue` and `break` go, in the loops around that are cut."""

    def name(self) -> str:
        return f"{OURS}part_{next(self.numbers)}"

    def _end(self, end: Any, after: _Block | None) -> None:
        self.block.end = end
        self.block = after or _Block()

    def suite(self, statements: list[Any]) -> None:
        for node in statements:
            self.statement(node)

    def statement(self, node: Any) -> None:
        calls = self.calls.are_in([node])
        if isinstance(node, ast.Return) and isinstance(node.value, ast.IfExp) and calls:
            ways = [[at(ast.Return(way), node)] for way in (node.value.body, node.value.orelse)]
            self.statement(at(ast.If(node.value.test, *ways), node))
        elif isinstance(node, ast.Return):
            value = self.value(node.value) if node.value is not None else ast.Constant(None)
            self._end(_Return(at(value, node)), None)
        elif isinstance(node, (ast.Break, ast.Continue)):
            if not self.loops:
                raise _CannotBeCut
            self._end(_Jump(self.loops[-1][isinstance(node, ast.Break)]), None)
        elif not calls and not self._jumps_out(node):
            if not isinstance(node, _SIMPLE):
                raise _CannotBeCut
            self.block.statements.append(node)
        elif isinstance(node, ast.If):
            then, orelse, after = _Block(), _Block(), _Block()
            self._end(_Choice(self.value(node.test), then, orelse), then)
            self.suite(node.body)
            self._end(_Jump(after), orelse)
            self.suite(node.orelse)
            self._end(_Jump(after), after)
        elif isinstance(node, ast.While) and not node.orelse:
            head, body, after = _Block(), _Block(), _Block()
            self._end(_Jump(head), head)
            self._end(_Choice(self.value(node.test), body, after), body)
            self.loops.append((head, after))
            self.suite(node.body)
            self.loops.pop()
            self._end(_Jump(head), after)
        elif isinstance(node, ast.For) and not node.orelse:
            self._over_range(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr)) and node.value is not None:
            if isinstance(node, ast.Expr) and self.calls.is_one(node.value):
                self.value(node.value)
                return
            self._simple(node)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            if node.target.id not in self.calls.scope.local:
                raise _CannotBeCut  # what is added to would be read after the call
            self._simple(node)
        else:
            raise _CannotBeCut

    def _over_range(self, node: Any) -> None:
        """`for` over a `range`, as a loop that counts."""
        of = node.iter
        is_range = isinstance(of, ast.Call) and isinstance(of.func, ast.Name) and of.func.id == "range"
        if not is_range or len(of.args) > 2 or of.keywords or "range" in self.calls.scope.local:
            raise _CannotBeCut
        k, end = self.name(), self.name()
        parts = [self.value(a) for a in of.args]
        self._assign(k, parts[0] if len(parts) == 2 else ast.Constant(0), node)
        self._assign(end, parts[-1], node)
        head, body, again, after = _Block(), _Block(), _Block(), _Block()
        self._end(_Jump(head), head)
        self._end(_Choice(at(ast.Compare(load(k), [ast.Lt()], [load(end)]), node), body, after), body)
        self.block.statements.append(at(ast.Assign([node.target], load(k)), node))
        self.loops.append((again, after))
        self.suite(node.body)
        self.loops.pop()
        self._end(_Jump(again), again)
        self._assign(k, ast.BinOp(load(k), ast.Add(), ast.Constant(1)), node)
        self._end(_Jump(head), after)

    def _assign(self, name: str, value: ast.expr, where: ast.AST) -> None:
        self.block.statements.append(at(assign(name, value), where))

    def _simple(self, node: Any) -> None:
        node.value = self.value(node.value)
        if self.calls.are_in([node]):
            raise _CannotBeCut  # in a place that is written to
        self.block.statements.append(node)

    def _jumps_out(self, node: Any) -> bool:
        """Whether a statement returns from the function, or leaves a loop around it that is cut."""
        if isinstance(node, (ast.For, ast.While)):
            inside = own_nodes([node])
            return any(isinstance(n, ast.Return) for n in inside)
        return any(
            isinstance(n, ast.Return) or (isinstance(n, (ast.Break, ast.Continue)) and not _is_in_loop(n, node))
            for n in own_nodes([node])
        )

    # ----------------------------------------------------------------------------------------------- expressions

    def value(self, node: Any) -> Any:
        """An expression without calls of the function itself, which have been made before, in the order of Python."""
        if not self.calls.are_in([node]):
            if any(self.calls.are_in(ast.walk(n)) for n in own_nodes([node]) if isinstance(n, _SCOPES)):
                raise _CannotBeCut
            return node
        if self.calls.is_one(node):
            return self._call(node)
        if isinstance(node, ast.IfExp):
            return self._chosen(node.test, node.body, node.orelse, node)
        if isinstance(node, ast.BoolOp):
            name = self.name()
            self._assign(name, self.value(node.values[0]), node)
            rest = node.values[1] if len(node.values) == 2 else at(ast.BoolOp(node.op, node.values[1:]), node)
            more, done = at(ast.Assign([ast.Name(name, ast.Store())], rest), node), at(ast.Pass(), node)
            is_and = isinstance(node.op, ast.And)
            self.statement(at(ast.If(load(name), [more if is_and else done], [done if is_and else more]), node))
            return at(load(name), node)
        if isinstance(node, _SCOPES) or binds_in_place(node) or not isinstance(node, _EVALUATED):
            raise _CannotBeCut
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            raise _CannotBeCut
        return self._part_by_part(node)

    def _part_by_part(self, node: Any) -> Any:
        """An expression of which parts have calls: what is evaluated before the last of these gets a name."""
        parts: list[tuple[Any, Any, int | None]] = []
        for field in _ORDER.get(type(node), node._fields):
            part = getattr(node, field)
            if isinstance(part, list):
                parts += [(part, part[i], i) for i in range(len(part)) if isinstance(part[i], ast.AST)]
            elif isinstance(part, ast.expr):
                parts.append((field, part, None))
        last = max(i for i, (_, part, _) in enumerate(parts) if self.calls.are_in([part]))
        for i, (owner, part, place) in enumerate(parts):
            inner = part.value if isinstance(part, (ast.keyword, ast.Starred)) else part
            if isinstance(inner, (ast.operator, ast.cmpop, ast.expr_context, ast.unaryop)):
                continue
            new = self.value(inner)
            if i < last and not self._is_movable(new, owner == "func"):
                self._assign(name := self.name(), new, node)
                new = at(load(name), node)
            if inner is not part:
                part.value = new
            elif place is None:
                setattr(node, owner, new)
            else:
                owner[place] = new
        return node

    def _is_movable(self, node: Any, is_called: bool = False) -> bool:
        """Whether it makes no difference when an expression is evaluated (compiled functions bind no globals)."""
        while is_called and isinstance(node, ast.Attribute):  # np.sin
            node = node.value
        rebound = self.calls.scope.as_nonlocal
        return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id not in rebound)

    def _chosen(self, test: Any, then: Any, orelse: Any, where: ast.AST) -> ast.expr:
        name = self.name()
        ways = [[at(ast.Assign([ast.Name(name, ast.Store())], way), where)] for way in (then, orelse)]
        self.statement(at(ast.If(test, *ways), where))
        return at(load(name), where)

    def _call(self, node: Any) -> ast.expr:
        passed: dict[str, str] = {}
        for parameter, value in self.calls.bound(node).items():
            passed[parameter] = self.name()
            self._assign(passed[parameter], self.value(value), node)
        result, after = self.name(), _Block()
        self._end(_CallAgain(node.func, passed, result, after), after)
        return at(load(result), node)


_EVALUATED = (
    ast.BinOp, ast.UnaryOp, ast.Call, ast.Tuple, ast.List, ast.Compare, ast.Subscript, ast.Attribute, ast.Starred,
    ast.FormattedValue, ast.JoinedStr,
)  # fmt: skip
_ORDER: dict[type, tuple[str, ...]] = {ast.Call: ("func", "args", "keywords"), ast.BinOp: ("left", "right")}


def _is_in_loop(jump: ast.AST, node: ast.AST) -> bool:
    loops = [n for n in own_nodes([node]) if isinstance(n, (ast.For, ast.While))]
    return any(jump is inner for loop in loops for inner in own_nodes([loop]))


# ------------------------------------------------------------------------------------------------------------ machine


def _machine(node: ast.FunctionDef, calls: _Calls) -> ast.FunctionDef:
    docstring = ast.get_docstring(node, clean=False) is not None
    body: list[Any] = node.body[docstring:]
    declared = [n for n in body if isinstance(n, (ast.Global, ast.Nonlocal))]
    body = [n for n in body if not isinstance(n, (ast.Global, ast.Nonlocal))]
    if any(_binds_otherwise(n) for n in own_nodes(body)):
        raise _CannotBeCut
    unchanged = calls.unchanged(body)
    own = calls.scope.local.difference(unchanged)
    if own & captured(body):
        raise _CannotBeCut  # a function inside holds variables of one frame, which others would bind
    cutting = _Cutting(calls)
    cutting.suite(body)
    cutting.block.end = _Return(at(ast.Constant(None), body[-1]))
    blocks = _reached(cutting.first)
    _mark_live(blocks, own)
    if cutting.first.live.difference(calls.scope.parameters):
        raise _CannotBeCut  # what may have no value would have that of another frame
    changing = [name for name in calls.scope.parameters if name not in unchanged]
    lines = _Emitting(calls, node, changing, blocks).lines()
    return ast.fix_missing_locations(function(MACHINE, calls.scope.parameters, [*copied(declared), *lines], node))


def _binds_otherwise(node: ast.AST) -> bool:
    """Whether something depends on the function in which it stands, or on which of its lines were executed."""
    if isinstance(node, ast.Name):
        return isinstance(node.ctx, ast.Del) or node.id in ("super", "__class__")
    return isinstance(node, (ast.Global, ast.Nonlocal))


def _reached(first: _Block) -> list[_Block]:
    """The blocks in the order in which they are reached, with who is entered."""
    found: dict[int, _Block] = {}
    pending = [first]
    while pending:
        block = pending.pop()
        if id(block) in found:
            continue
        found[id(block)] = block
        followers = block.followers()
        for follower in followers:
            follower.before += 1
            if isinstance(block.end, _CallAgain) and not block.end.is_last:
                follower.is_entered = True
        pending += followers[::-1]
    first.is_entered = True
    for block in found.values():
        block.is_entered = block.is_entered or block.before > 1
    return list(found.values())


def _mark_live(blocks: list[_Block], own: frozenset[str]) -> None:
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            end, live = block.end, frozenset[str]().union(*[b.live for b in block.followers()])
            if isinstance(end, _CallAgain):
                live = (live - {end.result}) | set(end.passed.values())
            elif isinstance(end, _Choice):
                live = live | read(end.test)
            elif isinstance(end, _Return):
                live = frozenset(read(end.value))
            live = live_before(block.statements, live)
            live = frozenset(n for n in live if n in own or n.startswith(f"{OURS}part_"))
            if live != block.live:
                block.live, changed = live, True


class _Emitting:
    """Writes the loop."""

    def __init__(self, calls: _Calls, where: Any, parameters: list[str], blocks: list[_Block]):
        self.calls, self.where, self.parameters = calls, where, parameters
        self.entered = [b for b in blocks if b.is_entered]
        self.numbers = {id(block): k for k, block in enumerate(self.entered)}
        ends = [b.end for b in blocks if isinstance(b.end, _CallAgain)]
        self.waiting = {self.numbers[id(end.to)]: end for end in ends if not end.is_last}
        """The calls after which something is to be done, by the numbers of the blocks that do it."""
        if len(self.waiting) < sum(not end.is_last for end in ends):
            raise _CannotBeCut
        self.counts_calls = len(self.waiting) == len(ends)
        """Whether `depth` is the number of calls that wait; otherwise it is kept by these."""

    def lines(self) -> list[Any]:
        made: list[Any] = []
        if len(self.waiting) > 1 or not self.counts_calls:
            made.append(assign(_RETURNS, ast.List([ast.Constant(-1)], ast.Load())))
        for number, end in self.waiting.items():
            made += [assign(self._list(number, k), ast.List([], ast.Load())) for k in range(len(self._kept(end)))]
        made += [assign(_DEPTH, ast.Constant(0)), assign(_BLOCK, ast.Constant(0))]
        test = ast.Compare(load(_BLOCK), [ast.GtE()], [ast.Constant(0)])
        loop = ast.While(test, self._dispatch(self.entered), [])
        return [at(s, self.where) for s in (*made, loop, ast.Return(load(_RESULT)))]

    def _list(self, number: int, k: int) -> str:
        return f"{OURS}kept_{number}_{k}"

    def _kept(self, end: _CallAgain) -> list[str]:
        """The variables that are needed after a call."""
        return sorted(end.to.live - {end.result}) + ([] if self.counts_calls else [_DEPTH])

    def _dispatch(self, blocks: list[_Block]) -> list[Any]:
        """The block that is to be run, found by halves."""
        if len(blocks) == 1:
            return self._entry(blocks[0])
        half = len(blocks) // 2
        limit = ast.Constant(self.numbers[id(blocks[half])])
        test = ast.Compare(load(_BLOCK), [ast.Lt()], [limit])
        return [at(ast.If(test, self._dispatch(blocks[:half]), self._dispatch(blocks[half:])), self.where)]

    def _entry(self, block: _Block) -> list[Any]:
        number = self.numbers[id(block)]
        end = self.waiting.get(number)
        if end is None:
            return self._block(block)
        taken: list[Any] = []
        for k, name in enumerate(self._kept(end)):
            pop = ast.Attribute(load(self._list(number, k)), "pop", ast.Load())
            taken.append(assign(name, ast.Call(pop, [], [])))
        if self.counts_calls:
            taken.append(self._counted(ast.Sub()))
        taken.append(assign(end.result, load(_RESULT)))
        return [*[at(s, self.where) for s in taken], *self._block(block)]

    def _counted(self, op: ast.operator) -> ast.stmt:
        return assign(_DEPTH, ast.BinOp(load(_DEPTH), op, ast.Constant(1)))

    def _block(self, block: _Block) -> list[Any]:
        end, where = block.end, block.statements[-1] if block.statements else self.where
        out: list[Any] = list(block.statements)
        if isinstance(end, _Choice):
            out.append(at(ast.If(end.test, self._go(end.then), self._go(end.orelse)), end.test))
        elif isinstance(end, _Jump):
            out += self._go(end.to)
        elif isinstance(end, _Return):
            out += [at(s, end.value) for s in (assign(_RESULT, end.value), assign(_BLOCK, self._caller()))]
        else:
            out += [at(s, where) for s in self._called(end)]
        return out

    def _caller(self) -> ast.expr:
        """The number of the block in which it goes on when a call returns."""
        if not self.waiting:
            return ast.Constant(-1)
        if len(self.waiting) > 1 or not self.counts_calls:
            return ast.Call(ast.Attribute(load(_RETURNS), "pop", ast.Load()), [], [])
        test = ast.Compare(load(_DEPTH), [ast.Gt()], [ast.Constant(0)])
        return ast.IfExp(test, ast.Constant(next(iter(self.waiting))), ast.Constant(-1))

    def _called(self, end: _CallAgain) -> list[Any]:
        out: list[Any] = []
        if not end.is_last:
            number = self.numbers[id(end.to)]
            for k, name in enumerate(self._kept(end)):
                out.append(self._appended(self._list(number, k), load(name)))
            if len(self.waiting) > 1 or not self.counts_calls:
                out.append(self._appended(_RETURNS, ast.Constant(number)))
        for name in self.parameters:
            value = load(end.passed[name]) if name in end.passed else self._default(end, name)
            out.append(assign(name, value))
        out += [self._counted(ast.Add()), ast.Expr(hook(RECURSED, load(_DEPTH)))]
        return [*out, assign(_BLOCK, ast.Constant(0))]

    def _appended(self, things: str, value: ast.expr) -> ast.stmt:
        return ast.Expr(ast.Call(ast.Attribute(load(things), "append", ast.Load()), [value], []))

    def _default(self, end: _CallAgain, name: str) -> ast.expr:
        return hook(DEFAULT_OF, copied(end.callee), ast.Constant(name))

    def _go(self, to: _Block) -> list[Any]:
        return (
            [at(assign(_BLOCK, ast.Constant(self.numbers[id(to)])), self.where)] if to.is_entered else self._block(to)
        )
