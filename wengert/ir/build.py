"""Capture: a block of IR is what is done while a `Capture` runs.

A capture is the trace of symbols (`symbol.py`): every op that meets one of its symbols becomes a node. Blocks are
closed, so a value that comes from outside (of an outer block, of an outer differentiation) becomes a parameter when it
is first used; `captured` says which value that is. While a block is captured, all transformations outside wait
(`alive` is None): what is done to their values belongs to the block too, so that a branch that is not taken has
computed nothing.

Arrays that exist outside and are written to inside are noted in `written`, with what they were: whoever captures a
loop or a branch (`capture/carried.py`, `branching.py`) makes them results of the block. Afterwards `restore` gives them
back their values, and makes views stale that were fetched inside.
"""

from __future__ import annotations

import contextlib
import struct
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from wengert.box.box import escaped
from wengert.box.subclasses import base_array
from wengert.box.writing import SETTLING, become, clone, make_views_stale, settled
from wengert.errors import ConcretizationError, UnsupportedFunctionError, user_frame
from wengert.ir import numbers
from wengert.ir.aliases import Links
from wengert.ir.infer import Found, results
from wengert.ir.interpret import apply_node
from wengert.ir.lengths import as_length, backwards, demand_axes, interval, is_whole, placed
from wengert.ir.node import Block, Const, Node, Operand, Ref, Source, Type, Var, map_data
from wengert.ir.orders import order_now, order_of_result
from wengert.ir.symbol import Dim, Sym, type_of
from wengert.ops import derive
from wengert.ops.derive import Control
from wengert.ops.index import index
from wengert.ops.library import is_foreign
from wengert.ops.op import Op, Trace, Traced, fresh_tag
from wengert.ops.shape import broadcast_to, flip
from wengert.ops.sizes import require, size
from wengert.ops.succeeds import ask_before
from wengert.ops.traits import INTEGERS, NEVER, PLACE, VALUES
from wengert.packages import is_ours
from wengert.running import captures, running
from wengert.types import SCALARS, dtype_of, number_base, numpys_number, shape_of


def type_of_value(x: Any) -> Type:
    """The type of any value."""
    x = settled(x)
    if x.__class__ is Sym:
        type = x._node.type
        if type.dtype.kind == "b" and not type.weak and numbers.python_class(x) is bool:
            return Type(type.shape, type.dtype, True)
        return type
    return type_of(shape_of(x), dtype_of(x), numbers.python_class(x) is not None)


def var_like(x: Any) -> Var:
    """A variable for values of the kind of this one."""
    x = settled(x)
    if x.__class__ is Sym:
        var = Var(x._node.type, x._node.hint, x._span, x._node.stable)
        var.order = x._node.order
        return var
    var = Var(type_of_value(x), None, None, is_stable(x))
    var.order = order_now(x)
    return var


def is_stable(x: Any) -> bool:
    """Whether no loop around changes a value."""
    while isinstance(x, Traced):
        x = settled(x)
        if x.__class__ is Sym:
            return x._node.stable
        if not isinstance(x, Traced) or "_value" not in x._state:  # type: ignore[attr-defined]
            break
        x = x._value  # type: ignore[attr-defined]
    return True


_FOLDER = Path(derive.__file__).parents[1] / "modes"
_RULES = frozenset((derive.__file__, str(_FOLDER / "linear.py")))
"""Where derivative rules are called, by files."""
_MODES = frozenset((str(_FOLDER / "tape.py"), str(_FOLDER / "dual.py")))


def _placed_to_write(args: tuple, pattern: tuple) -> tuple[tuple, dict]:
    """The operands and parameters of a write: slices that run backwards become ones that do not."""
    demand_axes(args[0], pattern)
    turned = backwards(shape_of(args[0]), args[2:], pattern, to_write=True)
    if turned is not None:
        args, pattern = (args[0], _flipped(args[1], len(turned.steps), turned.axes), *args[2:]), turned.forwards
    pattern, place = placed(shape_of(args[0]), args[2:], pattern)
    _demand_fit(shape_of(args[1]), place)
    return args, {"pattern": pattern}


def _demand_fit(shape: tuple, place: tuple) -> None:
    """Raise what NumPy raises where a value of one shape is written to a place of another; as far as both are known."""
    rest, extra = place[max(len(place) - len(shape), 0) :], max(len(shape) - len(place), 0)
    ends = zip(shape[extra:], rest, strict=True)
    if all(n == 1 for n in shape[:extra] if n.__class__ is int) and all(
        m in (1, n) or m.__class__ is not int or n.__class__ is not int for m, n in ends
    ):
        return
    raise ValueError(f"could not broadcast input array from shape {shape} into shape {place}")


def _may_raise(op: Op, args: Sequence[Any], found: Sequence[Found]) -> bool:
    """Whether an op may raise, or do something, when the program runs."""
    if op.raises is INTEGERS and all(f.dtype.kind in "fc" for f in found):
        return False
    return op.effect or (op.raises is not NEVER and (op is not index or len(args) > 1))


_LARGE = 16
"""Constant arrays with more elements than this are not kept as such if all elements are equal."""
_SYMBOLIC = (Sym, Dim)


class Capture(Trace):
    """One block while it is captured."""

    __slots__ = (
        "_boxes", "_checked", "_consts", "_lifted", "_outer", "_read", "_same", "_settled", "alive", "also",
        "arrays", "bounded", "captured", "created", "is_outermost", "journal", "later", "links", "nodes",
        "objects", "offsets", "params", "python_booleans", "restart", "start", "tag", "taken_for_granted",
        "varying", "written",
    )  # fmt: skip
    captures = True

    def __init__(self, also: Sequence[Capture] = (), varying: bool = False):
        self.varying = varying
        """Whether formal parameters change from one iteration of a loop to the next."""
        self.tag = fresh_tag()
        self.alive: bool | None = True
        self.params: list[Var] = []
        self.nodes: list[Node] = []
        self.captured: list[Any] = []
        """Values from outside, each the argument for one parameter of the block; `None` for formal parameters."""
        self.written: dict[int, tuple[Any, Any]] = {}
        """Boxes from outside that are written to inside, with what they were before."""
        self.created: dict[int, Any] = {}
        """Lists and dicts that were made inside, by their ids."""
        self.objects: dict[int, tuple[Any, Any]] = {}
        """Lists, dicts and instances from outside that are changed inside, with what they held before."""
        self.journal: list[tuple[Any, Any]] | None = None
        self.taken_for_granted: Callable[[], None] | None = None
        """Called before something is computed that may raise, where conditions are taken for granted meanwhile."""
        self.arrays: set[int] = set()
        """Which symbols (their ids) stand for arguments that are arrays, also if they have no axes."""
        """Arrays and objects that are changed, in order, each with what it was: for what may have to be undone."""
        self._boxes: dict[int, weakref.ref] = {}
        outer = running.state.capture
        self.is_outermost = outer is None
        self._outer = outer
        self._read: dict[int, weakref.ref] = {}
        """Plain arrays of which something was computed inside, by their ids."""
        self.links = Links() if outer is None else outer.links
        self.later: list[Any] = [] if outer is None else outer.later
        """Functions, with their arguments, that Python calls when the program runs: integrands, equations."""
        self.offsets: dict[int, tuple[Var, int]] = {}
        """Integers that are another one plus a constant."""
        self.python_booleans: dict[int, Var] = {}
        """Truth values that are Python's own, by their ids: comparisons of Python's numbers."""
        self._checked: set[tuple[int, str]] = set()
        self.restart = False
        self.start: FrameType | None = None
        """Where the outermost capture began; lines of the user's source count from there."""
        self.bounded = False
        """Whether what a differentiation keeps of this block must have lengths with a known bound."""
        self.also = (*also, *(() if outer is None else outer.also))
        """Captures that have ended and whose symbols are taken from outside all the same: they are residuals. Blocks of
        branches and loops in what is captured may use them as well."""
        self._lifted: dict[Any, Sym] = {}
        self._consts: set[int] = set()
        self._same: dict[Any, Sym] = {}
        self._settled: list[Any] = []

    # ------------------------------------------------------------------------------------------- parameters, results

    def formal(self, type: Type, shape: tuple | None = None, span: tuple | None = None, hint: str | None = None) -> Sym:
        """A new parameter that is not taken from outside."""
        var = Var(type, hint, span, not self.varying)
        self.params.append(var)
        self.captured.append(None)
        return Sym(self, var, self._shape(var, type.shape) if shape is None else shape, span)

    def formal_like(self, var: Var, shape: tuple | None = None) -> Sym:
        """A new parameter like that of another block."""
        symbol = self.formal(var.type, shape, var.span, var.hint)
        symbol._node.stable, symbol._node.order = var.stable, var.order
        return symbol

    def like(self, x: Any, hint: str | None = None) -> Sym:
        """A formal parameter of the type of a value. Lengths that are known only at run time are its own."""
        var = var_like(x)
        symbol = self.formal(var.type, None, var.span, hint or var.hint)
        symbol._node.order = var.order
        return symbol

    def block(self, outputs: Sequence[Any]) -> Block:
        """What was captured, with these results."""
        return Block(self.params, self.nodes, [self.operand(y) for y in outputs])

    # ------------------------------------------------------------------------------------------------------ operands

    def operand(self, x: Any) -> Operand:
        """A value as an operand of a node of this block."""
        x = settled(x)
        if x.__class__ is Dim:
            x = x.sym
        if x.__class__ is Sym and x._owner is self:
            return x._node
        if isinstance(x, Traced):
            return self.lift(x)._node
        if x.__class__ is np.ndarray:
            self._consts.add(id(x))
            if x.size > _LARGE and x.dtype.kind in "biufc" and self.alive:
                part = _repeated_part(x)
                if part.size < x.size:
                    return self.process(broadcast_to, (part,), {"shape": x.shape})._node
        elif not isinstance(x, np.generic) and x.__class__ not in SCALARS:
            if number_base(x.__class__) is not None:
                x = numpys_number(x)
            elif not hasattr(x, "__array__") or is_foreign(x):
                raise UnsupportedFunctionError(
                    f"a {type(x).__name__} in a compiled computation", remedy="use NumPy arrays and numbers"
                )
            else:
                x = np.asarray(base_array(x))
        if dtype_of(x).kind not in "biufc":
            raise UnsupportedFunctionError(
                f"values of type {dtype_of(x)} in a compiled computation", remedy="use numbers and arrays of numbers"
            )
        return Const(x, Type(shape_of(x), dtype_of(x), x.__class__ in SCALARS))

    def lift(self, x: Any) -> Sym:
        """A traced value from outside as a parameter of this block."""
        if not x._owner.alive and x._owner.alive is not None and x._owner not in self.also:
            raise escaped()
        if x._owner.tag > self.tag and x._owner not in self.also:
            raise escaped()
        key = content(x)
        found = self._lifted.get(key)
        if found is None:
            var = var_like(x)
            self.params.append(var)
            self.captured.append(clone(x))
            found = self._lifted[key] = Sym(self, var, shape_of(x), var.span)
        return found

    # --------------------------------------------------------------------------------------------------------- nodes

    def process(self, op: Op, args: tuple, params: dict) -> Any:
        if not self.alive:
            capture = running.state.capture
            if capture is not None and capture is not self and (self.alive is None or self in capture.also):
                return capture.process(op, args, params)
            raise escaped()
        if params:
            params = {name: _in_python_integers(p) for name, p in params.items()}
        is_asked = op.raises is PLACE and ask_before(op, args, params)
        if op.name == "index":
            y = self._index(args, params["pattern"])
            if is_asked:
                y._node.demanded = False
            return y
        if op.writes and "pattern" in params:
            args, params = _placed_to_write(args, params["pattern"])
        args = tuple([settled(a) if isinstance(a, Traced) else a for a in args])
        if op.__class__ is Control and op.stage is not None:
            args, params = op.stage(args, params)
        # (what a mode holds is lifted first: its symbol says whether it is a number of Python's)
        args = tuple([self.lift(a) if isinstance(a, Traced) and a.__class__ not in _SYMBOLIC else a for a in args])
        is_assured = is_asked or (op.raises is VALUES and op.pure and not op.effect and ask_before(op, args, params))
        if op.compares and (found := numbers.compared(op, args)) is not None:
            return found
        args = numbers.in_bounds(op, args, params)
        if op is size and (length := shape_of(args[0])[params["axis"]]).__class__ is Dim:
            return length.sym  # which is known not to be negative, and perhaps how large it is at most
        several, found = results(op, args, params)
        ys = self.emit(op, args, params, found)
        if is_assured:
            for y in ys:
                y._node.demanded = False
        return ys if several else ys[0]

    def _index(self, args: tuple, pattern: tuple) -> Any:
        x, *arrays = args
        demand_axes(x, pattern)
        found = backwards(shape_of(x), arrays, pattern)
        if found is not None:
            part = flip(index(x, *arrays, pattern=found.forwards), axis=found.axes)
            return part if all(map(is_whole, found.steps)) else index(part, pattern=found.steps)
        pattern, shape = placed(shape_of(x), arrays, pattern)
        (y,) = self.emit(index, args, {"pattern": pattern}, [Found(shape, dtype_of(x))])
        return y

    def emit(self, op: Op, args: Sequence[Any], params: dict, found: Sequence[Found]) -> tuple[Sym, ...]:
        """Record a node whose results are of these types."""
        if running.state.trying:
            raise ConcretizationError("how an array lies in memory depends on a length that only the program knows")
        if self.taken_for_granted is not None and _may_raise(op, args, found):
            self.taken_for_granted()
        operands = tuple([self.operand(a) for a in args])
        sizes: list[Operand] = []
        given = params
        params = self._with_refs(params, sizes) if params else {}
        key = None
        if op.pure and len(found) == 1 and not found[0].shape and not any(o.type.shape for o in operands):
            key = (op, found[0].weak, tuple([_identity(o) for o in operands]), repr(params) if params else "",
                   tuple([_identity(s) for s in sizes]))  # fmt: skip
            if key in self._same:
                return (self._same[key],)
        outs = tuple([Var(_type_of_found(f)) for f in found])
        self.nodes.append(Node(op, operands, params, outs, tuple(sizes), source(self.start)))
        may_raise = op.raises is not NEVER or not all(o.type.is_static for o in operands)
        if op.__class__ is not Control and may_raise and self._is_demanded(op):
            for var in outs:
                var.demanded = True
        stable = op.pure and all(o.__class__ is Const or o.stable for o in operands)  # type: ignore[union-attr]
        for f, var in zip(found, outs, strict=True):
            var.stable = stable
            var.either, var.mixed = f.either, f.mixed
            var.span = interval(op.name, args, params, f.dtype) if not f.shape and f.dtype.kind in "iu" else None
            var.order = order_of_result(op, args, given, f.shape)
        symbols = [Sym(self, var, self._shape(var, f.shape), var.span) for f, var in zip(found, outs, strict=True)]
        if op.name in ("add", "subtract") and outs[0].span is not None:
            self._note_offset(op.name, operands, outs[0])
        if key is not None:
            self._same[key] = symbols[0]
        return tuple(symbols)

    def _is_demanded(self, op: Op) -> bool:
        """Whether an op is run because the user's code says so, and not a derivative rule. Of what is differentiated
        in a loop only ops on matrices count: derivatives read and write where the function did, and raise with it. What
        is done again, of a block that was captured before, is what it was there."""
        frame, is_differentiated = sys._getframe(2), False
        while frame is not None and frame is not self.start and is_ours(frame.f_code.co_filename):
            file = frame.f_code.co_filename
            if file in _RULES:
                return False
            if op.raises is VALUES and frame.f_code is apply_node.__code__:
                return any(out.demanded for out in frame.f_locals["node"].outs)
            is_differentiated = is_differentiated or file in _MODES
            frame = frame.f_back  # type: ignore[assignment]
        return op.raises is VALUES or self.is_outermost or not is_differentiated

    def _note_offset(self, name: str, operands: tuple[Operand, ...], var: Var) -> None:
        """Remember that an integer is another one plus a constant."""
        x, y = operands if operands[0].__class__ is Var or name == "subtract" else operands[::-1]
        if x.__class__ is Var and y.__class__ is Const:
            base, offset = self.offsets.get(id(x), (x, 0))
            step = int(y.value)
            self.offsets[id(var)] = (base, offset + step if name == "add" else offset - step)

    def check(self, ok: Any, error: str, message: str) -> None:
        """Raise if a condition does not hold when the program runs here."""
        operand = self.operand(ok)
        key = (id(operand), error)
        if operand.__class__ is Const or key not in self._checked:
            self._checked.add(key)
            self.process(require, (ok,), {"error": error, "message": message})

    def operate(self, op: Any, name: str, *operands: Any) -> Any:
        """An operator that the user's own code applies to numbers."""
        if len(operands) == 1:
            return numbers.operate_alone(op, name, *operands)
        return numbers.operate(op, name, *operands)

    def note_boolean(self, symbol: Any) -> None:
        """A truth value is one of Python's own, not NumPy's."""
        if symbol.__class__ is Sym:
            symbol._owner.python_booleans[id(symbol._node)] = symbol._node  # type: ignore[attr-defined]

    def _shape(self, array: Var, shape: tuple) -> tuple:
        """A shape in which lengths that are open are asked of the array itself."""
        if _is_known(shape):
            return shape
        lengths = []
        for axis, n in enumerate(shape):
            if n is None or (n.__class__ is not int and n.__class__ is not Dim and n.__class__ is not Sym):
                bound = getattr(n, "bound", None)
                var = Var(Type((), np.dtype(np.int64), True), None, (0, bound))
                self.nodes.append(Node(size, (array,), {"axis": axis}, (var,)))
                n = Dim(Sym(self, var, (), var.span), bound)
            lengths.append(as_length(n))
        return tuple(lengths)

    def _with_refs(self, params: Any, sizes: list[Operand]) -> Any:
        def referred(p: Any) -> Any:
            if p.__class__ is not Dim and not isinstance(p, Traced):
                return p
            if isinstance(p, Traced) and dtype_of(p).kind not in "biu":
                raise TypeError(f"'{_called_in_python(p)}' object cannot be interpreted as an integer")
            operand = self.operand(p)
            if operand.__class__ is Const:
                return operand.value if np.ndim(operand.value) else int(operand.value)
            for k, known in enumerate(sizes):
                if known is operand:
                    return Ref(k)
            sizes.append(operand)
            return Ref(len(sizes) - 1)

        return map_data(params, referred)

    # -------------------------------------------------------------------------------------------------------- writes

    def note_created(self, thing: Any) -> None:
        """An array or a container was created inside: writing to it concerns nobody outside."""
        if isinstance(thing, Traced):
            self._boxes[id(thing)] = weakref.ref(thing)
        else:
            self.created[id(thing)] = thing

    def has_created(self, thing: Any) -> bool:
        """Whether a list, dict or instance was made in this block or in one around it."""
        capture: Capture | None = self
        while capture is not None and id(thing) not in capture.created:
            capture = capture._outer
        return capture is not None

    def made(self, root: Any) -> bool:
        """Whether an array, not a view, was made inside."""
        if id(root) in self.written:
            return False
        noted = self._boxes.get(id(root))
        if noted is not None and noted() is root:
            return True
        return root._owner is self or (root._owner.tag > self.tag and root._owner is not SETTLING)

    def owns(self, root: Any) -> bool:
        """Whether an array was made inside and is none of the parameters."""
        held = settled(root)
        return self.made(root) and not (held.__class__ is Sym and any(held._node is p for p in self.params))

    def asks_order(self) -> None:
        """What is captured depends on how arrays from outside lie in memory."""
        self.links.order_matters = True

    def note_settled(self, view: Any, before: Any = None) -> None:
        """A view is fetched inside: what it holds must not be seen outside, nor lengths that are known only inside."""
        self._settled.append((view, before))

    def about_to_write(self, root: Any) -> None:
        """Note that an array is written to."""
        if self.journal is not None:
            self.journal.append((root, clone(root)))
        if id(root) in self.written or self.made(root):
            return
        self.written[id(root)] = (root, clone(root))
        self.restart = self.restart or self.has_taken(root)

    def has_taken(self, root: Any) -> bool:
        """Whether the value of an array from outside is used inside."""
        held = settled(root)
        return content(held) in self._lifted if isinstance(held, Traced) else id(held) in self._consts

    def note_read(self, array: np.ndarray) -> None:
        """Something is computed of a plain array: what comes out may be a plain number, which leaves no trace."""
        capture: Any = self
        while capture is not None:
            capture._read[id(array)] = weakref.ref(array)
            capture = capture._outer

    def has_read(self, root: Any) -> bool:
        """Whether something was computed of a plain array from outside."""
        held = settled(root)
        ref = None if isinstance(held, Traced) else self._read.get(id(held))
        return ref is not None and ref() is held

    def adopt(self, root: Any, hint: str | None = None) -> Sym:
        """Let an array from outside stand for a formal parameter, because it is written to inside."""
        self.written[id(root)] = (root, clone(root))
        symbol = self.like(root, hint)
        become(root, symbol)
        make_views_stale(root)
        return symbol

    def restore(self) -> list[tuple[Any, Any]]:
        """Give arrays from outside back what they were; return those that were written to with what they became."""
        changed = []
        for root, before in self.written.values():
            after = settled(root)
            changed.append((root, clone(after) if isinstance(after, Traced) else after))
            put_back(root, before)
        for view, before in reversed(self._settled):
            if view._view_of is not None:
                if before is not None:
                    become(view, before)
                view._view_of.fresh = False
                view._owner = SETTLING
        self._settled.clear()
        return changed


def put_back(root: Any, before: Any) -> None:
    """Give an array back what it was."""
    become(root, settled(before) if before._is_cell else before)
    make_views_stale(root)


def content(x: Any) -> tuple:
    """What tells whether two boxes hold the same."""
    if x.__class__ is Sym:
        return (Sym, id(x._node))
    slots = [getattr(x, slot) for slot in x._state]
    return (x.__class__, *[v if v.__class__ is int else id(v) for v in slots])


def _identity(operand: Operand) -> Any:
    if operand.__class__ is Const:
        value, dtype = operand.value, operand.type.dtype
        bits = struct.pack("d", value) if value.__class__ is float else np.asarray(value).tobytes()
        return (value.__class__, dtype.kind, dtype.itemsize, operand.type.weak, operand.type.shape, bits)
    return id(operand)


def _repeated_part(x: np.ndarray) -> Any:
    """What an array repeats: the one number of `np.zeros(n)`, what was broadcast, or the array itself.

    >>> _repeated_part(np.broadcast_to([[1.0], [2.0]], (2, 3)))
    array([[1.],
           [2.]])
    >>> _repeated_part(np.zeros((2, 3))).shape
    ()
    """
    part = x[tuple([slice(0, 1) if step == 0 else slice(None) for step in x.strides])]
    first = part.flat[0]
    return first if part.size == 1 or (np.all(part == first) and _has_one_sign(part)) else part


def _has_one_sign(x: np.ndarray) -> bool:
    """Whether numbers that are equal have equal signs too: 0.0 and -0.0 are equal."""
    parts = {"f": [x], "c": [x.real, x.imag]}.get(x.dtype.kind, [])
    return all(np.all(np.signbit(p) == np.signbit(p.flat[0])) for p in parts)


def _in_python_integers(p: Any) -> Any:
    """A parameter of an op, with Python's integers for NumPy's in shapes, axes and places."""
    if isinstance(p, np.integer):
        return int(p)
    if p.__class__ is tuple and p:
        new = tuple([_in_python_integers(item) for item in p])
        return p if all(a is b for a, b in zip(new, p, strict=True)) else new
    if p.__class__ is slice:
        ends = [int(end) if end.__class__ is bool else end for end in (p.start, p.stop, p.step)]
        return slice(*[_in_python_integers(end) for end in ends])
    return p


def _is_known(shape: tuple) -> bool:
    """Whether all lengths are numbers."""
    for n in shape:  # noqa: SIM110  (asked very often)
        if n.__class__ is not int:
            return False
    return True


def _called_in_python(x: Any) -> str:
    """The class of a number, in messages."""
    kind = numbers.python_class(x)
    return dtype_of(x).name if kind is None else kind.__name__


def _type_of_found(f: Found) -> Type:
    if _is_known(f.shape):
        return Type(f.shape, f.dtype, f.weak)
    shape = tuple([as_length(n) if n is not None else Dim(None, None) for n in f.shape])  # type: ignore[arg-type]
    return type_of(shape, f.dtype, f.weak)


def _flipped(value: Any, ndim: int, axes: Sequence[int]) -> Any:
    """A value for a part with so many axes, reversed along some of these, where it is not the same all along."""
    shape = shape_of(value)
    own = [axis - ndim + len(shape) for axis in axes]
    own = [axis for axis in own if axis >= 0 and shape[axis] != 1]
    return flip(value, axis=tuple(own)) if own else value


def source(start: FrameType | None) -> Source | None:
    """The line of the user's source that is running, or that the node comes from that is being differentiated."""
    if running.state.source is not None:
        return running.state.source
    frame = user_frame(start)
    return None if frame is None else Source(frame.f_code.co_filename, frame.f_lineno)


@contextlib.contextmanager
def capturing(capture: Capture) -> Iterator[Capture]:
    """Let everything that is done belong to a capture, while the transformations outside wait."""
    state = running.state
    outer, traces, tapes = state.capture, state.traces, state.tapes
    waiting = [t for t in traces if t.alive]
    for t in waiting:
        t.alive = None
    # Who asks for a program is not part of it: of the two frames that are left out, one is of contextlib.
    capture.start = sys._getframe(2) if outer is None else outer.start
    state.capture, state.traces, state.tapes = capture, (*traces, capture), ()
    state.depth += 1
    captures.add(1)
    try:
        yield capture
    finally:
        captures.add(-1)
        state.depth -= 1
        state.capture, state.traces, state.tapes = outer, traces, tapes
        capture.alive, capture.start = False, None
        capture.links.forget(capture)
        for t in waiting:
            t.alive = True
