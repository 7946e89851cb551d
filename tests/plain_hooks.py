"""Hooks of lowered functions that do what Python does, and check on the way what the hooks are promised.

A lowered function with these hooks must do exactly what the original does. Three promises are put to the test: that
what `get` returns can be `set` again, that variables which are called temporary are never read (they are made
undefined), and that nothing but `names` is bound by a suite (in `trying_both` mode each `if` tries the other branch
first and then puts everything back, as staging does).
"""

import builtins
import contextlib
import operator

from wengert.capture.instrument import STAGED, is_user_function, set_staged_hooks, staged
from wengert.capture.local_values import local_values
from wengert.capture.lower import LOWERED_HOOKS, UNDEFINED, defined
from wengert.capture.managers import swallowed
from wengert.capture.matching import matched
from wengert.capture.recursing import default_of
from wengert.capture.rewrite import HOOKS
from wengert.capture.stores import (
    augment,
    augment_attribute,
    augment_item,
    read,
    store,
    store_in_attribute,
    store_in_item,
)

seen = []
"""Calls of `if_`, `for_` and `while_`, as (what, names, stores, temporaries)."""
trying_both = False


def forget(get, set, names, temporaries):
    assert len(names) == len(get())
    set(tuple(UNDEFINED if name in temporaries else value for name, value in zip(names, get(), strict=True)))


def if_(test, then, orelse, get, set, names, temporaries):
    seen.append(("if", names, (), temporaries))
    set(get())
    chosen, other = (then, orelse) if test else (orelse, then)
    if trying_both and other is not None:
        before = get()
        with contextlib.suppress(Exception):
            other()
        set(before)
    if chosen is not None:
        assert chosen() is None
    forget(get, set, names, temporaries)


def for_(iterable, body, go_on, get, set, names, stores, temporaries):
    seen.append(("for", names, stores, temporaries))
    for item in iterable:
        forget(get, set, names, temporaries)
        assert body(item) is None
        if go_on is not None and not go_on():
            break
    forget(get, set, names, temporaries)


def while_(test, body, get, set, names, stores, temporaries):
    seen.append(("while", names, stores, temporaries))
    forget(get, set, names, temporaries)
    while test():
        assert body() is None
        forget(get, set, names, temporaries)
    forget(get, set, names, temporaries)


def and_(*thunks):
    for thunk in thunks:
        value = thunk()
        if thunk is not thunks[-1] and not value:
            break
    return value


def or_(*thunks):
    for thunk in thunks:
        value = thunk()
        if thunk is not thunks[-1] and value:
            break
    return value


COMPARISONS = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne", "is_", "is_not")}
COMPARISONS |= {"contains": lambda a, b: a in b, "not_contains": lambda a, b: a not in b}


def chain(left, ops, *thunks):
    assert len(ops) == len(thunks) > 1
    for k, (op, thunk) in enumerate(zip(ops, thunks, strict=True)):
        right = thunk()
        value = COMPARISONS[op](left, right)
        if k < len(ops) - 1 and not value:
            break
        left = right
    return value


def assert_(test, message):
    if not test:
        raise AssertionError(*([] if message is None else [message()]))


def raise_(exception, cause):
    if cause is None:
        raise exception()
    raise exception() from cause()


class Trying:
    def __init__(self, kinds):
        self.kinds, self.error = kinds, None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def raised_here(attempt, exception, cause):
    raise_(exception, cause)


def caught(attempt, error):
    if not any(isinstance(error, kind) for kind in attempt.kinds()):
        raise error
    attempt.error = error
    return 1


def catches(attempt, raised, kind, before):
    return bool(raised) and isinstance(attempt.error, kind())


def error_of(attempt, raised, kind, before):
    return attempt.error


def attempted(attempt, statement, rest, fail, get, set, names, temporaries):
    """Python raises by itself; here too the way not taken is tried."""
    seen.append(("if", names, (), temporaries))
    if trying_both:
        before = get()
        fail()
        set(before)
    assert statement() is None
    if rest is not None:
        assert rest() is None
    forget(get, set, names, temporaries)


def call(f, operands=1, given=2):
    return staged(f) if is_user_function(f) else f


def text(*parts):
    convert = {-1: lambda x: x, 115: str, 114: repr, 97: ascii}
    return "".join([part if isinstance(part, str) else format(convert[part[1]](part[0]), part[2]) for part in parts])


def kept(iterable, native, choose, is_dict):
    if native is not None:
        return native(iterable)
    made = [make() for item in iterable for test, make in choose([item]) if test()]
    return dict(made) if is_dict else set(made)


REWRITTEN = dict(zip(
    HOOKS,
    (call, lambda value: value, lambda named: (), read, store, store_in_item, store_in_attribute, augment, augment_item,
     augment_attribute, slice, operator.mod, lambda name, a, b: getattr(operator, name)(a, b),
     lambda x: x.__class__, lambda text: text, lambda holder: holder, local_values, matched),
    strict=True,
))  # fmt: skip
LOWERED = dict(zip(
    LOWERED_HOOKS,
    (if_, for_, while_, and_, or_, operator.not_, lambda test, then, orelse: then() if test else orelse(), chain,
     lambda name, value: value, getattr, assert_, raise_,
     lambda items, reads=None: iter(items), bool, UNDEFINED, defined, lambda made: made,
     lambda name, value: value, lambda value: value, lambda v, owner, name: setattr(owner, name, v), delattr,
     operator.delitem, Trying, raised_here, caught, catches, error_of, (), lambda base, attributes=(): base,
     text, lambda a, b, positive: (a is b) == positive, lambda subject, *around: subject, attempted,
     lambda attempt: 1, lambda argument, is_read: argument, lambda value: value,
     lambda name, f: f is getattr(builtins, name), lambda reads: None, lambda test, item: [item()] if test else [],
     lambda items: [value for item in items for value in item],
     lambda a, b, positive: a == b if positive else a != b, lambda a, b, name: getattr(operator, name)(a, b),
     lambda iterable, make, is_lazy=False: make(iterable),
     swallowed, lambda manager: manager,
     lambda native, pushed, stopped: native(), lambda consumer, *of_suite: of_suite,
     lambda iterable, native, choose, is_nested=False: native(iterable), lambda iterable: iterable,
     lambda iterable, make, choose: make(iterable),
     lambda callees: False, lambda depth: None, default_of, lambda items, key, name: getattr(items[key], name), kept),
    strict=True,
))  # fmt: skip


@contextlib.contextmanager
def installed():
    """Have staged twins call these hooks."""
    kept = {}
    for name, cell in STAGED.hooks.items():
        with contextlib.suppress(ValueError):  # an empty cell
            kept[name] = cell.cell_contents
    set_staged_hooks(REWRITTEN | LOWERED)
    try:
        yield
    finally:
        set_staged_hooks(kept)


def outcome(f, *args):
    """What a call returns or raises."""
    try:
        return f(*args)
    except AssertionError:  # pytest has its own messages
        return AssertionError
    except Exception as error:
        return type(error), str(error)
