"""Classes as people write them: inheritance, operators, dataclasses, enumerations, managers; and patterns that take
objects apart."""

from __future__ import annotations

from fuzz.arrays import matrix, vector
from fuzz.expressions import atom, condition, integer, scalar
from fuzz.scope import Scope, indented


def _class(name: str, *methods: str, bases: str = "", before: tuple[str, ...] = ()) -> list[str]:
    """A class with methods of one line each: `"f(self, u): return u"`."""
    lines = [f"class {name}({bases}):" if bases else f"class {name}:", *indented([*before])]
    for method in methods:
        head, _, body = method.partition(": ")
        lines += indented([f"def {head}:", *indented(body.split("; ")), ""])
    return lines


def _decorated(decorator: str, lines: list[str]) -> list[str]:
    return [f"@{decorator}", *lines]


def with_inheritance(s: Scope) -> list[str]:
    """Classes derived from others: `super`, class variables, properties, alternative constructors, abstract methods."""
    b, d, o = s.fresh("O"), s.fresh("O"), s.fresh("o")
    u, v, w, c = scalar(s, 1), scalar(s, 1), vector(s), s.one_of(["2", "3", "n", "n + 1"])
    init = "__init__(self, u): self.u = u"
    return s.one_of([
        [*_class(b, init, "f(self, v): return self.u * v", "g(self, v): return np.tanh(self.f(v)) + 1.0"),
         *_class(d, "f(self, v): return super().f(v) + np.sin(v)", bases=b), f"s = np.tanh(s + {d}({u}).g({v}))"],
        [*_class(b, init, "step(self, h): self.u = self.u + h * self.rate()", "rate(self): return -0.5 * self.u"),
         *_class(d, "__init__(self, u, k): super().__init__(u); self.k = k", "rate(self): return -self.k * self.u",
                 bases=b),
         f"for {o} in ({b}({u}), {d}({u}, {v})):", f"    for _ in range({c}):", f"        {o}.step(0.1)",
         f"    s = np.tanh(s + {o}.u)"],
        [*_class(b, init, "size(self): return np.sum(self.u ** 2)", before=("scale = 0.5",)),
         *_class(d, bases=b, before=("scale = 2.0",)), f"s = np.tanh(s + {b}({w}).size() * {b}.scale)",
         f"t = np.tanh(t + {d}({w}).scale * {d}({v}).size())"],
        [*_class(b, init, before=("@property", "def half(self):", "    return 0.5 * self.u", "", "@half.setter",
                                  "def half(self, v):", "    self.u = 2 * v", "")),
         f"{o} = {b}({u})", f"{o}.half = {o}.half + {v}", f"{o}.half *= 0.5", f"s = np.tanh(s + {o}.u)"],
        [*_class(b, init, before=("@classmethod", "def of(cls, p, q):", "    return cls(p * q)", "", "@staticmethod",
                                  "def twice(p):", "    return 2 * p", "")),
         f"{o} = {b}.of({u}, {v})", f"s = np.tanh(s + {b}.twice({o}.u) + {o}.twice({w}[0]))"],
        [*_class(b, init, before=("@functools.cached_property", "def norm(self):",
                                  "    return np.sqrt(np.sum(self.u ** 2) + 0.1)", "")),
         f"{o} = {b}({w})", f"s = np.tanh(s + {o}.norm * {o}.norm)"],
        [*_class(b, "__init__(self, *parts): self.parts = parts",
                 "__call__(self, v): return functools.reduce(lambda p, f: f(p), self.parts, v)"),
         f"s = np.tanh({b}(np.sin, h_double, lambda q: q + {v})({u}))"],
        [*_class(b, init, "__getattr__(self, name): return 0.5 * self.u if name == 'half' else 1.0"),
         f"{o} = {b}({u})", f"s = np.tanh(s + {o}.half + {o}.other)"],
        [*_class(b, "__init__(self, **options): self.__dict__.update(options)"),
         f"{o} = {b}(u={u}, v={v})", f"{o}.u += 1", f"s = np.tanh(s + {o}.u * {o}.v + len(vars({o})))"],
        [*_class(b, init, "f(self, v): raise NotImplementedError"),
         *_class(d, "f(self, v): return self.u - v", bases=b), "try:", f"    s = np.tanh(s + {b}({u}).f({v}))",
         "except NotImplementedError:", f"    s = np.tanh(s + {d}({u}).f({v}))"],
        [*_class(b, "log(self, v): self.items = [*getattr(self, 'items', []), v]"),
         *_class(d, init, "run(self, k): [self.log(self.u * i) for i in range(k)]; return sum(self.items)", bases=b),
         f"s = np.tanh(s + {d}({u}).run({s.one_of(['2', '3', '1 + n'])}))"],
        [f"{o} = getattr(np, 'sin' if {atom(integer(s))} % 2 else 'cos')({u})", f"s = s + {o}"],
        [f"{o} = State({w} * 1.0, {u})", "for name in ('at', 'step'):",
         f"    setattr({o}, name, 0.5 * getattr({o}, name))", f"s = np.tanh(s + {o}.energy)"],
        [*_class(b, init, "__eq__(self, other): return self.u == other.u", "__hash__(self): return 7",
                 "__bool__(self): return bool(self.u > 0.1)"),
         f"s = s + (1.0 if {b}({u}) else 0.5) + 0.1 * ({b}(1) == {b}(2))"],
    ])  # fmt: skip


def with_operators_of_classes(s: Scope) -> list[str]:
    """Numbers of one's own: dual ones, quaternions, polynomials, vectors; dataclasses; enumerations."""
    o, q, e = s.fresh("O"), s.fresh("q"), s.fresh("E")
    u, v, w, m = scalar(s, 1), scalar(s, 1), vector(s), matrix(s)
    c = s.one_of(["2", "3", "n", "n + 1"])
    own = _class(
        o, "__init__(self, p, q): self.p, self.q = p, q",
        f"__add__(self, other): other = other if isinstance(other, {o}) else {o}(other, 0.0); "
        f"return {o}(self.p + other.p, self.q + other.q)",
        "__radd__(self, other): return self + other", f"__neg__(self): return {o}(-self.p, -self.q)",
        "__sub__(self, other): return self + -other",
        f"__mul__(self, other): return {o}(self.p * other.p, self.p * other.q + self.q * other.p) "
        f"if isinstance(other, {o}) else {o}(self.p * other, self.q * other)",
        "__rmul__(self, other): return self * other", "__lt__(self, other): return self.p < other.p",
        "__abs__(self): return abs(self.p)", "__iter__(self): return iter((self.p, self.q))",
        "__getitem__(self, i): return (self.p, self.q)[i]",
        "__pow__(self, n): return self if n == 1 else self * self ** (n - 1)",
        "__matmul__(self, other): return self.p * other.p + self.q * other.q",
        f"__truediv__(self, k): return {o}(self.p / k, self.q / k)",
        "__iadd__(self, other): self.p = self.p + other; return self", "__len__(self): return 2",
        "__contains__(self, v): return v == self.p", "__float__(self): return float(self.p)",
    )  # fmt: skip
    use = s.one_of([
        [f"{q} = {o}({u}, 1.0) * {o}({v}, 0.5) + 0.3", f"s = np.tanh(s + {q}.p - {q}.q)"],
        [f"{q} = 2 * {o}({u}, 1.0) - {o}({v}, 0.5)", f"s = np.tanh(s + sum({q}))"],
        [f"{q} = {o}({u}, 1.0)", f"for _ in range({c}):", f"    {q} = {q} * {o}(0.5, {v}) + 1",
         f"s = np.tanh(s + {q}.p * {q}[1])"],
        [f"p, k = {o}({u}, 0.5) ** 3", "s = np.tanh(s + p - k)"],
        [f"{q} = sum([{o}(e, 1.0) for e in {w}])", f"s = np.tanh(s + {q}.p * 0.1 * {q}.q)"],
        [f"{q} = max({o}({u}, 0.1), {o}({v}, 0.2))", f"s = np.tanh(s + {q}.q * abs({q}))"],
        [f"{q} = sorted([{o}({u}, 0.1), {o}({v}, 0.2), {o}(0.3, s)])", f"s = np.tanh(s + {q}[0].q + {q}[-1].p)"],
        [f"{q} = {o}({u}, {w})", f"{q} += {v}", f"s = np.tanh(s + {q} @ {o}(0.5, {w} * 0.1))",
         "s = np.mean(s)"],
        [f"{q} = [{o}(e, i) for i, e in enumerate({w})]", f"for k in {q}:", "    k += 0.1",
         f"s = np.tanh(s + sum(float(k) * k.p for k in {q}))"],
        [f"{q} = ({o}({u}, {v}) + s) / 2.0", f"s = np.tanh({q}.p + len({q}))"],
    ])  # fmt: skip
    data = _decorated(
        "dataclasses.dataclass",
        [
            f"class {o}:",
            "    p: Any",
            "    q: Any = 0.5",
            "    items: list = dataclasses.field(default_factory=list)",
            "",
        ],
    )
    frozen = _decorated(f"dataclasses.dataclass(frozen=True{s.one_of(['', ', slots=True', ', order=True'])})",
                        [f"class {o}:", "    p: Any", "    q: Any = 0.5", "", "    def moved(self, v):",
                         "        return dataclasses.replace(self, p=self.p + v)", ""])  # fmt: skip
    after = _decorated("dataclasses.dataclass", [
        f"class {o}:", "    p: Any", "    q: Any = 0.5", "    r: Any = dataclasses.field(init=False)", "",
        "    def __post_init__(self):", "        self.r = np.sin(self.p) * self.q", ""])  # fmt: skip
    choice = [f"class {e}(enum.Enum):", "    FIRST = 1", "    SECOND = 2", ""]
    return s.one_of([
        *[own + use] * 5,
        [*data, f"{q} = {o}({u})", f"{q}.items.append({v})", f"{q}.p += sum({q}.items)",
         f"s = np.tanh(s + {q}.p * {q}.q)"],
        [*frozen, f"{q} = {o}({u})", f"for _ in range({c}):", f"    {q} = {q}.moved({v})", f"s = np.tanh(s + {q}.p)"],
        [*frozen, f"{q} = [{o}({u}, 0.1), {o}({v})]", f"s = np.tanh(s + sum(k.p * k.q for k in {q}))"],
        [*after, f"{q} = {o}({u}, {v})", f"s = np.tanh(s + {q}.r)"],
        [*after, f"{q} = dataclasses.asdict({o}({u}, {v}))", f's = np.tanh(s + {q}["r"] * {q}["p"])'],
        [*data, f"{q} = {o}({m}, {u})", f"{q}.p[0] *= 0.5", f"s = np.tanh(s + np.sum({q}.p) * {q}.q)"],
        [*choice, f"{q} = {e}.FIRST if {condition(s)} else {e}.SECOND", f"if {q} is {e}.FIRST:", f"    s = s + {u}",
         "else:", f"    s = s - 0.1 * {q}.value"],
        [*choice, f"for {q} in {e}:", f"    s = np.tanh(s + {u} * {q}.value)"],
        [*choice, f"{q} = {{{e}.FIRST: {u}, {e}.SECOND: {v}}}", f"s = np.tanh(s + {q}[{e}(1 + {atom(integer(s))} % 2)])"
         if s.chance(0.5) else f"s = np.tanh(s + {q}[{e}.SECOND])"],
    ])  # fmt: skip


def with_managers(s: Scope) -> list[str]:
    """Managers of with statements, exceptions of one's own, `finally`, exceptions with data."""
    o, g = s.fresh("O"), s.fresh("g")
    u, v, w = scalar(s, 1), scalar(s, 1), vector(s)
    own = _class(o, "__init__(self, v): self.v = v", "__enter__(self): self.v = self.v + 1; return self",
                 "__exit__(self, *details): self.v = self.v * 0.5")  # fmt: skip
    error = [f"class {o}(ValueError):", "    pass", ""]
    return s.one_of([
        [*own, f"with {o}({u}) as q:", f"    s = np.tanh(s + q.v * {v})", "s = s + 0.1 * q.v"],
        ["@contextlib.contextmanager", f"def {g}(v):", "    yield v * 0.5", "",
         f"with {g}({u}) as q, {g}({v}) as k:", "    s = np.tanh(s + q - k)"],
        ["@contextlib.contextmanager", f"def {g}(z, v):", "    z += v", "    try:", "        yield z",
         "    finally:", "        z -= 0.5 * v", "", f"with {g}({w}, {u}) as q:", "    s = np.tanh(s + q[0])"],
        [*error, "try:", f"    if {condition(s)}:", f'        raise {o}("no")', f"    s = s + {u}", f"except {o}:",
         f"    s = s - {v}"],
        [*error, f"def {g}(v):", "    if v > 0.2:", f'        raise {o}("large")', "    return v", "", "try:",
         f"    s = s + {g}({u})", "except (KeyError, ValueError):", f"    s = s + 0.5 * {g}(0.1)", "finally:",
         "    t = t + 0.1"],
        [f"def {g}(v):", "    try:", "        if v > 0.2:", '            raise KeyError("a")', "        return v",
         "    except KeyError:", "        return 0.3 * v", "    finally:", f"        {w}[0] += 0.1", "",
         f"s = np.tanh(s + {g}({u}) + {g}(s))"],
        ["try:", "    try:", f"        if {condition(s)}:", '            raise ValueError("inner")',
         f"        s = s + {u}", "    except ValueError as error:", '        raise RuntimeError("outer") from error',
         "except RuntimeError:", f"    s = s - {v}"],
        ["with contextlib.ExitStack() as stack:", "    stack.callback(lambda: None)", f"    s = np.tanh(s + {u})"],
        [f"for e in {w}:", "    try:", f"        assert e < {atom(u)}, 'large'", "        s = s + 0.1 * e",
         "    except AssertionError:", "        t = t - 0.1"],
        [f"def {g}(q):", "    if not len(q):", "        return 0.0", "    head, *rest = q",
         f"    return head + 0.5 * {g}(rest)", "", f"s = np.tanh(s + {g}({w}))"],
    ])  # fmt: skip


def with_matching(s: Scope) -> list[str]:
    """Patterns of sequences, mappings and classes, which bind names."""
    g, q = s.fresh("g"), s.fresh("q")
    u, v, w = scalar(s, 1), scalar(s, 1), vector(s)
    return s.one_of([
        [f"def {g}(tree):", "    match tree:", "        case ('add', p, q):", f"            return {g}(p) + {g}(q)",
         "        case ('mul', p, q):", f"            return {g}(p) * {g}(q)", "        case ('sin', p):",
         f"            return np.sin({g}(p))", "        case _:", "            return tree", "",
         f"s = np.tanh(s + {g}(('add', ('mul', {u}, {v}), ('sin', s))))"],
        [f'{q} = {{"kind": "line", "at": {u}, "slope": {v}}}', f"match {q}:",
         '    case {"kind": "line", "at": p, "slope": k}:', "        s = np.tanh(s + p * k)", "    case _:",
         "        s = 0.0"],
        [f"match [{u}, {v}, s]:", "    case [p, *rest]:", "        s = np.tanh(p + sum(rest))"],
        [f"match State({w}, {u}):", "    case State(at=p, step=k) if k > 0.1:",
         "        s = np.tanh(s + np.sum(p) * k)",
         "    case State(step=k):", "        s = np.tanh(s - k)"],
        [f"for {q} in (({u}, 1), ({v}, 2), (s, 0)):", f"    match {q}:", "        case (p, 0):",
         "            s = np.tanh(s + p)", "        case (p, 1 | 2 as k):", "            t = np.tanh(t + p * k)"],
        [f"match ({condition(s, 0)}, {atom(integer(s))} % 2):", "    case (True, 0):", f"        s = s + {u}",
         "    case (False, k):", f"        s = s - {atom(v)} * k", "    case _:", "        t = t + 0.5"],
        [f"match {u}:", "    case p if p > 0.5:", "        s = s + p", "    case p if p < -0.5:", "        s = s - p",
         "    case p:", "        s = s + p * p"],
        [f"match {s.one_of(['None', repr('sin'), repr('cos')])}:", '    case "sin" | "cos" as name:',
         f"        s = s + getattr(np, name)({u})", "    case None:", f"        s = s - {v}"],
    ])  # fmt: skip
