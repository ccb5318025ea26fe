"""The printer: house names, brackets where an exponent could be misread, an error for what it does not know."""

from __future__ import annotations

import pytest
import sympy as sp

from bulkedge.derivations.engine.latex import UnknownHead, latex, latex_lines, symbol_name, visual_width
from bulkedge.theory.numbers import symbols as s

sigma = sp.Function("sigma")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (sp.hermite_prob(s.k, s.z) ** 2, r"\mathrm{He}_{k}^{2}\left(z\right)"),
        (sp.Max(s.z, 0) ** 2, r"\left(z\right)_{+}^{2}"),
        (sp.Max(s.z, 1), r"\max\left(1, z\right)"),
        (sp.Heaviside(s.z - 1), r"\mathbf{1}\left\{z - 1 > 0\right\}"),
        (sp.DiracDelta(s.z, 1), r"\delta^{\left(1\right)}\left(z\right)"),
        (sp.acos(s.rho), r"\arccos{\left(\rho\right)}"),
        (s.mu1_star**2, r"\left(\mu_{1}^{\star}\right)^{2}"),
        (sp.sqrt(s.mu1_star), r"\sqrt{\mu_{1}^{\star}}"),
        (sp.IndexedBase("c_star")[1] ** 4, r"\left(c_{1}^{\star}\right)^{4}"),
        (sp.IndexedBase("c")[s.k] ** 2, r"c_{k}^{2}"),
        ((1 + sp.erf(s.z / sp.sqrt(2))) / 2, r"\Phi\left(z\right)"),
        (s.z * sp.exp(-(s.z**2) / 2) / sp.sqrt(2 * sp.pi), r"\frac{z e^{- \frac{z^{2}}{2}}}{\sqrt{2 \pi}}"),
        (sp.Rational("1.0507009873554804934193349852946"), "1.0507009873554804934193349852946"),
        (s.s_eps**2, r"\sigma_{\varepsilon}^{2}"),
        (s.sigma2, r"\sigma^{2}"),
        (sp.sqrt(s.sigma2) * s.psi1, r"\psi_{1} \sigma"),
        (s.sigma2**2, r"\sigma^{4}"),
        (s.lam, r"\lambda"),
        (sp.factorial2(2 * s.k - 1) ** 2, r"\left(\left(2 k - 1\right)!!\right)^{2}"),
        (sp.Mod(s.k, 2) * 3, r"3 \left(k \bmod 2\right)"),
        (sp.uppergamma(s.k, 1), r"\Gamma\left(k, 1\right)"),
        (sigma(s.z).diff(s.z) ** 2, r"\left(\sigma^{\prime}\left(z\right)\right)^{2}"),
        (sp.Function("E")(sigma(s.z)), r"\mathbb{E}\left[\sigma\left(z\right)\right]"),
        (s.psi ** sp.Rational(1, 4), r"\psi^{1/4}"),
        (sp.Limit(1 / s.N, s.N, sp.oo), r"\lim_{N \to \infty} \frac{1}{N}"),
        (sp.And(s.z > 0, s.z < 1), r"z > 0 \text{ and } z < 1"),
        (
            sp.Piecewise((1, sp.Eq(s.k, 0)), (2, True)),
            r"\begin{cases} 1 & \text{for } k = 0 \\ 2 & \text{otherwise} \end{cases}",
        ),
    ],
)
def test_house_style(expression: sp.Basic, expected: str) -> None:
    assert latex(expression) == expected


def test_no_name_is_printed_as_text_of_sympy() -> None:
    for name, symbol in vars(s).items():
        if isinstance(symbol, sp.Symbol):
            tex = latex(symbol)
            assert "star}" not in tex.replace(r"\star}", "")
            assert "eps" not in tex.replace(r"\varepsilon", ""), name


def test_unknown_heads_are_refused() -> None:
    class Strange(sp.Function):
        pass

    for expression in (Strange(s.z), sp.Symbol("a b"), sp.polygamma(0, s.z)):
        with pytest.raises(UnknownHead):
            latex(expression)
    with pytest.raises(UnknownHead):
        latex("1+1")


def test_names() -> None:
    assert symbol_name("w_bar_star") == r"\bar{w}^{\star}"
    assert symbol_name("q_12") == "q_{12}"
    assert symbol_name("noise") == r"\mathrm{noise}"
    assert symbol_name("x_i") == "x_{i}"


def test_long_sums_are_broken_at_their_signs() -> None:
    terms = sum((-1) ** i * (s.psi + i) ** 3 / (s.c + i) for i in range(20))
    lines = latex_lines(terms, 60)
    assert len(lines) >= 3
    assert all(visual_width(line) <= 62 for line in lines)
    assert all(line.startswith(("+ ", "- ")) for line in lines[1:])
    assert all(line.count("{") == line.count("}") for line in lines)
    assert latex_lines(s.z + 1) == [latex(s.z + 1)]


def test_long_products_are_broken_inside_their_sum() -> None:
    terms = sum((-1) ** i * (s.psi + i) ** 3 / (s.c + i) for i in range(20))
    lines = latex_lines(s.eta * terms / s.d, 60)
    assert len(lines) >= 3
    assert lines[0].startswith(r"\frac{\eta}{d} \Bigl( ")
    assert lines[-1].endswith(r" \Bigr)")
    equation = latex_lines(sp.Eq(s.lam, terms), 60)
    assert equation[0].startswith(r"\lambda = ")
