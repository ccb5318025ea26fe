"""Verified derivations as LaTeX and as plain text. Words are escaped, formulas come from the one printer."""

from __future__ import annotations

import re
from typing import Any

import sympy as sp

from derivations.derivation import Given, Relation, Verified, named
from derivations.latex import GREEK, latex, latex_lines, symbol_name

# What text may contain beside ASCII, and how pdfLaTeX writes it.
_MARKS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\(<\)",
    ">": r"\(>\)",
    "|": r"\(|\)",
    "*": r"\(*\)",
    '"': "''",
}

PREAMBLE = r"""\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{lmodern}
\usepackage{amsmath,amssymb,mathtools}
\usepackage{graphicx}
\allowdisplaybreaks
\newsavebox{\fitbox}
% A formula as it is, or scaled down to the line where it is wider.
\newcommand{\fit}[1]{\sbox{\fitbox}{$\displaystyle #1$}%
  \ifdim\wd\fitbox>0.8\linewidth\resizebox{0.8\linewidth}{!}{\usebox{\fitbox}}\else\usebox{\fitbox}\fi}
\newcommand{\reason}[2]{\shortintertext{\noindent #1\hfill\textit{#2}}}
"""


def escape(text: str) -> str:
    """Words for LaTeX. Errors: ValueError for a character that is not ASCII (write it in words)."""
    if not text.isascii():
        strange = next(c for c in text if not c.isascii())
        raise ValueError(f"{strange!r} in {text[:60]!r} is not ASCII; write it in words")
    return "".join(_MARKS.get(c, c) for c in text)


_TOKENS = re.compile(
    r"(?P<op><=|>=|->|\+-|!=)|\b(?P<name>[A-Za-z]+_[A-Za-z0-9]+|[a-zA-Z]+\d*)(?P<star>\*)?(?P<prime>'*)|(?P<rest>.)"
)
_OPERATORS = {"<=": r"\leq", ">=": r"\geq", "->": r"\to", "+-": r"\pm", "!=": r"\neq"}


def prose(text: str) -> str:
    """Words for LaTeX in which names of the theory (mu_1, psi1, sigma') and signs (<=, ->, x^2) are set as such."""
    text = re.sub(r"\^(\d+|[a-zA-Z]\b|\([^()]*\))", "\x00\\1\x01", text)
    out = []
    for match in _TOKENS.finditer(text):
        if match["op"]:
            out.append(rf"\({_OPERATORS[match['op']]}\)")
        elif match["name"]:
            out.append(_named(match["name"], bool(match["star"]), match["prime"]))
        elif match["rest"] in "\x00\x01":
            out.append(r"\textsuperscript{" if match["rest"] == "\x00" else "}")
        else:
            out.append(escape(match["rest"]) if match["rest"] != "~" else r"\(\sim\)")
    return "".join(out)


def _named(name: str, star: bool, prime: str) -> str:
    head = re.match(r"[A-Za-z]+", name)
    letter = head[0] if head else name
    symbolic = letter in GREEK or ("_" in name and len(letter) == 1)
    if not symbolic:
        return escape(name) + ("*" if star else "") + prime
    return rf"\({symbol_name(name + ('_star' if star else ''))}{prime}\)"


def display(expression: Any, lead: str = "") -> list[str]:
    """Rows of an align environment for an expression, with what stands left of it."""
    first, *rest = latex_lines(expression)
    return [rf"{lead}&\fit{{{first}}}", *(rf"&\quad\fit{{{line}}}" for line in rest)]


def _sentence(reason: str) -> str:
    """A reason with a capital, unless it begins with a letter that is a symbol."""
    return reason if len(re.split(r"\W", reason, maxsplit=1)[0]) < 2 else reason[0].upper() + reason[1:]


def _lead(relation: Relation) -> str:
    name = named(relation)
    if isinstance(relation, Given):
        sign = "=" if relation.define is None else ":="
        return "" if name is None else rf"{latex(name)} {sign} {{}}"
    return rf"{relation.sign}{{}}" if name is None else rf"{relation.sign}\quad {latex(name)} = {{}}"


def as_latex(verified: Verified) -> str:
    """Title, claim, conditions and the chain of steps, each with its reason and how it was verified."""
    d = verified.derivation
    parts = [rf"\subsection*{{{escape(d.id)}\quad {prose(d.title)}}}"]
    if d.notation:
        parts.append(prose(d.notation) + r"\par")
    parts.append(r"\noindent\textbf{Claim.}")
    parts.append(_align([row for claim in verified.claims for row in display(claim)]))
    stated = [c for c in d.domain if c != sp.true]  # what the symbols' own assumptions say already is no condition
    if stated:
        conditions = r",\quad ".join(latex(c) for c in stated)
        parts.append(rf"\noindent Under the conditions \(\displaystyle {conditions}\).\par")
    parts.append(r"\noindent\textbf{Derivation.}")
    lines: list[str] = []
    for number, (step, relation, way) in enumerate(verified.steps, 1):
        reason = prose(_sentence(step.reason or "it follows"))
        evidence = escape(way) if way != "start" else ""
        if number == 1:
            parts.append(rf"\par\nopagebreak\noindent 1. {reason}")
        else:
            lines.append(rf"\reason{{{number}. {reason}}}{{{evidence}}}")
        lines.extend(display(step.expression, _lead(relation)))
    parts.append(_align(lines))
    parts.append(rf"\noindent The claim is reached: {escape(verified.reached[0])}. Source: {prose(d.source)}.")
    return "\n".join(parts) + "\n"


def rows(lines: list[str]) -> str:
    """Rows joined to the body of an align environment."""
    # \\intertext (inside \\reason) stands between rows: the row before it ends with \\\\, the last row does not.
    last = len(lines) - 1
    ends = ("\n" if line.startswith(r"\reason") or i == last else " \\\\[3pt]\n" for i, line in enumerate(lines))
    return "".join(line + end for line, end in zip(lines, ends, strict=True))


def _align(lines: list[str]) -> str:
    return "\\begin{align*}\n" + rows(lines) + "\\end{align*}"


def document(body: str) -> str:
    """A body as a LaTeX file that compiles on its own."""
    return "\\documentclass[11pt]{article}\n" + PREAMBLE + "\\begin{document}\n" + body + "\\end{document}\n"


def as_markdown(verified: Verified) -> str:
    """The same as Markdown with formulas between dollar signs, as notebooks show it."""
    d = verified.derivation
    parts = [f"**{d.id}** {d.title}", *([d.notation] if d.notation else [])]
    for number, (step, relation, way) in enumerate(verified.steps, 1):
        evidence = "" if way == "start" else f" *({way})*"
        parts.append(
            f"{number}. {step.reason}{evidence}\n\n$$\\displaystyle {_lead(relation)}{latex(step.expression)}$$"
        )
    parts.append(f"Claim reached: {', '.join(verified.reached)}. Source: {d.source}.")
    return "\n\n".join(parts) + "\n"


def as_text(verified: Verified) -> str:
    """The same as plain text, formulas in SymPy's notation."""
    d = verified.derivation
    lines = [f"{d.id}  {d.title}", *([d.notation] if d.notation else [])]
    lines += [f"claim: {claim}" for claim in verified.claims]
    if d.domain:
        lines.append("under: " + ", ".join(str(c) for c in d.domain))
    for number, (step, relation, way) in enumerate(verified.steps, 1):
        lead, name = relation.plain, named(relation)
        if name is not None:
            lead = f"{relation.plain} {name} {':=' if isinstance(relation, Given) and relation.define else '='}".strip()
        evidence = "" if way == "start" else f"  [{way}]"
        lines += [f"{number}. {step.reason}{evidence}", f"   {lead} {sp.sstr(step.expression)}".rstrip()]
    lines += [f"claim reached: {', '.join(verified.reached)}", f"source: {d.source}"]
    return "\n".join(lines) + "\n"
