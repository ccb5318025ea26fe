"""Sentences whose mathematics is marked: what stands between two backticks is a formula, the rest are words."""

from __future__ import annotations

from collections.abc import Iterator


class Marked(str):
    """A sentence for a reader, without its marks; `marked` is how it was written.

    "`x ~ N(0, I_d)`, fresh samples": tables and JSON show the words as they are, LaTeX sets what is marked as formulas.
    Errors: ValueError for a mark that is not closed.
    """

    __slots__ = ("marked",)
    marked: str

    def __new__(cls, text: str) -> Marked:
        """The sentence of a text with marks (one that has been read already stays what it is)."""
        if isinstance(text, Marked):
            return text
        if text.count("`") % 2:
            raise ValueError(f"a mark is not closed: {text!r}")
        found = super().__new__(cls, text.replace("`", ""))
        found.marked = text
        return found

    def __getnewargs__(self) -> tuple[str]:
        return (self.marked,)

    def __reduce__(self) -> tuple[type[Marked], tuple[str]]:
        return (Marked, (self.marked,))

    def parts(self) -> Iterator[tuple[str, bool]]:
        """The pieces, and whether each is a formula."""
        for number, piece in enumerate(self.marked.split("`")):
            if piece:
                yield piece, number % 2 == 1


def read_marks(owner: object, *names: str) -> None:
    """Read the marks in fields of a frozen object: sentences, or tuples of them."""
    for name in names:
        value = getattr(owner, name)
        if isinstance(value, str):
            object.__setattr__(owner, name, Marked(value))
        elif isinstance(value, tuple):
            object.__setattr__(owner, name, tuple(Marked(v) if isinstance(v, str) else v for v in value))
