"""Reading matrix expressions: text such as "tr(inv(X.T*X + lam))" with its declarations, or SymPy matrices.

Nothing is evaluated: the syntax tree is walked, and what is not listed is refused. `let NAME = ...;` before the
expression names a part that is used more than once.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Mapping
from fractions import Fraction

import sympy as sp
from sympy.matrices.expressions.applyfunc import ElementwiseApplyFunction

from bulkedge.theory.equivalents import entrywise
from bulkedge.theory.equivalents import matrix_expression as mx
from bulkedge.theory.functions import catalogue, parse
from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import z
from bulkedge.theory.spectra.spectral_density import NODES, Density

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}")
_RESERVED = {"tr", "inv", "let", "value", "centred", "ones"}
MAX_LENGTH = 6000
MAX_MATRICES = 24
MAX_DEPTH = 150


def name(text: object, argument: str) -> str:
    """A usable name."""
    if not isinstance(text, str) or not _NAME.fullmatch(text):
        raise InputError(argument, f"{parse.shorten(text)} is no name", "use letters, digits and _")
    if text in _RESERVED or text in {"lambda", "if", "else", "and", "or", "not", "for", "in", "is"}:
        hint = "write lam" if text == "lambda" else "choose another name"
        raise InputError(argument, f"the name {text} is reserved", hint)
    return text


def variable(text: object) -> sp.Symbol:
    """The variable of a resolvent, a real symbol."""
    if isinstance(text, sp.Symbol):
        return sp.Symbol(name(text.name, "spectrum"), real=True)
    return sp.Symbol(name(text, "spectrum"), real=True)


def symbols(positive: object = None, real: object = None) -> tuple[sp.Symbol, ...]:
    """The declared symbols: comma-separated names, or SymPy symbols with their own assumptions."""
    found: dict[str, sp.Symbol] = {}
    for value, assumption in ((positive, "positive"), (real, "real")):
        for item in _items(value, assumption):
            symbol = item if isinstance(item, sp.Symbol) else sp.Symbol(name(item, assumption), **{assumption: True})
            if symbol.name in found:
                raise InputError(assumption, f"{symbol.name} is declared twice", "declare it once")
            found[symbol.name] = symbol
    return tuple(found.values())


def _items(value: object, argument: str) -> list[object]:
    if value is None:
        return []
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    if isinstance(value, sp.Symbol):
        return [value]
    if isinstance(value, Iterable) and not isinstance(value, Mapping | bytes):
        items = list(value)
        if all(isinstance(item, str | sp.Symbol) for item in items):
            return [item.strip() if isinstance(item, str) else item for item in items]
    raise InputError(argument, f"{parse.shorten(value)} are no names", 'give names, "lam,c"')


def gaussian(text: object, known: tuple[sp.Symbol, ...]) -> mx.Gaussian:
    """`"X: n x d, 1/n"`, or `"H: n x n symmetric, 1/n"`."""
    example = 'write "X: n x d, 1/n"'
    if not isinstance(text, str) or len(text) > MAX_LENGTH:
        raise InputError("gaussian", f"{parse.shorten(text)} is no declaration", example)
    match = re.fullmatch(r"\s*(\w+)\s*:\s*(\w+)\s+x\s+(\w+)(\s+symmetric)?\s*,\s*(.+?)\s*", text)
    if match is None:
        raise InputError("gaussian", f"{parse.shorten(text)} is not understood", example)
    label, rows, cols, symmetric, variance = match.groups()
    rows, cols = _dimension(rows), _dimension(cols)
    value = scalar(variance, "gaussian", known, tuple(d for d in (rows, cols) if d != mx.ONE), open_dimensions=True)
    return mx.Gaussian(name(label, "gaussian"), rows, cols, value, symmetric is not None)


def _dimension(text: str) -> str:
    return mx.ONE if text == mx.ONE else name(text, "gaussian")


def spectral_law(text: object, known: tuple[sp.Symbol, ...]) -> mx.SpectralLaw:
    """`"S: d, atoms 1:1/2 4:1/2"`, or `"S T: d, atoms 1,2:1/2 4,3:1/2"` for matrices that commute.

    With a density: `"S: d, uniform 1 3"`, `semicircle`, `arcsine`, or `"S: d, density 2*S on 0 1"`.
    """
    example = 'write "S: d, atoms 1:1/2 4:1/2" (value:weight)'
    if not isinstance(text, str) or len(text) > MAX_LENGTH:
        raise InputError("deterministic", f"{parse.shorten(text)} is no declaration", example)
    shape = re.fullmatch(r"\s*(\w+)\s*:\s*(\w+)\s*,\s*(uniform|semicircle|arcsine|density)\b(.+?)", text)
    if shape is not None:
        return _continuous(name(shape[1], "deterministic"), _dimension(shape[2]), shape[3], shape[4])
    match = re.fullmatch(r"\s*([\w\s]+?)\s*:\s*(\w+)\s*,\s*atoms\s+(.+?)\s*", text)
    if match is None:
        raise InputError("deterministic", f"{parse.shorten(text)} is not understood", example)
    names = tuple(name(part, "deterministic") for part in match[1].split())
    dimension = _dimension(match[2])
    atoms = []
    for item in match[3].split():
        values, colon, weight = item.partition(":")
        parts = [part for part in values.split(",") if part]
        if not colon or len(parts) != len(names):
            raise InputError("deterministic", f"the atom {parse.shorten(item)} is not understood", example)
        read = [scalar(part, "deterministic", known, (), open_dimensions=True) for part in (*parts, weight)]
        atoms.append((tuple(read[:-1]), read[-1]))
    return mx.SpectralLaw(names, dimension, tuple(atoms))


def _continuous(label: str, dimension: str, kind: str, rest: str) -> mx.SpectralLaw:
    """`uniform A B` and its like, or `density FUNCTION on A B` with a rational function of the matrix's name."""
    function, variable = None, None
    if kind == "density":
        text, on, rest = rest.rpartition(" on ")
        if not on:
            raise InputError("deterministic", "a density without ends", f'write "{label}: d, density 2*{label} on 0 1"')
        variable = sp.Symbol(label, real=True)
        function = scalar(text, "deterministic", (variable,), (), open_dimensions=False)
    ends = rest.split()
    if len(ends) != 2:
        raise InputError("deterministic", f"{parse.shorten(rest)} are no two ends", f'write "{label}: d, uniform 1 3"')
    lower, upper = (parse.number(end, "deterministic") for end in ends)
    law = mx.SpectralLaw((label,), dimension, (), Density(kind, lower, upper, function, variable))
    return law.refined(NODES)


def sizes(text: object, known: tuple[sp.Symbol, ...]) -> dict[str, sp.Expr]:
    """`"n=2,d=1"`: sizes relative to one another; or a mapping."""
    pairs: list[tuple[object, object]] = []
    if isinstance(text, Mapping):
        pairs = [(key.name if isinstance(key, sp.Symbol) else key, value) for key, value in text.items()]
    elif isinstance(text, str):
        for part in (item.strip() for item in text.split(",")):
            left, equals, right = part.partition("=")
            if not equals:
                raise InputError("size", f"{parse.shorten(part)} is not understood", 'write "n=2,d=1"')
            pairs.append((left.strip(), right.strip()))
    elif text is not None:
        raise InputError("size", f"{parse.shorten(text)} is not understood", 'write "n=2,d=1"')
    found: dict[str, sp.Expr] = {}
    for label, value in pairs:
        key = name(label, "size")
        if key in found:
            raise InputError("size", f"{key} is given twice", "give it once")
        found[key] = _scalar_value(value, "size", known)
    return found


def _scalar_value(value: object, argument: str, known: tuple[sp.Symbol, ...]) -> sp.Expr:
    """A number, a text or a SymPy expression over the declared symbols."""
    if isinstance(value, sp.Expr) and not isinstance(value, sp.Rational | sp.Float):
        return _rational_function(value, argument, known)
    if isinstance(value, str):
        return scalar(value, argument, known, ())
    return parse.number(value, argument)


def _rational_function(value: sp.Expr, argument: str, known: Iterable[sp.Symbol]) -> sp.Expr:
    by_name = {s.name: s for s in known}
    value = value.xreplace({s: by_name[s.name] for s in value.free_symbols if s.name in by_name})
    unknown = value.free_symbols - set(by_name.values())
    if unknown:
        label = min(s.name for s in unknown)
        raise InputError(argument, f"{label} is not declared", f"declare it: positive {label}, or give it a size")
    if not value.is_rational_function(*value.free_symbols) or value.atoms(sp.Float):
        raise InputError(argument, f"{parse.shorten(value)} is no rational function", "use + - * / and integer powers")
    return sp.cancel(value)


def scalar(
    text: str,
    argument: str,
    known: tuple[sp.Symbol, ...],
    dimensions: tuple[str, ...],
    *,
    open_dimensions: bool = False,
) -> sp.Expr:
    """A rational function of dimensions and declared symbols, read exactly."""
    reader = _Reader(text, argument, None, {s.name: s for s in known}, set(dimensions), open_dimensions)
    result = reader.read(_tree(text, argument))
    if not isinstance(result, sp.Expr):
        raise InputError(argument, f"{parse.shorten(text)} is no number", "give a number or an expression in sizes")
    return result


def read(
    text: object, model: mx.Model, fixed: Mapping[str, sp.Rational] | None = None, digits: int | None = None
) -> mx.Question:
    """The question that a text asks; names in `fixed` are numbers, and with `digits` the constants of functions are.

    Errors: InputError naming what is not understood, does not fit, or is outside the class.
    """
    if not isinstance(text, str):
        raise InputError("expression", f"{parse.shorten(text)} is no expression", 'write "tr(inv(X.T*X + lam))"')
    if len(text) > MAX_LENGTH:
        raise InputError("expression", f"{len(text)} characters are too many", f"use at most {MAX_LENGTH}")
    parts = [part.strip() for part in text.split(";")]
    if not parts[-1]:
        raise InputError("expression", "there is nothing after the last semicolon", "end with the expression asked")
    reader = _Reader(
        text, "expression", model, {s.name: s for s in model.symbols}, {name for name, _ in model.sizes}, False
    )
    assert reader.features is not None
    reader.features.digits = digits
    reader.named.update({k: v for k, v in (fixed or {}).items() if k not in reader.dimensions})
    for part in parts[:-1]:
        match = re.fullmatch(r"let\s+(\w+)\s*=(?!=)\s*(.+)", part, re.DOTALL)
        if match is None:
            raise InputError("expression", f"{parse.shorten(part)} is not understood", "write let NAME = ...;")
        label = name(match[1], "expression")
        if reader.knows(label):
            raise InputError("expression", f"{label} has a meaning already", "choose another name")
        reader.text = match[2]
        reader.named[label] = reader.read(_tree(match[2], "expression"))
    reader.text = parts[-1]
    return reader.question(reader.read(_tree(parts[-1], "expression")), text)


def _tree(text: str, argument: str) -> ast.expr:
    for bad, hint in (("^", "write powers with **"), ("'", "write X.T for the transpose"), ("\\", "write inv(A)*b")):
        if bad in text:
            raise InputError(argument, f"{bad!r} is not understood", hint)
    if re.search(r"\blambda\b", text):
        raise InputError(argument, "lambda is a word of Python", "write lam")
    if not text.isascii():
        raise InputError(argument, f"{parse.shorten(text)} holds characters that are no ASCII", "use plain ASCII")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they concern code that would run; the tree is only read
            tree = ast.parse(f"({text.strip()})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        problem = error.msg if isinstance(error, SyntaxError) else "it is nested too deeply"
        raise InputError(
            argument, f"{parse.shorten(text)} is not an expression ({problem})", "write products with *"
        ) from None
    level = [tree]
    for _ in range(MAX_DEPTH):
        level = [child for item in level for child in ast.iter_child_nodes(item) if isinstance(child, ast.expr)]
        if not level:
            return tree
    raise InputError(argument, "the expression is nested too deeply", "name parts of it with let NAME = ...;")


class _Reader:
    """Turns a syntax tree into scalars (SymPy, functionals as placeholders) and matrices."""

    def __init__(
        self,
        text: str,
        argument: str,
        model: mx.Model | None,
        known: Mapping[str, sp.Symbol],
        dimensions: set[str],
        open_dimensions: bool,
    ) -> None:
        self.text, self.argument, self.model, self.known = text, argument, model, known
        self.dimensions, self.open = dimensions, open_dimensions
        self.named: dict[str, sp.Expr | mx.Node] = {}
        self.functionals: dict[sp.Symbol, mx.Functional] = {}
        self.features = None if model is None else entrywise.Features(model, {})

    def knows(self, label: str) -> bool:
        matrices = set()
        if self.model is not None:
            matrices = {g.name for g in self.model.gaussians} | {n for law in self.model.laws for n in law.names}
        return label in self.named or label in self.known or label in self.dimensions or label in matrices

    def refusal(self, problem: str, remedy: str) -> InputError:
        return InputError(self.argument, problem, remedy)

    def question(self, result: sp.Expr | mx.Node, text: str) -> mx.Question:
        assert self.model is not None
        return mx.question(self.model, self.scalar(result), self.functionals, text)

    def functional(self, wanted: mx.Functional) -> sp.Symbol:
        for symbol, known in self.functionals.items():
            if known == wanted:
                return symbol
        symbol = sp.Dummy(f"f{len(self.functionals)}", real=True)
        self.functionals[symbol] = wanted
        return symbol

    def scalar(self, value: sp.Expr | mx.Node) -> sp.Expr:
        """The value as a scalar: a 1 x 1 matrix is its own value."""
        if isinstance(value, mx.Node):
            if not value.rows == value.cols == mx.ONE:
                raise self.refusal(f"a {value.rows} x {value.cols} matrix is no number", "take tr(...) of it")
            return self.functional(mx.Functional("form", value))
        return value

    def is_plain(self, value: sp.Expr) -> bool:
        return not value.free_symbols & set(self.functionals)

    def factor(self, value: sp.Expr) -> sp.Expr:
        if not self.is_plain(value):
            raise self.refusal(
                "a trace or a 1 x 1 value stands inside a matrix", "compute it on its own and declare a symbol for it"
            )
        return value

    def read(self, node: ast.expr) -> sp.Expr | mx.Node:
        if isinstance(node, ast.BinOp):
            return self.operation(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            inner = self.read(node.operand)
            if isinstance(node.op, ast.UAdd):
                return inner
            if isinstance(inner, mx.Node):
                assert self.model is not None
                return mx.scaled(self.model, sp.S.NegativeOne, inner)
            return -inner
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return parse.number(
                ast.get_source_segment(f"({self.text.strip()})", node) or repr(node.value), self.argument
            )
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, ast.Attribute):
            return self.transpose(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        raise self.refusal(
            f"{parse.shorten(ast.unparse(node))} is not understood", "use + - * /, .T, inv(...), tr(...)"
        )

    def name(self, label: str) -> sp.Expr | mx.Node:
        if label in self.named:
            return self.named[label]
        if label in self.dimensions and label not in self.known:
            return sp.Symbol(label, positive=True)
        if label in self.known:
            return sp.Symbol(label, positive=True) if label in self.dimensions else self.known[label]
        if self.model is not None:
            if any(label == g.name for g in self.model.gaussians) or any(label in law.names for law in self.model.laws):
                return mx.leaf(self.model, label)
        elif self.open:
            return sp.Symbol(label, positive=True)
        if label == "I" and self.model is not None:
            raise self.refusal("I is not needed", "a scalar added to a square matrix means times the identity")
        raise self.refusal(
            f"{label} is not declared", f'declare it: gaussian "{label}: n x d, 1/n" or positive {label}'
        )

    def transpose(self, node: ast.Attribute) -> sp.Expr | mx.Node:
        if node.attr != "T":
            raise self.refusal(f".{node.attr[:20]} is not understood", "the transpose is .T, the inverse inv(...)")
        inner = self.read(node.value)
        if isinstance(inner, mx.Node):
            assert self.model is not None
            return mx.transposed(self.model, inner)
        return inner

    def call(self, node: ast.Call) -> sp.Expr | mx.Node:
        label = node.func.id if isinstance(node.func, ast.Name) else ""
        if label == "centred" and self.features is not None:
            if len(node.args) != 1 or not isinstance(node.args[0], ast.Call) or node.keywords:
                raise self.refusal("centred(...) of no function", "write centred(relu(X*W))")
            return self.entrywise(node.args[0], centred=True)
        if label == "ones" and self.model is not None:
            return self.ones(node)
        if label and label not in {"tr", "inv"} and not node.keywords and self.features is not None:
            return self.entrywise(node, centred=False)
        if not label or node.keywords or len(node.args) != 1:
            raise self.refusal(f"{parse.shorten(ast.unparse(node))} is not understood", "use inv(...) and tr(...)")
        if label not in {"tr", "inv"}:
            raise self.refusal(f"the function {label} is not understood", "use inv(...) and tr(...)")
        inner = self.read(node.args[0])
        if isinstance(inner, mx.Node):
            return mx.inverted(inner) if label == "inv" else self.functional(mx.trace(inner))
        return inner if label == "tr" else self.reciprocal(inner)

    def ones(self, node: ast.Call) -> mx.Node:
        """ones(n, N), ones(n, 1): the matrix whose entries are one."""
        sides = [ast.unparse(a) for a in node.args]
        if len(sides) != 2 or node.keywords or not all(s in self.dimensions or s == mx.ONE for s in sides):
            raise self.refusal(
                f"{parse.shorten(ast.unparse(node))} is not understood", "write ones(n, N), or ones(n, 1)"
            )
        if sides == [mx.ONE, mx.ONE]:
            raise self.refusal("ones(1, 1) is the number 1", "write 1")
        return mx.ones(*sides)

    def entrywise(self, node: ast.Call, centred: bool) -> mx.Node:
        """relu(X*W), leaky_relu(X*W, 1/100), He(3, X*W): the one argument that holds matrices is the function's z."""
        label = ast.unparse(node.func)
        held = [k for k, a in enumerate(node.args) if any(isinstance(n, ast.Name) for n in ast.walk(a))]
        if label in {"tr", "inv", "centred"} or len(held) != 1 or node.keywords:
            raise self.refusal(f"{parse.shorten(ast.unparse(node))} is not understood", "write relu(X*W)")
        if catalogue.entry(label) is None and label not in {*parse.FUNCTIONS, "Heaviside", "He"}:
            raise self.refusal(f"the function {label} is not understood", "use inv(...), tr(...) or a function's name")
        inner = self.read(node.args[held[0]])
        if not isinstance(inner, mx.Node):
            raise self.refusal(f"{label} of a number", "apply functions to matrices, relu(X*W)")
        arguments = [ast.Name("z") if k == held[0] else a for k, a in enumerate(node.args)]
        text = ast.unparse(ast.Call(ast.Name(label), arguments, []))
        f = nonlinearity(label if len(arguments) == 1 and catalogue.entry(label) else text, self.argument)
        return self.feature(f, inner, centred)

    def feature(self, f: Nonlinearity, inner: mx.Node, centred: bool) -> mx.Node:
        """f of a matrix, its mean taken out if it is to be."""
        assert self.model is not None
        assert self.features is not None
        at = entrywise.core(self.model, inner)
        g = f if at.deviation == 1 else nonlinearity(f.expr.subs(z, at.deviation * z), self.argument)
        return self.features.apply(f, g, inner, at, centred)

    def reciprocal(self, value: sp.Expr) -> sp.Expr:
        if value == 0:
            raise self.refusal("a division by zero", "check the expression")
        return 1 / value

    def operation(self, node: ast.BinOp) -> sp.Expr | mx.Node:
        if isinstance(node.op, ast.MatMult):
            raise self.refusal("@ is not understood", "write products with *")
        left = self.read(node.left)
        if isinstance(node.op, ast.Pow):
            return self.power(left, node.right)
        right = self.read(node.right)
        if isinstance(node.op, ast.Sub):
            return self.sum(left, self.product(sp.S.NegativeOne, right))
        if isinstance(node.op, ast.Add):
            return self.sum(left, right)
        if isinstance(node.op, ast.Mult):
            return self.product(left, right)
        if isinstance(node.op, ast.Div):
            if isinstance(right, mx.Node):
                if right.rows == right.cols == mx.ONE:
                    return self.product(left, mx.inverted(right))
                raise self.refusal("a division by a matrix", "write inv(A)*B or B*inv(A)")
            return self.product(left, self.reciprocal(right))
        raise self.refusal(f"{parse.shorten(ast.unparse(node))} is not understood", "use + - * / and **")

    def power(self, base: sp.Expr | mx.Node, node: ast.expr) -> sp.Expr | mx.Node:
        exponent = self.read(node)
        if not isinstance(exponent, sp.Integer) or abs(exponent) > 64:
            raise self.refusal("a power that is no small integer", "use integer powers")
        if isinstance(base, mx.Node):
            assert self.model is not None
            return mx.power(self.model, base, int(exponent))
        return base**exponent if exponent >= 0 else self.reciprocal(base**-exponent)

    def sum(self, left: sp.Expr | mx.Node, right: sp.Expr | mx.Node) -> sp.Expr | mx.Node:
        if isinstance(left, mx.Node) and isinstance(right, mx.Node):
            return mx.added(left, right)
        if isinstance(left, mx.Node) or isinstance(right, mx.Node):
            matrix, number = (left, right) if isinstance(left, mx.Node) else (right, left)
            assert isinstance(matrix, mx.Node)
            assert self.model is not None
            if matrix.rows == matrix.cols == mx.ONE and not self.is_plain(number):
                return self.scalar(matrix) + number
            return mx.plus_scalar(self.model, matrix, self.factor(number))
        return left + right

    def product(self, left: sp.Expr | mx.Node, right: sp.Expr | mx.Node) -> sp.Expr | mx.Node:
        if isinstance(left, mx.Node) and isinstance(right, mx.Node):
            if left.cols != right.rows and mx.ONE in (left.rows, right.cols):
                # A number (1 x 1) times a matrix: only as the outermost value, where both are numbers.
                for one in (left, right):
                    if one.rows == one.cols == mx.ONE:
                        raise self.refusal(
                            "a 1 x 1 value multiplies a matrix as a scalar", "order the product so that shapes fit"
                        )
            return mx.multiplied(left, right)
        if isinstance(left, mx.Node) or isinstance(right, mx.Node):
            matrix, number = (left, right) if isinstance(left, mx.Node) else (right, left)
            assert isinstance(matrix, mx.Node)
            assert self.model is not None
            if matrix.rows == matrix.cols == mx.ONE and not self.is_plain(number):
                return self.scalar(matrix) * number
            return mx.scaled(self.model, self.factor(number), matrix)
        return left * right


# SymPy matrix expressions --------------------------------------------------------------------------------------------


def from_sympy(
    expression: object, model: mx.Model, fixed: Mapping[str, sp.Rational] | None = None, digits: int | None = None
) -> mx.Question:
    """The question that a SymPy expression asks: Trace(...)/size, Trace(...) (normalised then), or a 1 x 1 matrix.

    Errors: InputError for what is outside the class.
    """
    reader = _Reader("", "expression", model, {s.name: s for s in model.symbols}, {n for n, _ in model.sizes}, False)
    reader.named.update({k: v for k, v in (fixed or {}).items() if k not in reader.dimensions})
    assert reader.features is not None
    reader.features.digits = digits
    walker = _Walker(reader)
    value = reader.scalar(walker.read(expression))
    try:
        return mx.question(model, value.xreplace(walker.traces), reader.functionals, str(expression))
    except InputError:
        # SymPy's trace is not normalised: Trace(A) alone grows like the size, so its normalised trace is meant.
        return mx.question(model, value, reader.functionals, str(expression))


class _Walker:
    """Turns SymPy into the reader's scalars and matrices."""

    def __init__(self, reader: _Reader) -> None:
        self.reader = reader
        self.traces: dict[sp.Symbol, sp.Expr] = {}  # times the dimension: not normalised

    def read(self, e: object) -> sp.Expr | mx.Node:
        r, model = self.reader, self.reader.model
        assert model is not None
        if isinstance(e, sp.MatrixSymbol):
            node = mx.leaf(model, str(e.name))
            if tuple(str(side) for side in e.shape) != (node.rows, node.cols):
                raise r.refusal(f"{e.name} is {e.shape[0]} x {e.shape[1]} here", "declare it with this shape")
            return node
        if isinstance(e, sp.Identity):
            return mx.Identity(str(e.shape[0]), str(e.shape[0]), Fraction(0))
        if isinstance(e, sp.Transpose):
            inner = self.read(e.arg)
            return mx.transposed(model, inner) if isinstance(inner, mx.Node) else inner
        if isinstance(e, sp.Inverse):
            inner = self.read(e.arg)
            return mx.inverted(inner) if isinstance(inner, mx.Node) else r.reciprocal(inner)
        if isinstance(e, ElementwiseApplyFunction):
            inner = self.read(e.expr)
            if not isinstance(inner, mx.Node):
                raise r.refusal("a function of a number", "apply functions to matrices")
            (slot,) = e.function.variables
            return r.feature(nonlinearity(e.function.expr.subs(slot, z), "expression"), inner, False)
        if isinstance(e, sp.MatPow):
            inner, exponent = self.read(e.base), e.exp
            if not isinstance(exponent, sp.Integer) or not isinstance(inner, mx.Node):
                raise r.refusal(f"the power {exponent}", "use integer powers")
            return mx.power(model, inner, int(exponent))
        if isinstance(e, sp.Trace):
            inner = self.read(e.arg)
            assert isinstance(inner, mx.Node)
            symbol = r.functional(mx.trace(inner))
            if inner.rows != mx.ONE:
                self.traces[symbol] = sp.Symbol(inner.rows, positive=True) * symbol
            return symbol
        if isinstance(e, sp.MatAdd | sp.Add | sp.MatMul | sp.Mul):
            combine = r.sum if isinstance(e, sp.MatAdd | sp.Add) else r.product
            result = self.read(e.args[0])
            for part in e.args[1:]:
                result = combine(result, self.read(part))
            return result
        if isinstance(e, sp.Pow) and isinstance(e.exp, sp.Integer):
            base = r.scalar(self.read(e.base))
            return base**e.exp
        if isinstance(e, sp.matrices.expressions.matexpr.MatrixElement):
            if e.parent.shape == (1, 1):
                return self.read(e.parent)
            raise r.refusal(f"the entry {e}", "use whole matrices")
        if isinstance(e, sp.Symbol):
            return r.name(e.name)
        if isinstance(e, sp.Rational):
            return e
        if isinstance(e, sp.Float | int | float):
            return parse.number(e, "expression")
        raise r.refusal(f"{parse.shorten(e)} is not understood", "use MatrixSymbols, +, *, .T, .inv() and Trace")
