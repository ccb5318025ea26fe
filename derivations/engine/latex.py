"""The only LaTeX printer: SymPy expressions as one would write them in a paper.

What differs from SymPy's own printer: the names of the theory (He_k, mu_1 with a star, sigma_epsilon, psi_1), the
positive part and the indicator instead of Max and a theta that collides with angles, primes for derivatives of unnamed
functions, brackets wherever an exponent could be misread, and an error for a head it does not know. Needs amsmath and
amssymb only. Formulas for a book are broken at their plus signs by `latex_lines`.
"""

from __future__ import annotations

import re
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.latex import LatexPrinter, tex_greek_dictionary

from bulkedge.theory.numbers.errors import InputError

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi "
    "psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega varepsilon"
)
GREEK = frozenset(_GREEK.split())

# Whole names that no rule gives.
NAMES = {
    "s_eps": r"\sigma_{\varepsilon}",
    "sigma2": r"\sigma^{2}",
    "lam": r"\lambda",
    "ell": r"\ell",
    "e": r"\mathsf{e}",  # a symbol of this name is not the base of the exponential
    "sqrt2pi": r"\sqrt{2 \pi}",
}
_ROOT_2PI = sp.Symbol("sqrt2pi", positive=True)
_SUBSCRIPTS = {"eps": r"\varepsilon", "inf": r"\infty"}
_ACCENTS = {"bar": r"\bar", "hat": r"\hat", "tilde": r"\tilde"}
_SUPERSCRIPTS = {"star": r"\star", "prime": r"\prime", "plus": "+", "minus": "-"}

# Functions of SymPy that its printer writes well under their own names (LaTeX's, or \operatorname).
_KNOWN = (
    "sin cos tan cot sec csc sinh cosh tanh coth sech csch asin acos atan acot asinh acosh atanh "
    "exp log erf erfc erfi erfinv sign"
)
_KNOWN_FUNCTIONS = frozenset(_KNOWN.split())


class UnknownHead(InputError, TypeError):  # noqa: N818 -- it names what it is about
    """An expression has a head that the printer does not know; print nothing rather than nonsense."""

    def __init__(self, problem: str) -> None:
        super().__init__("latex", problem, "use the symbols, functions and names that derivations/latex.py knows")

    def __reduce__(self) -> tuple[type[UnknownHead], tuple[str]]:
        return type(self), (self.problem,)


def symbol_name(name: str) -> str:
    """A symbol's name in LaTeX: `mu1_star` -> mu_{1}^{star}, `q12` -> q_{12}, `w_bar` -> bar w, words upright."""
    if name in NAMES:
        return NAMES[name]
    if name.endswith("^T"):
        return symbol_name(name[:-2]) + r"^{\top}"
    head, *parts = name.split("_")
    match = re.fullmatch(r"([A-Za-z]+?)(\d*)", head)
    if match is None:
        raise UnknownHead(f"the symbol name {name!r} has no LaTeX form")
    base = _word(match[1])
    below = [match[2]] if match[2] else []
    above = []
    for part in parts:
        if part in _ACCENTS:
            base = f"{_ACCENTS[part]}{{{base}}}"
        elif part in _SUPERSCRIPTS:
            above.append(_SUPERSCRIPTS[part])
        elif part:
            below.append(_SUBSCRIPTS.get(part) or _below(part))
    sub = f"_{{{','.join(below)}}}" if below else ""
    return base + sub + (f"^{{{','.join(above)}}}" if above else "")


def _below(part: str) -> str:
    if part.isdigit():
        return part
    # A subscript such as P5 is a label, not P with an index.
    return rf"\mathrm{{{part}}}" if re.fullmatch(r"[A-Z]\d+", part) else symbol_name(part)


def _word(word: str) -> str:
    if word in GREEK:
        return str(tex_greek_dictionary.get(word, "\\" + word))
    return word if len(word) == 1 else rf"\mathrm{{{word}}}"


class Phi(sp.Function):  # type: ignore[misc]  # SymPy ships no types
    """The normal distribution function, for printing: c + c erf(u) is written 2 c Phi(sqrt(2) u)."""


def _with_normal_cdf(expr: sp.Basic) -> sp.Basic:
    return expr.replace(lambda e: isinstance(e, sp.Add) and e.has(sp.erf), _collect_cdf)


def _collect_cdf(expr: sp.Add) -> sp.Expr:
    constant = expr.as_coeff_Add()[0]
    for term in expr.args:
        coefficient, rest = term.as_coeff_Mul()
        if constant.is_Rational and constant != 0 and isinstance(rest, sp.erf) and abs(coefficient) == abs(constant):
            argument = sp.sqrt(2) * rest.args[0] * sp.sign(coefficient * constant)
            return 2 * constant * Phi(argument) + (expr - constant - term)
    return expr


class _Printer(LatexPrinter):  # type: ignore[misc]  # SymPy ships no types
    """SymPy's LatexPrinter with the house rules."""

    def __init__(self) -> None:
        super().__init__({"inv_trig_style": "full", "fold_frac_powers": True, "imaginary_unit": "ri"})

    # -- names

    def _print_Symbol(self, expr: sp.Symbol, style: str = "plain") -> str:
        return symbol_name(expr.name)

    _print_Dummy = _print_Symbol
    _print_RandomSymbol = _print_Symbol

    def _print_Indexed(self, expr: sp.Indexed) -> str:
        # The star goes above the indices: c_{1}^{star}.
        name, star, above = symbol_name(str(expr.base)).partition("^")
        name = rf"\left({name}\right)" if "_" in name else name
        return f"{name}_{{{','.join(self._print(i) for i in expr.indices)}}}{star}{above}"

    def _helper_print_standard_power(self, expr: sp.Pow, template: str) -> str:
        if isinstance(expr.base, sp.Indexed):
            base = self.parenthesize_super(self._print(expr.base))
            return template % (base, self._print(expr.exp))
        return str(super()._helper_print_standard_power(expr, template))

    def _print_IndexedBase(self, expr: sp.IndexedBase) -> str:
        return symbol_name(str(expr))

    @staticmethod
    def _raise(tex: str, exp: str | None) -> str:
        return tex if exp is None else f"{tex}^{{{exp}}}"

    def _bracket(self, expr: Any) -> str:
        return rf"\left({self._print(expr)}\right)"

    # -- heads that it knows by name

    def _print_Function(self, expr: sp.Function, exp: str | None = None) -> str:
        name = expr.func.__name__
        if isinstance(expr, AppliedUndef):
            arguments = ", ".join(self._print(a) for a in expr.args)
            if name in {"E", "Var", "Cov", "P"}:
                head = {"E": r"\mathbb{E}", "P": r"\mathbb{P}"}.get(name, rf"\operatorname{{{name}}}")
                return self._raise(rf"{head}\left[{arguments}\right]", exp)
            tex = symbol_name(name)
            if exp is not None and "^" in tex:
                tex = rf"\left({tex}\right)"
            return rf"{self._raise(tex, exp)}\left({arguments}\right)"
        if hasattr(self, "_print_" + name):
            return str(getattr(self, "_print_" + name)(expr, exp) if exp else getattr(self, "_print_" + name)(expr))
        if name not in _KNOWN_FUNCTIONS:
            raise UnknownHead(f"no LaTeX form is known for the function {name}")
        return str(super()._print_Function(expr, exp))

    def _print_Basic(self, expr: sp.Basic) -> str:
        raise UnknownHead(f"no LaTeX form is known for {type(expr).__name__}")

    def emptyPrinter(self, expr: Any) -> str:
        """Refuse what no rule covers."""
        raise UnknownHead(f"no LaTeX form is known for {type(expr).__name__}")

    def _print_hermite_prob(self, expr: sp.Expr, exp: str | None = None) -> str:
        k, x = expr.args
        name = rf"\mathrm{{He}}_{{{self._print(k)}}}"
        return self._raise(name, exp) + self._bracket(x)

    def _print_Max(self, expr: sp.Max, exp: str | None = None) -> str:
        if len(expr.args) == 2 and 0 in expr.args:
            (argument,) = (a for a in expr.args if a != 0)
            return self._raise(rf"{self._bracket(argument)}_{{+}}", exp)
        return self._extremum(r"\max", expr, exp)

    def _print_Min(self, expr: sp.Min, exp: str | None = None) -> str:
        return self._extremum(r"\min", expr, exp)

    def _extremum(self, name: str, expr: sp.Expr, exp: str | None) -> str:
        arguments = ", ".join(self._print(a) for a in sp.ordered(expr.args))
        return rf"{self._raise(name, exp)}\left({arguments}\right)"

    def _print_Heaviside(self, expr: sp.Heaviside, exp: str | None = None) -> str:
        return self._raise(rf"\mathbf{{1}}\left\{{{self._print(expr.args[0])} > 0\right\}}", exp)

    def _print_DiracDelta(self, expr: sp.DiracDelta, exp: str | None = None) -> str:
        order = expr.args[1] if len(expr.args) > 1 else 0
        upper = rf"^{{\left({self._print(order)}\right)}}" if order != 0 else ""
        tex = rf"\delta{upper}{self._bracket(expr.args[0])}"
        return tex if exp is None else rf"\left({tex}\right)^{{{exp}}}"

    def _print_factorial(self, expr: sp.Expr, exp: str | None = None) -> str:
        return self._marked(expr, "!", exp)

    def _print_factorial2(self, expr: sp.Expr, exp: str | None = None) -> str:
        return self._marked(expr, "!!", exp)

    def _marked(self, expr: sp.Expr, mark: str, exp: str | None) -> str:
        argument = expr.args[0]
        plain = argument.is_Symbol or (argument.is_Integer and argument >= 0)
        tex = (self._print(argument) if plain else self._bracket(argument)) + mark
        return tex if exp is None else rf"\left({tex}\right)^{{{exp}}}"

    def _print_Mod(self, expr: sp.Mod, exp: str | None = None) -> str:
        left, right = (self.parenthesize(a, 60, strict=True) for a in expr.args)
        tex = rf"{left} \bmod {right}"
        return tex if exp is None else rf"\left({tex}\right)^{{{exp}}}"

    def _print_Phi(self, expr: sp.Expr, exp: str | None = None) -> str:
        return self._raise(r"\Phi", exp) + self._bracket(expr.args[0])

    def _print_Phi2(self, expr: sp.Expr, exp: str | None = None) -> str:
        h, k, r = (self._print(a) for a in expr.args)
        return self._raise(r"\Phi_{2}", exp) + rf"\left({h}, {k}; {r}\right)"

    def _print_Rational(self, expr: sp.Rational) -> str:
        # A constant that was published as a decimal stays one.
        digits = sp.multiplicity(2, expr.q), sp.multiplicity(5, expr.q)
        if expr.q > 10**6 and 2 ** digits[0] * 5 ** digits[1] == expr.q:
            places = max(digits)
            text = str(abs(expr.p) * 10**places // expr.q).rjust(places + 1, "0")
            return ("- " if expr.p < 0 else "") + f"{text[:-places]}.{text[-places:]}"
        return str(super()._print_Rational(expr))

    def _print_beta(self, expr: sp.Expr, exp: str | None = None) -> str:
        # SymPy's own writes the arguments as Python text.
        arguments = ", ".join(self._print(a) for a in expr.args)
        return self._raise(r"\operatorname{B}", exp) + rf"\left({arguments}\right)"

    def _print_loggamma(self, expr: sp.Expr, exp: str | None = None) -> str:
        return self._raise(r"\log", exp) + r"\Gamma" + self._bracket(expr.args[0])

    # -- derivatives of unnamed functions as primes

    def _print_Derivative(self, expr: sp.Derivative) -> str:
        f, counts = expr.expr, expr.variable_count
        if isinstance(f, AppliedUndef) and len(f.args) == 1 and len(counts) == 1 and f.args[0] == counts[0][0]:
            return self._primed(f, counts[0][1])
        return str(super()._print_Derivative(expr))

    def _print_Subs(self, expr: sp.Subs) -> str:
        inner, old, new = expr.args
        if isinstance(inner, sp.Derivative) and len(old) == 1 and len(inner.variable_count) == 1:
            f = inner.expr
            if isinstance(f, AppliedUndef) and f.args == (old[0],):
                return self._primed(f.func(new[0]), inner.variable_count[0][1])
        return str(super()._print_Subs(expr))

    def _primed(self, f: AppliedUndef, order: Any) -> str:
        few = order.is_Integer and order <= 3
        mark = r"^{" + r"\prime" * int(order) + "}" if few else rf"^{{\left({self._print(order)}\right)}}"
        name = symbol_name(f.func.__name__)
        name = rf"\left({name}\right)" if "^" in name else name
        return rf"{name}{mark}{self._bracket(f.args[0])}"

    # -- sums begin with a positive term; integrals, sums and cases stand beside a fraction, not on top of it

    def _as_ordered_terms(self, expr: sp.Expr, order: str | None = None) -> list[sp.Expr]:
        terms = list(super()._as_ordered_terms(expr, order=order))
        if terms and terms[0].could_extract_minus_sign():
            first = next((i for i, t in enumerate(terms) if not t.could_extract_minus_sign()), 0)
            terms.insert(0, terms.pop(first))
        return terms

    def _print_Mul(self, expr: sp.Mul) -> str:
        factors = sp.Mul.make_args(expr)
        tall = [f for f in factors if isinstance(f, sp.Integral | sp.Sum | sp.Product | sp.Piecewise)]
        rest = [f for f in factors if f not in tall]
        if tall and rest:
            front = self._print(sp.Mul(*rest))
            if isinstance(sp.Mul(*rest), sp.Add):
                front = rf"\left({front}\right)"
            front = "- " if front == "-1" else front
            last = self._print(tall[-1]) if not isinstance(tall[-1], sp.Piecewise) else self._bracket(tall[-1])
            return " ".join([front, *(self._bracket(t) for t in tall[:-1]), last])
        # sqrt(2)/(2 sqrt(pi)) is SymPy's normal form of 1/sqrt(2 pi).
        coefficient = expr.as_coeff_Mul()[0]
        if sp.sqrt(2) in factors and 1 / sp.sqrt(sp.pi) in factors and coefficient.is_Rational:
            numerator = 2 * coefficient
            if numerator.q < coefficient.q:
                others = [f for f in factors if f not in (coefficient, sp.sqrt(2), 1 / sp.sqrt(sp.pi))]
                return str(self._print(sp.Mul(numerator, *others, 1 / _ROOT_2PI)))
        return str(super()._print_Mul(expr))

    def _print_Sum(self, expr: sp.Sum) -> str:
        # SymPy's own stacks several ranges under one sign.
        signs = (
            rf"\sum_{{{self._print(i)}={self._print(low)}}}^{{{self._print(high)}}}"
            for i, low, high in expr.limits[::-1]
        )
        body = self._print(expr.function)
        return " ".join([*signs, rf"\left({body}\right)" if isinstance(expr.function, sp.Add) else body])

    # -- powers: square roots as roots, other fractional powers as exponents

    def _print_Pow(self, expr: sp.Pow) -> str:
        power = expr.exp
        if expr.base == sp.Symbol("sigma2", positive=True) and power.is_Rational and power > 0:
            # The scale sigma^2 is a symbol of its own; its powers are powers of sigma.
            return r"\sigma" if 2 * power == 1 else rf"\sigma^{{{self._print(2 * power)}}}"
        if power.is_Rational and abs(power.p) == 1 and power.q > 2 and expr.base.is_commutative:
            base = self.parenthesize(expr.base, 60)
            base = self.parenthesize_super(base) if expr.base.is_Symbol else base
            tex = rf"{base}^{{1/{power.q}}}"
            return tex if power > 0 else rf"\frac{{1}}{{{tex}}}"
        return str(super()._print_Pow(expr))

    def _print_Limit(self, expr: sp.Limit) -> str:
        inner, variable, point, direction = expr.args
        side = f"^{{{direction.name}}}" if direction.name in "+-" and point.is_finite else ""
        body = self._bracket(inner) if isinstance(inner, sp.Add) else self._print(inner)
        return rf"\lim_{{{self._print(variable)} \to {self._print(point)}{side}}} {body}"

    def _print_Piecewise(self, expr: sp.Piecewise) -> str:
        rows = []
        for value, condition in expr.args:
            when = r"\text{otherwise}" if condition == sp.true else rf"\text{{for }} {self._print(condition)}"
            rows.append(rf"{self._print(value)} & {when}")
        return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"

    # -- logic

    def _print_And(self, expr: sp.And) -> str:
        return r" \text{ and } ".join(self._print(a) for a in sp.ordered(expr.args))

    def _print_Or(self, expr: sp.Or) -> str:
        return r" \text{ or } ".join(self._print(a) for a in sp.ordered(expr.args))

    def _print_Tuple(self, expr: sp.Tuple) -> str:
        return r",\quad ".join(self._print(a) for a in expr)

    _print_tuple = _print_Tuple
    _print_list = _print_Tuple


def latex(expr: Any) -> str:
    r"""LaTeX of an expression, without dollar signs.

    Valid for: the heads that the theory emits; numbers and tuples too. Errors: UnknownHead for any other head.

    >>> from theory import symbols as s
    >>> latex(s.mu1_star**2 / s.psi1)
    '\\frac{\\left(\\mu_{1}^{\\star}\\right)^{2}}{\\psi_{1}}'
    """
    if isinstance(expr, str):
        raise UnknownHead(f"text is not a formula: {expr[:40]!r}")
    return _tidy(str(_Printer().doprint(_with_normal_cdf(sp.sympify(expr, strict=True)))))


def decimal(text: str) -> str:
    r"""LaTeX of a number's decimal text: an exponent becomes a power of ten.

    >>> decimal("-1.2e-05")
    '-1.2 \\cdot 10^{-5}'
    """
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _tidy(tex: str) -> str:
    return re.sub(r" +\\right", r"\\right", tex)


def visual_width(tex: str) -> int:
    """About how many characters wide a formula is in print: a fraction counts as the wider of its two parts."""
    fraction = re.compile(r"\\frac\{([^{}]*)\}\{([^{}]*)\}")
    script = re.compile(r"[_^]\{([^{}]*)\}")
    tex = re.sub(r"\\(left|right|displaystyle|,|quad|text|mathrm|operatorname|mathbf|mathbb)(?![a-z])", "", tex)
    tex = re.sub(r"\\[A-Za-z]+(?<!frac)", "x", re.sub(r"\\frac(?![A-Za-z])", "\x00", tex)).replace("\x00", r"\frac")
    for _ in range(40):
        shorter = fraction.sub(lambda m: max(m[1], m[2], key=len), tex)
        shorter = script.sub(lambda m: m[1][: (2 * len(m[1]) + 2) // 3], shorter)
        shorter = re.sub(r"(?<!frac)\{([^{}]*)\}(?!\{)", r"\1", shorter) if shorter == tex else shorter
        if shorter == tex:
            break
        tex = shorter
    return len(re.sub(r"[\s{}]|\\frac", "", tex))


def latex_lines(expr: Any, width: int = 78) -> list[str]:
    """LaTeX of an expression broken at the plus signs of a long sum (also inside a product), or at an equals sign.

    Each line is a formula of its own (balanced braces), of about `width` printed characters where the terms allow.
    """
    tex = latex(expr)
    if visual_width(tex) <= width:
        return [tex]
    if isinstance(expr, sp.Rel):
        symbol = {"==": "=", "<=": r"\leq", ">=": r"\geq", "!=": r"\neq"}.get(expr.rel_op, expr.rel_op)
        *before, last = latex_lines(expr.lhs, width)
        if visual_width(last) > width // 3:
            first, *rest = latex_lines(expr.rhs, width)
            return [*before, last, f"{symbol} {first}", *rest]
        first, *rest = latex_lines(expr.rhs, width - visual_width(last) - 3)
        return [*before, f"{last} {symbol} {first}", *rest]
    expr = _with_normal_cdf(sp.sympify(expr, strict=True))
    if isinstance(expr, sp.Mul):
        return _product_lines(expr, tex, width)
    return _sum_lines(expr, width) if isinstance(expr, sp.Add) else [tex]


def _product_lines(expr: sp.Mul, tex: str, width: int) -> list[str]:
    """front (sum), the sum broken; in one line where no factor is a long sum."""
    sums = sorted((f for f in expr.args if isinstance(f, sp.Add)), key=lambda f: visual_width(latex(f)))
    if not sums or visual_width(latex(sums[-1])) < width // 2:
        return [tex]
    front = latex(expr / sums[-1])
    if isinstance(expr / sums[-1], sp.Add):
        return [tex]
    front = {"1": "", "-1": "-"}.get(front, front)
    lines = _sum_lines(sums[-1], width - min(visual_width(front), width // 3))
    if len(lines) == 1:
        return [tex]
    return [rf"{front} \Bigl( {lines[0]}", *lines[1:-1], rf"{lines[-1]} \Bigr)"]


def _sum_lines(expr: sp.Add, width: int) -> list[str]:
    printer = _Printer()
    lines: list[str] = []
    for term in printer._as_ordered_terms(expr):
        negative = term.could_extract_minus_sign()
        piece = _tidy(printer.doprint(-term if negative else term))
        if isinstance(-term if negative else term, sp.Add):
            piece = rf"\left({piece}\right)"
        piece = ("- " if negative else "+ ") + piece
        if lines and visual_width(lines[-1] + piece) <= width:
            lines[-1] += " " + piece
        else:
            lines.append(piece)
    lines[0] = lines[0].removeprefix("+ ")
    return lines
