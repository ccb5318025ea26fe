"""Setting and Limit: the model a user describes -- finite sizes, or their ratios -- in paper O's units.

Network f(x) = N^(-1/2) sum_j a_j sigma(w_j.x) with E a_j^2 = 1/N and w_j ~ N(0, I/d) or uniform on the unit sphere;
labels y = sum_r g_r(beta_r.x) + eps, x ~ N(0, I_d), orthonormal beta_r, eps ~ N(0, noise^2); step
W_{t+1} = W_t + eta_t sqrt(N) G_t (theory.steps.gradient); read-out by ridge (1/n)|y - Phi a|^2 + (ridge/N)|a|^2.

Predictors take a Limit (or a Setting where they are finite-size), simulations take a Setting, and each is made from
the other, so that theory and experiment cannot drift apart.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import sympy as sp

from bulkedge.theory.functions.nonlinearity import Nonlinearity, exact_numbers, nonlinearity
from bulkedge.theory.functions.parse import choice, number
from bulkedge.theory.numbers.errors import InputError

READOUTS = ("gaussian", "rademacher", "uniform", "constant")
WEIGHTS = ("gaussian", "sphere")
LOSSES = ("square", "correlation")

# What a user may type for a real: an int, a float, a decimal text, a Fraction or a SymPy constant.
Real = Any

ZERO = sp.Integer(0)


def readout_moment(law: str, power: int) -> sp.Rational:
    """E (sqrt(N) a_j)^power of a readout law; every law has second moment 1.

    gaussian: (power - 1)!!; rademacher: 1; uniform (on [-sqrt 3, sqrt 3]): 3^(power/2)/(power + 1); all zero for odd
    powers; constant (a_j = N^(-1/2)): 1.
    Errors: InputError for an unknown law or a negative power.
    """
    _choice("readout", law, READOUTS)
    if power < 0:
        raise InputError("power", f"{power} is negative", "give an integer >= 0")
    if law == "constant":
        return sp.Integer(1)
    if power % 2:
        return ZERO
    if law == "rademacher":
        return sp.Integer(1)
    return sp.Rational(3 ** (power // 2), power + 1) if law == "uniform" else sp.factorial2(power - 1)


def exact_real(value: Real, argument: str) -> sp.Expr:
    """An exact real constant: what theory.functions.parse.number reads, or a SymPy constant such as sqrt(2).

    Convention: a float means the decimal it prints as (0.1 is 1/10).
    Errors: InputError for what is not a finite real constant.
    """
    if isinstance(value, sp.Basic) and not isinstance(value, sp.Rational):
        expression = exact_numbers(value)
        if not (expression.is_number and expression.is_extended_real and expression.is_finite):
            raise InputError(argument, f"{str(value)[:40]} is not a finite real constant", "give a number")
        return expression
    return number(value, argument)


def _choice(argument: str, value: str, allowed: tuple[str, ...]) -> None:
    choice(value, argument, allowed)


def _nonnegative(value: Real, argument: str) -> sp.Expr:
    real = exact_real(value, argument)
    if real.is_negative:
        raise InputError(argument, f"{real} is negative", "give a number >= 0")
    return real


def _count(value: Any, argument: str) -> int:
    try:
        number = int(value) if value == int(value) and not isinstance(value, bool) else 0
    except (TypeError, ValueError, OverflowError):
        number = 0
    if number < 1:
        raise InputError(argument, f"{str(value)[:40]} is not a size", "give a positive integer")
    return number


def _ratio(value: Real, argument: str) -> sp.Expr:
    real = exact_real(value, argument)
    if not real.is_positive:
        raise InputError(argument, f"{real} is not a ratio", "give a positive number")
    return real


def _links(value: Any) -> tuple[Nonlinearity, ...]:
    links = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not links:
        raise InputError("links", "no link is given", "give one function, or a list of functions")
    return tuple(_nonlinearity(link, "links") for link in links)


def _nonlinearity(value: Any, argument: str) -> Nonlinearity:
    if not isinstance(value, str | sp.Expr | Nonlinearity):
        problem = "missing" if value is None else f"a {type(value).__name__} is not a function"
        raise InputError(argument, problem, "give a function, by name or as an expression in z")
    return nonlinearity(value, argument)


@dataclass(frozen=True)
class Growth:
    """A step size that grows with the width: eta = coefficient * (N/reference)^exponent.

    Exponent 0 is the small step Theta(1), exponent 1/2 the largest that the papers take.
    """

    coefficient: sp.Expr
    exponent: sp.Expr = ZERO
    reference: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficient", _nonnegative(self.coefficient, "steps"))
        object.__setattr__(self, "exponent", _nonnegative(self.exponent, "steps"))
        object.__setattr__(self, "reference", _count(self.reference, "steps"))

    def at(self, width: int) -> sp.Expr:
        """The step size at a width."""
        return self.coefficient * sp.Rational(width, self.reference) ** self.exponent


@dataclass(frozen=True, kw_only=True)
class Model:
    """What a Setting and a Limit have in common.

    `links`: the g_r, one or a list, by name, expression or Nonlinearity; `noise`: standard deviation of the labels;
    `reuse`: every step takes the same batch; `readout`: law of the a_j; `weights`: law of the w_j; `loss`: square
    (1/2)(y - f)^2 or correlation -y f; `ridge`: in paper O's units.
    """

    activation: Nonlinearity
    links: tuple[Nonlinearity, ...]
    reuse: bool = False
    noise: sp.Expr = ZERO
    readout: str = "gaussian"
    weights: str = "gaussian"
    loss: str = "square"
    ridge: sp.Expr | None = None

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _validate(self) -> None:
        self._set("activation", _nonlinearity(self.activation, "activation"))
        self._set("links", _links(self.links))
        self._set("noise", _nonnegative(self.noise, "noise"))
        if self.ridge is not None:
            self._set("ridge", _nonnegative(self.ridge, "ridge"))
        _choice("readout", self.readout, READOUTS)
        _choice("weights", self.weights, WEIGHTS)
        _choice("loss", self.loss, LOSSES)
        if not isinstance(self.reuse, bool):
            raise InputError("reuse", f"{str(self.reuse)[:40]!r} is not a truth value", "give True or False")

    @property
    def link(self) -> Nonlinearity:
        """The link of a single-index model.

        Errors: InputError if there are several links.
        """
        if len(self.links) > 1:
            raise InputError("links", f"{len(self.links)} links where one is needed", "give a single link")
        return self.links[0]

    def _common(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(Model)}


def _consistent(model: Setting | Limit) -> None:
    """The rules that tie sizes, steps and ridge together; each names the field that is missing or contradictory."""
    if model.steps and model.batch is None:
        raise InputError("batch", "missing, though there are steps", "give the number of samples of a step")
    if model.batch is not None and not model.steps:
        raise InputError("batch", "given, though there are no steps", "leave it out, or give steps")
    if model.reuse and len(model.steps) < 2:
        raise InputError("reuse", f"a batch is not reused by {len(model.steps)} steps", "give two steps or more")
    if model.ridge is not None and model.train is None:
        raise InputError("train", "missing, though there is a ridge", "give the number of samples of the ridge fit")


@dataclass(frozen=True, kw_only=True)
class Setting(Model):
    """A finite model: everything a simulation needs, in paper O's units.

    Shapes/units: `d` input dimension, `width` N, `batch` samples of each step, `train` samples of the ridge fit,
    `steps` the eta_t (any exact reals).
    Errors: InputError that names the field which is missing, contradictory or out of range.
    Source: O, section 2.
    """

    d: int
    width: int
    batch: int | None = None
    train: int | None = None
    steps: tuple[sp.Expr, ...] = ()

    def __post_init__(self) -> None:
        self._set("d", _count(self.d, "d"))
        self._set("width", _count(self.width, "width"))
        for field in ("batch", "train"):
            if getattr(self, field) is not None:
                self._set(field, _count(getattr(self, field), field))
        steps = self.steps if isinstance(self.steps, list | tuple) else (self.steps,)
        self._set("steps", tuple(_nonnegative(eta, "steps") for eta in steps))
        self._validate()
        _consistent(self)
        if len(self.links) > self.d:
            raise InputError("links", f"{len(self.links)} orthogonal directions do not fit in d = {self.d}", "raise d")

    def limit(self, exponents: tuple[Real, ...] | None = None) -> Limit:
        """The limit with the same ratios; `exponents` says how each step grows with the width (default: not at all).

        Convention: Setting.limit(e).at(d) is the same Setting whenever the e are those it was made with.
        """
        growth = (ZERO,) * len(self.steps) if exponents is None else exponents
        if len(growth) != len(self.steps):
            raise InputError("exponents", f"{len(growth)} exponents for {len(self.steps)} steps", "give one a step")
        powers = [_nonnegative(e, "exponents") for e in growth]
        steps = tuple(Growth(eta, e, self.width if e else 1) for eta, e in zip(self.steps, powers, strict=True))
        return Limit(
            width=sp.Rational(self.width, self.d),
            batch=None if self.batch is None else sp.Rational(self.batch, self.d),
            train=None if self.train is None else sp.Rational(self.train, self.d),
            steps=steps,
            **self._common(),
        )


@dataclass(frozen=True, kw_only=True)
class Limit(Model):
    """The proportional limit d, N, n -> infinity at fixed ratios, in paper O's units.

    Shapes/units: `width` N/d (paper O's psi2), `train` n/d (psi1), `batch` n1/d (alpha), `steps` a Growth (or a number:
    it does not grow) for each step.
    Errors: InputError that names the field which is missing, contradictory or out of range.
    Source: O, section 2.
    """

    width: sp.Expr
    batch: sp.Expr | None = None
    train: sp.Expr | None = None
    steps: tuple[Growth, ...] = ()

    def __post_init__(self) -> None:
        for field in ("width", "batch", "train"):
            if getattr(self, field) is not None:
                self._set(field, _ratio(getattr(self, field), field))
        steps = self.steps if isinstance(self.steps, list | tuple) else (self.steps,)
        self._set("steps", tuple(eta if isinstance(eta, Growth) else Growth(eta) for eta in steps))
        self._validate()
        _consistent(self)

    def at(self, d: int) -> Setting:
        """The Setting at input dimension d; sizes that come out fractional are rounded to the nearest integer.

        Errors: InputError if a size would be zero.
        """
        _count(d, "d")

        def size(field: str) -> int | None:
            ratio = getattr(self, field)
            return None if ratio is None else _count(int(sp.floor(ratio * d + sp.Rational(1, 2))), field)

        width = _count(size("width"), "width")
        steps = tuple(eta.at(width) for eta in self.steps)
        return Setting(d=d, width=width, batch=size("batch"), train=size("train"), steps=steps, **self._common())
