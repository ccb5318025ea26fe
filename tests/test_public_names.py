"""What looks public is: a name without an underscore is used elsewhere, documented, or part of a public signature."""

from __future__ import annotations

import ast

import pytest
from public_names import ROOT, SOURCES, lonely, shown

# Their module's own, but for a reason in plain sight.
LEFT = {
    "numerics/kernels/dual_kernel.py": {"Affine"},  # a head, known by its text
    "derivations/spectra/marchenko_pastur.py": {"LOWER", "UPPER"},  # beside _LOWER and _UPPER
    "numerics/checks/kernels/spiked_expansion.py": {"second_ratio"},
}


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_name_that_looks_public_is(path) -> None:
    allowed = LEFT.get(str(path.relative_to(ROOT)), set())
    assert not set(lonely(path)) - allowed, "begin them with an underscore, or use or document them"


def test_what_a_statement_or_a_signature_shows_is_public() -> None:
    text = (
        "class Hidden: ...\nclass Given: ...\nclass Found:\n    def part(self) -> Part: ...\nPart = int\nSIZE = 3\n"
        "def formula(): ...\ndef f(x: Given) -> Found: ...\ndef _g(x: Hidden): ...\n"
        "STATEMENTS = (Statement('X1', formula),)\n"
    )
    found = shown(ast.parse(text))
    assert {"Given", "Found", "Part", "formula"} <= found
    assert not {"Hidden", "SIZE"} & found
