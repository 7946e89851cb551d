"""Numbers, integers and conditions."""

from __future__ import annotations

import numpy as np

from fuzz.scope import Scope, Unusable, kind_of

CONSTANTS = ("0.5", "-0.7", "1.3", "2.0", "0.25", "2", "-1", "3")

ELEMENTWISE = (
    "np.sin({})", "np.cos({})", "np.tanh({})", "np.exp(0.3 * {})", "np.sqrt(1.0 + {} ** 2)", "np.arctan({})", "-{}",
    "0.5 * {}", "{} ** 2", "np.log(2.0 + np.sin({}))", "np.square({})", "1.0 / (2.0 + np.cos({}))", "{} - 0.1",
    "np.log1p({} ** 2)", "np.sinh(0.3 * {})", "np.expm1(0.2 * {})", "{} * 2", "{} / 3", "1 - {}", "+{}",
    "(2.0 + np.sin({})) ** -1.5", "(1.1 + np.cos({}) ** 2) ** 0.5", "np.reciprocal(2.5 + np.sin({}))",
)  # fmt: skip
KINKED = ("np.abs({})", "abs({})", "np.clip({}, -0.9, 0.9)", "np.maximum({}, 0.05)", "np.minimum(0.3, {})",
          "np.where({} > 0.1, {}, 0.2)", "np.fmax({}, -0.2)", "np.heaviside({}, 0.5)", "np.sign({}) * 0.3",
          "np.floor(3 * {})", "np.round({})")  # fmt: skip
BINARY = (
    "({} + {})", "({} - {})", "{} * {}", "np.sin({}) * {}", "({} / (2.0 + np.cos({})))", "np.hypot({}, 1.0 + {} ** 2)",
    "np.arctan2({}, 2.0 + np.cos({}))", "np.multiply({}, {})", "np.subtract({}, 0.5 * {})", "np.logaddexp({}, {})",
)  # fmt: skip
KINKED_BINARY = ("np.maximum({}, {})", "np.minimum({}, {})", "np.where({0} > {1}, {0}, {1} * 0.5)")
MATH = ("math.sin({})", "math.exp(0.3 * {})", "math.sqrt(1.0 + {} ** 2)", "math.tanh({})", "math.atan({})",
        "math.log(2.5 + math.cos({}))", "math.hypot({}, 1.0)", "math.fabs({})", "abs({})", "float({})",
        "pow({}, 2)", "math.pow(1.5, {})")  # fmt: skip


def atom(text: str) -> str:
    """An expression that can stand beside any operator."""
    simple = text.replace("_", "a").replace(".", "a").isalnum() or (text.endswith(")") and not text.startswith("-"))
    return text if simple and _closed(text) else f"({text})"


def _closed(text: str) -> bool:
    """Whether the text is one name, call or pair of parentheses."""
    depth = 0
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and c in " +-*/%<>=" and k < len(text):
            return False
    return True


def integer(s: Scope, depth: int = 1) -> str:
    """Any small integer, positive or negative."""
    leaf = lambda: s.one_of([*s.integers(), "n", "n"]) if s.chance(0.7) else str(s.rng.randint(-2, 5))
    if not depth or s.chance(0.5):
        return leaf()
    i, j = atom(integer(s, depth - 1)), atom(leaf())
    array = s.one_of(s.arrays() or ["x"])
    return s.draw([
        ("scalars", 2, f"{i} + {j}"), ("scalars", 2, f"{i} - {j}"), ("scalars", 1, f"{i} * 2"),
        ("scalars", 1, f"{i} // 2"), ("scalars", 1, f"{i} % 3"), ("gathers", 1, f"K[{i} % 5]"),
        ("gathers", 1, f"TABLE[{i} % 3]"), ("scalars", 1, f"len({array})"), ("scalars", 0.5, f"{array}.shape[-1]"),
        ("branches", 1, f"({i} if {condition(s, 0)} else {j})"), ("integers", 1, f"int(K[{i} % 5])"),
        ("ties", 1, f"np.argmax({array})"), ("integers", 0.5, f"min({i}, {j})"), ("integers", 0.5, f"abs({i})"),
        ("math", 0.6, f"int(wg.stop_gradient(3 * np.sin({scalar(s, 0)})))"),
    ])  # fmt: skip


def below(s: Scope, n: int) -> str:
    """An index of an axis of n elements."""
    known = s.rng.randint(-n, n - 1)
    if s.chance(0.35):
        return str(known)
    return f"{atom(integer(s))} % {n}" if s.chance(0.8) else f"-1 - {atom(integer(s))} % {n}"


def element(s: Scope) -> str:
    """One element of an array of real numbers."""
    name = s.one_of(s.arrays(kinds="f") or ["x"])
    at = [below(s, n) for n in np.shape(s.names[name])]
    if len(at) > 1 and s.chance(0.2):
        return name + "".join([f"[{i}]" for i in at])
    return f"{name}[{', '.join(at)}]"


def condition(s: Scope, depth: int = 1) -> str:
    """Something that is true or false."""
    u, v = atom(scalar(s, min(depth, 1))), atom(scalar(s, 0))
    i, j = atom(integer(s, depth)), atom(integer(s, 0))
    name = s.one_of(s.arrays(kinds="f") or ["x"])
    simple = [
        ("scalars", 3, f"{u} > {v}"), ("scalars", 2, f"{u} < 0.3"), ("integers", 1, f"{i} < {j}"),
        ("integers", 1, f"{i} % 2 == 0"), ("integers", 0.7, f"{i} != {j}"), ("integers", 0.5, f"0 <= {i} < {j} + 3"),
        ("reductions", 0.7, f"np.any({name} > {v})"), ("reductions", 0.5, f"np.all({name} < 0.9)"),
        ("reductions", 0.5, f"({name} > 0.2).any()"), ("reductions", 0.5, f"np.sum({name}) > {v}"),
        ("integers", 0.4, f"{i} in (0, 2, 3)"), ("scalars", 0.2, "len(x) > 3"), ("scalars", 0.1, "A.ndim == 2"),
    ]  # fmt: skip
    if depth and s.chance(0.25):
        a, b = condition(s, 0), condition(s, 0)
        return s.one_of([f"{a} and {b}", f"{a} or {b}", f"not {atom(a)}", f"not ({a} and {b})"])
    return s.draw(simple)


def scalar(s: Scope, depth: int = 2) -> str:
    """A real number."""
    for _ in range(8):
        text = _scalar(s, depth)
        try:
            found = s.value(text)
        except Unusable:
            continue
        if np.ndim(found) == 0 and kind_of(found) in "fiub" and np.isfinite(found):
            return text if abs(found) < 20 or kind_of(found) != "f" else f"np.tanh({text})"
    return "a"


def _scalar(s: Scope, depth: int) -> str:
    names = [*s.scalars(), "a"]
    if not depth or s.chance(0.15):
        choice = s.rng.random()
        return s.one_of(names) if choice < 0.6 else element(s) if choice < 0.85 else s.one_of(CONSTANTS)
    from_array = s.one_of(s.arrays(kinds="f") or ["x"])
    u, v = atom(scalar(s, depth - 1)), atom(scalar(s, 0))
    return s.draw([
        ("scalars", 3, s.one_of(ELEMENTWISE).format(u)),
        ("scalars", 3, s.one_of(BINARY).format(u, v)),
        ("math", 2, s.one_of(MATH).format(u)),
        ("ties", 1, s.one_of(KINKED).format(u, u)),
        ("ties", 1, s.one_of(KINKED_BINARY).format(u, v)),
        ("ties", 0.7, s.one_of(["min({}, {})", "max({}, {})", "max({}, {}, 0.1)"]).format(u, v)),
        ("reductions", 2, s.one_of(["np.sum({})", "{}.sum()", "np.mean({})", "{}.mean()", "np.max({})", "{}.min()",
                                   "np.linalg.norm({})", "np.prod(0.8 + 0.1 * {})", "np.var({})", "np.std({})",
                                   "sum({}.ravel())", "np.tanh(np.sum({} ** 2))", "wg.logsumexp({})",
                                   "max({}.ravel())", "np.ptp({})", "np.median({})",
                                   "np.average({})"]).format(from_array)),
        ("products", 1, f"np.tanh(np.vdot({from_array}, {from_array}))"),
        ("branches", 1, f"({u} if {condition(s, 0)} else {v})"),
        ("helpers", 1, s.one_of(["h_clipped({}, {})", "h_picked({2}, {3})", "h_mixed({}, {})", "h_powers({}, 3)",
                                 "h_apply(np.sin, {})", "h_early({}, {})"]).format(
                                     u, v, s.one_of(s.arrays(1, "f") or ["x"]), atom(integer(s)))),
        ("closures", 1, f"(lambda u: u * {v} + 0.1)({u})"),
        ("closures", 0.5, f"sum([{u} * q for q in (0.5, 0.25)])"),
        ("closures", 0.5, f"sum(q * q for q in {s.one_of(s.arrays(1, 'f') or ['x'])})"),
        ("recursion", 1, s.one_of([f"h_power({u}, {s.rng.randint(0, 4)})", f"h_halves({from_array}.ravel())"])),
        ("rules", 1.5, s.one_of(["soft({})", "cube({})", "swish({}, {})", "scaled({}, {})"]).format(u, v)),
        ("complex", 1, s.one_of(["np.exp(1j * {0}).real", "abs(complex({0}, {1}))", "(({0} + 2j) * ({1} - 1j)).imag",
                                 "np.abs({0} + 1j)", "np.real(np.exp({0} * 1j) ** 2)", "np.angle(2 + 1j * {0})"
                                 ]).format(u, v)),
        ("powers", 1.5, s.one_of(["{0} ** ({2} % 4)", "np.power({0}, {2} % 3)", "{0} ** ({0} > {1})",
                                  "(1.5 + np.sin({0})) ** {1}", "(2.0 + np.cos({0})) ** -({2} % 3)",
                                  "{0} ** int({1} > 0.2)", "np.float_power({0}, {2} % 3)",
                                  "(-1) ** ({2} % 5) * {0}", "0.5 ** ({2} % 3) * {0}"]
                                 ).format(u, v, atom(integer(s)))),
        ("dtypes", 0.7, s.one_of(["np.float64({0})", "np.float32(0.5) * {0}", "np.asarray({0}) * 1",
            "({0} > {1}) * {0}",
                                  "({0} + True)"]).format(u, v)),
        ("dtypes", 0.5, s.one_of(["np.add(BYTES, BYTES, dtype=int)[{0}] / 400", "round(BYTES[{0}]) * 2 / 400",
                                  "math.floor(BYTES[{0}]) * 3 / 600", "(BYTES * 2)[{0}] / 300",
                                  "np.sum(BYTES, initial=1.5) / 300", "int(BYTES[{0}]) * 2 / 400",
                                  "np.add.reduce(BYTES, dtype=np.uint8) / 50", "BYTES[{0}] * np.float32(0.5) / 100"]
                                 ).format(f"{atom(integer(s))} % 3")),
        ("objects", 0.6, s.one_of(["Spring(1.5, {}).energy({})", "Shift({}).by({})", "(Pair({}, {}) * 2.0).total"]
                                  ).format(u, v)),
    ])  # fmt: skip
