"""In a notebook: a result shows its formula and its numbers, a figure shows itself, a derivation its steps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import bulkedge
from bulkedge.cli import main
from bulkedge.derivations.spectra.marchenko_pastur import DERIVATIONS
from bulkedge.results.result import Result

CALLS: dict[str, Callable[[], Result]] = {
    "hermite": lambda: bulkedge.hermite("relu", 3),
    "kernel": lambda: bulkedge.kernel("relu", "1/2", order=3),
    "sphere": lambda: bulkedge.sphere("relu", 5, 3),
    "outliers": lambda: bulkedge.outliers("0.35", "0.2", degree=5),
    "align": lambda: bulkedge.align("He(2, z)", power=2, alpha=2, batch="reused"),
    "mp": lambda: bulkedge.mp("1/2"),
    "population": lambda: bulkedge.mp("1/2", population="1:1/2,10:1/2"),
    "spike": lambda: bulkedge.spike(2, 3),
    "convert": lambda: bulkedge.convert("F", "O", step=3, width=100),
    "risk": lambda: bulkedge.risk("tanh", "z", samples=2, width=1, ridge="1/10", step=1),
    "gamma": lambda: bulkedge.gamma("relu", "tanh", n=200, m=100, d=100, step=30),
    "spectrum": lambda: bulkedge.spectrum(20, 1, 5),
    "features": lambda: bulkedge.features("softplus", "tanh", exponent="3/10"),
    "floor": lambda: bulkedge.floor("erf", "erf"),
    "check": lambda: bulkedge.check(["H4"]),
    "functions": bulkedge.functions,
    "conventions": bulkedge.conventions,
    "list": bulkedge.list,
    "show": lambda: bulkedge.show("G2"),
    "figure": bulkedge.figure,
    "version": bulkedge.version,
}
WORDS = {"check", "functions", "conventions", "list", "figure", "gamma"}  # a table, no formula


@pytest.mark.parametrize("name", CALLS)
def test_a_result_shows_its_formula_and_its_numbers(name: str) -> None:
    result = CALLS[name]()
    html = ElementTree.fromstring(result._repr_html_().replace("<wbr>", "<wbr/>"))  # well formed
    assert any(e.tag.endswith("math") for e in html.iter()) == (name not in WORDS)
    cells = {"".join(e.itertext()) for e in html.iter("td")}
    text = "".join(html.itertext())
    for table in result.tables():
        assert {cell for row in table.rows for cell in row} <= cells
    for said in (*result.notes, result.setting, *result.source):
        assert said in text
    assert result._repr_latex_() == f"$\\displaystyle {result.latex()}$"
    assert "object at 0x" not in text


def test_print_shows_what_the_command_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["mp", "--ratio", "1/2"]) == 0
    result = CALLS["mp"]()
    assert capsys.readouterr().out == str(result)
    shown = result._repr_mimebundle_()
    assert shown["text/plain"] == str(result)
    assert (shown["text/html"], shown["text/latex"]) == (result._repr_html_(), result._repr_latex_())


def test_markup_in_a_name_stays_text(tmp_path: Path) -> None:
    np.save(tmp_path / "a<b>&.npy", np.random.default_rng(0).standard_normal((60, 50)))
    result = bulkedge.weights(str(tmp_path / "a<b>&.npy"))
    assert "<b>" not in result._repr_html_()
    ElementTree.fromstring(result._repr_html_().replace("<wbr>", "<wbr/>"))


def test_a_figure_shows_itself() -> None:
    figure = bulkedge.mp("1/2").figure()
    assert figure is not None
    picture = figure._repr_svg_()
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    assert figure._repr_svg_() == picture


def test_a_derivation_shows_its_steps() -> None:
    assert "discriminant" in DERIVATIONS[1]._repr_markdown_()


def test_a_function_shows_its_formula() -> None:
    assert "\\pi" in bulkedge.nonlinearity("Piecewise((pi*z, z > 0), (0, True))")._repr_latex_()
