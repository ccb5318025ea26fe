"""Native MathML from the one LaTeX printer: sums that may break between terms, parentheses without stray space."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from bulkedge.derivations.engine.latex import latex

_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
BREAKS = frozenset("=+\N{MINUS SIGN}<>\N{LESS-THAN OR EQUAL TO}\N{GREATER-THAN OR EQUAL TO}")
_TALL = frozenset({"mfrac", "munder", "mover", "munderover", "mtable", "msqrt", "mroot"})
LONG = 120  # characters of LaTeX from which a sum is set in pieces: browsers do not break lines within one formula


def formula(expression: Any) -> str:
    """A block with the expression as native MathML; a long sum in pieces between which the line may break."""
    return from_latex(latex(expression))


def from_latex(text: str) -> str:
    """The same for LaTeX that the printer has made."""
    from latex2mathml.converter import convert

    root = ElementTree.fromstring(convert(text, display="block"))
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{_NAMESPACE}}}")
    _fit_fences(root)
    pieces = _pieces(list(root[0])) if len(text) > LONG and len(root) == 1 and root[0].tag == "mrow" else []
    display = "displaystyle" if len(pieces) > 1 else "display"
    maths = (ElementTree.tostring(_math(piece, display), encoding="unicode") for piece in pieces or [list(root)])
    return f'<div class="formula">{"<wbr>".join(maths)}</div>'


def _math(children: list[ElementTree.Element], display: str) -> ElementTree.Element:
    root = ElementTree.Element("math", {"xmlns": _NAMESPACE, display: "true" if display == "displaystyle" else "block"})
    root.extend(children)
    return root


def _fit_fences(root: ElementTree.Element) -> None:
    """Stretchy parentheses only around what is tall: a browser gives them the width of their largest variant."""
    for row in root.iter("mrow"):
        fences = [e for e in row if e.tag == "mo" and e.get("fence") == "true"]
        if fences and not any(e.tag in _TALL for e in row.iter()):
            for fence in fences:
                fence.set("stretchy", "false")


def _pieces(children: list[ElementTree.Element]) -> list[list[ElementTree.Element]]:
    """The children cut before each relation and each sign between two terms."""
    pieces: list[list[ElementTree.Element]] = [[]]
    for previous, child in zip([None, *children], children, strict=False):
        if child.tag == "mo" and child.text in BREAKS and previous is not None and previous.tag != "mo":
            child.set("form", "infix")  # the first of its piece would be taken for a sign
            pieces.append([])
        pieces[-1].append(child)
    return pieces
