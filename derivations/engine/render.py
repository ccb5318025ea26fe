"""Verified derivations as LaTeX and as plain text. Words are escaped, formulas come from the one printer."""

from __future__ import annotations

import re
from typing import Any

import sympy as sp

from bulkedge.derivations.engine.latex import GREEK, decimal, latex, latex_lines, symbol_name, visual_width
from bulkedge.derivations.engine.relations import Given, Relation, named
from bulkedge.derivations.engine.verified import Verified

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


# A name of the theory: mu1_star, psi1, w_i*, c*_1, sigma''. A letter in a word, or the s after an apostrophe, is none.
_NAME = r"(?<![A-Za-z_'])[A-Za-z]+\d*(?:\*?_(?:[A-Za-z0-9]+|\{[^{}]*\}|[-+]+(?:,[a-z])?))?(?:_star)?\*?(?:'+(?!\w))?"
_BRACKET = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_TOKENS = re.compile(
    rf"(?P<op><=|>=|->|\+-|-\+|!=|~)|sqrt ?(?P<root>{_BRACKET}|\w+)"
    rf"|\^(?P<power>{_BRACKET}|\{{[^{{}}]*\}}|-?\d+|-?[A-Za-z]\w*\*?)"
    rf"|\b(?P<big>sum|inf|sup|lim|E(?!_j\b|_inf\b))_(?P<below>\{{[^{{}}]*\}}|\w+)|(?<=[|)\]])_(?P<under>\w+|[-+])"
    rf"|(?P<mean>\bE(?=\[| (?!is\b|has\b|and\b|of\b)[a-zA-Z|(\[])|(?<=\|)E(?=\|))|(?P<word>e\.g\.|i\.e\.|a\.e\."
    rf"|(?:gamma|beta)(?= function| integral)|delta(?= function| method))"
    rf"|(?P<times>(?:(?<=\b[dnNpm])|(?<= n1)) x (?=[dnNpm]\b))|(?P<decimal>\d+(?:\.\d+)?e[-+]?\d+)"
    rf"|(?P<dot>(?<=[\w'*])\.(?=[A-Za-z]))|(?P<name>{_NAME})|(?P<rest>.)",
    re.DOTALL,
)
_OPERATORS = {
    "<=": r"\leq",
    ">=": r"\geq",
    "->": r"\to",
    "+-": r"\pm",
    "-+": r"\mp",
    "!=": r"\neq",
    "~": r"\sim",
}
_BIG = {"sum": r"\sum", "inf": r"\inf", "sup": r"\sup", "lim": r"\lim", "E": r"\mathbb{E}"}
# Letters that are words, papers' names or a head when they stand alone.
_NO_NAMES = frozenset("aAIOFTME")


def prose(text: str) -> str:
    """Words for LaTeX in which names of the theory (mu_1, psi1, x'), powers, roots and signs are set as such."""
    out: list[str] = []
    for match in _TOKENS.finditer(text):
        out.append(_token(match, text))
    # Neighbouring formulas are one formula.
    return _joined("".join(out).split(r"\)\("))


def _joined(pieces: list[str]) -> str:
    """Pieces of a formula, a space between a command and a letter."""
    return re.sub(r"(\\[A-Za-z]+)\x00(?=[A-Za-z])", r"\1 ", "\x00".join(pieces)).replace("\x00", "")


def _token(match: re.Match[str], text: str) -> str:
    if match["op"]:
        return rf"\({_OPERATORS[match['op']]}\)"
    if match["root"]:
        return rf"\(\sqrt{{{_formula(match['root'])}}}\)"
    if match["power"] == "T":
        return r"\({}^{\top}\)"
    if match["power"]:
        return rf"\({{}}^{{{_formula(match['power'])}}}\)"
    if match["big"]:
        return rf"\({_BIG[match['big']]}_{{{_formula(match['below'])}}}\)"
    if match["times"]:
        return r" \(\times\) "
    if match["decimal"]:
        return rf"\({decimal(match['decimal'])}\)"
    if match["under"]:
        return rf"\({{}}_{{{_formula(match['under'])}}}\)"
    if match["mean"]:
        return r"\(E\)" if text[match.end() :].startswith("|") else r"\(\mathbb{E}\)"
    if match["dot"]:
        near = _LAST_NAME.search(text[: match.start()]), _FIRST_NAME.match(text, match.end())
        joined = all(found and _symbol(found[0]) for found in near)
        return r"\(\cdot\)" if joined else "."
    if match["name"]:
        symbol = _symbol(match["name"])
        after = text[match.end() :]
        if match["name"] == "A" and not re.match(r" [a-z]{2}", after):
            symbol = "A"  # not the article
        if match["name"] == "a" and after[:1] in {"|", "^"}:
            symbol = "a"
        if match["name"] == "e" and after.startswith("^"):
            symbol = "e"
        return escape(match["name"]) if symbol is None else rf"\({symbol}\)"
    return match["word"] or escape(match["rest"])


# The names on both sides of a dot.
_LAST_NAME, _FIRST_NAME = re.compile(rf"{_NAME}$"), re.compile(_NAME)


def _symbol(name: str) -> str | None:
    """The LaTeX of a name of the theory; None for a word."""
    found = re.fullmatch(r"([A-Za-z]+)(\d*)(\*?)(?:_([A-Za-z0-9]+?|\{.*\}|[-+,a-z]+))?(_star)?(\*?)('*)", name)
    if found is None:
        return None
    head, digits, star, below, starred, end, primes = found.groups()
    if name in {"oo", "lam", "ell"}:
        return {"oo": r"\infty", "lam": r"\lambda", "ell": r"\ell"}[name]
    indexed = below is not None and (len(head) == 1 or head in {"He", "eta"} or head in GREEK)
    lone = len(head) == 1 and not digits and (head not in _NO_NAMES or bool(star or end or primes))
    numbered = len(head) == 1 and bool(digits) and (head.islower() or head in "WFX")
    if not (indexed or lone or (below is None and (head in GREEK or numbered))):
        return None
    star = "_star" if star or starred or end else ""
    if below is not None and not below.isalnum():
        inner = _formula(below).replace("-+", r"\mp")
        return f"{symbol_name(head + digits)}_{{{inner}}}" + (r"^{\star}" if star else "") + primes
    return symbol_name(head + digits + (f"_{below}" if below else "") + star) + primes


def _formula(text: str) -> str:
    """What stands in a power, under a root or below a sum, as mathematics."""
    inner = text[1:-1] if text[:1] in "({" and text[-1:] in ")}" else text
    out = []
    for match in _TOKENS.finditer(inner):
        if match["name"]:
            out.append(_symbol(match["name"]) or _letters(match["name"]))
        elif match["rest"]:
            out.append({"{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "&": r"\&"}.get(match["rest"], match["rest"]))
        else:
            out.append(_token(match, inner).removeprefix(r"\(").removesuffix(r"\)"))
    return _joined(out)


def _letters(name: str) -> str:
    if name in {"det", "log", "exp", "ln", "sin", "cos", "tanh", "min", "max"}:
        return rf"\{name} "
    return name if len(name) == 1 else rf"\mathrm{{{escape(name)}}}"


def display(expression: Any, sign: str = "", name: str = "") -> list[str]:
    """Rows of an align environment for an expression, with the relation's sign left of it and its name in front."""
    first, *rest = latex_lines(expression, 78 - min(visual_width(name), 30))
    return [rf"{sign}&\fit{{{name}{first}}}", *(rf"&\quad\fit{{{line}}}" for line in rest)]


def _sentence(reason: str) -> str:
    """A reason with a capital, unless it begins with a name of the theory."""
    first = re.split(r"[^\w'*]", reason, maxsplit=1)[0]
    article = first == "a" and re.match(r"a [a-zA-Z-]{2}", reason)
    plain = first.isalpha() and len(first) > 1 and _symbol(first) is None
    return reason[0].upper() + reason[1:] if article or plain else reason


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
