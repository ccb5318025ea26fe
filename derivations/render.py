"""Verified derivations as LaTeX and as plain text. Words are escaped, formulas come from the one printer."""

from __future__ import annotations

from typing import Any

import sympy as sp

from derivations.derivation import Given, Relation, Root, Verified
from derivations.latex import latex, latex_lines

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
\usepackage{amsmath,amssymb}
\usepackage{graphicx}
\allowdisplaybreaks
\newsavebox{\fitbox}
% A formula as it is, or scaled down to the line where it is wider.
\newcommand{\fit}[1]{\sbox{\fitbox}{$\displaystyle #1$}%
  \ifdim\wd\fitbox>0.86\linewidth\resizebox{0.86\linewidth}{!}{\usebox{\fitbox}}\else\usebox{\fitbox}\fi}
\newcommand{\reason}[2]{\intertext{\small #1\hfill\textit{#2}}}
"""


def escape(text: str) -> str:
    """Words for LaTeX. Errors: ValueError for a character that is not ASCII (write it in words)."""
    if not text.isascii():
        strange = next(c for c in text if not c.isascii())
        raise ValueError(f"{strange!r} in {text[:60]!r} is not ASCII; write it in words")
    return "".join(_MARKS.get(c, c) for c in text)


def display(expression: Any, lead: str = "") -> list[str]:
    """Rows of an align environment for an expression, with what stands left of it."""
    first, *rest = latex_lines(expression)
    rows = [rf"{lead}&\fit{{{first}}}"]
    return [*rows, *(rf"&\quad\fit{{{line}}}" for line in rest)]


def _lead(relation: Relation) -> str:
    if isinstance(relation, Given):
        return "" if relation.define is None else rf"{latex(relation.define)} := {{}}"
    if isinstance(relation, Root):
        return rf"{relation.sign}\quad {latex(relation.symbol)} = {{}}"
    return rf"{relation.sign}{{}}"


def as_latex(verified: Verified) -> str:
    """Title, claim, conditions and the chain of steps, each with its reason and how it was verified."""
    d = verified.derivation
    parts = [rf"\subsection*{{{escape(d.id)}\quad {escape(d.title)}}}"]
    if d.notation:
        parts.append(escape(d.notation))
    parts.append(r"\noindent\textbf{Claim.}")
    parts.append(_align([row for claim in verified.claims for row in display(claim)]))
    if d.domain:
        conditions = r",\quad ".join(latex(c) for c in d.domain)
        parts.append(rf"\noindent Under the conditions \(\displaystyle {conditions}\).\par")
    parts.append(r"\noindent\textbf{Derivation.}")
    rows: list[str] = []
    for step, relation, way in verified.steps:
        reason = escape(step.reason or "it follows")
        rows.append(rf"\reason{{{reason}}}{{{escape(way) if way != 'start' else ''}}}")
        rows.extend(display(step.expression, _lead(relation)))
    parts.append(_align(rows))
    parts.append(rf"\noindent The claim is reached: {escape(verified.reached[0])}. Source: {escape(d.source)}.")
    return "\n".join(parts) + "\n"


def _align(rows: list[str]) -> str:
    # \intertext (inside \reason) stands between rows: the row before it ends with \\, the last row does not.
    body = "".join(row + ("\n" if row.startswith(r"\reason") or row is rows[-1] else " \\\\\n") for row in rows)
    return "\\begin{align*}\n" + body + "\\end{align*}"


def document(body: str) -> str:
    """A body as a LaTeX file that compiles on its own."""
    return "\\documentclass[11pt]{article}\n" + PREAMBLE + "\\begin{document}\n" + body + "\\end{document}\n"


def as_text(verified: Verified) -> str:
    """The same as plain text, formulas in SymPy's notation."""
    d = verified.derivation
    lines = [f"{d.id}  {d.title}", *([d.notation] if d.notation else [])]
    lines += [f"claim: {claim}" for claim in verified.claims]
    if d.domain:
        lines.append("under: " + ", ".join(str(c) for c in d.domain))
    for number, (step, relation, way) in enumerate(verified.steps, 1):
        lead = relation.plain
        if isinstance(relation, Given) and relation.define is not None:
            lead = f"{relation.define} :="
        if isinstance(relation, Root):
            lead = f"=> {relation.symbol} ="
        evidence = "" if way == "start" else f"  [{way}]"
        lines += [f"{number}. {step.reason}{evidence}", f"   {lead} {sp.sstr(step.expression)}".rstrip()]
    lines += [f"claim reached: {', '.join(verified.reached)}", f"source: {d.source}"]
    return "\n".join(lines) + "\n"
