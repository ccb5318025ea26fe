"""Verified derivations as LaTeX and as plain text. Words are escaped, formulas come from the one printer."""

from __future__ import annotations

import re
from typing import Any

import sympy as sp

from bulkedge.derivations.engine.latex import GREEK, decimal, latex, latex_lines, symbol_name, visual_width
from bulkedge.derivations.engine.relations import Given, Relation, named
from bulkedge.derivations.engine.verified import Verified
from bulkedge.theory.numbers.marked import Marked

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
\emergencystretch=2em
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


# The words of a marked formula: a name with its index (mu1_star, w_i*, c*_1, sigma''), a root, a power, a sign.
_NAME = r"(?<![A-Za-z_'])[A-Za-z]+\d*(?:\*?_(?:[A-Za-z0-9]+|\{[^{}]*\}|[-+]+(?:,[a-z])?))?(?:_star)?\*?(?:'+(?!\w))?"
_BRACKET = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_TOKENS = re.compile(
    rf"(?P<op><=|>=|->|\+-|-\+|!=|~)|sqrt ?(?P<root>{_BRACKET}|\w+)"
    rf"|\^(?P<power>{_BRACKET}|\{{[^{{}}]*\}}|-?\d+|-?[A-Za-z]\w*\*?)"
    rf"|\b(?P<big>sum|inf|sup|lim|E(?!_j\b|_inf\b))_(?P<below>\{{[^{{}}]*\}}|\w+)|(?<=[|)\]])_(?P<under>\w+|[-+])"
    rf"|(?P<mean>\bE(?=\[| [a-zA-Z|(\[])|(?<=\|)E(?=\|))"
    rf"|(?P<times>(?<=\w) x (?=[A-Za-z]\b))|(?P<decimal>\d+(?:\.\d+)?e[-+]?\d+)"
    rf"|(?P<dot>(?<=[\w'*])\.(?=[A-Za-z]))|(?P<name>{_NAME})|(?P<rest>.)",
    re.DOTALL,
)
_SIGNS = {"<=": r"\leq", ">=": r"\geq", "->": r"\to", "+-": r"\pm", "-+": r"\mp", "!=": r"\neq", "~": r"\sim"}
_BIG = {"sum": r"\sum", "inf": r"\inf", "sup": r"\sup", "lim": r"\lim", "E": r"\mathbb{E}"}
_NAMED = {"oo": r"\infty", "lam": r"\lambda", "ell": r"\ell"}
_FUNCTIONS = {"det", "log", "exp", "ln", "sin", "cos", "sinh", "cosh", "tanh", "min", "max"}
_LITERAL = {"{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "&": r"\&"}


def prose(text: str) -> str:
    """A sentence for LaTeX: what is marked (theory.numbers.marked) as formulas, the rest as words."""
    return "".join(_inline(piece) if marked else escape(piece) for piece, marked in Marked(text).parts())


def _inline(text: str) -> str:
    # TeX breaks a formula at relations and operators only; a list of letters has none.
    formula = _formula(text).replace(", ", r",\allowbreak ")
    return rf"\({formula}\)"


def _formula(text: str) -> str:
    """What is marked, or stands in a power, under a root or below a sum, as mathematics."""
    inner = text[1:-1] if re.fullmatch(rf"{_BRACKET}|\{{[^{{}}]*\}}", text) else text
    pieces = [_token(match, inner) for match in _TOKENS.finditer(inner)]
    # A space between a command and a letter.
    return re.sub(r"(\\[A-Za-z]+)\x00(?=[A-Za-z])", r"\1 ", "\x00".join(pieces)).replace("\x00", "")


def _token(match: re.Match[str], text: str) -> str:
    kind, found = match.lastgroup, match[0]
    if kind == "op":
        return _SIGNS[found]
    if kind == "root":
        return rf"\sqrt{{{_formula(match['root'])}}}"
    if kind == "power":
        return r"{}^{\top}" if match["power"] == "T" else rf"{{}}^{{{_formula(match['power'])}}}"
    if kind == "below":
        return rf"{_BIG[match['big']]}_{{{_formula(match['below'])}}}"
    if kind == "under":
        return rf"{{}}_{{{_formula(match['under'])}}}"
    if kind == "mean":
        return "E" if text[match.end() :].startswith("|") else r"\mathbb{E}"
    if kind == "decimal":
        return decimal(found)
    if kind in ("times", "dot"):
        return r"\times " if kind == "times" else r"\cdot "
    return _name(found) if kind == "name" else _LITERAL.get(found, found)


def _name(name: str) -> str:
    """The LaTeX of a name: a letter, a Greek one, one with an index, a function, else upright."""
    found = re.fullmatch(r"([A-Za-z]+)(\d*)(\*?)(?:_([A-Za-z0-9]+?|\{.*\}|[-+,a-z]+))?(_star)?(\*?)('*)", name)
    if name in _NAMED or name in _FUNCTIONS or found is None:
        return _NAMED.get(name, rf"\{name} " if name in _FUNCTIONS else rf"\mathrm{{{escape(name)}}}")
    head, digits, star, below, starred, end, primes = found.groups()
    if len(head) > 1 and head not in GREEK and head not in ("He", "eta", "lam"):
        return rf"\mathrm{{{escape(name.rstrip(chr(39)))}}}" + primes
    star = "_star" if star or starred or end else ""
    if below is not None and not below.isalnum():
        inner = _formula(below).replace("-+", r"\mp")
        return f"{symbol_name(head + digits)}_{{{inner}}}" + (r"^{\star}" if star else "") + primes
    return symbol_name(head + digits + (f"_{below}" if below else "") + star) + primes


def display(expression: Any, sign: str = "", name: str = "") -> list[str]:
    """Rows of an align environment for an expression, with the relation's sign left of it and its name in front."""
    first, *rest = latex_lines(expression, 78 - min(visual_width(name), 30))
    return [rf"{sign}&\fit{{{name}{first}}}", *(rf"&\quad\fit{{{line}}}" for line in rest)]


def _sentence(reason: str) -> str:
    """A reason with a capital, unless it begins with a formula."""
    marked = Marked(reason).marked
    return Marked(marked[0].upper() + marked[1:])


def _lead(relation: Relation) -> tuple[str, str]:
    """The relation's sign, and what its expression is called."""
    name = named(relation)
    sign = f"{relation.sign}{{}}" if relation.sign else ""
    equals = ":=" if isinstance(relation, Given) and relation.define is not None else "="
    return sign, "" if name is None else f"{latex(name)} {equals} "


def as_latex(verified: Verified) -> str:
    """Title, claim, conditions and the chain of steps, each with its reason and how it was verified."""
    d = verified.derivation
    parts = [rf"\subsection*{{\boldmath {escape(d.id)}\quad {prose(d.title)}}}"]
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
        lines.extend(display(step.expression, *_lead(relation)))
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
        formula = "".join(_lead(relation)) + latex(step.expression)
        parts.append(f"{number}. {step.reason}{evidence}\n\n$$\\displaystyle {formula}$$")
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
