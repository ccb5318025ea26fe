"""The named nonlinearities: each a SymPy expression of its argument, with its parameters and a line of description.

Kinks are written with Max, Min, Abs, sign, Heaviside or Piecewise; smooth functions in a form that does not overflow
in floats where there is one (sigmoid by tanh, mish as a rational function of tanh) and that SymPy differentiates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import sympy as sp

# Klambauer et al., "Self-normalizing neural networks" (2017): the two constants as they are published, read exactly.
_SELU_SCALE = sp.Rational("1.0507009873554804934193349852946")
_SELU_ALPHA = sp.Rational("1.6732632423543772848170429916717")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a named function and its default."""

    name: str
    default: sp.Rational
    positive: bool = False


@dataclass(frozen=True)
class Entry:
    """A named function: `build(argument, *parameters)` makes the SymPy expression."""

    name: str
    text: str
    build: Callable[..., sp.Expr]
    parameters: tuple[Parameter, ...] = ()
    kinked: bool = False

    def __call__(self, argument: sp.Expr, *values: sp.Expr) -> sp.Expr:
        defaults = tuple(p.default for p in self.parameters[len(values) :])
        return self.build(argument, *values, *defaults)

    @property
    def usage(self) -> str:
        """How the function is written in an expression, with its defaults."""
        return f"{self.name}({', '.join(['z', *(f'{p.default}' for p in self.parameters)])})"

    @property
    def aliases(self) -> tuple[str, ...]:
        """The other names it goes by."""
        return tuple(alias for alias, owner in ALIASES.items() if owner == self.name)


_FEW_NODES = 300  # of an expression, up to which SymPy may look for its sign and compare it with others


def maximum(*values: sp.Expr) -> sp.Expr:
    """The largest of the values."""
    return _extremum(sp.Max, values)


def minimum(*values: sp.Expr) -> sp.Expr:
    """The least of the values."""
    return _extremum(sp.Min, values)


def absolute(u: sp.Expr) -> sp.Expr:
    """|u|; of a long expression without SymPy's search for its sign."""
    return sp.Abs(u, evaluate=False) if _is_long(u) and not u.is_polynomial() else sp.Abs(u)


def _is_long(u: sp.Expr) -> bool:
    return sum(1 for _ in islice(sp.preorder_traversal(u), _FEW_NODES)) == _FEW_NODES


def _extremum(kind: type[sp.Max] | type[sp.Min], values: tuple[sp.Expr, ...]) -> sp.Expr:
    distinct = dict.fromkeys(values)
    if len(distinct) > 1 and any(map(_is_long, distinct)):
        return kind(*distinct, evaluate=False)  # comparing long polynomials takes SymPy many seconds
    return kind(*distinct)


def relation(kind: type[sp.core.relational.Relational], left: sp.Expr, right: sp.Expr) -> sp.Basic:
    """A comparison; of long expressions without SymPy's attempt to decide it."""
    return kind(left, right, evaluate=not (_is_long(left) or _is_long(right)))


def step(u: sp.Expr) -> sp.Expr:
    """1 for u > 0, else 0 (the value at a point does not matter in L2)."""
    return sp.Heaviside(u, sp.S.Zero)


def normal_cdf(u: sp.Expr) -> sp.Expr:
    """Phi(u), the distribution function of N(0, 1)."""
    return (1 + sp.erf(u / sp.sqrt(2))) / 2


def sigmoid(u: sp.Expr) -> sp.Expr:
    """1/(1 + exp(-u)) = (1 + tanh(u/2))/2."""
    return (1 + sp.tanh(u / 2)) / 2


def mish(u: sp.Expr) -> sp.Expr:
    """u tanh(log(1 + exp u)) as a rational function of t = tanh(u/2): exp u = (1 + t)/(1 - t) gives
    tanh(log(1 + exp u)) = (1 + t)(3 - t)/(4 + (1 - t)^2)."""
    t = sp.tanh(u / 2)
    return u * (1 + t) * (3 - t) / (4 + (1 - t) ** 2)


def elu(u: sp.Expr, a: sp.Expr) -> sp.Expr:
    """u for u > 0, else a (exp(u) - 1)."""
    return sp.Piecewise((u, relation(sp.Gt, u, sp.S.Zero)), (a * (sp.exp(u) - 1), True))


def celu(u: sp.Expr, a: sp.Expr) -> sp.Expr:
    """u for u > 0, else a (exp(u/a) - 1)."""
    return sp.Piecewise((u, relation(sp.Gt, u, sp.S.Zero)), (a * (sp.exp(u / a) - 1), True))


def selu(u: sp.Expr) -> sp.Expr:
    """The scaled ELU of Klambauer et al., with its two published constants."""
    return sp.Piecewise(
        (_SELU_SCALE * u, relation(sp.Gt, u, sp.S.Zero)), (_SELU_SCALE * _SELU_ALPHA * (sp.exp(u) - 1), True)
    )


def leaky_relu(u: sp.Expr, slope: sp.Expr) -> sp.Expr:
    """u for u > 0, else slope u."""
    return maximum(u, sp.S.Zero) + slope * minimum(u, sp.S.Zero)


def clip(u: sp.Expr, top: sp.Expr) -> sp.Expr:
    """u cut off to [0, top]."""
    return minimum(maximum(u, sp.S.Zero), top)


def hard_sigmoid(u: sp.Expr, slope: sp.Expr) -> sp.Expr:
    """slope u + 1/2 cut off to [0, 1]: slope 1/6 in PyTorch, 1/5 in Theano and older Keras, 1/2 in BinaryConnect."""
    return clip(slope * u + sp.Rational(1, 2), _ONE)


def softshrink(u: sp.Expr, threshold: sp.Expr) -> sp.Expr:
    """u moved towards zero by the threshold, 0 within it."""
    return maximum(u - threshold, sp.S.Zero) + minimum(u + threshold, sp.S.Zero)


def hardshrink(u: sp.Expr, threshold: sp.Expr) -> sp.Expr:
    """u where |u| > threshold, else 0."""
    return sp.Piecewise(
        (u, relation(sp.Gt, u, threshold)), (u, relation(sp.Lt, u, -threshold)), (sp.S.Zero, True), evaluate=False
    )


def gelu_tanh(u: sp.Expr) -> sp.Expr:
    """The tanh approximation of GELU with its published constant .044715 (Hendrycks and Gimpel 2016)."""
    return u * (1 + sp.tanh(sp.sqrt(2 / sp.pi) * (u + sp.Rational("0.044715") * u**3))) / 2


_ONE = sp.S.One

_ENTRIES = (
    Entry("relu", "max(z, 0)", lambda u: maximum(u, sp.S.Zero), kinked=True),
    Entry(
        "leaky_relu", "z for z > 0, else slope z", leaky_relu, (Parameter("slope", sp.Rational(1, 100)),), kinked=True
    ),
    Entry("abs", "|z|", absolute, kinked=True),
    Entry("sign", "the sign of z", sp.sign, kinked=True),
    Entry("step", "1 for z > 0, else 0", step, kinked=True),
    Entry("erf", "2/sqrt(pi) times the integral of exp(-t^2) over 0..z", sp.erf),
    Entry("Phi", "the distribution function of N(0, 1)", normal_cdf),
    Entry("gelu", "z Phi(z), the exact form (not the tanh approximation)", lambda u: u * normal_cdf(u)),
    Entry("elu", "z for z > 0, else a (exp(z) - 1)", elu, (Parameter("a", _ONE),), kinked=True),
    Entry("celu", "z for z > 0, else a (exp(z/a) - 1)", celu, (Parameter("a", _ONE, positive=True),), kinked=True),
    Entry("selu", "the scaled ELU with the published constants of Klambauer et al. (2017)", selu, kinked=True),
    Entry("gelu_tanh", "z (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3)))/2, the tanh approximation of gelu", gelu_tanh),
    Entry("quick_gelu", "z sigmoid(1.702 z)", lambda u: u * sigmoid(sp.Rational("1.702") * u)),
    Entry(
        "silu",
        "z sigmoid(beta z), also called swish",
        lambda u, beta: u * sigmoid(beta * u),
        (Parameter("beta", _ONE),),
    ),
    Entry("mish", "z tanh(softplus(z))", mish),
    Entry(
        "softplus",
        "log(1 + exp(beta z))/beta",
        lambda u, beta: sp.log(1 + sp.exp(beta * u)) / beta,
        (Parameter("beta", _ONE, positive=True),),
    ),
    Entry("logsigmoid", "log(sigmoid(z)) = -log(1 + exp(-z))", lambda u: -sp.log(1 + sp.exp(-u))),
    Entry("sigmoid", "1/(1 + exp(-z))", sigmoid),
    Entry("tanh", "the hyperbolic tangent", sp.tanh),
    Entry("tanhshrink", "z - tanh(z)", lambda u: u - sp.tanh(u)),
    Entry("arctan", "the inverse tangent", sp.atan),
    Entry("asinh", "the inverse hyperbolic sine", sp.asinh),
    Entry("log_cosh", "log(cosh(z))", lambda u: sp.log(sp.cosh(u))),
    Entry("hard_tanh", "z cut off to [-1, 1]", lambda u: minimum(maximum(u, -_ONE), _ONE), kinked=True),
    Entry("relu2", "max(z, 0)^2", lambda u: maximum(u, sp.S.Zero) ** 2, kinked=True),
    Entry("prelu", "z for z > 0, else slope z", leaky_relu, (Parameter("slope", sp.Rational(1, 4)),), kinked=True),
    Entry(
        "hard_sigmoid",
        "slope z + 1/2 cut off to [0, 1]; slopes in use: 1/6 (PyTorch), 1/5 (Keras 2), 1/2 (BinaryConnect)",
        hard_sigmoid,
        (Parameter("slope", sp.Rational(1, 6), positive=True),),
        kinked=True,
    ),
    Entry("hardswish", "z hard_sigmoid(z), slope 1/6", lambda u: u * hard_sigmoid(u, sp.Rational(1, 6)), kinked=True),
    Entry("softsign", "z/(1 + |z|)", lambda u: u / (1 + absolute(u)), kinked=True),
    Entry(
        "softshrink",
        "z - a for z > a, z + a for z < -a, else 0",
        softshrink,
        (Parameter("a", sp.Rational(1, 2), positive=True),),
        kinked=True,
    ),
    Entry(
        "hardshrink",
        "z for |z| > a, else 0",
        hardshrink,
        (Parameter("a", sp.Rational(1, 2), positive=True),),
        kinked=True,
    ),
    Entry("relu6", "z cut off to [0, 6]", clip, (Parameter("top", sp.Integer(6), positive=True),), kinked=True),
    Entry("snake", "z + sin(a z)^2/a", lambda u, a: u + sp.sin(a * u) ** 2 / a, (Parameter("a", _ONE, positive=True),)),
    Entry("sin", "the sine", sp.sin),
    Entry("cos", "the cosine", sp.cos),
    Entry("exp", "the exponential", sp.exp),
    Entry("gaussian", "exp(-a z^2)", lambda u, a: sp.exp(-a * u**2), (Parameter("a", _ONE),)),
)

CATALOGUE: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}

# Other names in use. Capitals and underscores do not matter (`entry`): ReLU, Hardtanh or LeakyReLU need no line.
ALIASES = {
    "swish": "silu",
    "heaviside": "step",
    "logistic": "sigmoid",
    "atan": "arctan",
    "arcsinh": "asinh",
    "normal_cdf": "Phi",
    "squared_relu": "relu2",
    "relu_squared": "relu2",
    "hard_silu": "hardswish",
    "gelu_new": "gelu_tanh",
}

_EXACT_CASE = {"Phi"}  # phi is the density


def folded(name: str) -> str:
    """The name without capitals and underscores."""
    return name.lower().replace("_", "")


_FOLDED = {folded(name): name for name in [*ALIASES, *CATALOGUE] if name not in _EXACT_CASE}


def entry(name: str) -> Entry | None:
    """The catalogue's entry of that name or alias, in whatever capitals, or None."""
    exact = name if name in CATALOGUE or name in ALIASES else _FOLDED.get(folded(name), name)
    return CATALOGUE.get(ALIASES.get(exact, exact))
