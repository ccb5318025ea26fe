"""Rational expressions in Gaussian and deterministic matrices: what an equivalent is computed of.

A declared Gaussian matrix has iid centred entries (or is symmetric), a deterministic one a spectral law. An expression
is a sum, product, transpose or inverse of them; a dimension may be one, so targets, readouts and labels are vectors. A
function may be applied entrywise to a product (`Feature`).
All sizes grow together: every matrix is rescaled so that its variance is (a number)/size, and what the rescaling
leaves, a power of the size, must be the same in all terms of a sum and must cancel in the value that is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.spectra.spectral_density import Density

ONE = "1"  # the name of dimension one
MAX_POWER = 12


@dataclass(frozen=True)
class Gaussian:
    """A Gaussian matrix: iid entries of the given variance (symmetric: up to the symmetry).

    `variance` is a SymPy expression in dimensions (as symbols) and declared symbols.
    """

    name: str
    rows: str
    cols: str
    variance: sp.Expr
    symmetric: bool = False


@dataclass(frozen=True)
class SpectralLaw:
    """Symmetric deterministic matrices of one dimension that commute, by their joint spectral law.

    `atoms`: pairs (values, one for each name; weight), the weights adding up to one; of a law with a density, those of
    a Gauss rule.
    """

    names: tuple[str, ...]
    dimension: str
    atoms: tuple[tuple[tuple[sp.Expr, ...], sp.Expr], ...]
    density: Density | None = None

    def refined(self, nodes: int) -> SpectralLaw:
        """The law with a rule of so many nodes, if it has a density."""
        return self if self.density is None else replace(self, atoms=self.density.atoms(nodes))


@dataclass(frozen=True)
class Node:
    """A matrix expression: its shape, and the power of the common size that was taken out of it."""

    rows: str
    cols: str
    degree: Fraction


@dataclass(frozen=True)
class Leaf(Node):
    """A declared matrix or its transpose."""

    name: str
    transposed: bool


@dataclass(frozen=True)
class Identity(Node):
    """The identity."""


@dataclass(frozen=True)
class Sum(Node):
    """A sum of multiples of matrices of one shape."""

    terms: tuple[tuple[sp.Expr, Node], ...]


@dataclass(frozen=True)
class Product(Node):
    """A product of matrices."""

    factors: tuple[Node, ...]


@dataclass(frozen=True)
class Inverse(Node):
    """The inverse of a square matrix."""

    inner: Node


@dataclass(frozen=True)
class Ones(Node):
    """1 1^T where both sides are large: a term of rank one, sqrt(size) beyond all others.

    1 1^T = 1 (1/eps) 1^T, eps -> 0 (the vectors 1 of a variance 1/size, as all matrices): eps stands in a block of
    dimension one, which gives no self-energy, so that it may be zero from the beginning.
    """


@dataclass(frozen=True)
class HermiteConstant:
    """mu0, mu1 or mu2 (degree 2: all that is left) of a function, a symbol of the equations."""

    name: str
    function: Nonlinearity
    degree: int

    @property
    def symbol(self) -> sp.Symbol:
        """Positive where that is known: mu2, and mu1 of a function that is told to be so."""
        return sp.Symbol(self.name, positive=True) if self.degree == 2 else sp.Symbol(self.name, real=True)


@dataclass(frozen=True)
class Feature(Node):
    """f(A) entrywise: mu0 1 1^T + mu1 A + mu2 Z in the theory, the function itself in a simulation.

    `deviation` is that of A's entries; `transposed` says that the residue's transpose is meant; `turned`, that its
    canonical order is the transposed one. `level` is mu2, or the number mu2^2; `mean` is 0 where it was taken out
    (`centred`). `even`: whether E f''(z) may differ from zero.
    """

    function: Nonlinearity
    inner: Node
    residue: str
    transposed: bool
    turned: bool
    deviation: sp.Rational
    linear: HermiteConstant | sp.Rational
    level: HermiteConstant | sp.Rational
    mean: HermiteConstant | sp.Rational
    centred: bool
    even: bool

    def equivalent(self) -> Node:
        """mu0 1 1^T + mu1 A + mu2 Z, Z of the residue's own variance."""
        rest = Leaf(self.rows, self.cols, self.degree, self.residue, self.transposed)
        slope = self.linear.symbol if isinstance(self.linear, HermiteConstant) else self.linear
        terms: tuple[tuple[sp.Expr, Node], ...] = ((sp.S.One, rest),)
        if slope != 0:
            terms = ((slope / self.deviation, self.inner), *terms)
        mean = self.mean.symbol if isinstance(self.mean, HermiteConstant) else self.mean
        if mean != 0:
            terms = (*terms, (mean, ones(self.rows, self.cols)))
        return Sum(self.rows, self.cols, self.degree, terms)

    def residual(self) -> Gaussian:
        """The declaration of the residue."""
        sides = (self.cols, self.rows) if self.transposed else (self.rows, self.cols)
        variance = self.level.symbol**2 if isinstance(self.level, HermiteConstant) else self.level
        return Gaussian(self.residue, *sides, variance)

    def constants(self) -> tuple[HermiteConstant, ...]:
        """Those of mu0, mu1 and mu2 that are no rational numbers."""
        return tuple(c for c in (self.mean, self.linear, self.level) if isinstance(c, HermiteConstant))


def ones_name(dimension: str) -> str:
    """The name of the vector 1 of a dimension, which counts as a Gaussian one: nothing else singles it out."""
    return f"one_{dimension}"


@dataclass(frozen=True)
class Functional:
    """What is asked of a matrix: its normalised trace, or the value of a 1 x 1 matrix."""

    kind: str  # "trace" or "form"
    matrix: Node


@dataclass(frozen=True)
class Model:
    """The declarations: matrices, sizes as ratios to the common size, and free symbols."""

    gaussians: tuple[Gaussian, ...]
    laws: tuple[SpectralLaw, ...] = ()
    sizes: tuple[tuple[str, sp.Expr], ...] = ()
    symbols: tuple[sp.Symbol, ...] = ()
    features: tuple[Feature, ...] = ()  # one for every residue
    constants: tuple[HermiteConstant, ...] = ()  # of the features; their symbols are among `symbols`
    ones: tuple[str, ...] = ()  # dimensions whose vector 1 occurs, in a function's mean
    spiked: bool = False  # whether a mean has both sides large

    @property
    def continuous(self) -> bool:
        """Whether a law has a density."""
        return any(law.density is not None for law in self.laws)

    def gaussian(self, name: str) -> Gaussian | None:
        """The Gaussian matrix of that name, if it is one."""
        return next((g for g in self.gaussians if g.name == name), None)

    def law(self, dimension: str) -> SpectralLaw | None:
        """The spectral law of the deterministic matrices of a dimension, if there are any."""
        return next((law for law in self.laws if law.dimension == dimension), None)

    def dimensions(self) -> tuple[str, ...]:
        """Dimensions other than one, in the order of their declaration."""
        found = [side for g in self.gaussians for side in (g.rows, g.cols)] + [law.dimension for law in self.laws]
        return tuple(dict.fromkeys(name for name in found if name != ONE))

    def ratio(self, dimension: str) -> sp.Expr:
        """The dimension over the common size; 0 for dimension one."""
        if dimension == ONE:
            return sp.S.Zero
        return dict(self.sizes)[dimension]

    def split(self, scalar: sp.Expr, argument: str = "expression") -> tuple[sp.Expr, int]:
        """A scalar in the dimensions as (its value at the ratios, its power of the common size).

        Errors: InputError unless it is homogeneous in the dimensions.
        """
        at = {sp.Symbol(name, positive=True): value for name, value in self.sizes}
        held = scalar.free_symbols & set(at)
        if not held:
            return scalar, 0
        unit = sp.Dummy("unit", positive=True)
        numerator, denominator = sp.fraction(sp.together(scalar))
        power = 0
        for part, sign in ((numerator, 1), (denominator, -1)):
            poly = sp.Poly(sp.expand(part.xreplace({s: unit * s for s in held})), unit)
            if len(poly.terms()) != 1:
                raise InputError(argument, f"{scalar} adds sizes of different order", "divide by a dimension")
            power += sign * poly.degree()
        return sp.cancel(scalar.xreplace(at)), power


def check_model(model: Model) -> Model:
    """The model, if names, sizes, variances and weights are usable.

    Errors: InputError, naming the declaration.
    """
    names = [g.name for g in model.gaussians] + [name for law in model.laws for name in law.names]
    taken = [*names, *model.dimensions(), *(s.name for s in model.symbols if s.name not in dict(model.sizes))]
    for name in taken:
        if taken.count(name) > 1:
            raise InputError("gaussian", f"{name} has two meanings", "give every matrix, size and symbol its own name")
    for g in model.gaussians:
        if g.rows == g.cols == ONE:
            raise InputError("gaussian", f"{g.name} is a 1 x 1 matrix, which does not concentrate", "use a symbol")
        if g.symmetric and g.rows != g.cols:
            raise InputError("gaussian", f"{g.name} is symmetric but not square", "give it equal sides")
        value, power = model.split(g.variance, "gaussian")
        if value.is_zero or value.is_negative:
            raise InputError("gaussian", f"the variance of {g.name} is not positive", "give a variance such as 1/n")
        del power
    dims = [law.dimension for law in model.laws]
    for law in model.laws:
        if dims.count(law.dimension) > 1:
            raise InputError(
                "deterministic",
                f"two laws are declared for dimension {law.dimension}, and nothing says that they commute",
                'declare the matrices together with their joint law, "S T: d, atoms 1,2:1/2 4,3:1/2"',
            )
        if law.dimension == ONE:
            raise InputError("deterministic", "a deterministic 1 x 1 matrix is a number", "use a symbol")
        total = sp.cancel(sum(weight for _, weight in law.atoms))
        if total != 1 or any(weight.is_negative or weight.is_zero for _, weight in law.atoms):
            raise InputError("deterministic", f"the weights add up to {total}", "give positive weights of sum 1")
    for name, ratio in model.sizes:
        if ratio.is_positive is False:
            raise InputError("size", f"{name} = {ratio} is not positive", "give positive relative sizes")
    return model


# Constructors: shapes and powers of the size are checked as the expression is built --------------------------------


def leaf(model: Model, name: str) -> Node:
    """A declared matrix."""
    g = model.gaussian(name)
    if g is not None:
        _, power = model.split(g.variance, "gaussian")
        return Leaf(g.rows, g.cols, Fraction(power + 1, 2), name, False)
    for law in model.laws:
        if name in law.names:
            return Leaf(law.dimension, law.dimension, Fraction(0), name, False)
    raise InputError("expression", f"{name} is not declared", 'declare it with gaussian "X: n x d, 1/n"')


def ones(rows: str, cols: str) -> Node:
    """The matrix whose entries are one."""
    degree = Fraction(1, 2)  # as of entries of variance one
    if ONE in (rows, cols):
        return Leaf(rows, cols, degree, ones_name(rows if cols == ONE else cols), rows == ONE)
    return Ones(rows, cols, degree)


def scaled(model: Model, scalar: sp.Expr, node: Node) -> Node:
    """A scalar times a matrix."""
    value, power = model.split(scalar)
    if value.is_zero:
        raise InputError("expression", "a factor is zero", "leave the term out")
    if value == 1 and power == 0:
        return node
    if isinstance(node, Sum):
        return Sum(
            node.rows, node.cols, node.degree + power, tuple((sp.cancel(value * c), inner) for c, inner in node.terms)
        )
    return Sum(node.rows, node.cols, node.degree + power, ((value, node),))


def added(left: Node, right: Node) -> Node:
    """The sum of two matrices."""
    if (left.rows, left.cols) != (right.rows, right.cols):
        raise InputError(
            "expression", f"shapes {_shape(left)} and {_shape(right)} are added", "check the factors and transposes"
        )
    if left.degree != right.degree:
        raise InputError(
            "expression",
            f"a term of order size^{left.degree} is added to one of order size^{right.degree}",
            "scale them alike: give the matrices variances such as 1/n, or divide by a dimension",
        )
    terms: dict[Node, sp.Expr] = {}
    for side in (left, right):
        for c, inner in side.terms if isinstance(side, Sum) else ((sp.S.One, side),):
            terms[inner] = sp.cancel(terms.get(inner, sp.S.Zero) + c)
    kept = tuple((c, inner) for inner, c in terms.items() if c != 0)
    if not kept:
        raise InputError("expression", "a sum is identically zero", "leave it out")
    return Sum(left.rows, left.cols, left.degree, kept)


def multiplied(left: Node, right: Node) -> Node:
    """The product of two matrices."""
    if left.cols != right.rows:
        raise InputError(
            "expression", f"a {_shape(left)} matrix times a {_shape(right)} matrix", "check the order and transposes"
        )
    if isinstance(left, Identity):
        return right
    if isinstance(right, Identity):
        return left
    factors = tuple(f for side in (left, right) for f in (side.factors if isinstance(side, Product) else (side,)))
    return Product(left.rows, right.cols, left.degree + right.degree, factors)


def transposed(model: Model, node: Node) -> Node:
    """The transpose, pushed down to the declared matrices."""
    if isinstance(node, Ones):
        return Ones(node.cols, node.rows, node.degree)
    if isinstance(node, Leaf):
        g = model.gaussian(node.name)
        if (g is None and ONE not in (node.rows, node.cols)) or (g is not None and g.symmetric):
            return node
        return Leaf(node.cols, node.rows, node.degree, node.name, not node.transposed)
    if isinstance(node, Sum):
        terms = tuple((c, transposed(model, inner)) for c, inner in node.terms)
        return Sum(node.cols, node.rows, node.degree, terms)
    if isinstance(node, Product):
        factors = tuple(transposed(model, f) for f in reversed(node.factors))
        return Product(node.cols, node.rows, node.degree, factors)
    if isinstance(node, Inverse):
        return Inverse(node.rows, node.cols, node.degree, transposed(model, node.inner))
    if isinstance(node, Feature):
        inner = transposed(model, node.inner)
        return replace(node, rows=node.cols, cols=node.rows, inner=inner, transposed=not node.transposed)
    return node


def inverted(node: Node) -> Node:
    """The inverse."""
    if node.rows != node.cols:
        raise InputError("expression", f"inv of a {_shape(node)} matrix", "invert square matrices only")
    return node.inner if isinstance(node, Inverse) else Inverse(node.rows, node.cols, -node.degree, node)


def plus_scalar(model: Model, node: Node, scalar: sp.Expr) -> Node:
    """A square matrix plus a scalar times the identity."""
    if node.rows != node.cols:
        raise InputError(
            "expression", f"a scalar is added to a {_shape(node)} matrix", "add scalars to square matrices only"
        )
    if scalar == 0:
        return node
    return added(node, scaled(model, scalar, Identity(node.rows, node.rows, Fraction(0))))


def power(model: Model, node: Node, exponent: int) -> Node:
    """An integer power of a square matrix."""
    if node.rows != node.cols:
        raise InputError("expression", f"a power of a {_shape(node)} matrix", "take powers of square matrices only")
    if not 1 <= abs(exponent) <= MAX_POWER:
        raise InputError("expression", f"the power {exponent}", f"use powers between 1 and {MAX_POWER}, or inv(...)")
    base = inverted(node) if exponent < 0 else node
    result = base
    for _ in range(abs(exponent) - 1):
        result = multiplied(result, base)
    return result


def trace(node: Node) -> Functional:
    """The normalised trace."""
    if node.rows != node.cols:
        raise InputError("expression", f"tr of a {_shape(node)} matrix", "take traces of square matrices only")
    return Functional("form" if node.rows == ONE else "trace", node)


def _shape(node: Node) -> str:
    return f"{node.rows} x {node.cols}"


@dataclass(frozen=True)
class Question:
    """What is asked: a scalar expression in functionals, each a placeholder symbol of `functionals`."""

    model: Model
    value: sp.Expr
    functionals: tuple[tuple[sp.Symbol, Functional], ...]
    text: str = field(default="", compare=False)


def question(model: Model, value: sp.Expr, functionals: Mapping[sp.Symbol, Functional], text: str = "") -> Question:
    """The question, once the powers of the size have been seen to cancel.

    Errors: InputError if the value grows or vanishes with the size, or holds no matrix at all.
    """
    unit = sp.Dummy("unit", positive=True)
    used = {s: f for s, f in functionals.items() if s in value.free_symbols}
    if not used:
        raise InputError("expression", "no matrix is left in it", "write tr(...) of a matrix, or a 1 x 1 expression")
    at = {sp.Symbol(name, positive=True): unit * ratio for name, ratio in model.sizes}
    scale = {
        s: unit ** sp.Rational(f.matrix.degree.numerator, f.matrix.degree.denominator) * s for s, f in used.items()
    }
    scaled_value = sp.simplify(value.xreplace(at).xreplace(scale)) if at or scale else value
    if unit in scaled_value.free_symbols:
        order = sp.cancel(unit * sp.diff(scaled_value, unit) / scaled_value)
        how = f"is of order size^{order}" if not order.free_symbols else "adds terms of different order in the size"
        raise InputError(
            "expression", f"the value {how}, not of order one", "give variances such as 1/n, or divide by a dimension"
        )
    every = _features([f.matrix for f in used.values()])
    features = tuple({(f.residue, f.centred): f for f in every}.values())
    constants = tuple(dict.fromkeys(c for f in features for c in f.constants()))
    nodes = _visited([f.matrix for f in used.values()])
    ones = _ones(model, features, nodes)
    model = replace(
        model,
        gaussians=(
            *model.gaussians,
            *{f.residue: f.residual() for f in features}.values(),
            *(Gaussian(ones_name(dim), dim, ONE, sp.S.One) for dim in ones),
        ),
        ones=ones,
        spiked=any(isinstance(n, Ones) for n in nodes)
        or any(f.mean != 0 and ONE not in (f.rows, f.cols) for f in features),
        symbols=model.symbols + tuple(c.symbol for c in constants),
        features=features,
        constants=constants,
    )
    return Question(model, sp.cancel(scaled_value), tuple(used.items()), text)


def _ones(model: Model, features: Sequence[Feature], nodes: Sequence[Node]) -> tuple[str, ...]:
    """The dimensions whose vector 1 occurs.

    Errors: InputError where the terms of rank one that a function's even part makes by itself would count: its mean
    over a row, c (|x|^2 - 1), meets another function's mean.
    """
    vectors = {ones_name(dim): dim for dim in model.dimensions()}
    held: list[Node] = [f for f in features if f.mean != 0] + [n for n in nodes if isinstance(n, Ones)]
    held += [n for n in nodes if isinstance(n, Leaf) and n.name in vectors and model.gaussian(n.name) is None]
    ones = tuple(dict.fromkeys(dim for n in held for dim in (n.rows, n.cols) if dim != ONE))
    taken = {g.name for g in model.gaussians} | {s.name for s in model.symbols}
    for dim in ones:
        if ones_name(dim) in taken:
            raise InputError("expression", f"{ones_name(dim)} is needed for a function's mean", "choose another name")
    for f in features:
        if f.mean == 0 and f.even and ONE not in (f.rows, f.cols) and {f.rows, f.cols} & set(ones):
            raise InputError(
                "expression",
                f"{f.function.name} has no mean but an even part, and something else has a mean: the means of single "
                "rows, c_2 (|w|^2 - 1), are a term of rank one that would count",
                "use centred(...) on the other side too, or leave this function's mean in",
            )
    return ones


def _features(nodes: Sequence[Node]) -> tuple[Feature, ...]:
    return tuple(node for node in _visited(nodes) if isinstance(node, Feature))


def _visited(nodes: Sequence[Node]) -> tuple[Node, ...]:
    found: dict[Node, None] = {}
    _visit(nodes, found)
    return tuple(found)


def _visit(nodes: Sequence[Node], found: dict[Node, None]) -> None:
    """All nodes, in order of occurrence."""

    def visit(node: Node) -> None:
        if node in found:
            return
        found[node] = None
        for inner in (
            [n for _, n in node.terms]
            if isinstance(node, Sum)
            else list(node.factors)
            if isinstance(node, Product)
            else [node.inner]
            if isinstance(node, Inverse | Feature)
            else []
        ):
            visit(inner)

    for node in nodes:
        visit(node)
