"""The book: notation, conventions, statements, derivations, ledger, errata, bibliography, as one LaTeX document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import sympy as sp

from bulkedge.book.bibliography import BIBLIOGRAPHY
from bulkedge.derivations.engine.latex import decimal, latex
from bulkedge.derivations.engine.render import PREAMBLE, as_latex, display, escape, prose, rows
from bulkedge.results.checked import measured
from bulkedge.results.number import short
from bulkedge.theory.numbers import symbols as s

if TYPE_CHECKING:
    from bulkedge.book.selection import Entry
    from bulkedge.numerics.trials.check import CheckResult

_E = sp.Function("E")
_f, _h, _He = sp.Function("f"), sp.Function("h_k"), sp.hermite_prob

# Letters and what they mean.
NOTATION: tuple[tuple[Any, str], ...] = (
    (s.z, "a standard Gaussian variable"),
    (s.rho, "correlation of a pair of Gaussian variables"),
    (sp.hermite_prob(s.k, s.z), "the probabilists' Hermite polynomial of degree `k`"),
    (sp.Max(s.z, 0), "the positive part, ReLU"),
    (sp.Heaviside(s.z), "one where the condition holds, else zero"),
    (sp.Tuple(s.d, s.N), "input dimension and width"),
    (sp.Tuple(s.n, s.n1), "samples of the ridge fit and of the gradient step"),
    (sp.Tuple(s.psi1, s.psi2, s.alpha), "the ratios `n/d, N/d` and `n1/d` in paper O's units"),
    (s.psi, "the ratio `N/d` of a rectangular matrix"),
    (s.c, "the ratio `p/n` of a sample covariance matrix"),
    (s.sigma2, "the scale of a spectral law"),
    (s.eta, "step size, in paper O's units"),
    (s.theta, "strength of a spike"),
    (s.lam, "ridge penalty, in paper O's units"),
    (sp.Tuple(s.mu0, s.mu1, s.mu2), "mean, first Hermite coefficient and the rest's norm, of the activation"),
    (sp.Tuple(s.mu0_star, s.mu1_star, s.mu2_star), "the same of the link"),
    (s.s_eps, "standard deviation of the label noise"),
    (sp.Tuple(s.A, s.B), "isotropic part and spike of the first-layer covariance in paper F"),
)

# The three conventions for Hermite coefficients, by the name that every interface takes.
CONVENTIONS: tuple[tuple[str, Any], ...] = (
    ("orthonormal", _E(_f(s.z) * _He(s.k, s.z)) / sp.sqrt(sp.factorial(s.k))),
    ("probabilist", _E(_f(s.z) * _He(s.k, s.z)) / sp.factorial(s.k)),
    ("moment", _E(_f(s.z) * _He(s.k, s.z))),
)


def _table(columns: str, head: Sequence[str], body: Iterable[Sequence[str]], stretch: float = 1.2) -> str:
    titles = " & ".join(rf"\textbf{{{h}}}" for h in head)
    lines = [rf"\renewcommand{{\arraystretch}}{{{stretch}}}", rf"\begin{{longtable}}{{{columns}}}"]
    lines += [titles + r" \\ \hline", r"\endhead"]
    lines += [" & ".join(cells) + r" \\" for cells in body]
    return "\n".join([*lines, r"\end{longtable}", ""])


def _math(expression: Any) -> str:
    return rf"\({latex(expression)}\)"


def _ratio(name: str) -> str:
    return latex(sp.Symbol(name)) if name.isalnum() else name


def notation() -> str:
    """The letters."""
    body = ((_math(symbol), prose(meaning)) for symbol, meaning in NOTATION)
    return "\\section{Notation}\n" + _table("@{}lp{0.7\\linewidth}@{}", ("letter", "meaning"), body)


def conventions() -> str:
    """The Hermite conventions and the dictionary of the papers' scalings, computed from their definitions."""
    from bulkedge.theory.steps.scaling import PAPERS, ridge_factor, step_factor

    hermite = _table("@{}ll@{}", ("name", "coefficient"), ((escape(n), _math(e)) for n, e in CONVENTIONS), 1.7)
    body = []
    for key, paper in PAPERS.items():
        step = _math(step_factor(key, "O")) if paper.rate is not None else "--"
        ridge = _math(ridge_factor(key, "O")) if paper.ridge is not None else "--"
        ratios = ", ".join(rf"\({_ratio(name)} = {latex(value)}\)" for name, value in paper.ratios.items())
        body.append((key, escape(paper.reference), step, ridge, ratios))
    dictionary = _table(
        "@{}lllll@{}",
        ("paper", "reference", r"\(\eta_{O}/\eta\)", r"\(\lambda_{O}/\lambda\)", "its ratios"),
        body,
        1.5,
    )
    remarks = "".join(rf"\item[{p.key}] {prose(p.remark)}." + "\n" for p in PAPERS.values() if p.remark)
    return (
        "\\section{Conventions}\n\\subsection{Hermite coefficients}\n"
        + hermite
        + "\\subsection{Scalings}\nEach paper's step size and ridge times the factor given here is paper O's.\n"
        + dictionary
        + "\\begin{description}\n"
        + remarks
        + "\\end{description}\n"
    )


def _claims(entry: Entry) -> str:
    lines = [line for claim in entry.claims for line in display(claim)]
    return "\\begin{align*}\n" + rows(lines) + "\\end{align*}\n" if lines else ""


def statements(chosen: Sequence[Entry]) -> str:
    """The statements, by ID."""
    parts = ["\\section{Statements}\n"]
    for st in chosen:
        parts.append(rf"\subsection*{{\boldmath {escape(st.id)}\quad {prose(st.title)}}}" + "\n")
        parts.append(_claims(st))
        items = [prose(a) for a in st.assumptions]
        items.append(f"Status: {prose(st.status)}. Source: {prose('; '.join(st.sources))}.")
        parts.append("\\begin{itemize}\n" + "".join(rf"\item {i}" + "\n" for i in items) + "\\end{itemize}\n")
    return "".join(parts)


def ledger(results: Sequence[CheckResult]) -> str:
    """What was predicted and measured, with the negative control, one row per check."""
    head = ("ID and claim", "predicted", "measured", "verdict", "negative control")
    body = []
    for r in results:
        control = f"{r.check.control.mistake}: {short(r.control_predicted, 6)}, {r.control.value}"
        claim = rf"\textbf{{{escape(r.check.id)}}} {prose(r.check.claim)}"
        predicted, found = decimal(short(r.predicted, 6)), measured(r.measured, 6).latex
        body.append((claim, rf"\({predicted}\)", rf"\({found}\)", r.verdict.value, prose(control)))
    columns = (
        r"@{}>{\raggedright\arraybackslash}p{0.31\linewidth}l>{\raggedright\arraybackslash}p{0.13\linewidth}"
        r"l>{\raggedright\arraybackslash}p{0.22\linewidth}@{}"
    )
    text = (
        "A check is confirmed if measured and predicted differ by at most four standard errors plus the bound of the "
        "systematic error, and this margin is smaller than the smallest error that matters. Each check carries a "
        "negative control: a deliberately wrong prediction, which the same measurement must refute."
    )
    small = "{\\footnotesize\\setlength{\\tabcolsep}{4pt}\n" + _table(columns, head, body) + "}\n"
    return "\\section{Ledger of checks}\n" + escape(text) + "\n" + small


def errata(chosen: Sequence[Entry]) -> str:
    """What the papers print, what was found, and the evidence."""
    parts = []
    for st in chosen:
        for e in st.errata:
            parts.append(
                rf"\item[{escape(st.id)}] Printed: {prose(e.printed)}. Found: {prose(e.found)}. "
                rf"Corrected: {prose(e.corrected)}. Evidence: {escape(', '.join(e.evidence))}." + "\n"
            )
    if not parts:
        return ""
    return "\\section{Errata}\n\\begin{description}\n" + "".join(parts) + "\\end{description}\n"


def _bibliography() -> str:
    """The papers."""
    items = []
    for key, (authors, title, where) in BIBLIOGRAPHY.items():
        by = escape(authors) + ". " if authors else ""
        end = "" if title.endswith("?") else "."
        items.append(rf"\bibitem[{key}]{{{key}}} {by}\emph{{{escape(title)}}}{end} {escape(where)}." + "\n")
    return "\\begin{thebibliography}{Bornemann}\n" + "".join(items) + "\\end{thebibliography}\n"


_HOW_TO_READ = (
    "Each line follows from the one before by the relation in front of it (an arrow stands for the operation that the "
    "reason names). On the right stands how this was verified: exactly, by computer algebra, or by evaluating both "
    "sides to 25 digits at random admissible points, which is evidence and not a proof. A line without such a mark "
    "begins a chain: it is a starting point, taken from the definitions or from the reason given, and definitions and "
    "expansions introduce a name. What a starting point assumes of the model is tested by the ledger of checks."
)


_TITLE = "The theory of feature learning in the first gradient steps"


def _abstract(chosen: Sequence[Entry], derived: Sequence[Any], results: Sequence[CheckResult]) -> str:
    passed = sum(r.passed for r in results)
    wrong = sum(len(entry.errata) for entry in chosen)
    said = (
        "One or two gradient steps turn the random weights of a two-layer network into spiked random matrices: this "
        f"book holds {len(chosen)} statements about them (spectra and their outliers, dual kernels and their "
        "eigenfunctions, the risk of ridge regression on the trained features), and "
        f"{len(derived)} derivations, each line of which was verified by computer algebra or numerically before it was "
        "printed. "
    )
    if results:
        said += (
            f"Of {len(results)} checks, {passed} confirm a prediction by an independent measurement that refutes a "
            "deliberately wrong one. "
        )
    if wrong:
        said += f"{wrong} printed statements of the papers were found to be wrong and stand corrected. "
    return said + "Formulas, numbers and checks come from the same expressions."


def book(chosen: Sequence[Entry], derived: Sequence[Any], results: Sequence[CheckResult], version: str) -> str:
    """The whole document. Every derivation is verified before it is printed."""
    chapters = [notation(), conventions(), statements(chosen)]
    chapters.append(
        "\\section{Derivations}\n" + escape(_HOW_TO_READ) + "\n" + "\n".join(as_latex(d.verify()) for d in derived)
    )
    if results:
        chapters.append(ledger(results))
    chapters += [errata(chosen), _bibliography()]
    return (
        "\\documentclass[11pt,a4paper]{article}\n"
        + PREAMBLE
        + "\\usepackage[margin=25mm]{geometry}\n\\usepackage{array,longtable}\n"
        + "\\usepackage[hidelinks]{hyperref}\n\\setlength{\\emergencystretch}{4em}\n\\raggedbottom\n"
        + f"\\hypersetup{{pdftitle={{{_TITLE}: statements, derivations, checks}},\n"
        + f"  pdfauthor={{bulkedge {escape(version)}}},\n"
        + "  pdfsubject={Spiked random matrices, dual kernels and ridge risk of two-layer networks},\n"
        + "  pdfkeywords={feature learning, random features, Marchenko-Pastur, BBP transition, Gaussian equivalence}}\n"
        + f"\\title{{{_TITLE}:\\\\ statements, derivations, checks}}\n"
        + f"\\author{{bulkedge {escape(version)}}}\n\\date{{}}\n\\pagestyle{{headings}}\n"
        + "\\begin{document}\n\\maketitle\n"
        + "\\begin{abstract}\n"
        + escape(_abstract(chosen, derived, results))
        + "\n\\end{abstract}\n"
        + "\\tableofcontents\n"
        + "\n".join(chapters)
        + "\\end{document}\n"
    )
